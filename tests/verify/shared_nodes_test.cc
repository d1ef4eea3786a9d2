// SPDX-License-Identifier: Apache-2.0
// Proofs from shared hashes are those of RFC 6962, and need no hash that the leaves give.
#include "verify/shared_nodes.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>

namespace kernelindex::test {
namespace {

std::vector<LeafHash> make_leaves(std::uint64_t count) {
  std::vector<LeafHash> out;
  for (std::uint64_t i = 0; i < count; ++i) out.push_back(leaf_hash("leaf " + std::to_string(i)));
  return out;
}

struct Shared {
  TreeQuestions questions;
  KnownLeaves known;
  std::vector<Digest> hashes;
};

Shared share(const std::vector<LeafHash>& leaves, const std::vector<std::uint64_t>& indexes,
             const std::vector<std::uint64_t>& older) {
  Shared out{{leaves.size(), indexes, older}, {}, {}};
  for (const std::uint64_t index : indexes) out.known.emplace(index, leaves[index]);
  LeafNodes all(leaves);
  const Result<std::vector<NodePlace>> places = needed_nodes(out.questions, out.known);
  EXPECT_TRUE(places);
  for (const NodePlace& place : *places) {
    out.hashes.push_back(*all.node(place.level, place.index));
  }
  return out;
}

TEST(SharedNodes, GiveTheProofsOfTheWholeTree) {
  std::mt19937_64 random(1);
  for (const std::uint64_t size : {1, 2, 3, 7, 8, 9, 64, 100, 255, 256, 257}) {
    const std::vector<LeafHash> leaves = make_leaves(size);
    const TreeHead head{size, range_root(leaves)};
    std::set<std::uint64_t> picked;
    for (int i = 0; i < 6; ++i) picked.insert(random() % size);
    std::set<std::uint64_t> older = {1 + random() % size, size};
    const Shared shared =
        share(leaves, {picked.begin(), picked.end()}, {older.begin(), older.end()});
    Result<SharedNodes> nodes = SharedNodes::make(shared.questions, shared.known, shared.hashes);
    ASSERT_TRUE(nodes);
    LeafNodes all(leaves);
    for (const std::uint64_t index : picked) {
      const Result<Proof> proof = prove_inclusion(index, size, *nodes);
      ASSERT_TRUE(proof);
      EXPECT_EQ(*proof, *prove_inclusion(index, size, all));
      EXPECT_TRUE(verify_inclusion(leaves[index], index, head, *proof).ok());
    }
    for (const std::uint64_t before : older) {
      const Result<Proof> proof = prove_consistency(before, size, *nodes);
      ASSERT_TRUE(proof);
      const TreeHead old_head{before, range_root(std::span(leaves).first(before))};
      EXPECT_TRUE(verify_consistency(old_head, head, *proof).ok());
    }
  }
}

TEST(SharedNodes, NeedNoHashWhenAllLeavesAreThere) {
  const std::vector<LeafHash> leaves = make_leaves(37);
  std::vector<std::uint64_t> all;
  for (std::uint64_t i = 0; i < leaves.size(); ++i) all.push_back(i);
  EXPECT_TRUE(share(leaves, all, {20}).hashes.empty());
}

TEST(SharedNodes, TwoNeighboursNeedOneHashFewerThanOneAlone) {
  const std::vector<LeafHash> leaves = make_leaves(64);
  EXPECT_EQ(share(leaves, {10}, {}).hashes.size(), 6u);
  EXPECT_EQ(share(leaves, {10, 11}, {}).hashes.size(), 5u);
}

TEST(SharedNodes, TakeExactlyTheHashesThatAreNeeded) {
  const std::vector<LeafHash> leaves = make_leaves(64);
  Shared shared = share(leaves, {10}, {});
  shared.hashes.pop_back();
  EXPECT_EQ(SharedNodes::make(shared.questions, shared.known, shared.hashes).error().code,
            "NODE_COUNT");
  shared.hashes.resize(7);
  EXPECT_EQ(SharedNodes::make(shared.questions, shared.known, shared.hashes).error().code,
            "NODE_COUNT");
}

TEST(SharedNodes, RefuseQuestionsBeyondTheTree) {
  EXPECT_EQ(needed_nodes({8, {8}, {}}, {}).error().code, "INDEX_OUT_OF_RANGE");
  EXPECT_EQ(needed_nodes({8, {}, {9}}, {}).error().code, "SIZE_OUT_OF_RANGE");
  EXPECT_EQ(needed_nodes({0, {0}, {}}, {}).error().code, "INDEX_OUT_OF_RANGE");
  const std::uint64_t huge = limits::kTreeSize;
  const Result<std::vector<NodePlace>> places = needed_nodes({huge, {0, huge - 1}, {huge - 1}}, {});
  ASSERT_TRUE(places);
  EXPECT_LT(places->size(), 300u);
}

TEST(LeafNodes, GiveNothingBeyondTheirLeaves) {
  const std::vector<LeafHash> leaves = make_leaves(5);
  LeafNodes nodes(leaves);
  EXPECT_TRUE(nodes.node(2, 0));
  EXPECT_FALSE(nodes.node(1, 2));
  EXPECT_FALSE(nodes.node(0, 5));
  EXPECT_FALSE(nodes.node(63, 0));
}

}  // namespace
}  // namespace kernelindex::test
