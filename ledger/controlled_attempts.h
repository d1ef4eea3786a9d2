// SPDX-License-Identifier: Apache-2.0
// What became of the measurement jobs about a run: every attempt, judged again from the log and the
// kept bytes. DESIGN sections 7 and 8.
//
// An acceptance is necessary and not sufficient: an attempt confirms only when the gates are clean,
// the decision rule says so from the recomputed samples, and a controller's acceptance says the
// same. The same code judges for a ledger and for a bundle.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "ledger/attempt_source.h"
#include "ledger/evidence_policy.h"
#include "ledger/judged_result.h"
#include "ledger/rows.h"
#include "schema/result.h"

namespace kernelindex {

// One job with what came of it.
struct ControlledJob {
  SaidAt job;
  std::string owner;         // of the runner; empty when its key is not enrolled
  bool by_operator = false;  // that owner is the ledger's own
  bool counts = true;        // the reader counts this runner
  bool expired = false;
  bool retracted = false;        // the job: it stays an attempt, and its result confirms nothing
  std::optional<SaidAt> result;  // the first that its runner signed
  std::size_t more_results = 0;
  std::optional<SaidAt> acceptance;  // the last that counts
  std::optional<JudgedResult> judged;

  // What the evidence policy is told; nothing while the job is open, for what was revoked, and for
  // runners that the reader does not count.
  std::optional<ControlledAttempt> attempt() const;
};

// Jobs about a run, in order.
Result<std::vector<ControlledJob>> controlled_jobs(AttemptSource& source,
                                                   const AttemptContext& context,
                                                   const Digest& run);

// The job and result that a controlled run itself is of, found by the envelope that its claims have
// as snapshot; nothing when there is none.
Result<std::optional<ControlledJob>> job_of_controlled_run(AttemptSource& source,
                                                           const AttemptContext& context,
                                                           const Digest& run,
                                                           const SubjectRow& row);
// Whether that run is accepted, with clean gates and status passed.
bool accepted_run(const ControlledJob& job);

// Fills in what the evidence policy is told of controlled attempts: those about the run, and of a
// controlled run whether it was accepted. `row` is the subject row of the run. Errors: those of the
// source.
Status add_attempts(AttemptSource& source, const AttemptContext& context, const Digest& run,
                    const SubjectRow& row, EvidenceFacts& facts);

}  // namespace kernelindex
