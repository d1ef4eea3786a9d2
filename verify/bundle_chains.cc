// SPDX-License-Identifier: Apache-2.0
// Chains: that nothing was left out, and what stands on them.
#include <algorithm>

#include "ledger/run_evidence.h"
#include "verify/bundle_judge.h"

namespace kernelindex::bundles {
namespace {

std::string index_text(std::optional<std::uint64_t> index) {
  return index ? "entry " + std::to_string(*index) : "none";
}

}  // namespace

const Part* Judge::part(std::uint64_t index) const {
  const auto found = std::ranges::lower_bound(parts_, index, {}, &Part::index);
  return found != parts_.end() && found->index == index ? &*found : nullptr;
}

const std::vector<const Part*>& Judge::chain(const Digest& subject) const {
  static const std::vector<const Part*> none;
  const auto found = chains_.find(subject);
  return found == chains_.end() ? none : found->second;
}

// The rule is one for writers and readers: see bundle_writer.cc, which gathers these chains.
std::set<Digest> Judge::subjects() const {
  std::set<Digest> out = {bundle_.subject};
  out.insert(asked_.subjects.begin(), asked_.subjects.end());
  out.insert(asked_.artifacts.begin(), asked_.artifacts.end());
  out.insert(asked_.snapshots.begin(), asked_.snapshots.end());
  for (const auto& [id, key] : keys_.all()) out.insert(id);
  for (const Part& part : parts_) {
    const bool bytes = part.attestation() != nullptr || part.claim() != nullptr;
    if (bytes && part.object == nullptr) out.insert(part.entry.content.digest);
    if (part.envelope && !part.key_statement()) out.insert(part.envelope->id());
  }
  return out;
}

// ---- chains ----

// Whether each entry has a reason to be there. A file that may hold more than it needs could hold
// what a reader takes for proved to be of importance.
Finding Judge::check_needed() const {
  const std::set<Digest> needed = subjects();
  const auto unneeded = [](const Part& part) {
    return broken("UNNEEDED_ENTRY",
                  entry_name(part.index) + " is nothing that the level of the run depends on");
  };
  for (const Part& part : parts_) {
    const Digest& content = part.entry.content.digest;
    if (const ManifestEntry* claim = part.claim()) {
      if (claim->subject != bundle_.subject && !asked_.subjects.contains(claim->subject)) {
        return unneeded(part);
      }
    } else if (const AttestationEntry* body = part.attestation()) {
      const bool calibration =
          part.says<Calibration>() != nullptr && asked_.runners.contains(body->subject);
      if (part.says<ImportStatement>() == nullptr && !calibration &&
          (!part.entry.on_chain() || !needed.contains(body->subject))) {
        return unneeded(part);
      }
    } else if (std::holds_alternative<SnapshotEntry>(part.entry.body)) {
      if (!asked_.snapshots.contains(content)) return unneeded(part);
    } else if (!asked_.artifacts.contains(content)) {
      return unneeded(part);
    }
  }
  for (const std::string& artifact : bundle_.artifacts) {
    if (asked_.bytes.contains(sha256(artifact))) continue;
    return broken("UNNEEDED_OBJECT", "nothing that the level depends on reads the artifact " +
                                         sha256(artifact).text());
  }
  return holds({});
}

Finding Judge::check_previous(const Digest& subject) const {
  std::optional<std::uint64_t> before;
  for (const Part* entry : chain(subject)) {
    if (entry->entry.previous() != before) {
      return broken("CHAIN_BROKEN",
                    entry_name(entry->index) + " follows " + index_text(entry->entry.previous()) +
                        " about " + subject.text() + ", in the file stands " + index_text(before));
    }
    before = entry->index;
  }
  return holds({});
}

Finding Judge::check_chains() {
  if (Finding finding = check_needed(); !finding.ok) return finding;
  const std::set<Digest> all = subjects();
  std::size_t chains = 0;
  for (const Digest& subject : all) {
    if (Finding finding = check_previous(subject); !finding.ok) return finding;
    if (!chain(subject).empty()) ++chains;
  }
  return holds("whole: " + counted(chains, "chain", "chains") + ", of " +
               counted(all.size(), "subject", "subjects") + " that the level depends on");
}

Finding Judge::check_heads() {
  if (!status_said_) return holds("not stated: currency unknown", "CURRENCY_UNKNOWN");
  const auto& heads = std::get<StatusStatement>(status_said_->predicate).heads;
  const std::set<Digest> all = subjects();
  for (const Digest& subject : all) {
    const std::vector<const Part*>& entries = chain(subject);
    std::optional<std::uint64_t> last;
    if (!entries.empty()) last = entries.back()->index;
    const auto said = heads.find(subject);
    const std::optional<std::uint64_t> stated =
        said == heads.end() ? std::nullopt : std::optional(said->second);
    if (stated == last) continue;
    return broken("HEAD_DIFFERS", "the status says that the last entry about " + subject.text() +
                                      " is " + index_text(stated) + ", in the file it is " +
                                      index_text(last));
  }
  for (const auto& [subject, index] : heads) {
    if (all.contains(subject)) continue;
    return broken("HEAD_NOT_NEEDED",
                  "the status names " + subject.text() + ", on which the level does not depend");
  }
  complete_ = true;
  return holds("nothing was left out up to size " + std::to_string(head().size) + "; the run has " +
               counted(notes_, "note", "notes"));
}

// ---- standing ----

// The reason that the attestation at an entry gives.
std::string Judge::reason_of(std::uint64_t index) const {
  const Part* said = part(index);
  std::string reason;
  if (const auto* retraction = said->says<Retraction>()) reason = retraction->reason;
  if (const auto* withdrawal = said->says<Withdrawal>()) {
    reason = withdrawal->state + ": " + withdrawal->reason;
  }
  if (const auto* dispute = said->says<Dispute>()) reason = dispute->reason;
  if (const auto* supersession = said->says<Supersession>()) {
    reason = supersession->by.text() + ": " + supersession->reason;
  }
  return entry_name(index) + (reason.empty() ? "" : ", " + reason);
}

Finding Judge::check_standing() {
  for (const Digest& subject : subjects()) {
    const SubjectJudgement* said = judgements_.find(subject);
    if (said == nullptr || !said->cannot_judge) continue;
    return broken("CANNOT_JUDGE",
                  "on the chain of " + subject.text() + " stands what this program cannot read");
  }
  const SubjectJudgement* said = judgements_.find(bundle_.subject);
  if (said == nullptr) return holds("nothing that counts was said against it");
  if (said->retracted()) {
    return broken("RETRACTED", "retracted by " + reason_of(said->retractions.front()));
  }
  for (std::size_t i = 0; i < said->withdrawals.size(); ++i) {
    // Only the source whose number it is can withdraw it.
    if (said->withdrawn_ids[i].starts_with(std::string(row_.source) + ":")) {
      return broken("WITHDRAWN", "withdrawn by its source: " + reason_of(said->withdrawals[i]));
    }
  }
  if (!said->disputes.empty()) {
    return holds("disputed by " + reason_of(said->disputes.front()), "DISPUTED");
  }
  if (!said->successors.empty()) {
    return holds("superseded by " + reason_of(said->successors.front().index) +
                     " (whether the successor stands is not in the file)",
                 "SUPERSEDED");
  }
  return holds("nothing that counts was said against it");
}

// ---- level ----

Finding Judge::check_level() {
  EvidenceFacts facts = facts_;
  for (const Digest& subject : subjects()) {
    const SubjectJudgement* said = judgements_.find(subject);
    facts.cannot_judge |= said != nullptr && said->cannot_judge;
  }
  evidence_ = evidence_v1(facts);
  std::string reasons;
  for (const LevelReason reason : evidence_.reasons) {
    reasons += (reasons.empty() ? "" : " ") + std::string(reason_name(reason));
  }
  const std::string detail = std::string(level_name(evidence_.level)) + " by " +
                             std::string(kEvidencePolicy) + ", as of size " +
                             std::to_string(head().size) + ": " + reasons;
  return evidence_.level == Level::none ? broken("NO_LEVEL", detail) : holds(detail);
}

void Judge::describe(BundleVerdict& verdict) const {
  verdict.subject = bundle_.subject;
  verdict.as_of = head();
  verdict.origin = checkpoint_.checkpoint.origin;
  verdict.ledger_id = ledger_id_;
  verdict.comparison_key = row_.group;
  verdict.level = evidence_.level;
  verdict.reasons = evidence_.reasons;
  if (complete_) verdict.complete_to = head().size;
  verdict.witnessed_at = quorum_time_;
}

}  // namespace kernelindex::bundles
