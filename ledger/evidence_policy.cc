// SPDX-License-Identifier: Apache-2.0
#include "ledger/evidence_policy.h"

#include <array>

namespace kernelindex {
namespace {

struct MissingReference {
  RunFlag flag;
  LevelReason reason;
};

// Identity is complete when none of these holds.
constexpr std::array<MissingReference, 6> kMissing = {{
    {kImplementationMissing, LevelReason::implementation_missing},
    {kWorkloadMissing, LevelReason::workload_missing},
    {kProtocolMissing, LevelReason::protocol_missing},
    {kEnvironmentMissing, LevelReason::environment_missing},
    {kModelMissing, LevelReason::model_missing},
    {kConfigurationMissing, LevelReason::configuration_missing},
}};

// What keeps the best claim of the run's own source from counting; claimed_by_source when it
// counts.
LevelReason judge_claims(const std::vector<EvidenceClaim>& claims) {
  LevelReason best = LevelReason::no_source_claim;
  for (const EvidenceClaim& claim : claims) {
    if (!claim.own_source) continue;
    const LevelReason reason = !claim.covered         ? LevelReason::claim_not_covered
                               : !claim.snapshot_kept ? LevelReason::snapshot_not_held
                                                      : LevelReason::claimed_by_source;
    if (reason > best) best = reason;
  }
  return best;
}

}  // namespace

std::string_view level_name(Level level) {
  constexpr std::array<std::string_view, 5> kNames = {"none", "reported", "reproducible",
                                                      "verified", "replicated"};
  return kNames[static_cast<std::size_t>(level)];
}

std::string_view reason_name(LevelReason reason) {
  constexpr std::array<std::string_view, 15> kNames = {"NO_SOURCE_CLAIM",
                                                       "CLAIM_NOT_COVERED",
                                                       "SNAPSHOT_NOT_HELD",
                                                       "CLAIMED_BY_SOURCE",
                                                       "IMPLEMENTATION_MISSING",
                                                       "WORKLOAD_MISSING",
                                                       "PROTOCOL_MISSING",
                                                       "ENVIRONMENT_MISSING",
                                                       "MODEL_MISSING",
                                                       "CONFIGURATION_MISSING",
                                                       "SOURCE_NOT_NAMED",
                                                       "EVIDENCE_NOT_NAMED",
                                                       "BYTES_NOT_HELD",
                                                       "BYTES_HELD",
                                                       "SERVING_RUN"};
  return kNames[static_cast<std::size_t>(reason)];
}

Evidence evidence_v1(const EvidenceFacts& facts) {
  Evidence out;
  const LevelReason claim = judge_claims(facts.claims);
  out.reasons.push_back(claim);
  if (claim != LevelReason::claimed_by_source) return out;
  out.level = Level::reported;
  if (facts.serving) {
    out.reasons.push_back(LevelReason::serving_run);
    return out;
  }
  bool complete = true;
  for (const MissingReference& missing : kMissing) {
    if ((facts.flags & missing.flag) == 0) continue;
    complete = false;
    out.reasons.push_back(missing.reason);
  }
  const bool source_named = (facts.flags & kSourceNamed) != 0;
  const bool evidence_named = (facts.flags & kEvidenceNamed) != 0;
  if (!source_named) out.reasons.push_back(LevelReason::source_not_named);
  if (!evidence_named) out.reasons.push_back(LevelReason::evidence_not_named);
  if (!source_named || !evidence_named) return out;
  const bool held = (facts.flags & kSourceHeld) != 0 && (facts.flags & kEvidenceHeld) != 0;
  out.reasons.push_back(held ? LevelReason::bytes_held : LevelReason::bytes_not_held);
  if (held && complete) out.level = Level::reproducible;
  return out;
}

}  // namespace kernelindex
