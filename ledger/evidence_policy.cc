// SPDX-License-Identifier: Apache-2.0
#include "ledger/evidence_policy.h"

#include <algorithm>
#include <array>
#include <map>

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

// In the order of LevelReason.
constexpr std::array<std::string_view, 28> kReasonNames = {"NO_SOURCE_CLAIM",
                                                           "CLAIM_NOT_COVERED",
                                                           "IMPORT_RETRACTED",
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
                                                           "SERVING_RUN",
                                                           "CANNOT_JUDGE",
                                                           "RETRACTED",
                                                           "DISPUTED",
                                                           "NOT_ACCEPTED",
                                                           "ACCEPTED_RUN",
                                                           "NO_CONTROLLED_RUN",
                                                           "SOURCE_PARTIAL",
                                                           "NOT_CONFIRMED",
                                                           "CONFIRMED",
                                                           "ONE_OWNER",
                                                           "SAME_DEVICE",
                                                           "CONFIRMED_BY_TWO"};
static_assert(kReasonNames.size() == static_cast<std::size_t>(LevelReason::confirmed_by_two) + 1);

// What keeps the best claim of the run's own source from counting; claimed_by_source when it
// counts.
LevelReason judge_claims(const std::vector<EvidenceClaim>& claims) {
  LevelReason best = LevelReason::no_source_claim;
  for (const EvidenceClaim& claim : claims) {
    if (!claim.own_source) continue;
    const LevelReason reason = claim.import_retracted ? LevelReason::import_retracted
                               : !claim.covered       ? LevelReason::claim_not_covered
                               : !claim.snapshot_kept ? LevelReason::snapshot_not_held
                                                      : LevelReason::claimed_by_source;
    if (reason > best) best = reason;
  }
  return best;
}

struct Tally {
  int confirms = 0;
  int fails = 0;
  bool verified() const { return confirms > fails; }
};

bool confirms(const ControlledAttempt& attempt) {
  return attempt.verdict == ControlledAttempt::Verdict::confirms && attempt.source_covered;
}

void count(const ControlledAttempt& attempt, Tally& tally) {
  using Verdict = ControlledAttempt::Verdict;
  if (confirms(attempt)) ++tally.confirms;
  if (attempt.verdict == Verdict::differs || attempt.verdict == Verdict::not_reproduced ||
      attempt.verdict == Verdict::unanswered) {
    ++tally.fails;
  }
}

// Two owners who each confirm alone, on different devices, with different samples.
LevelReason judge_owners(const std::vector<ControlledAttempt>& attempts) {
  std::map<std::string_view, Tally> by_owner;
  for (const ControlledAttempt& attempt : attempts) count(attempt, by_owner[attempt.owner]);
  const auto owners =
      std::ranges::count_if(by_owner, [](const auto& owner) { return owner.second.verified(); });
  if (owners < 2) return LevelReason::one_owner;
  for (const ControlledAttempt& one : attempts) {
    if (!confirms(one) || !by_owner.at(one.owner).verified()) continue;
    const bool independent = std::ranges::any_of(attempts, [&](const ControlledAttempt& other) {
      return confirms(other) && by_owner.at(other.owner).verified() && other.owner != one.owner &&
             other.device != one.device && other.samples != one.samples;
    });
    if (independent) return LevelReason::confirmed_by_two;
  }
  return LevelReason::same_device;
}

// The levels that only controlled attempts give.
void judge_attempts(const EvidenceFacts& facts, Evidence& out) {
  if (facts.accepted) {
    out.reasons.push_back(LevelReason::accepted_run);
    out.level = Level::verified;
  }
  if (facts.attempts.empty()) {
    if (!facts.accepted) out.reasons.push_back(LevelReason::no_controlled_run);
    return;
  }
  Tally all;
  bool partial = false;
  for (const ControlledAttempt& attempt : facts.attempts) {
    count(attempt, all);
    partial |= attempt.verdict == ControlledAttempt::Verdict::confirms && !attempt.source_covered;
  }
  if (partial) out.reasons.push_back(LevelReason::source_partial);
  if (!all.verified()) {
    out.reasons.push_back(LevelReason::not_confirmed);
    return;
  }
  out.reasons.push_back(LevelReason::confirmed);
  const LevelReason owners = judge_owners(facts.attempts);
  out.reasons.push_back(owners);
  out.level = owners == LevelReason::confirmed_by_two ? Level::replicated : Level::verified;
}

}  // namespace

std::string_view level_name(Level level) {
  constexpr std::array<std::string_view, 5> kNames = {"none", "reported", "reproducible",
                                                      "verified", "replicated"};
  return kNames[static_cast<std::size_t>(level)];
}

std::string_view reason_name(LevelReason reason) {
  return kReasonNames[static_cast<std::size_t>(reason)];
}

Evidence evidence_v1(const EvidenceFacts& facts) {
  Evidence out;
  if (facts.cannot_judge) {
    out.reasons.push_back(LevelReason::cannot_judge);
    return out;
  }
  if (facts.retracted) out.reasons.push_back(LevelReason::retracted);
  if (facts.disputed) out.reasons.push_back(LevelReason::disputed);
  const LevelReason claim = judge_claims(facts.claims);
  out.reasons.push_back(claim);
  if (claim != LevelReason::claimed_by_source) return out;
  if (facts.controlled && !facts.accepted) {
    out.reasons.push_back(LevelReason::not_accepted);
    return out;
  }
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
  const bool held = (facts.flags & kSourceHeld) != 0 && (facts.flags & kEvidenceHeld) != 0;
  if (!source_named) out.reasons.push_back(LevelReason::source_not_named);
  if (!evidence_named) out.reasons.push_back(LevelReason::evidence_not_named);
  if (source_named && evidence_named) {
    out.reasons.push_back(held ? LevelReason::bytes_held : LevelReason::bytes_not_held);
    if (held && complete) out.level = Level::reproducible;
  }
  if (complete && (facts.accepted || !facts.attempts.empty())) {
    judge_attempts(facts, out);
  } else if (out.level == Level::reproducible) {
    out.reasons.push_back(LevelReason::no_controlled_run);
  }
  return out;
}

}  // namespace kernelindex
