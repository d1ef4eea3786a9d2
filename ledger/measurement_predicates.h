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

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schema/digest.h"
#include "schema/utc_time.h"

namespace kernelindex {

inline constexpr std::size_t kJobWorkloads = 256;
inline constexpr std::size_t kJobSources = 1024;
inline constexpr std::size_t kSourcePathBytes = 255;
inline constexpr std::size_t kProductBytes = 200;
inline constexpr std::size_t kArchitectureBytes = 100;
inline constexpr std::size_t kMigProfileBytes = 100;
inline constexpr std::int64_t kDevices = 64;
inline constexpr std::int64_t kDeviceBytes = std::int64_t{1} << 46;  // 64 TiB
inline constexpr std::int64_t kJobSeconds = 86'400;
inline constexpr std::int64_t kJobProcesses = 65'536;
inline constexpr std::int64_t kJobLogBytes = std::int64_t{1} << 30;
inline constexpr std::size_t kJobNonceBytes = 32;
inline constexpr std::size_t kAcceptanceCodes = 128;
inline constexpr std::size_t kCodeBytes = 64;
inline constexpr std::size_t kCalibrationSessions = 256;
inline constexpr std::int64_t kCalibrationSamples = 100'000;

using JobNonce = std::array<std::uint8_t, kJobNonceBytes>;

// measurement-job/v1: what one runner may measure, once, until it expires. Subject: `run`.
struct MeasurementJob {
  // A file to compile. Paths are relative and have one spelling: is_source_path().
  struct Source {
    std::string path;
    Digest digest;  // of its bytes

    auto operator<=>(const Source&) const = default;
  };
  // What the device must be; it is the hardware that the run claims.
  struct Device {
    std::string product;                       // as importers spell it: "NVIDIA H200"
    std::string architecture;                  // a token, "sm_90"; empty: that of the product
    std::optional<std::int64_t> memory_bytes;  // at least so many
    std::string mig_profile;                   // "1g.18gb"; empty: the whole device
    std::int64_t count = 1;                    // 1..kDevices

    bool operator==(const Device&) const = default;
  };
  // What the processes of the runner may use. All at least 1. PROTOCOL section 2 has the usual
  // values.
  struct Limits {
    std::int64_t build_seconds = 600;                 // all compilers together
    std::int64_t wall_seconds = 900;                  // the whole job
    std::int64_t child_seconds = 120;                 // one trial
    std::int64_t output_bytes = 0;                    // of one call
    std::int64_t vram_bytes = 0;                      // device memory of one child
    std::int64_t pids = 64;                           // processes and threads of one child
    std::int64_t log_bytes = std::int64_t{16} << 20;  // of one child, what is kept

    bool operator==(const Limits&) const = default;
  };

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

// Whether a text may stand as the path of a source: at most kSourcePathBytes, segments between
// single slashes, none of them empty, "." or "..", none that begins with "-" (a compiler would take
// it for an option), no backslash, no control character.
bool is_source_path(std::string_view text);

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
// Whether a text is a code: [A-Z][A-Z0-9]* in words joined by single "_", at most kCodeBytes.
bool is_reason_code(std::string_view text);

// calibration/v1: sessions of the sentinel kernels of PROTOCOL section 6 on one device. Subject:
// the key id of the runner, who signs it.
struct Calibration {
  struct Session {
    enum class Clocks : std::uint8_t { unlocked, locked };
    Digest boot;  // SHA-256 of ledger id and boot id: how many boots the sessions span
    Clocks clocks{};
    std::int64_t repetitions = 0;  // of each sentinel, 1..kCalibrationSamples
    // Medians of the event windows in nanoseconds, and of the SM clock that S2 shows.
    std::int64_t launch_ns = 0;     // S0, an empty kernel
    std::int64_t bandwidth_ns = 0;  // S1, a triad over 1 GiB
    std::int64_t compute_ns = 0;    // S2, a chain of fp32 FMA
    std::int64_t tensor_ns = 0;     // S2, mma.sync of bf16
    std::int64_t sm_khz = 0;

    bool operator==(const Session&) const = default;
  };
  Digest device;                  // SHA-256 of ledger id and GPU UUID
  std::vector<Session> sessions;  // in the order of measuring, 1..kCalibrationSessions
  // SHA-256 of the raw samples, an artifact: little-endian 64-bit integers, session after session,
  // in each the `repetitions` values of launch, bandwidth, compute, tensor (ns) and SM clock (kHz).
  Digest samples;

  bool operator==(const Calibration&) const = default;
};

// "unlocked", "locked".
std::string_view clocks_name(Calibration::Session::Clocks clocks);

}  // namespace kernelindex
