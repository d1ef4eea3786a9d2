// SPDX-License-Identifier: Apache-2.0
// Import statements against the log: the leaves that they sign, and that each claim has one.
#include <algorithm>

#include "verify/audit_passes.h"

namespace kernelindex::auditing {
namespace {

// The leaves of [first, end) give the hash that was signed; a range that was cut elsewhere does
// not.
void check_leaves(AuditState& state, const ImportFact& import) {
  CompactRange range;
  for (std::uint64_t index = import.says.first; index < import.says.end; ++index) {
    const LeafFact* fact = state.leaf(index);
    if (fact == nullptr) return;
    range.append(fact->hash);
  }
  if (range.root() == import.says.leaves) return;
  state.faults.add(at_entry(import.index), "IMPORT_LEAVES",
                   entry_name(import.index) + " signs other leaves than [" +
                       std::to_string(import.says.first) + ", " + std::to_string(import.says.end) +
                       ") of this log",
                   range.root().text(), import.says.leaves.text());
}

void check_counts(AuditState& state, const ImportFact& import) {
  std::map<std::string, std::int64_t, std::less<>> found = {
      {"manifests", 0}, {"snapshots", 0}, {"artifacts", 0}};
  for (std::uint64_t index = import.says.first; index < import.says.end; ++index) {
    const LeafFact* fact = state.leaf(index);
    if (fact == nullptr || fact->type == LeafType::unreadable) return;
    if (fact->type == LeafType::manifest) ++found["manifests"];
    if (fact->type == LeafType::snapshot) ++found["snapshots"];
    if (fact->type == LeafType::artifact) ++found["artifacts"];
    if (fact->type == LeafType::manifest && fact->has_snapshot &&
        std::ranges::find(import.says.snapshots, fact->snapshot) == import.says.snapshots.end()) {
      state.faults.add(about(index, fact->snapshot), "SNAPSHOT_NOT_NAMED",
                       entry_name(index) + " was read from a snapshot that " +
                           entry_name(import.index) + " does not name");
    }
  }
  for (const auto& [name, count] : found) {
    const auto said = import.says.counts.find(name);
    if (said == import.says.counts.end() || said->second == count) continue;
    state.faults.add(at_entry(import.index), "IMPORT_COUNTS",
                     entry_name(import.index) + " counts its " + name + " wrongly",
                     std::to_string(count), std::to_string(said->second));
  }
}

// Each claim lies in exactly one range.
void check_coverage(AuditState& state) {
  // How often each entry is covered, as steps up and down.
  std::map<std::uint64_t, int> steps;
  for (const ImportFact& import : state.imports) {
    ++steps[import.says.first];
    --steps[import.says.end];
  }
  int depth = 0;
  auto step = steps.begin();
  for (const LeafFact& fact : state.leaves) {
    for (; step != steps.end() && step->first <= fact.index; ++step) depth += step->second;
    if (fact.type != LeafType::manifest || fact.index < state.first_audited()) continue;
    if (depth == 0) {
      state.faults.add(about(fact.index, fact.subject), "NOT_COVERED",
                       "no import statement covers " + entry_name(fact.index));
    } else if (depth > 1) {
      state.faults.add(about(fact.index, fact.subject), "COVERED_TWICE",
                       "several import statements cover " + entry_name(fact.index), "1",
                       std::to_string(depth));
    }
  }
}

}  // namespace

void check_imports(AuditState& state) {
  std::vector<const ImportFact*> apart;
  std::uint64_t covered = 0;
  for (const ImportFact& import : state.imports) {
    // Ranges that overlap are told by check_coverage(); hashing all of them could take for ever.
    if (import.says.first < covered) continue;
    covered = import.says.end;
    apart.push_back(&import);
  }
  state.workers.run(apart.size(), [&](std::size_t number, unsigned) {
    check_leaves(state, *apart[number]);
    check_counts(state, *apart[number]);
  });
  check_coverage(state);
}

}  // namespace kernelindex::auditing
