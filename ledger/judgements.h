// SPDX-License-Identifier: Apache-2.0
// What was said on chains, judged: which attestations count as of a size of the log, and what
// follows from them for what they are about. Pure: facts and keys in, judgements out, so that a
// ledger and a bundle judge alike. DESIGN sections 5 to 7.
//
// An attestation counts when its signer was enrolled for it and is not void there, and when no
// counting retraction takes it back. A retraction stands after what it retracts, so that one pass
// from the newest to the oldest decides.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ledger/chain_fact.h"
#include "ledger/key_book.h"
#include "schema/digest.h"

namespace kernelindex {

// Of one subject. Lists hold indexes of entries that count, in order.
struct SubjectJudgement {
  std::vector<std::uint64_t> retractions;
  std::vector<std::uint64_t> disputes;  // open ones: not dismissed
  std::vector<std::uint64_t> withdrawals;
  struct Successor {
    std::uint64_t index = 0;
    Digest by;
  };
  std::vector<Successor> successors;
  // External ids "source:id" that a source withdrew, of `withdrawals`.
  std::vector<std::string> withdrawn_ids;
  bool withheld = false;
  // Something stands on its chain that this program cannot read.
  bool cannot_judge = false;

  bool retracted() const { return !retractions.empty(); }
};

class Judgements {
 public:
  Judgements() = default;
  // Of the facts below `size`. Requires: `facts` in order of index.
  Judgements(std::span<const ChainFact> facts, const KeyBook& keys, std::uint64_t size);

  // Null when nothing that counts was said of it: of nearly all subjects.
  const SubjectJudgement* find(const Digest& subject) const;
  bool retracted(const Digest& subject) const;
  // Whether the attestation at an entry counts; false for one that has no fact.
  bool counts(std::uint64_t index) const { return counting_.contains(index); }
  // Objects whose bytes are to be gone, in no order.
  const std::vector<Digest>& withheld() const { return withheld_; }

 private:
  std::unordered_map<Digest, SubjectJudgement> subjects_;
  std::unordered_set<std::uint64_t> counting_;
  std::vector<Digest> withheld_;
};

}  // namespace kernelindex
