// SPDX-License-Identifier: Apache-2.0
// Every proof of every small tree, against the recursion of the RFC and the published digests.
#include "ledger/proof.h"

#include <gtest/gtest.h>

#include <random>

#include "ledger/vectors.h"
#include "support/corpus.h"
#include "support/merkle_reference.h"

namespace kernelindex {
namespace {

using test::reference::List;

constexpr std::uint64_t kMost = 130;

List list_of(std::uint64_t size) {
  List list;
  for (std::uint64_t i = 0; i < size; ++i) list.push_back(test::entry(i));
  return list;
}

TreeHead head_of(std::uint64_t size, NodeSource& nodes) {
  return {size, tree_root(size, nodes).value()};
}

Digest flipped(Digest digest, std::size_t bit) {
  digest.bytes[bit / 8] = static_cast<std::uint8_t>(digest.bytes[bit / 8] ^ (1u << bit % 8));
  return digest;
}

// The lines of rfc6962/accumulated.json, hashed as they come.
class Accumulator {
 public:
  void line(std::string text, const Proof& hashes) {
    for (const Digest& hash : hashes) text += " " + hash.hex();
    hasher_.update(text).update("\n");
  }
  std::string finish() { return hasher_.finish().hex(); }

 private:
  Sha256 hasher_;
};

std::string published(std::string_view name) {
  const test::Vectors vectors = test::load_vectors("rfc6962/accumulated.json");
  for (const std::string_view list : {"published", "derived_here"}) {
    for (const json::Value& item : vectors.cases(list)) {
      if (item.text("name") == name) return std::string(item.text("sha256"));
    }
  }
  return {};
}

std::string range_text(std::uint64_t start, std::uint64_t end) {
  return "[" + std::to_string(start) + ", " + std::to_string(end) + ")";
}

TEST(Proof, InclusionOfEveryLeafOfEveryTreeIsThatOfTheRecursion) {
  test::MemoryNodes nodes(kMost);
  for (std::uint64_t size = 1; size <= kMost; ++size) {
    const List list = list_of(size);
    const TreeHead head = head_of(size, nodes);
    EXPECT_EQ(head.root, test::reference::mth(list));
    for (std::uint64_t index = 0; index < size; ++index) {
      const Result<Proof> proof = prove_inclusion(index, size, nodes);
      ASSERT_TRUE(proof.has_value());
      ASSERT_EQ(*proof, test::reference::path(index, list)) << index << " of " << size;
      ASSERT_TRUE(verify_inclusion(nodes.leaf(index), index, head, *proof).ok());
    }
  }
}

TEST(Proof, ConsistencyOfEveryPairOfSizesIsThatOfTheRecursion) {
  test::MemoryNodes nodes(kMost);
  for (std::uint64_t newer = 1; newer <= kMost; ++newer) {
    const List list = list_of(newer);
    const TreeHead head = head_of(newer, nodes);
    for (std::uint64_t older = 1; older <= newer; ++older) {
      const Result<Proof> proof = prove_consistency(older, newer, nodes);
      ASSERT_TRUE(proof.has_value());
      ASSERT_EQ(*proof, test::reference::proof(older, list)) << older << " to " << newer;
      ASSERT_TRUE(verify_consistency(head_of(older, nodes), head, *proof).ok())
          << older << " to " << newer;
    }
  }
}

TEST(Proof, SubtreesOfEveryTreeAreThoseOfTheRecursion) {
  test::MemoryNodes nodes(kMost);
  for (std::uint64_t size = 1; size <= 70; ++size) {
    const List list = list_of(size);
    const TreeHead head = head_of(size, nodes);
    for (std::uint64_t end = 1; end <= size; ++end) {
      for (std::uint64_t start = 0; start < end; ++start) {
        const Subtree subtree{start, end};
        ASSERT_EQ(subtree.valid(), test::reference::valid_subtree(start, end));
        if (!subtree.valid()) continue;
        const Digest root = subtree_root(subtree, nodes).value();
        ASSERT_EQ(root, test::reference::mth(test::reference::slice(list, start, end)));
        const Result<Proof> proof = prove_subtree_consistency(subtree, size, nodes);
        ASSERT_TRUE(proof.has_value());
        ASSERT_EQ(*proof, test::reference::subtree_subproof(start, end, list, true));
        ASSERT_TRUE(verify_subtree_consistency(subtree, root, head, *proof).ok())
            << range_text(start, end) << " in " << size;
      }
    }
  }
}

TEST(Proof, AccumulatedVectorsOfPlainTrees) {
  KERNELINDEX_REQUIRE_CORPUS();
  test::MemoryNodes nodes(kMost);
  Accumulator roots, inclusion, consistency;
  for (std::uint64_t n = 0; n <= kMost; ++n) {
    roots.line(std::to_string(n), {tree_root(n, nodes).value()});
    for (std::uint64_t i = 0; i < n; ++i) {
      inclusion.line(std::to_string(i) + " " + std::to_string(n),
                     prove_inclusion(i, n, nodes).value());
      consistency.line(std::to_string(i + 1) + " " + std::to_string(n),
                       prove_consistency(i + 1, n, nodes).value());
    }
  }
  EXPECT_EQ(roots.finish(), published("tree roots"));
  EXPECT_EQ(inclusion.finish(), published("inclusion proofs"));
  EXPECT_EQ(consistency.finish(), published("consistency proofs"));
}

TEST(Proof, AccumulatedVectorsOfSubtrees) {
  KERNELINDEX_REQUIRE_CORPUS();
  test::MemoryNodes nodes(kMost);
  Accumulator hashes, inclusion, consistency;
  std::vector<std::pair<Subtree, Digest>> roots;  // by end, then start
  for (std::uint64_t end = 0; end <= kMost; ++end) {
    for (std::uint64_t start = 0; start <= end; ++start) {
      const Subtree subtree{start, end};
      if (start == end) {  // the vectors count the subtree that holds nothing; it is none of ours
        EXPECT_FALSE(subtree.valid());
        hashes.line(range_text(start, end), {empty_root()});
        roots.emplace_back(subtree, empty_root());
      }
      if (!subtree.valid()) continue;
      const Digest root = subtree_root(subtree, nodes).value();
      roots.emplace_back(subtree, root);
      hashes.line(range_text(start, end), {root});
      for (std::uint64_t i = start; i < end; ++i) {
        const Proof proof = prove_subtree_inclusion(i, subtree, nodes).value();
        inclusion.line(std::to_string(i) + " " + range_text(start, end), proof);
        ASSERT_TRUE(verify_subtree_inclusion(nodes.leaf(i), i, subtree, root, proof).ok());
      }
    }
  }
  for (std::uint64_t n = 0; n <= kMost; ++n) {
    const TreeHead head = head_of(n, nodes);
    for (const auto& [subtree, root] : roots) {
      if (subtree.end > n) break;
      const Proof proof =
          subtree.valid() ? prove_subtree_consistency(subtree, n, nodes).value() : Proof();
      consistency.line(range_text(subtree.start, subtree.end) + " " + std::to_string(n), proof);
      ASSERT_EQ(verify_subtree_consistency(subtree, root, head, proof).ok(), subtree.valid());
    }
  }
  EXPECT_EQ(hashes.finish(), published("subtree hashes"));
  EXPECT_EQ(inclusion.finish(), published("subtree inclusion proofs"));
  EXPECT_EQ(consistency.finish(), published("subtree consistency proofs"));
}

// A proof with one bit changed, one hash more or less, or for another size or index proves nothing.
TEST(Proof, NothingThatWasChangedHolds) {
  test::MemoryNodes nodes(kMost);
  std::mt19937_64 random(20260829);
  for (std::uint64_t size = 1; size <= 40; ++size) {
    const TreeHead head = head_of(size, nodes);
    for (std::uint64_t index = 0; index < size; ++index) {
      const Proof proof = prove_inclusion(index, size, nodes).value();
      const LeafHash& leaf = nodes.leaf(index);
      for (std::size_t i = 0; i < proof.size(); ++i) {
        Proof changed = proof;
        changed[i] = flipped(changed[i], random() % 256);
        EXPECT_EQ(verify_inclusion(leaf, index, head, changed).code, "ROOT_MISMATCH");
        Proof shorter = proof;
        shorter.erase(shorter.begin() + static_cast<std::ptrdiff_t>(i));
        EXPECT_EQ(verify_inclusion(leaf, index, head, shorter).code, "PROOF_LENGTH");
      }
      Proof longer = proof;
      longer.push_back(head.root);
      EXPECT_EQ(verify_inclusion(leaf, index, head, longer).code, "PROOF_LENGTH");
      for (std::uint64_t other = 0; other < size; ++other) {
        EXPECT_EQ(verify_inclusion(leaf, other, head, proof).ok(), other == index);
      }
      EXPECT_FALSE(verify_inclusion(leaf, index, {size, flipped(head.root, index)}, proof).ok());
    }
    for (std::uint64_t older = 1; older < size; ++older) {
      const TreeHead old_head = head_of(older, nodes);
      const Proof proof = prove_consistency(older, size, nodes).value();
      for (std::size_t i = 0; i < proof.size(); ++i) {
        Proof changed = proof;
        changed[i] = flipped(changed[i], random() % 256);
        EXPECT_FALSE(verify_consistency(old_head, head, changed).ok());
      }
      const ProofVerdict wrong_old =
          verify_consistency({older, flipped(old_head.root, older)}, head, proof);
      EXPECT_FALSE(wrong_old.ok());
      EXPECT_FALSE(verify_consistency(old_head, {size, flipped(head.root, 9)}, proof).ok());
    }
  }
}

// PITFALLS 20: a proof and a checkpoint of different sizes, both valid alone.
TEST(Proof, IsBoundToTheSizeOfItsHead) {
  test::MemoryNodes nodes(9);
  const Proof proof = prove_inclusion(6, 7, nodes).value();
  EXPECT_TRUE(verify_inclusion(nodes.leaf(6), 6, head_of(7, nodes), proof).ok());
  EXPECT_FALSE(verify_inclusion(nodes.leaf(6), 6, head_of(8, nodes), proof).ok());
}

TEST(Proof, RefusesWhatLiesOutsideTheTree) {
  test::MemoryNodes nodes(5);
  const LeafHash leaf = nodes.leaf(0);
  const TreeHead head = head_of(5, nodes);
  for (const std::uint64_t index : {std::uint64_t{5}, std::uint64_t{6}, ~std::uint64_t{0}}) {
    EXPECT_EQ(prove_inclusion(index, 5, nodes).error().code, "INDEX_OUT_OF_RANGE");
    EXPECT_EQ(prove_inclusion(index, 5, nodes).error().kind, ErrorKind::not_found);
    EXPECT_EQ(verify_inclusion(leaf, index, head, {}).code, "INDEX_OUT_OF_RANGE");
  }
  EXPECT_EQ(prove_inclusion(0, 0, nodes).error().code, "INDEX_OUT_OF_RANGE");
  EXPECT_EQ(prove_consistency(0, 5, nodes).error().code, "SIZE_OUT_OF_RANGE");
  EXPECT_EQ(prove_consistency(6, 5, nodes).error().code, "SIZE_OUT_OF_RANGE");
  EXPECT_EQ(prove_subtree_consistency({1, 3}, 5, nodes).error().code, "INVALID_SUBTREE");
}

TEST(Proof, SizesBeyondInt64AreRefusedEverywhere) {
  test::MemoryNodes nodes(1);
  const std::uint64_t beyond = limits::kTreeSize + 1;
  const LeafHash leaf = nodes.leaf(0);
  EXPECT_EQ(prove_inclusion(0, beyond, nodes).error().code, "SIZE_OUT_OF_RANGE");
  EXPECT_EQ(prove_consistency(1, beyond, nodes).error().code, "SIZE_OUT_OF_RANGE");
  EXPECT_EQ(tree_root(beyond, nodes).error().code, "SIZE_OUT_OF_RANGE");
  EXPECT_EQ(verify_inclusion(leaf, 0, {beyond, {}}, {}).code, "SIZE_OUT_OF_RANGE");
  EXPECT_EQ(verify_consistency({1, {}}, {beyond, {}}, {}).code, "SIZE_OUT_OF_RANGE");
  // PITFALLS 25: std::bit_ceil is undefined here.
  EXPECT_FALSE((Subtree{0, beyond + 1}.valid()));
  EXPECT_TRUE((Subtree{0, limits::kTreeSize}.valid()));
  EXPECT_EQ(verify_subtree_consistency({0, beyond + 1}, {}, {~std::uint64_t{0}, {}}, {}).code,
            "INVALID_SUBTREE");
}

// The longest ways there are: 63 hashes, and 64 with the leading one of a consistency proof.
TEST(Proof, LengthsAreThoseOfTheLargestTree) {
  test::MemoryNodes nodes(1);
  const TreeHead largest{limits::kTreeSize, {}};
  for (std::size_t length = 0; length <= 70; ++length) {
    const Proof proof(length);
    const auto code = [&](std::uint64_t index) {
      return verify_inclusion(nodes.leaf(0), index, largest, proof).code;
    };
    EXPECT_EQ(code(0), length == 63 ? "ROOT_MISMATCH" : "PROOF_LENGTH");
    EXPECT_EQ(code(limits::kTreeSize - 1), length == 62 ? "ROOT_MISMATCH" : "PROOF_LENGTH");
    EXPECT_EQ(verify_consistency({3, {}}, largest, proof).code,
              length == 64 ? "OLD_ROOT_MISMATCH" : "PROOF_LENGTH");
  }
  const Proof endless(1'000'000);
  EXPECT_EQ(verify_inclusion(nodes.leaf(0), 0, largest, endless).code, "PROOF_LENGTH");
  EXPECT_EQ(verify_consistency({3, {}}, largest, endless).code, "PROOF_LENGTH");
}

TEST(Proof, FromTheEmptyTreeNothingIsProved) {
  test::MemoryNodes nodes(5);
  const TreeHead head = head_of(5, nodes);
  const ProofVerdict verdict = verify_consistency({0, empty_root()}, head, {});
  EXPECT_TRUE(verdict.ok());
  EXPECT_TRUE(verdict.nothing_proved);
  EXPECT_TRUE(verify_consistency({0, empty_root()}, {0, empty_root()}, {}).nothing_proved);
  EXPECT_EQ(verify_consistency({0, head.root}, head, {}).code, "OLD_ROOT_MISMATCH");
  EXPECT_EQ(verify_consistency({0, empty_root()}, head, Proof(1)).code, "PROOF_LENGTH");
  EXPECT_EQ(verify_consistency({0, empty_root()}, {0, head.root}, {}).code, "ROOT_MISMATCH");
  EXPECT_FALSE(verify_consistency(head, head, {}).nothing_proved);
}

// PITFALLS 21. The arithmetic cannot tell an interior node from a leaf; the type can.
TEST(Proof, AnInteriorNodeIsNoLeaf) {
  test::MemoryNodes nodes(4);
  const TreeHead two{2, tree_root(4, nodes).value()};
  const std::string interior = "\x01" + std::string(nodes.leaf(0).digest().raw()) +
                               std::string(nodes.leaf(1).digest().raw());
  const Proof proof{nodes.node(1, 1).value()};
  EXPECT_EQ(sha256(interior), nodes.node(1, 0).value());
  EXPECT_FALSE(verify_inclusion(leaf_hash(interior), 0, two, proof).ok());
  EXPECT_FALSE(verify_inclusion(leaf_hash(interior.substr(1)), 0, two, proof).ok());
}

TEST(Proof, TextsAreCanonicalBase64AndFew) {
  test::MemoryNodes nodes(100);
  const Proof proof = prove_inclusion(33, 100, nodes).value();
  const std::vector<std::string> texts = proof_texts(proof);
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  EXPECT_EQ(parse_proof(views).value(), proof);
  EXPECT_TRUE(parse_proof({}).value().empty());
  EXPECT_TRUE(parse_proof(std::vector<std::string_view>(64, views[0])).has_value());
  EXPECT_EQ(parse_proof(std::vector<std::string_view>(65, views[0])).error().code,
            "TOO_MANY_HASHES");
  // Counted before any is decoded.
  EXPECT_EQ(parse_proof(std::vector<std::string_view>(1'000'000, "?")).error().code,
            "TOO_MANY_HASHES");
  for (const std::string_view text :
       {"", "?", "AAAA", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA==",
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFV=",
        "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU="}) {
    EXPECT_EQ(parse_proof(std::vector{text}).error().code, "BAD_HASH") << text;
  }
}

}  // namespace
}  // namespace kernelindex
