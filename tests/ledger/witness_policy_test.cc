// SPDX-License-Identifier: Apache-2.0
#include "ledger/witness_policy.h"

#include <gtest/gtest.h>

#include "ledger/vectors.h"
#include "support/corpus.h"

namespace kernelindex {
namespace {

const std::string kOrigin = "example.org/log";

SigningKey key_of(unsigned number) {
  std::string seed(32, '\0');
  seed[0] = static_cast<char>(number & 0xff);
  seed[1] = static_cast<char>(number >> 8);
  return SigningKey::from_seed(seed).value();
}

std::string witness_name(unsigned number) { return "w" + std::to_string(number) + ".example"; }

VerifierKey witness_key(unsigned number) {
  return {witness_name(number), NoteAlgorithm::cosignature, key_of(number).public_key()};
}

std::string witness_line(unsigned number) {
  return "witness w" + std::to_string(number) + " " + witness_key(number).text() + "\n";
}

VerifierKey log_key() { return log_verifier_key(kOrigin, key_of(1000).public_key()); }

std::string log_line() { return "log " + log_key().text() + " https://example.org/log\n"; }

// A checkpoint of the log, cosigned by these witnesses at these times.
SignedCheckpoint cosigned(const std::vector<std::pair<unsigned, std::uint64_t>>& by) {
  const SigningKey log = key_of(1000);
  const SigningKey* keys[] = {&log};
  SignedCheckpoint checkpoint = sign_checkpoint({kOrigin, {9, sha256("root")}}, keys);
  for (const auto& [number, time] : by) {
    checkpoint.signatures.push_back(
        cosign_note(checkpoint.checkpoint.text(), witness_name(number), time, key_of(number)));
  }
  return checkpoint;
}

std::string refusal(const std::string& text) {
  const Result<WitnessPolicy> policy = WitnessPolicy::parse(text);
  if (policy) return "accepted";
  return policy.error().place + ": " + policy.error().code;
}

TEST(WitnessPolicy, CasesAsPublished) {
  KERNELINDEX_REQUIRE_CORPUS();
  const test::Vectors vectors = test::load_vectors("policy/policy.json");
  std::size_t cases = 0;
  for (const json::Value& item : vectors.cases("cases")) {
    const Result<WitnessPolicy> policy = WitnessPolicy::parse(item.text("policy"));
    EXPECT_EQ(policy.has_value(), item.text("specification") == "accept") << item.text("name");
    if (!policy) {
      EXPECT_EQ(policy.error().code, "BAD_POLICY") << item.text("name");
    }
    ++cases;
  }
  EXPECT_EQ(cases, 11u);
}

TEST(WitnessPolicy, ErrorsNameTheLine) {
  EXPECT_EQ(refusal("\n# fine\n \t \nwitness w\n"), "line 4: BAD_POLICY");
  EXPECT_EQ(refusal("quorum none\nwitness w name+00000000+AAAA\n"), "line 2: UNKNOWN_KEY_TYPE");
  EXPECT_EQ(refusal("quorum none\nwitness w nonsense\n"), "line 2: BAD_VKEY");
  EXPECT_EQ(refusal("quorum none"), "line 1: BAD_POLICY");
  EXPECT_EQ(refusal("quorum none\n\nquorum none\n"), "line 3: BAD_POLICY");
  EXPECT_EQ(refusal(witness_line(1)), ": BAD_POLICY");
}

TEST(WitnessPolicy, WhiteSpaceAndCommentsAreThoseOfTheSpecification) {
  EXPECT_EQ(refusal("\t quorum\t none \t\n  # a comment # with more\n#\n"), "accepted");
  EXPECT_EQ(refusal("# Gr\xc3\xbc\xc3\x9f"
                    "e \xff\nquorum none\n"),
            "accepted");
  EXPECT_EQ(refusal("witness \xe2\x84\xaa " + witness_key(1).text() + "\nquorum \xe2\x84\xaa\n"),
            "accepted");
  EXPECT_EQ(refusal("witness \xe2\x84\xaa " + witness_key(1).text() + "\nquorum K\n"),
            "line 2: BAD_POLICY");
  for (const std::string& text : {std::string("quorum none\r\n"), std::string("quorum\vnone\n"),
                                  std::string("quorum none\x7f\n"), std::string("# \0\n", 4),
                                  std::string("# \x1b[31m\nquorum none\n")}) {
    EXPECT_EQ(refusal(text), "line 1: BAD_POLICY");
  }
  EXPECT_EQ(refusal("quorum none # why\n"), "line 1: BAD_POLICY");
  EXPECT_EQ(refusal("log " + log_key().text() + " #why\nquorum none\n"), "line 1: BAD_POLICY");
}

TEST(WitnessPolicy, NamesAreOneSpaceAndNobodyIsAMemberTwice) {
  const std::string two = witness_line(1) + witness_line(2);
  EXPECT_EQ(refusal(two + "group g 2 w1 w2\nquorum g\n"), "accepted");
  EXPECT_EQ(refusal(two + "group g 2 w1 w1\nquorum g\n"), "line 3: BAD_POLICY");
  EXPECT_EQ(refusal(two + "group g any w1\ngroup h any w1\nquorum g\n"), "line 4: BAD_POLICY");
  EXPECT_EQ(refusal(two + "group w1 any w2\nquorum w1\n"), "line 3: BAD_POLICY");
  EXPECT_EQ(refusal(two + "group g any g\nquorum g\n"), "line 3: BAD_POLICY");
  EXPECT_EQ(refusal(two + "group g any none\nquorum g\n"), "line 3: BAD_POLICY");
  EXPECT_EQ(refusal("witness none " + witness_key(1).text() + "\nquorum none\n"),
            "line 1: BAD_POLICY");
  EXPECT_EQ(refusal("quorum w1\n" + two), "line 1: BAD_POLICY");
}

TEST(WitnessPolicy, ThresholdsLieBetweenOneAndTheMembers) {
  const std::string two = witness_line(1) + witness_line(2);
  for (const char* good : {"1", "2", "all", "any"}) {
    EXPECT_EQ(refusal(two + "group g " + good + " w1 w2\nquorum g\n"), "accepted") << good;
  }
  for (const char* bad : {"0", "3", "-1", "+1", "01", "1.0", "ALL", "18446744073709551617"}) {
    EXPECT_EQ(refusal(two + "group g " + bad + " w1 w2\nquorum g\n"), "line 3: BAD_POLICY") << bad;
  }
  EXPECT_EQ(refusal(two + "group g any\nquorum g\n"), "line 3: BAD_POLICY");
}

TEST(WitnessPolicy, OnePublicKeyIsOneWitnessUnderAnyName) {
  const VerifierKey renamed{"other.example", NoteAlgorithm::cosignature, key_of(1).public_key()};
  EXPECT_EQ(refusal(witness_line(1) + "witness w2 " + renamed.text() + "\nquorum none\n"),
            "line 2: BAD_POLICY");
  // Also where one is spelled as a note key, which has another key id.
  const VerifierKey as_note{witness_name(1), NoteAlgorithm::ed25519, key_of(1).public_key()};
  EXPECT_EQ(refusal(witness_line(1) + "witness w2 " + as_note.text() + "\nquorum none\n"),
            "line 2: BAD_POLICY");
  const VerifierKey same_log = log_verifier_key("example.org/b", key_of(1000).public_key());
  EXPECT_EQ(refusal(log_line() + "log " + same_log.text() + "\nquorum none\n"),
            "line 2: BAD_POLICY");
  EXPECT_EQ(refusal("log " + witness_key(1).text() + "\nquorum none\n"), "line 1: BAD_POLICY");
}

TEST(WitnessPolicy, HoldsManyOfEachAndNotMore) {
  const auto policy_of = [](unsigned count) {
    std::string text;
    for (unsigned i = 0; i < count; ++i) {
      text += witness_line(i);
      text += "group g" + std::to_string(i) + " any w" + std::to_string(i) + "\n";
      text += "log " + log_verifier_key(kOrigin, key_of(i).public_key()).text() + "\n";
    }
    return text + "quorum g0\n";
  };
  EXPECT_EQ(refusal(policy_of(32)), "accepted");
  EXPECT_EQ(refusal(policy_of(kPolicyItems)), "accepted");
  EXPECT_EQ(refusal(policy_of(kPolicyItems + 1)),
            "line " + std::to_string(3 * kPolicyItems + 1) + ": TOO_MANY_ITEMS");
  EXPECT_EQ(refusal(std::string(kPolicyBytes + 1, '\n')), ": POLICY_TOO_LARGE");
}

TEST(WitnessPolicy, AQuorumOfGroupsIsCounted) {
  std::string text = log_line();
  for (unsigned i = 1; i <= 6; ++i) text += witness_line(i);
  text += "group x 2 w1 w2 w3\ngroup y any w4 w5 w6\ngroup both all x y\nquorum both\n";
  const WitnessPolicy policy = WitnessPolicy::parse(text).value();
  const auto code = [&](const std::vector<std::pair<unsigned, std::uint64_t>>& by) {
    return policy.check(cosigned(by)).code;
  };
  EXPECT_EQ(code({}), "QUORUM_NOT_MET");
  EXPECT_EQ(code({{1, 10}, {2, 10}}), "QUORUM_NOT_MET");
  EXPECT_EQ(code({{1, 10}, {4, 10}, {5, 10}, {6, 10}}), "QUORUM_NOT_MET");
  EXPECT_EQ(code({{1, 10}, {3, 10}, {6, 10}}), "");
  EXPECT_EQ(code({{1, 10}, {2, 10}, {3, 10}, {4, 10}, {5, 10}, {6, 10}}), "");
  EXPECT_EQ(code({{1, 10}, {7, 10}, {4, 10}}), "QUORUM_NOT_MET") << "w7 is not known";
}

TEST(WitnessPolicy, AgeIsTheNewestTimeAtWhichAQuorumSigned) {
  const WitnessPolicy policy =
      WitnessPolicy::parse(log_line() + witness_line(1) + witness_line(2) + witness_line(3) +
                           "group g 2 w1 w2 w3\nquorum g\n")
          .value();
  const PolicyVerdict verdict = policy.check(cosigned({{1, 100}, {3, 500}, {2, 300}}));
  ASSERT_TRUE(verdict.ok()) << verdict.detail;
  EXPECT_EQ(verdict.quorum_time, 300u);
  ASSERT_EQ(verdict.cosigned.size(), 3u);
  EXPECT_EQ(policy.witnesses()[verdict.cosigned[1].witness].name, "w3");
  EXPECT_EQ(verdict.cosigned[1].time, 500u);
  const PolicyVerdict alone = policy.check(cosigned({{1, 100}}));
  EXPECT_FALSE(alone.quorum_time.has_value());
  EXPECT_EQ(alone.cosigned.size(), 1u) << "who signed is said all the same";
}

TEST(WitnessPolicy, AForgedCosignatureOfAKnownWitnessIsNoMereAbsence) {
  const WitnessPolicy policy =
      WitnessPolicy::parse(log_line() + witness_line(1) + "quorum none\n").value();
  SignedCheckpoint checkpoint = cosigned({{1, 100}});
  EXPECT_EQ(policy.check(checkpoint).code, "");
  checkpoint.signatures.back().bytes.back() ^= 1;
  EXPECT_EQ(policy.check(checkpoint).code, "INVALID_SIGNATURE");
  checkpoint = cosigned({{1, 100}, {1, 101}});
  EXPECT_EQ(policy.check(checkpoint).code, "REPEATED_SIGNATURE");
}

TEST(WitnessPolicy, ANoteKeyOfAWitnessStandsForItsCosignatureKey) {
  const VerifierKey as_note{witness_name(1), NoteAlgorithm::ed25519, key_of(1).public_key()};
  const WitnessPolicy policy =
      WitnessPolicy::parse(log_line() + "witness w " + as_note.text() + "\nquorum w\n").value();
  EXPECT_TRUE(policy.check(cosigned({{1, 100}})).ok());
  SignedCheckpoint plain = cosigned({});
  plain.signatures.push_back(sign_note(plain.checkpoint.text(), witness_name(1), key_of(1)));
  EXPECT_EQ(policy.check(plain).code, "QUORUM_NOT_MET") << "a plain signature has no time";
}

TEST(WitnessPolicy, OnlyLogsThatItNamesAreAccepted) {
  const WitnessPolicy none = WitnessPolicy::parse("quorum none\n").value();
  EXPECT_EQ(none.check(cosigned({})).code, "UNKNOWN_LOG");
  EXPECT_FALSE(none.needs_witnesses());
  const std::vector keys = {log_key()};
  EXPECT_TRUE(none.with_logs(keys).check(cosigned({})).ok());
  const std::vector wrong = {log_verifier_key(kOrigin, key_of(1).public_key())};
  EXPECT_EQ(none.with_logs(wrong).check(cosigned({})).code, "NOT_SIGNED");
  EXPECT_TRUE(WitnessPolicy::of_logs(keys).check(cosigned({})).ok());
}

}  // namespace
}  // namespace kernelindex
