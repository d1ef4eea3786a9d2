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
constexpr std::array<std::string_view, 31> kReasonNames = {"NO_SOURCE_CLAIM",
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
                                                           "SAME_HOST",
                                                           "MEDIANS_DIFFER",
                                                           "CONFIRMED_BY_TWO",
                                                           "OPERATOR_RAN_IT"};
static_assert(kReasonNames.size() == static_cast<std::size_t>(LevelReason::operator_ran_it) + 1);

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

// PROTOCOL section 16 D: |ln(a/b)| <= ln(1+x) with x = max(3 %, the sum of the noises), written as
// a <= b(1+x) and b <= a(1+x).
bool alike(const ControlledAttempt& one, const ControlledAttempt& other) {
  __extension__ using Wide = __int128;
  constexpr Wide kMillion = 1'000'000;
  const Wide noise = Wide{one.noise_ppm} + Wide{other.noise_ppm};
  const Wide factor = kMillion + std::max<Wide>(30'000, noise);
  const Wide a = one.median_ns;
  const Wide b = other.median_ns;
  return a * kMillion <= b * factor && b * kMillion <= a * factor;
}

// How near two confirming attempts by different owners come to a replication.
LevelReason judge_pair(const ControlledAttempt& one, const ControlledAttempt& other) {
  if (one.device == other.device || one.samples == other.samples) return LevelReason::same_device;
  if (one.host == other.host || one.boot == other.boot) return LevelReason::same_host;
  return alike(one, other) ? LevelReason::confirmed_by_two : LevelReason::medians_differ;
}

// Two owners who each confirm alone, on different hosts and devices, with different samples and
// like numbers.
LevelReason judge_owners(const std::vector<ControlledAttempt>& attempts) {
  std::map<std::string_view, Tally> by_owner;
  for (const ControlledAttempt& attempt : attempts) count(attempt, by_owner[attempt.owner]);
  LevelReason nearest = LevelReason::one_owner;
  for (const ControlledAttempt& one : attempts) {
    if (!confirms(one) || !by_owner.at(one.owner).verified()) continue;
    for (const ControlledAttempt& other : attempts) {
      if (!confirms(other) || other.owner == one.owner) continue;
      if (by_owner.at(other.owner).verified()) nearest = std::max(nearest, judge_pair(one, other));
    }
  }
  return nearest;
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
  const bool by_operator = std::ranges::any_of(facts.attempts, [](const ControlledAttempt& one) {
    return confirms(one) && one.by_operator;
  });
  if (by_operator) out.reasons.push_back(LevelReason::operator_ran_it);
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
