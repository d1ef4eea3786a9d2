// SPDX-License-Identifier: Apache-2.0
// One result of a runner, judged: the gates, the statistics and the decision rule, from the kept
// bytes alone. DESIGN section 8; PROTOCOL section 16.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ledger/attempt_source.h"
#include "ledger/decision_rule.h"
#include "ledger/measurement_predicates.h"
#include "schema/measurement_result.h"
#include "schema/result.h"

namespace kernelindex {

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

// Judges a result with the switches that loosened gates. Errors: those of the source.
Result<JudgedResult> judge_result(AttemptSource& source, const AttemptContext& context,
                                  const SaidAt& job, const SaidAt& result, bool first,
                                  const std::vector<std::string>& allowed);

// Which sources of a job no digest of the implementation covers, by their places in it; the recipe
// needs none. Errors: those of the source.
Result<std::vector<std::size_t>> uncovered_sources(AttemptSource& source,
                                                   const Digest& implementation,
                                                   const MeasurementJob& job);

}  // namespace kernelindex
