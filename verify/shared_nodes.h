// SPDX-License-Identifier: Apache-2.0
// The hashes that many proofs of one tree share, each kept once.
//
// A path of RFC 6962 is made of hashes of subtrees, and ledger/proof.h makes it from those of
// perfect subtrees alone: the right edge is recomputed. So a file need not hold paths. It holds the
// perfect subtrees that all of its paths ask for, by level and then by index, without those that
// follow from the leaves in the file; which these are follows from the questions. Whoever checks
// makes each path again and gives it to verify_inclusion() or verify_consistency(), so that nothing
// here needs to be believed.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "ledger/merkle.h"
#include "ledger/proof.h"
#include "schema/result.h"

namespace kernelindex {

// What is to be proved of one tree.
struct TreeQuestions {
  std::uint64_t size = 0;             // of the tree
  std::vector<std::uint64_t> leaves;  // indexes below it: inclusion
  std::vector<std::uint64_t> older;   // sizes in 1..size: consistency
};

// Leaves whose bytes stand in the file, by index.
using KnownLeaves = std::map<std::uint64_t, LeafHash>;

// A perfect subtree: [index * 2^level, (index + 1) * 2^level).
struct NodePlace {
  unsigned level = 0;
  std::uint64_t index = 0;

  auto operator<=>(const NodePlace&) const = default;
};

// The places whose hashes the file must hold, in their order. Errors: those of prove_inclusion()
// and prove_consistency().
Result<std::vector<NodePlace>> needed_nodes(const TreeQuestions& questions,
                                            const KnownLeaves& known);

// Gives proofs the hashes that a file holds or that follow from its leaves.
class SharedNodes final : public NodeSource {
 public:
  // Error NODE_COUNT (kind invalid) unless there are exactly as many hashes as are needed.
  static Result<SharedNodes> make(const TreeQuestions& questions, KnownLeaves known,
                                  std::span<const Digest> hashes);

  // Error NODE_NOT_HELD (kind invalid) for what no question asked for.
  Result<Digest> node(unsigned level, std::uint64_t index) override;

 private:
  explicit SharedNodes(KnownLeaves known) : known_(std::move(known)) {}

  KnownLeaves known_;
  std::map<NodePlace, Digest> held_;  // given, or computed before
};

// A range of leaves that are all at hand, as a tree of its own.
class LeafNodes final : public NodeSource {
 public:
  explicit LeafNodes(std::span<const LeafHash> leaves) : leaves_(leaves) {}
  // Error NODE_NOT_HELD for a subtree that is not inside.
  Result<Digest> node(unsigned level, std::uint64_t index) override;

 private:
  std::span<const LeafHash> leaves_;
};

}  // namespace kernelindex
