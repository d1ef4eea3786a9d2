// SPDX-License-Identifier: Apache-2.0
// What attestations say about controlled measurements: jobs, results, acceptances, calibrations.
// DESIGN section 8; PROTOCOL decisions (g) to (m) and sections 2, 5, 6 and 16.
//
// Each is about the one before it, so that the chain of a subject leads on:
//
//   reported run  <-  measurement-job/v1  <-  controlled-run/v1  <-  acceptance/v1
//   key of the runner  <-  calibration/v1
//
// The subject is the identity digest of the run, the attestation id of the job and of the result,
// and the key id of the runner that signs; parse_attestation() refuses any other
// (SUBJECT_MISMATCH). Nothing here judges: whether a result counts is derived by each verifier.
//
// Numbers are integers; lists that mean a set are sorted and hold nothing twice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schema/digest.h"
#include "schema/measurement_terms.h"
#include "schema/sentinel_session.h"
#include "schema/utc_time.h"

namespace kernelindex {

inline constexpr std::size_t kAcceptanceCodes = 128;

// measurement-job/v1: what one runner may measure, once, until it expires. Subject: `run`.
struct MeasurementJob {
  // A file to compile. Paths are relative and have one spelling: is_source_path().
  struct Source {
    std::string path;
    Digest digest;  // of its bytes

    auto operator<=>(const Source&) const = default;
  };
  using Device = JobDevice;
  using Limits = JobLimits;

  Digest run;       // identity of the reported run
  Digest runner;    // key id of the only runner whose result counts; 64 hex digits in documents
  Digest protocol;  // identity of the controlled protocol, approved
  Digest harness;   // SHA-256 of the runner's executable, approved
  std::vector<Digest> workloads;  // identities, sorted, 1..kJobWorkloads
  std::vector<Source> sources;    // every file that is compiled, sorted by path, 1..kJobSources
  Limits limits;
  Device device;
  JobNonce nonce{};  // random; seeds the inputs, with the runner's own; base64 in documents
  // No result counts whose entry was recorded later. In the form of `recordedAt` in documents.
  UtcMicros expires_at = 0;
  bool source_reviewed = false;  // a person read the sources: host code of others may run

  bool operator==(const MeasurementJob&) const = default;
};

// controlled-run/v1: a runner's result for a job. Subject: `job`.
struct ControlledRun {
  Digest job;                     // attestation id of the job
  Digest run;                     // identity of the BenchmarkRun that is the measurement
  Digest result;                  // SHA-256 of the result document, an artifact
  std::optional<Digest> samples;  // SHA-256 of the raw samples: little-endian 64-bit nanoseconds of
                                  // all trials in trial order; absent when nothing was timed
  Digest device;                  // SHA-256 of ledger id and GPU UUID
  Digest host;                    // SHA-256 of ledger id and the host's own id

  bool operator==(const ControlledRun&) const = default;
};

// acceptance/v1: what the controller made of a result, refused ones too. Subject: `result`.
struct Acceptance {
  // PROTOCOL decision (k): how the result relates to the reported number.
  enum class Verdict : std::uint8_t {
    confirms,
    differs_slower,
    differs_faster,
    inconclusive,
    not_reproduced,
    adapter_failed,
    not_comparable,
    refused
  };
  Digest result;          // attestation id of the controlled-run/v1
  bool accepted = false;  // countable: exactly when the verdict is not `refused`
  Verdict verdict = Verdict::refused;
  std::vector<std::string> codes;    // why: is_reason_code(), sorted; at least one when refused
  std::vector<std::string> allowed;  // gates that a switch loosened: codes, sorted
  std::string policy;                // slug of the rules that were followed: "ki-controlled-v1"

  bool operator==(const Acceptance&) const = default;
};

// "differs_slower": the word in documents.
std::string_view verdict_name(Acceptance::Verdict verdict);
std::optional<Acceptance::Verdict> verdict_from_name(std::string_view name);
// calibration/v1: sessions of the sentinel kernels of PROTOCOL section 6 on one device. Subject:
// the key id of the runner, who signs it.
struct Calibration {
  using Session = SentinelSession;

  Digest device;                  // SHA-256 of ledger id and GPU UUID
  std::vector<Session> sessions;  // in the order of measuring, 1..kCalibrationSessions
  // SHA-256 of the raw samples, an artifact: schema/sentinel_session.h.
  Digest samples;

  bool operator==(const Calibration&) const = default;
};

}  // namespace kernelindex
