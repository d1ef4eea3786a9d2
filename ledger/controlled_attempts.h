// SPDX-License-Identifier: Apache-2.0
// What became of the measurement jobs about a run: every attempt, judged again from the log and the
// kept bytes. DESIGN sections 7 and 8.
//
// An acceptance is necessary and not sufficient: an attempt confirms only when the gates are clean,
// the decision rule says so from the recomputed samples, and a controller's acceptance says the
// same. The same code judges for a ledger and for a bundle.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/countability.h"
#include "ledger/decision_rule.h"
#include "ledger/evidence_policy.h"
#include "ledger/judgements.h"
#include "ledger/rows.h"
#include "schema/manifest.h"
#include "schema/result.h"

namespace kernelindex {

// Where the facts of attempts come from, as of one size of a log.
class AttemptSource {
 public:
  virtual ~AttemptSource() = default;
  // Attestations on the chain of a subject that are jobs, results or acceptances, in order.
  virtual Result<std::vector<SaidAt>> said_about(const Digest& subject) = 0;
  // An attestation by its id; nothing when the log has none.
  virtual Result<std::optional<SaidAt>> attestation(const Digest& id) = 0;
  // Calibrations that a runner key signed, in order.
  virtual Result<std::vector<SaidAt>> calibrations(const Digest& runner) = 0;
  // Kept bytes; nothing when they are not held.
  virtual Result<std::optional<std::string>> object(const Digest& digest) = 0;
  // Whether bytes that no judgement reads are kept: logs, what was built.
  virtual Result<bool> held(const Digest& digest) = 0;
  // The row of a manifest; null when the log has no claim of it.
  virtual Result<std::shared_ptr<const SubjectRow>> subject(const Digest& identity) = 0;
  // A claimed document of it; nothing when its bytes are not held.
  virtual Result<std::optional<Manifest>> document(const Digest& identity) = 0;
};

// What is judged with. Whose runners count, and which loosened gates, is the reader's choice.
struct AttemptContext {
  const KeyBook& keys;              // as of the size
  const Judgements& judgements;     // as of the size
  UtcMicros now = 0;                // the latest instant that is known: which jobs have expired
  std::string_view operator_owner;  // the ledger's own owner
  // Whether the runner of this key id and owner counts; empty: all that are enrolled do.
  std::function<bool(const Digest& runner, std::string_view owner)> counts_runner;
  std::vector<std::string> allow;  // switches of acceptances that count
};

// A result, judged.
struct JudgedResult {
  Acceptance::Verdict verdict = Acceptance::Verdict::refused;
  std::vector<std::string> codes;                     // sorted
  RunStatus status = RunStatus::incomplete_evidence;  // by evidence and runner
  std::optional<Decision> decision;                   // when numbers were compared,
  std::optional<DecisionInput> compared;              // and these were
  std::optional<ResultStatistics> statistics;         // recomputed
  std::optional<std::uint64_t> noise_ppm;
  Digest boot;  // of the host, as the result says
  bool source_covered = false;
  bool revoked = false;    // its key, harness or protocol lost its force
  bool retracted = false;  // it or its job was taken back: it confirms nothing any more
  bool loosened = false;   // only a switch that this reader does not allow lets it count
};

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

// Judges a result with the switches that loosened gates. Errors: those of the source.
Result<JudgedResult> judge_result(AttemptSource& source, const AttemptContext& context,
                                  const SaidAt& job, const SaidAt& result, bool first,
                                  const std::vector<std::string>& allowed);

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

// Which sources of a job no digest of the implementation covers, by their places in it; the recipe
// needs none. Errors: those of the source.
Result<std::vector<std::size_t>> uncovered_sources(AttemptSource& source,
                                                   const Digest& implementation,
                                                   const MeasurementJob& job);

// How a reported run and a controlled one relate. Exposed for tests.
TimerRelation timer_relation(const Manifest& reported_protocol, const Digest& controlled_protocol);
EnvironmentRelation environment_relation(const Manifest& reported_environment,
                                         const MeasurementResult& result);

}  // namespace kernelindex
