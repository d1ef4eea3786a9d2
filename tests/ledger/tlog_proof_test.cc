// SPDX-License-Identifier: Apache-2.0
#include "ledger/tlog_proof.h"

#include <gtest/gtest.h>

#include "ledger/small_log.h"
#include "ledger/vectors.h"
#include "support/corpus.h"

namespace kernelindex {
namespace {

using test::SmallLog;

std::string code(std::string_view bytes) {
  const Result<TlogProof> proof = parse_tlog_proof(bytes);
  return proof ? "" : proof.error().code;
}

TlogProof proof_of(const SmallLog& log, std::uint64_t index, std::uint64_t size) {
  return {index, log.inclusion(index, size), log.checkpoint(size), {}};
}

WitnessPolicy trusting(const VerifierKey& key) {
  const std::vector keys = {key};
  return WitnessPolicy::of_logs(keys);
}

// The published texts end in words where a checkpoint belongs; here a real one stands there.
std::string with_checkpoint(std::string_view text, const std::string& checkpoint) {
  const std::size_t end = text.rfind("\n\n");
  EXPECT_NE(end, std::string_view::npos);
  return std::string(text.substr(0, end + 2)) + checkpoint;
}

TEST(TlogProof, MarshalsAsPublished) {
  KERNELINDEX_REQUIRE_CORPUS();
  const SmallLog log(20);
  const std::string checkpoint = log.checkpoint(20).format();
  const test::Vectors vectors = test::load_vectors("tlog_proof/tlog_proof.json");
  for (const json::Value& item : vectors.cases("marshal")) {
    TlogProof proof;
    proof.index = test::u64(*item.find("index"));
    proof.hashes = test::base64_proof(item.find("hashes_base64")).value();
    if (!item.find("extra_base64")->is_null()) {
      proof.extra = UnauthenticatedBytes{test::base64(*item.find("extra_base64"))};
    }
    proof.checkpoint = log.checkpoint(20);
    const std::string expected = with_checkpoint(item.text("text"), checkpoint);
    EXPECT_EQ(proof.encode(), expected) << item.text("name");
    const Result<TlogProof> read = parse_tlog_proof(expected);
    ASSERT_TRUE(read.has_value()) << read.error().text();
    EXPECT_EQ(read->index, proof.index);
    EXPECT_EQ(read->hashes, proof.hashes);
    EXPECT_EQ(read->extra, proof.extra);
    EXPECT_EQ(read->encode(), expected);
  }
}

TEST(TlogProof, RefusesWhatIsPublishedAsMalformed) {
  KERNELINDEX_REQUIRE_CORPUS();
  const SmallLog log(1);
  const std::string checkpoint = log.checkpoint(1).format();
  ASSERT_EQ(code("c2sp.org/tlog-proof@v1\nindex 0\n\n" + checkpoint), "");
  const test::Vectors vectors = test::load_vectors("tlog_proof/tlog_proof.json");
  std::size_t cases = 0;
  for (const json::Value& item : vectors.cases("reject")) {
    const std::string_view text = item.text("text");
    EXPECT_NE(code(text), "") << item.text("name");
    // For its own reason, too: with a checkpoint that is whole.
    const bool cut = text.rfind("\n\n") == std::string_view::npos;
    const std::string found =
        code(cut ? std::string(text) + "\n" + checkpoint : with_checkpoint(text, checkpoint));
    EXPECT_TRUE(found == "BAD_TLOG_PROOF" || found == "BAD_HASH") << item.text("name") << found;
    ++cases;
  }
  EXPECT_EQ(cases, 8u);
}

TEST(TlogProof, PublishedProofsVerifyAndNoOther) {
  KERNELINDEX_REQUIRE_CORPUS();
  const test::Vectors vectors = test::load_vectors("tlog_proof/tlog_proof.json");
  const json::Value& published = *vectors.root.find("end_to_end");
  const WitnessPolicy policy = trusting(parse_vkey(published.text("log_vkey")).value());
  for (const json::Value& item : published.find("cases")->array()) {
    const std::string text(item.text("proof_text"));
    const Result<TlogProof> proof = parse_tlog_proof(text);
    ASSERT_TRUE(proof.has_value()) << proof.error().text();
    EXPECT_EQ(proof->index, test::u64(*item.find("index")));
    EXPECT_EQ(proof->checkpoint.checkpoint.head.size, test::u64(*item.find("size")));
    EXPECT_EQ(proof->encode(), text);
    EXPECT_TRUE(verify_tlog_proof(*proof, item.text("leaf_text"), policy).ok());
    const TlogProofVerdict other = verify_tlog_proof(*proof, "another leaf", policy);
    EXPECT_EQ(other.arrow, "inclusion");
    EXPECT_EQ(other.code, "ROOT_MISMATCH");
  }
}

TEST(TlogProof, EveryBrokenArrowIsNamed) {
  const SmallLog log(9);
  const std::string entry = log.leaves()[5];
  const TlogProof good = proof_of(log, 5, 9);
  const WitnessPolicy policy = trusting(log.vkey());
  ASSERT_TRUE(verify_tlog_proof(good, entry, policy).ok());
  const auto broken = [&](const TlogProof& proof, const WitnessPolicy& by) {
    const TlogProofVerdict verdict = verify_tlog_proof(proof, entry, by);
    EXPECT_FALSE(verdict.detail.empty());
    return std::string(verdict.arrow) + " " + std::string(verdict.code);
  };
  EXPECT_EQ(broken(good, trusting(SmallLog(1, "example.org/other").vkey())),
            "checkpoint UNKNOWN_LOG");
  EXPECT_EQ(broken(good, trusting(log_verifier_key(log.origin(), test::seeded('x').public_key()))),
            "checkpoint NOT_SIGNED");
  TlogProof proof = good;
  proof.checkpoint.signatures[0].bytes[0] ^= 1;
  EXPECT_EQ(broken(proof, policy), "checkpoint INVALID_SIGNATURE");
  proof = good;
  proof.index = 4;
  EXPECT_EQ(broken(proof, policy), "inclusion ROOT_MISMATCH");
  proof.index = 9;
  EXPECT_EQ(broken(proof, policy), "inclusion INDEX_OUT_OF_RANGE");
  proof = good;
  proof.hashes.pop_back();
  EXPECT_EQ(broken(proof, policy), "inclusion PROOF_LENGTH");
  // Both whole, and of different sizes (PITFALLS 20).
  proof = proof_of(log, 5, 7);
  proof.checkpoint = log.checkpoint(8);
  EXPECT_TRUE(broken(proof, policy).starts_with("inclusion "));
}

TEST(TlogProof, AnInteriorNodeIsNoEntry) {
  const SmallLog log(4);
  const WitnessPolicy policy = trusting(log.vkey());
  const Digest left = leaf_hash(log.leaves()[0]).digest(),
               right = leaf_hash(log.leaves()[1]).digest();
  TlogProof proof = proof_of(log, 0, 4);
  proof.hashes.erase(proof.hashes.begin());  // the path of the node above the first two leaves
  const std::string node = "\x01" + std::string(left.raw()) + std::string(right.raw());
  EXPECT_FALSE(verify_tlog_proof(proof, node, policy).ok());
  EXPECT_FALSE(verify_tlog_proof(proof, node.substr(1), policy).ok());
}

TEST(TlogProof, LimitsHold) {
  const SmallLog log(1);
  const std::string checkpoint = log.checkpoint(1).format();
  const std::string hash = to_base64(std::string(32, 'h')) + "\n";
  const auto with_hashes = [&](std::size_t count) {
    std::string text = "c2sp.org/tlog-proof@v1\nindex 0\n";
    for (std::size_t i = 0; i < count; ++i) text += hash;
    return text + "\n" + checkpoint;
  };
  EXPECT_EQ(code(with_hashes(63)), "");
  EXPECT_EQ(code(with_hashes(64)), "TOO_MANY_HASHES");
  EXPECT_EQ(code(std::string("c2sp.org/tlog-proof@v1\nindex 0\n") + hash), "NO_EMPTY_LINE");
  const auto with_extra = [&](std::size_t bytes) {
    return "c2sp.org/tlog-proof@v1\nextra " + to_base64(std::string(bytes, 'e')) + "\nindex 0\n\n" +
           checkpoint;
  };
  EXPECT_EQ(code(with_extra(700'000)), "");
  EXPECT_EQ(code(with_extra(800'000)), "PROOF_TOO_LARGE");
}

TEST(TlogProof, HasOneSpelling) {
  const SmallLog log(3);
  const std::string checkpoint = log.checkpoint(3).format();
  const std::string head = "c2sp.org/tlog-proof@v1\n";
  const std::string hash = to_base64(std::string(32, 'h'));  // ends in "Gg="
  ASSERT_EQ(code(head + "extra YQ==\nindex 2\n" + hash + "\n\n" + checkpoint), "");
  for (const std::string& text : std::vector<std::string>{
           "",
           head,
           "c2sp.org/tlog-proof@v2\nindex 2\n\n" + checkpoint,
           "c2sp.org/tlog-proof@v1\r\nindex 2\n\n" + checkpoint,
           "\n" + head + "index 2\n\n" + checkpoint,
           head + "index 2\nextra YQ==\n\n" + checkpoint,
           head + "extra YQ==\nextra YQ==\nindex 2\n\n" + checkpoint,
           head + "extra YQ\nindex 2\n\n" + checkpoint,
           head + "extra YR==\nindex 2\n\n" + checkpoint,  // bits after the last byte
           head + "extra YQ== \nindex 2\n\n" + checkpoint,
           head + "index 02\n\n" + checkpoint,
           head + "index  2\n\n" + checkpoint,
           head + "index +2\n\n" + checkpoint,
           head + "index 2 \n\n" + checkpoint,
           head + "index 9223372036854775808\n\n" + checkpoint,
           head + "Index 2\n\n" + checkpoint,
           head + "index 2\n" + hash.substr(0, 42) + "h=\n\n" + checkpoint,
           head + "index 2\n" + hash + "\r\n\n" + checkpoint,
           head + "index 2\n" + to_base64(std::string(31, 'h')) + "\n\n" + checkpoint,
           head + "index 2\n\n\n" + checkpoint,
           head + "index 2\n\n" + checkpoint + "\n",
           head + "index 2\n\n" + checkpoint + "x",
           head + "index 2\n\n" + checkpoint + "x\n",
           head + "index 2\n\n" + checkpoint.substr(0, checkpoint.size() - 1),
       }) {
    EXPECT_NE(code(text), "") << text;
  }
}

// Cut anywhere, a proof is refused, or is the whole one.
TEST(TlogProof, CutAnywhereItIsRefused) {
  const SmallLog log(9);
  const std::string whole = proof_of(log, 5, 9).encode();
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_NE(code(std::string_view(whole).substr(0, length)), "") << length;
  }
}

TEST(TlogProof, ExtraBytesChangeNothing) {
  const SmallLog log(9);
  TlogProof proof = proof_of(log, 5, 9);
  proof.extra = UnauthenticatedBytes{"anything at all"};
  const TlogProof read = parse_tlog_proof(proof.encode()).value();
  EXPECT_EQ(read.extra->bytes, "anything at all");
  EXPECT_TRUE(verify_tlog_proof(read, log.leaves()[5], trusting(log.vkey())).ok());
}

TEST(TlogProof, AskedForWitnessesItNeedsThem) {
  const SmallLog log(9);
  const SigningKey witness = test::seeded('w');
  const VerifierKey key{"w.example", NoteAlgorithm::cosignature, witness.public_key()};
  const WitnessPolicy policy = WitnessPolicy::parse("log " + log.vkey().text() + "\nwitness w " +
                                                    key.text() + "\nquorum w\n")
                                   .value();
  TlogProof proof = proof_of(log, 5, 9);
  const TlogProofVerdict alone = verify_tlog_proof(proof, log.leaves()[5], policy);
  EXPECT_EQ(alone.arrow, "checkpoint");
  EXPECT_EQ(alone.code, "QUORUM_NOT_MET");
  proof.checkpoint.signatures.push_back(
      cosign_note(proof.checkpoint.checkpoint.text(), key.name, 1'700'000'000, witness));
  const TlogProof read = parse_tlog_proof(proof.encode()).value();
  const TlogProofVerdict cosigned = verify_tlog_proof(read, log.leaves()[5], policy);
  EXPECT_TRUE(cosigned.ok()) << cosigned.detail;
  EXPECT_EQ(cosigned.policy.quorum_time, 1'700'000'000u);
}

}  // namespace
}  // namespace kernelindex
