// SPDX-License-Identifier: Apache-2.0
// Measurement jobs: signed, recorded in the log before anyone gets them, and handed out as
// documents. DESIGN section 8; PROTOCOL section 2, decisions (g) and (l).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ledger/appender.h"
#include "ledger/ledger.h"
#include "ledger/signing_key.h"
#include "schema/measurement_job.h"
#include "schema/result.h"

namespace kernelindex {

// What a controller asks for. What is not here follows from the run.
struct JobOrder {
  Digest run;      // identity of the reported run
  Digest runner;   // key id
  Digest harness;  // SHA-256 of the runner's executable
  ClockVariant clocks = ClockVariant::unlocked;
  std::vector<JobSourceFile> files;  // sorted by path; the recipe among them
  bool source_reviewed = false;
  UtcMicros expires_at = 0;
  std::optional<JobDevice> device;  // absent: that of the run's environment
  // `output_bytes` and `vram_bytes` of 0: the defaults below.
  JobLimits limits;
};

inline constexpr std::int64_t kDefaultOutputBytes = std::int64_t{1} << 30;
inline constexpr std::int64_t kDefaultVramBytes = std::int64_t{64} << 30;

struct IssuedJob {
  std::uint64_t index = 0;  // of its entry
  JobDocument document;     // `document.job` is the id
  // Files that no digest of the implementation covers: a result cannot confirm (SOURCE_PARTIAL).
  std::vector<std::string> uncovered;
};

// Files of an implementation that the log holds with their paths: artifacts of the role `source` of
// its claims. Errors: NO_SUCH_RUN (not_found), those of reading.
Result<std::vector<JobSourceFile>> kept_sources(const Reader& reader, const Digest& run);

// Whether there is something to compile and a recipe for it. Errors: NO_SOURCE (refused), NO_RECIPE
// (invalid).
Status check_sources(const Digest& run, const std::vector<JobSourceFile>& files);

// Keeps the files and the protocol's manifest, signs the job with the controller's key and records
// it. `local` is the identity under which the manifest is claimed. Errors:
//   NO_SUCH_RUN (not_found), NOT_A_RUN (invalid)
//   those of check_sources()
//   SUITE_WORKLOAD (refused: the number is over a suite, and one job measures single cases)
//   REFERENCE_MISSING (refused: what the run refers to is not in the ledger, or withheld),
//   WRONG_MANIFEST (refused: or is of another kind)
//   HARNESS_UNKNOWN, PROTOCOL_UNKNOWN, RUNNER_NOT_ENROLLED, KEY_NOT_APPROVED_FOR_PRODUCT,
//   KEY_NOT_APPROVED_FOR_PROTOCOL (refused: its result could never count)
//   JOB_EXPIRED (invalid: it ends before it begins), JOB_TOO_LONG (invalid: above 24 hours)
//   those of write_job_document() and attest()
Result<IssuedJob> issue_job(Ledger& ledger, const JobOrder& order, const SigningKey& controller,
                            const ImportIdentity& local);

// The document of a job in the log, as it is handed to a runner. Errors: NO_SUCH_JOB (not_found),
// SOURCE_NOT_HELD (refused: a file of it was withheld), REFERENCE_MISSING, PROTOCOL_UNKNOWN.
Result<JobDocument> job_document(const Reader& reader, const Digest& job);

}  // namespace kernelindex
