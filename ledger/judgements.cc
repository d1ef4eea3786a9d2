// SPDX-License-Identifier: Apache-2.0
#include "ledger/judgements.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <string>
#include <utility>

namespace kernelindex {
namespace {

// The predicate of a kind of fact. Null for measurements, which are judged by their own rules, and
// for what is unknown, which always counts against.
const PredicateType* type_of(ChainFact::Kind kind) {
  static const std::map<ChainFact::Kind, const PredicateType*> kTypes = [] {
    using Kind = ChainFact::Kind;
    std::map<Kind, const PredicateType*> types;
    for (const auto& [of, name] :
         {std::pair(Kind::retraction, "retraction/v1"),
          std::pair(Kind::supersession, "supersession/v1"), std::pair(Kind::dispute, "dispute/v1"),
          std::pair(Kind::dispute_resolution, "dispute-resolution/v1"),
          std::pair(Kind::withdrawal, "withdrawal/v1"),
          std::pair(Kind::withholding, "withholding/v1")}) {
      types.emplace(of, find_predicate_type(std::string(kPredicateBase) + name));
    }
    return types;
  }();
  const auto found = kTypes.find(kind);
  return found == kTypes.end() ? nullptr : found->second;
}

bool signer_counts(const ChainFact& fact, const KeyBook& keys) {
  if (const PredicateType* type = type_of(fact.kind)) {
    return keys.counts(fact.signer, *type, fact.index);
  }
  const KeyRecord* record = keys.find(fact.signer);
  return record != nullptr && record->valid_at(fact.index);
}

}  // namespace

Judgements::Judgements(std::span<const ChainFact> facts, const KeyBook& keys, std::uint64_t size) {
  const auto below = std::ranges::lower_bound(facts, size, {}, &ChainFact::index);
  facts = facts.first(static_cast<std::size_t>(below - facts.begin()));
  std::unordered_set<Digest> retracted;
  std::unordered_set<Digest> dismissed;  // disputes
  for (const ChainFact& fact : std::views::reverse(facts)) {
    if (fact.kind == ChainFact::Kind::unknown) {
      // Whoever signed it: what it says of keys, too, is unknown.
      subjects_[fact.subject].cannot_judge = true;
      continue;
    }
    if (retracted.contains(fact.id) || !signer_counts(fact, keys)) continue;
    counting_.insert(fact.index);
    switch (fact.kind) {
      case ChainFact::Kind::retraction:
        retracted.insert(fact.subject);
        subjects_[fact.subject].retractions.push_back(fact.index);
        break;
      case ChainFact::Kind::supersession:
        subjects_[fact.subject].successors.push_back({fact.index, fact.other});
        break;
      case ChainFact::Kind::dispute:
        if (!dismissed.contains(fact.id)) subjects_[fact.subject].disputes.push_back(fact.index);
        break;
      case ChainFact::Kind::dispute_resolution:
        if (fact.text == dispute_outcome_name(DisputeResolution::Outcome::dismissed)) {
          dismissed.insert(fact.other);
        }
        break;
      case ChainFact::Kind::withdrawal:
        subjects_[fact.subject].withdrawals.push_back(fact.index);
        subjects_[fact.subject].withdrawn_ids.push_back(fact.text);
        break;
      case ChainFact::Kind::withholding:
        if (!std::exchange(subjects_[fact.subject].withheld, true)) {
          withheld_.push_back(fact.subject);
        }
        break;
      case ChainFact::Kind::measurement:
      case ChainFact::Kind::unknown:
        break;
    }
  }
  // What cannot be judged about an attestation leaves what it is about in doubt as well.
  for (const ChainFact& fact : std::views::reverse(facts)) {
    const auto about = subjects_.find(fact.id);
    if (about != subjects_.end() && about->second.cannot_judge) {
      subjects_[fact.subject].cannot_judge = true;
    }
  }
  for (auto& [subject, judgement] : subjects_) {
    std::ranges::reverse(judgement.retractions);
    std::ranges::reverse(judgement.disputes);
    std::ranges::reverse(judgement.withdrawals);
    std::ranges::reverse(judgement.withdrawn_ids);
    std::ranges::reverse(judgement.successors);
  }
}

const SubjectJudgement* Judgements::find(const Digest& subject) const {
  if (subjects_.empty()) return nullptr;
  const auto found = subjects_.find(subject);
  return found == subjects_.end() ? nullptr : &found->second;
}

bool Judgements::retracted(const Digest& subject) const {
  const SubjectJudgement* judgement = find(subject);
  return judgement != nullptr && judgement->retracted();
}

}  // namespace kernelindex
