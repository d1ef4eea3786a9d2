// SPDX-License-Identifier: Apache-2.0
// Chains: what each entry says came before it, and the rows of subjects with several claims.
#include <algorithm>

#include "ledger/key_layout.h"
#include "verify/audit_passes.h"

namespace kernelindex::auditing {
namespace {

std::string index_text(std::uint64_t index) {
  return index == kNone ? "null" : std::to_string(index);
}

// Entries with a subject, grouped by it and in order.
std::vector<const LeafFact*> by_subject(const AuditState& state) {
  // The front of each digest lies beside its place, so that sorting seldom looks elsewhere.
  std::vector<std::pair<std::uint64_t, const LeafFact*>> entries;
  entries.reserve(state.leaves.size());
  for (const LeafFact& fact : state.leaves) {
    if (fact.type == LeafType::manifest || fact.type == LeafType::attestation) {
      entries.emplace_back(key_layout::from_big_endian(fact.subject.raw()), &fact);
    }
  }
  std::ranges::sort(entries, [](const auto& a, const auto& b) {
    if (a.first != b.first) return a.first < b.first;
    return a.second->subject != b.second->subject ? a.second->subject < b.second->subject
                                                  : a.second->index < b.second->index;
  });
  std::vector<const LeafFact*> out;
  out.reserve(entries.size());
  for (const auto& [front, fact] : entries) out.push_back(fact);
  return out;
}

// Requires: `before` is the last earlier entry of the subject on its chain, or kNone.
void check_previous(AuditState& state, const LeafFact& fact, std::uint64_t before) {
  if (fact.previous == before || fact.index < state.first_audited()) return;
  // An entry that cannot be read may be the one.
  if (fact.previous != kNone && fact.previous < fact.index) {
    const LeafFact* named = state.leaf(fact.previous);
    if (named == nullptr || named->type == LeafType::unreadable) return;
  }
  state.faults.add(about(fact.index, fact.subject), "PREVIOUS_MISMATCH",
                   entry_name(fact.index) + " says another previous entry of its subject",
                   index_text(before), index_text(fact.previous));
}

void add_claim(AuditState& state, const LeafFact& fact) {
  if (state.subjects.empty() || state.subjects.back().subject != fact.subject) {
    state.subjects.push_back({fact.subject, fact.kind, {}, true});
  }
  SubjectFact& subject = state.subjects.back();
  subject.claims.push_back(fact.index);
  subject.sound = subject.sound && fact.sound && fact.kind == subject.kind;
}

// Makes the rows of the subjects that several claims are about.
void fold_several(AuditState& state) {
  std::vector<const SubjectFact*> several;
  for (const SubjectFact& subject : state.subjects) {
    if (subject.claims.size() > 1 && subject.sound) several.push_back(&subject);
  }
  std::vector<std::shared_ptr<const SubjectRow>> rows(several.size());
  state.workers.run(several.size(), [&](std::size_t number, unsigned worker) {
    const SubjectFact& subject = *several[number];
    rows[number] = fold_subject(state, subject);
    if (rows[number] == nullptr) return;
    state.subject_rows.expect(worker, key_layout::subject(subject.subject),
                              encode_row(*rows[number]), subject.claims.back(), true);
  });
  for (std::size_t i = 0; i < several.size(); ++i) {
    const auto held = state.rows.find(several[i]->subject);
    if (held != state.rows.end() && rows[i] != nullptr) held->second = std::move(rows[i]);
  }
}

}  // namespace

std::shared_ptr<const SubjectRow> fold_subject(const AuditState& state,
                                               const SubjectFact& subject) {
  auto row = std::make_shared<SubjectRow>();
  for (const std::uint64_t index : subject.claims) {
    const Result<Entry> entry = state.reader.entry(index);
    if (!entry) return nullptr;
    const auto* claim = std::get_if<ManifestEntry>(&entry->body);
    const ObjectFact* object = state.objects.find(entry->content.digest);
    if (claim == nullptr || object == nullptr) return nullptr;
    if (object->manifest == nullptr && !object->withheld) return nullptr;
    const bool supplied = claim->snapshot ? state.supplied(*claim->snapshot, index) : true;
    fold_claim(*row, index, *entry, supplied, object->manifest.get());
  }
  return row->claims.empty() ? nullptr : row;
}

void check_chains(AuditState& state) {
  std::optional<Digest> current;
  std::uint64_t before = kNone;
  for (const LeafFact* fact : by_subject(state)) {
    if (current != fact->subject) {
      current = fact->subject;
      before = kNone;
    }
    check_previous(state, *fact, before);
    if (fact->on_chain) before = fact->index;
    if (fact->type == LeafType::manifest) add_claim(state, *fact);
  }
  if (!state.options.since) fold_several(state);
}

}  // namespace kernelindex::auditing
