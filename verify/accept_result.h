// SPDX-License-Identifier: Apache-2.0
// Acceptance: a runner's result enters the log, whatever it says, with the verdict on it. DESIGN
// section 8; PROTOCOL section 16, decisions (i) and (k).
//
// The verdict that is recorded is the one that every reader derives again (controlled_attempts.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/controlled_attempts.h"
#include "ledger/ledger.h"
#include "ledger/signing_key.h"
#include "schema/measurement_job.h"
#include "schema/measurement_result.h"
#include "schema/result.h"
#include "verify/result_folder.h"

namespace kernelindex {

// Under which controlled runs are claimed: `audit --reimport` reads the kept bytes again by it.
inline constexpr std::string_view kControlledParser = "controlled-run";
inline constexpr std::string_view kControlledParserVersion = "1";

// ---- the runner's side ----

// The signed controlled-run/v1 for a result. Errors (refused): KEY_NOT_THE_RUNNER (the job is for
// another key), JOB_NOT_BOUND (the document is of another job); those of encoding it.
Result<std::string> sign_result(const JobDocument& job, std::string_view document,
                                const SigningKey& runner);

// ---- the controller's side ----

struct AcceptedResult {
  Digest result;                   // attestation id of the controlled-run/v1
  Digest job;                      // and of the job
  Digest reported;                 // identity of the run that the job is about
  Digest run;                      // identity of the controlled run that was recorded
  std::uint64_t result_index = 0;  // entries
  std::uint64_t acceptance_index = 0;
  JudgedResult judged;
  std::vector<std::string> missing;  // artifacts that the document names and the folder lacks
  bool existing = false;             // it was accepted before; nothing was added
};

// Records the artifacts, the document, the controlled run with its environment, the result and an
// acceptance signed by the controller. A result that was recorded without an acceptance (a crash in
// between) gets one. `allowed` names the switches that loosen gates. Errors, before anything is
// written: NOT_A_RESULT (invalid: the statement is another), DIGEST_MISMATCH (invalid: not the
// document that it names), those of reading the document; NO_SUCH_JOB (not_found); those of the
// attestation rules; OBJECT_DIFFERS (invalid).
Result<AcceptedResult> accept_result(Ledger& ledger, const ResultFolder& folder,
                                     const SigningKey& controller,
                                     const std::vector<std::string>& allowed);

// Records a calibration/v1 with its samples. Errors: NOT_A_CALIBRATION, DIGEST_MISMATCH (invalid),
// SIMULATED_DEVICE (refused), those of the attestation rules.
struct RecordedCalibration {
  std::uint64_t index = 0;
  Digest id;
  Digest runner;  // key id
  std::size_t sessions = 0;
  std::string product;
  bool existing = false;
};
Result<RecordedCalibration> record_calibration(Ledger& ledger, const ResultFolder& folder);

// What the statement of a folder is: a calibration, or not.
bool is_calibration(const ResultFolder& folder);

// ---- reading the kept bytes again ----

struct ControlledClaims {
  Manifest environment;
  Manifest run;
};
// The claims that follow from the options of an import and its two snapshots: the statement and the
// document. Errors: BAD_OPTIONS (invalid), those of reading the document.
Result<ControlledClaims> controlled_claims(std::string_view options, std::string_view document);

}  // namespace kernelindex
