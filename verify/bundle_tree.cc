// SPDX-License-Identifier: Apache-2.0
// The tree: its signed checkpoint, and what lies in it.
#include <algorithm>
#include <map>
#include <set>

#include "ledger/run_evidence.h"
#include "verify/bundle_judge.h"

namespace kernelindex::bundles {
namespace {

std::string failed(const ProofVerdict& verdict) {
  return verdict.detail + " (" + std::string(verdict.code) + ")";
}

}  // namespace

// ---- the checkpoint ----

Finding Judge::check_checkpoint() {
  if (checkpoint_.checkpoint.origin != origin_) {
    return broken("ORIGIN_MISMATCH", "the checkpoint is of the origin " +
                                         checkpoint_.checkpoint.origin + ", entry 0 founds " +
                                         origin_);
  }
  std::vector<VerifierKey> all;
  std::vector<VerifierKey> valid;
  for (const auto& [id, key] : keys_.all()) {
    if (key.role != Role::log) continue;
    all.push_back(log_verifier_key(origin_, key.key));
    if (key.valid_at(head().size)) valid.push_back(all.back());
  }
  // A line of a key that was replaced may stand there, around the change, and then it is a true
  // one.
  for (const auto& keys : {all, valid}) {
    const CheckpointVerdict verdict = verify_checkpoint(checkpoint_, keys);
    if (!verdict.ok()) {
      return broken(
          std::string(verdict.code),
          "by the log keys valid at size " + std::to_string(head().size) + ": " + verdict.detail);
    }
  }
  if (options_.log_key) {
    const VerifierKey& pinned = *options_.log_key;
    if (std::ranges::find(valid, pinned) == valid.end()) {
      return broken("OTHER_LOG_KEY", "the pinned key " + pinned.text() +
                                         " is no log key that entries of the file enrol");
    }
    const CheckpointVerdict verdict = verify_checkpoint(checkpoint_, std::span(&pinned, 1));
    if (!verdict.ok()) return broken(std::string(verdict.code), verdict.detail);
  }
  return holds("size " + std::to_string(head().size) + ", root " + head().root.text() +
               ", signed by a log key valid there");
}

// ---- inclusion and consistency ----

Finding Judge::check_inclusion() {
  questions_.size = head().size;
  KnownLeaves known;
  std::set<std::uint64_t> seen;
  const auto see = [&](const std::optional<Binding>& binding) {
    if (!binding || !binding->seen) return;
    const std::uint64_t size = binding->seen->size;
    if (size > 0 && size <= head().size) seen.insert(size);
  };
  for (const Part& part : parts_) {
    if (part.index >= head().size) {
      return broken("INDEX_OUT_OF_RANGE", entry_name(part.index) + " is not in a tree of size " +
                                              std::to_string(head().size));
    }
    questions_.leaves.push_back(part.index);
    known.emplace(part.index, part.hash);
    see(part.binding);
  }
  if (status_said_) see(status_said_->binding);
  questions_.older.assign(seen.begin(), seen.end());
  Result<SharedNodes> nodes = SharedNodes::make(questions_, std::move(known), bundle_.nodes);
  if (!nodes) return broken("the proofs", nodes.error());
  nodes_ = std::move(*nodes);
  for (const Part& part : parts_) {
    const Result<Proof> proof = prove_inclusion(part.index, head().size, *nodes_);
    if (!proof) return broken(entry_name(part.index), proof.error());
    const ProofVerdict verdict = verify_inclusion(part.hash, part.index, head(), *proof);
    if (!verdict.ok()) {
      return broken(
          std::string(verdict.code),
          entry_name(part.index) + " is not in the tree of the checkpoint: " + failed(verdict));
    }
  }
  return holds("leaves of this tree: " + counted(parts_.size(), "entry", "entries"));
}

Finding Judge::check_seen() {
  std::set<std::uint64_t> trees;
  const auto check = [&](const std::string& name, const TreeHead& seen,
                         std::uint64_t most) -> Finding {
    if (seen.size > most) {
      return broken("SEEN_IN_FUTURE",
                    name + " says that its signer saw a tree of size " + std::to_string(seen.size));
    }
    Result<Proof> proof = Proof();
    if (seen.size > 0) proof = prove_consistency(seen.size, head().size, *nodes_);
    if (!proof) return broken(name, proof.error());
    const ProofVerdict verdict = verify_consistency(seen, head(), *proof);
    if (!verdict.ok()) {
      return broken(
          "FORK_SEEN",
          name + " says that its signer saw a tree that this log never had: " + failed(verdict));
    }
    trees.insert(seen.size);
    return holds({});
  };
  for (const Part& part : parts_) {
    if (!part.binding || !part.binding->seen) continue;
    if (Finding finding = check(entry_name(part.index), *part.binding->seen, part.index);
        !finding.ok) {
      return finding;
    }
  }
  if (status_said_ && status_said_->binding.seen) {
    if (Finding finding = check("the status", *status_said_->binding.seen, head().size);
        !finding.ok) {
      return finding;
    }
  }
  return holds("prefixes of this tree, as signers saw them: " +
               counted(trees.size(), "tree", "trees"));
}

// ---- imports ----

// That each claim is the leaf at its place of the range that the importer signed.
Finding Judge::check_range(const Part& import, const std::vector<const Part*>& claims) const {
  const ImportStatement& says = *import.says<ImportStatement>();
  const std::string name = entry_name(import.index) + ", an import statement";
  TreeQuestions questions{says.end - says.first, {}, {}};
  KnownLeaves known;
  for (const Part& part : parts_) {
    if (part.index < says.first || part.index >= says.end) continue;
    known.emplace(part.index - says.first, part.hash);
  }
  for (const Part* claim : claims) questions.leaves.push_back(claim->index - says.first);
  Result<SharedNodes> nodes = SharedNodes::make(questions, std::move(known), import.range);
  if (!nodes) return broken(name, nodes.error());
  for (const Part* claim : claims) {
    const std::uint64_t place = claim->index - says.first;
    const Result<Proof> proof = prove_inclusion(place, questions.size, *nodes);
    if (!proof) return broken(name, proof.error());
    const ProofVerdict verdict =
        verify_inclusion(claim->hash, place, {questions.size, says.leaves}, *proof);
    if (verdict.ok()) continue;
    return broken("IMPORT_LEAVES", name + " signs other leaves than " + entry_name(claim->index) +
                                       ": " + failed(verdict));
  }
  return holds({});
}

// Whether an entry of the file says, before this index, where the bytes came from.
bool Judge::snapshot_before(const Digest& snapshot, std::uint64_t index) const {
  return std::ranges::any_of(parts_, [&](const Part& part) {
    return part.index < index && part.entry.content.digest == snapshot &&
           std::holds_alternative<SnapshotEntry>(part.entry.body);
  });
}

Finding Judge::check_imports() {
  std::map<const Part*, std::vector<const Part*>> claims;  // by the statement that covers them
  for (const ImportRange& range : imports_) claims[part(range.index)];
  std::size_t covered = 0;
  for (const Part& part : parts_) {
    const ManifestEntry* claim = part.claim();
    if (claim == nullptr) continue;
    const ImportRange* range = import_over(imports_, part.index, head().size);
    if (range == nullptr) {
      return broken("CLAIM_NOT_COVERED",
                    "no import statement in the file covers " + entry_name(part.index));
    }
    const Part* import = this->part(range->index);
    const std::vector<Digest>& snapshots = import->says<ImportStatement>()->snapshots;
    if (claim->snapshot && std::ranges::find(snapshots, *claim->snapshot) == snapshots.end()) {
      return broken("SNAPSHOT_NOT_NAMED", entry_name(part.index) +
                                              " was read from a snapshot that its import "
                                              "statement, " +
                                              entry_name(import->index) + ", does not name");
    }
    if (claim->subject == bundle_.subject && claim->snapshot &&
        !snapshot_before(*claim->snapshot, part.index)) {
      return broken("SNAPSHOT_NOT_RECORDED", "no entry of the file records the snapshot " +
                                                 claim->snapshot->text() + " of " +
                                                 entry_name(part.index));
    }
    claims[import].push_back(&part);
    ++covered;
  }
  for (const auto& [import, theirs] : claims) {
    const std::string name = entry_name(import->index) + ", an import statement,";
    if (theirs.empty()) return broken("UNNEEDED_ENTRY", name + " covers no claim of the file");
    if (import->says<ImportStatement>()->end != import->index) {
      return broken("IMPORT_RANGE", name + " does not cover what it follows");
    }
    if (Finding finding = check_range(*import, theirs); !finding.ok) return finding;
  }
  return holds("in ranges of leaves that importers signed: " + counted(covered, "claim", "claims") +
               claim_words());
}

// Who says the run, and from which bytes: its first claims.
std::string Judge::claim_words() const {
  constexpr std::size_t kMost = 3;
  std::string out;
  std::size_t told = 0;
  for (const Part* entry : chain(bundle_.subject)) {
    const ManifestEntry* claim = entry->claim();
    if (claim == nullptr || told == kMost) continue;
    ++told;
    out += "; the run by " + claim->source + (claim->via.empty() ? "" : " via " + claim->via) +
           " at " + entry_name(entry->index);
    const SnapshotEntry* snapshot = nullptr;  // the last one before the claim
    for (const Part& part : parts_) {
      if (part.index >= entry->index) break;
      const auto* body = std::get_if<SnapshotEntry>(&part.entry.body);
      if (claim->snapshot && body != nullptr && part.entry.content.digest == *claim->snapshot) {
        snapshot = body;
      }
    }
    if (snapshot == nullptr) continue;
    out += " from " + snapshot->locator +
           (snapshot->acquired == "supplied" ? ", supplied as a file" : ", fetched");
  }
  return out;
}

// ---- witnesses ----

Finding Judge::check_witnesses() {
  if (!options_.witness_policy || !options_.witness_policy->needs_witnesses()) {
    return holds("split view not excluded: no witness policy asks for cosignatures",
                 "SPLIT_VIEW_NOT_EXCLUDED");
  }
  std::vector<VerifierKey> logs;
  for (const auto& [id, key] : keys_.all()) {
    if (key.role == Role::log) logs.push_back(log_verifier_key(origin_, key.key));
  }
  const PolicyVerdict verdict = options_.witness_policy->with_logs(logs).check(checkpoint_);
  if (!verdict.ok()) {
    return broken(std::string(verdict.code), "split view not excluded: " + verdict.detail);
  }
  quorum_time_ = verdict.quorum_time;
  return holds("a quorum of the reader's witnesses cosigned the checkpoint");
}

}  // namespace kernelindex::bundles
