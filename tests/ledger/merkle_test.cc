// SPDX-License-Identifier: Apache-2.0
#include "ledger/merkle.h"

#include <gtest/gtest.h>

#include <vector>

#include "ledger/vectors.h"
#include "support/corpus.h"
#include "support/merkle_reference.h"

namespace kernelindex {
namespace {

TEST(Merkle, EmptyTreeHasTheHashOfNothing) {
  EXPECT_EQ(empty_root().hex(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(CompactRange().root(), empty_root());
  EXPECT_EQ(range_root({}), empty_root());
}

TEST(Merkle, KnownAnswers) {
  KERNELINDEX_REQUIRE_CORPUS();
  const test::Vectors vectors = test::load_vectors("rfc6962/known_answers.json");
  EXPECT_EQ(empty_root(), test::hex_digest(*vectors.root.find("empty_root")));
  for (const json::Value& item : vectors.cases("leaf_hash")) {
    EXPECT_EQ(leaf_hash(from_hex(item.text("data")).value()).digest().hex(), item.text("hash"));
  }
  for (const json::Value& item : vectors.cases("node_hash")) {
    if (item.text("left").size() != 64) continue;  // one case is over 4-byte strings
    EXPECT_EQ(
        node_hash(test::hex_digest(*item.find("left")), test::hex_digest(*item.find("right"))),
        test::hex_digest(*item.find("hash")));
  }
  CompactRange range;
  const auto roots = vectors.cases("roots_by_size");
  EXPECT_EQ(range.root(), test::hex_digest(roots[0]));
  const auto inputs = vectors.cases("leaf_inputs");
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    range.append(leaf_hash(from_hex(inputs[i].string()).value()));
    EXPECT_EQ(range.root(), test::hex_digest(roots[i + 1])) << "size " << i + 1;
  }
}

TEST(Merkle, RootsOfAllSizesAreThoseOfTheRecursion) {
  test::reference::List list;
  CompactRange range;
  for (std::uint64_t size = 0; size <= 300; ++size) {
    EXPECT_EQ(range.size(), size);
    EXPECT_EQ(range.root(), test::reference::mth(list)) << "size " << size;
    list.push_back(test::entry(size));
    range.append(leaf_hash(list.back()));
  }
}

TEST(Merkle, RangeOfALogIsATreeOfItsOwn) {
  std::vector<LeafHash> leaves;
  test::reference::List list;
  for (std::uint64_t i = 0; i < 40; ++i) {
    list.push_back(test::entry(i));
    leaves.push_back(leaf_hash(list.back()));
  }
  for (std::size_t first = 0; first < leaves.size(); ++first) {
    for (std::size_t end = first; end <= leaves.size(); ++end) {
      EXPECT_EQ(range_root(std::span(leaves).subspan(first, end - first)),
                test::reference::mth(test::reference::slice(list, first, end)))
          << first << ".." << end;
    }
  }
}

TEST(Merkle, AppendTellsEachPerfectSubtreeOnce) {
  test::MemoryNodes nodes(70);
  CompactRange range;
  std::size_t told = 0;
  for (std::uint64_t i = 0; i < 70; ++i) {
    range.append(nodes.leaf(i), [&](unsigned level, const Digest& hash) {
      EXPECT_EQ(hash, nodes.node(level, i >> level).value()) << level << " at leaf " << i;
      ++told;
    });
  }
  EXPECT_EQ(told, 70u + 35 + 17 + 8 + 4 + 2 + 1);
}

TEST(Merkle, ResumesFromItsSubtreesAtEverySize) {
  test::MemoryNodes nodes(140);
  for (std::uint64_t size = 0; size <= 130; ++size) {
    std::vector<Digest> subtrees;
    std::uint64_t start = 0;
    for (unsigned level = 64; level-- > 0;) {
      if ((size >> level & 1) == 0) continue;
      subtrees.push_back(nodes.node(level, start >> level).value());
      start += std::uint64_t{1} << level;
    }
    Result<CompactRange> range = CompactRange::resume(size, subtrees);
    ASSERT_TRUE(range.has_value());
    EXPECT_EQ(range->root(), tree_root(size, nodes).value());
    range->append(nodes.leaf(size));
    EXPECT_EQ(range->root(), tree_root(size + 1, nodes).value());
    // One hash too many or too few is noticed, not used.
    subtrees.push_back(empty_root());
    EXPECT_EQ(CompactRange::resume(size, subtrees).error().code, "BAD_FRONTIER");
  }
  EXPECT_EQ(CompactRange::resume(std::uint64_t{1} << 63, std::vector<Digest>(1)).error().code,
            "BAD_FRONTIER");
  EXPECT_TRUE(CompactRange::resume(limits::kTreeSize, std::vector<Digest>(63)).has_value());
}

}  // namespace
}  // namespace kernelindex
