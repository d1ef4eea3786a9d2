// SPDX-License-Identifier: Apache-2.0
// Proofs that others published, good and spoilt ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "ledger/proof.h"
#include "ledger/vectors.h"
#include "support/corpus.h"

namespace kernelindex {
namespace {

// The sources of the vectors take these; our profile does not: roots of other than 32 bytes, and
// the subtree [n, n) that holds nothing.
bool stricter_here(const json::Value& item) {
  const json::Value* root = item.find("root1");
  if (root != nullptr && !test::base64_digest(root)) return true;
  const json::Value* start = item.find("start");
  return start != nullptr && start->number() == item.find("end")->number();
}

// What has not 32 bytes cannot even be written as a Digest: refused before any check.
template <typename Check>
void run_cases(std::string_view name, std::size_t expected_cases, Check&& check) {
  const test::Vectors vectors = test::load_vectors(name);
  std::size_t held = 0;
  for (const json::Value& item : vectors.cases("cases")) {
    const bool good = !item.find("wantErr")->boolean() && !stricter_here(item);
    EXPECT_EQ(check(item), good) << item.text("file") << ": " << item.text("desc");
    held += good;
  }
  EXPECT_EQ(vectors.cases("cases").size(), expected_cases);
  EXPECT_GE(held, 5u);
}

TEST(ProofVectors, Inclusion) {
  KERNELINDEX_REQUIRE_CORPUS();
  run_cases("rfc6962/inclusion.json", 98, [](const json::Value& item) {
    const auto root = test::base64_digest(item.find("root"));
    const auto leaf = test::base64_digest(item.find("leafHash"));
    const auto proof = test::base64_proof(item.find("proof"));
    return root && leaf && proof &&
           verify_inclusion(LeafHashForTest::make(*leaf), test::u64(*item.find("leafIdx")),
                            {test::u64(*item.find("treeSize")), *root}, *proof)
               .ok();
  });
}

TEST(ProofVectors, Consistency) {
  KERNELINDEX_REQUIRE_CORPUS();
  run_cases("rfc6962/consistency.json", 98, [](const json::Value& item) {
    const auto older = test::base64_digest(item.find("root1"));
    const auto newer = test::base64_digest(item.find("root2"));
    const auto proof = test::base64_proof(item.find("proof"));
    if (!older || !newer || !proof) return false;
    const ProofVerdict verdict = verify_consistency(
        {test::u64(*item.find("size1")), *older}, {test::u64(*item.find("size2")), *newer}, *proof);
    // The source calls an empty older tree an error; here it is a truth that proves nothing.
    return verdict.ok() && !verdict.nothing_proved;
  });
}

TEST(ProofVectors, SubtreeInclusion) {
  KERNELINDEX_REQUIRE_CORPUS();
  run_cases("rfc6962/subtree_inclusion.json", 204, [](const json::Value& item) {
    const auto root = test::base64_digest(item.find("root"));
    const auto leaf = test::base64_digest(item.find("leafHash"));
    const auto proof = test::base64_proof(item.find("proof"));
    const Subtree subtree{test::u64(*item.find("start")), test::u64(*item.find("end"))};
    return root && leaf && proof &&
           verify_subtree_inclusion(LeafHashForTest::make(*leaf), test::u64(*item.find("leafIdx")),
                                    subtree, *root, *proof)
               .ok();
  });
}

TEST(ProofVectors, SubtreeConsistency) {
  KERNELINDEX_REQUIRE_CORPUS();
  run_cases("rfc6962/subtree_consistency.json", 118, [](const json::Value& item) {
    const auto inside = test::base64_digest(item.find("root1"));
    const auto whole = test::base64_digest(item.find("root2"));
    const auto proof = test::base64_proof(item.find("proof"));
    const Subtree subtree{test::u64(*item.find("start")), test::u64(*item.find("end"))};
    return inside && whole && proof &&
           verify_subtree_consistency(subtree, *inside, {test::u64(*item.find("size")), *whole},
                                      *proof)
               .ok();
  });
}

Proof hex_proof(const json::Value& list) {
  Proof proof;
  for (const json::Value& item : list.array()) proof.push_back(test::hex_digest(item));
  return proof;
}

TEST(ProofVectors, KnownAnswers) {
  KERNELINDEX_REQUIRE_CORPUS();
  const test::Vectors vectors = test::load_vectors("rfc6962/known_answers.json");
  std::vector<std::string> entries;
  for (const json::Value& item : vectors.cases("leaf_inputs")) {
    entries.push_back(from_hex(item.string()).value());
  }
  const auto roots = vectors.cases("roots_by_size");
  for (const json::Value& item : vectors.cases("inclusion")) {
    const std::uint64_t index = test::u64(*item.find("index"));
    const std::uint64_t size = test::u64(*item.find("size"));
    EXPECT_TRUE(verify_inclusion(leaf_hash(entries[index]), index,
                                 {size, test::hex_digest(roots[size])},
                                 hex_proof(*item.find("proof")))
                    .ok());
  }
  for (const json::Value& item : vectors.cases("consistency")) {
    const std::uint64_t older = test::u64(*item.find("size1"));
    const std::uint64_t newer = test::u64(*item.find("size2"));
    EXPECT_TRUE(verify_consistency({older, test::hex_digest(roots[older])},
                                   {newer, test::hex_digest(roots[newer])},
                                   hex_proof(*item.find("proof")))
                    .ok());
  }
  const json::Value& real = *vectors.root.find("real_log_inclusion");
  const LeafHash leaf = leaf_hash(from_hex(real.text("leaf_input")).value());
  EXPECT_EQ(leaf.digest(), test::hex_digest(*real.find("leaf_hash")));
  EXPECT_TRUE(
      verify_inclusion(leaf, test::u64(*real.find("index")),
                       {test::u64(*real.find("size")), test::hex_digest(*real.find("root"))},
                       hex_proof(*real.find("proof")))
          .ok());
}

// "caller": the caller decides; here it holds and says that nothing is proved. "ambiguous": the
// arithmetic holds for a leaf hash out of nowhere, which LeafHash keeps from happening.
bool expected_to_hold(const json::Value& ok) { return ok.is_string() ? true : ok.boolean(); }

TEST(ProofVectors, Edges) {
  KERNELINDEX_REQUIRE_CORPUS();
  const test::Vectors vectors = test::load_vectors("derived/proof_edges.json");
  for (const json::Value& item : vectors.cases("cases")) {
    const json::Value& ok = *item.find("ok");
    const Proof proof = hex_proof(*item.find("proof"));
    ProofVerdict verdict;
    if (item.text("kind") == "inclusion") {
      verdict = verify_inclusion(
          LeafHashForTest::make(test::hex_digest(*item.find("leaf"))),
          test::u64(*item.find("index")),
          {test::u64(*item.find("size")), test::hex_digest(*item.find("root"))}, proof);
    } else {
      verdict = verify_consistency(
          {test::u64(*item.find("size1")), test::hex_digest(*item.find("root1"))},
          {test::u64(*item.find("size2")), test::hex_digest(*item.find("root2"))}, proof);
    }
    EXPECT_EQ(verdict.ok(), expected_to_hold(ok)) << item.text("name") << ": " << verdict.detail;
    EXPECT_EQ(verdict.nothing_proved, ok.is_string() && ok.string() == "caller")
        << item.text("name");
  }
}

}  // namespace
}  // namespace kernelindex
