// SPDX-License-Identifier: Apache-2.0
#include "verify/reader_policy.h"

#include <gtest/gtest.h>

#include <string>

namespace kernelindex::test {
namespace {

const std::string kKey(64, 'a');
const std::string kLedger = "sha256:" + std::string(64, 'b');

std::string code(std::string_view text) {
  const Result<ReaderPolicy> policy = parse_reader_policy(text);
  return policy ? "read" : policy.error().code;
}

TEST(ReaderPolicy, NamesRunnersByKeyOrByLedgerAndOwner) {
  const std::string text = R"({"v": 1, "keys": [")" + kKey + R"("], "owners": [{"ledger": ")" +
                           kLedger + R"(", "owner": "a-lab"}], "allow": ["ACCEPT_PROVISIONAL"]})";
  const Result<ReaderPolicy> policy = parse_reader_policy(text);
  ASSERT_TRUE(policy) << policy.error().text();
  const Digest key = *Digest::parse_hex(kKey);
  const Digest ledger = *Digest::parse(kLedger);
  EXPECT_TRUE(policy->counts(key, sha256("anywhere"), "anybody"));
  EXPECT_TRUE(policy->counts(sha256("a key"), ledger, "a-lab"));
  EXPECT_FALSE(policy->counts(sha256("a key"), ledger, "another-lab"));
  EXPECT_FALSE(policy->counts(sha256("a key"), sha256("another ledger"), "a-lab"));
  EXPECT_EQ(policy->allow, std::vector<std::string>{"ACCEPT_PROVISIONAL"});
  EXPECT_EQ(policy->digest, sha256(text));
}

TEST(ReaderPolicy, OfTheVersionAloneNamesNobody) {
  const Result<ReaderPolicy> policy = parse_reader_policy(R"({"v":1})");
  ASSERT_TRUE(policy);
  EXPECT_FALSE(policy->counts({}, {}, ""));
}

TEST(ReaderPolicy, IsReadStrictly) {
  EXPECT_EQ(code("{}"), "MISSING_MEMBER");
  EXPECT_EQ(code(R"({"v":2})"), "UNSUPPORTED_FORMAT");
  EXPECT_EQ(code(R"({"v":"1"})"), "UNSUPPORTED_FORMAT");
  EXPECT_EQ(code(R"({"v":1,"runners":[]})"), "UNKNOWN_MEMBER");
  EXPECT_EQ(code(R"({"v":1,"v":1})"), "DUPLICATE_KEY");
  EXPECT_EQ(code(R"({"v":1,"keys":"x"})"), "BAD_MEMBER");
  EXPECT_EQ(code(R"({"v":1,"keys":["x"]})"), "BAD_DIGEST");
  EXPECT_EQ(code(R"({"v":1,"keys":[")" + kKey + R"(",")" + kKey + R"("]})"), "BAD_MEMBER");
  EXPECT_EQ(code(R"({"v":1,"owners":[{"ledger":")" + kLedger + R"("}]})"), "MISSING_MEMBER");
  EXPECT_EQ(code(R"({"v":1,"owners":[{"ledger":")" + kLedger + R"(","owner":"A b"}]})"),
            "BAD_MEMBER");
  EXPECT_EQ(
      code(R"({"v":1,"owners":[{"ledger":")" + kLedger + R"(","owner":"a","level":"verified"}]})"),
      "UNKNOWN_MEMBER");
  EXPECT_EQ(code(R"({"v":1,"allow":[1]})"), "BAD_MEMBER");
  EXPECT_EQ(code(R"({"v":1,"allow":["accept-provisional"]})"), "BAD_MEMBER");
  EXPECT_EQ(code("[1]"), "BAD_MEMBER");
}

TEST(ReaderPolicy, HasLimits) {
  EXPECT_NE(code(R"({"v":1})" + std::string(kReaderPolicyBytes, ' ')), "read");
  std::string many = R"({"v":1,"allow":["A0")";
  for (std::size_t i = 1; i <= kReaderPolicyItems; ++i) many += ",\"A" + std::to_string(i) + "\"";
  EXPECT_EQ(code(many + "]}"), "BAD_MEMBER");
}

}  // namespace
}  // namespace kernelindex::test
