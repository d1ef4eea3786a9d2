// SPDX-License-Identifier: Apache-2.0
#include "ledger/statement.h"

#include <gtest/gtest.h>

#include "ledger/vectors.h"
#include "schema/canonical_json.h"
#include "support/corpus.h"

namespace kernelindex {
namespace {

const std::string kHex = sha256("subject").hex();
const std::string kGood = R"({"_type":"https://in-toto.io/Statement/v1","predicate":{"a":1},)"
                          R"("predicateType":"https://example.com/p/v1",)"
                          R"("subject":[{"digest":{"sha256":")" +
                          kHex + R"("}}]})";

std::string code(std::string_view payload) {
  json::Arena arena;
  const Result<Statement> statement = parse_statement(payload, arena);
  return statement ? "" : statement.error().code;
}

std::string replaced(std::string_view from, std::string_view to) {
  std::string text = kGood;
  const std::size_t place = text.find(from);
  EXPECT_NE(place, std::string::npos) << from;
  return text.replace(place, from.size(), to);
}

TEST(Statement, RoundTrips) {
  json::Arena arena;
  const Result<Statement> statement = parse_statement(kGood, arena);
  ASSERT_TRUE(statement.has_value()) << statement.error().text();
  EXPECT_EQ(statement->subject, sha256("subject"));
  EXPECT_EQ(statement->predicate_type, "https://example.com/p/v1");
  EXPECT_EQ(json::canonical(statement->predicate), R"({"a":1})");
  EXPECT_EQ(statement->encode(), kGood);
}

TEST(Statement, MembersAreAClosedSet) {
  EXPECT_EQ(code(replaced(R"("_type")", R"("AAA":1,"_type")")), "UNKNOWN_MEMBER");
  EXPECT_EQ(code(replaced(R"({"sha256")", R"({"md5":"00","sha256")")), "UNKNOWN_MEMBER");
  EXPECT_EQ(code(replaced(R"("}}])", R"("},"name":"x"}])")), "UNKNOWN_MEMBER");
  EXPECT_EQ(code(replaced(R"("predicate":{"a":1},)", "")), "MISSING_MEMBER");
  EXPECT_EQ(code(replaced(R"("predicateType":"https://example.com/p/v1",)", "")), "MISSING_MEMBER");
  EXPECT_EQ(code(replaced(R"({"sha256":")" + kHex + R"("})", "{}")), "MISSING_MEMBER");
  EXPECT_EQ(code(replaced("Statement/v1", "Statement/v0.1")), "BAD_MEMBER");
  EXPECT_EQ(code(replaced(R"({"a":1})", "[]")), "BAD_STATEMENT");
  EXPECT_EQ(code(replaced(R"({"a":1})", "null")), "BAD_STATEMENT");
}

TEST(Statement, HasOneSubjectWithOneDigest) {
  const std::string item = R"({"digest":{"sha256":")" + kHex + R"("}})";
  EXPECT_EQ(code(replaced(item, "")), "SUBJECT_COUNT");
  EXPECT_EQ(code(replaced(item, item + "," + item)), "SUBJECT_COUNT");
  EXPECT_EQ(code(replaced("[" + item + "]", "null")), "BAD_STATEMENT");
  EXPECT_EQ(code(replaced(item, "7")), "BAD_MEMBER");
  EXPECT_EQ(code(replaced(R"({"sha256":")" + kHex + R"("})", "7")), "BAD_MEMBER");
  EXPECT_EQ(code(replaced(kHex, "sha256:" + kHex)), "BAD_DIGEST");
  EXPECT_EQ(code(replaced(kHex, kHex.substr(1))), "BAD_DIGEST");
  std::string upper = kHex;
  for (char& c : upper) c = static_cast<char>(std::toupper(c));
  EXPECT_EQ(code(replaced(kHex, upper)), "BAD_DIGEST");
}

TEST(Statement, IsCanonicalJsonAndNothingElse) {
  EXPECT_EQ(code(kGood + "\n"), "PAYLOAD_NOT_CANONICAL");
  EXPECT_EQ(code(replaced(R"("a":1)", R"("a":1.0)")), "PAYLOAD_NOT_CANONICAL");
  EXPECT_EQ(code(replaced(R"("a":1)", R"("a":1,"a":1)")), "DUPLICATE_KEY");
  EXPECT_EQ(code("null"), "BAD_MEMBER");
  EXPECT_EQ(code("[]"), "BAD_MEMBER");
  EXPECT_EQ(code(""), "EMPTY_DOCUMENT");
  for (std::size_t size = 0; size < kGood.size(); ++size)
    EXPECT_NE(code(kGood.substr(0, size)), "");
}

// The specification's examples name subjects and use other digests: statements, but not ours.
TEST(Statement, ExamplesOfTheSpecificationAreReadAndRefusedForTheirSubjects) {
  KERNELINDEX_REQUIRE_CORPUS();
  const test::Vectors vectors = test::load_vectors("intoto/examples.json");
  std::vector<json::Value> examples = {*vectors.root.find("test_result")};
  for (const json::Value& item : vectors.cases("svr")) examples.push_back(item);
  for (const json::Value& item : examples) {
    const std::string refused = code(json::canonical(item));
    EXPECT_TRUE(refused == "MISSING_MEMBER" || refused == "BAD_DIGEST" ||
                refused == "UNKNOWN_MEMBER")
        << refused;
    // With a subject of ours the same document is read.
    json::Arena arena;
    const Statement statement{sha256("s"), std::string(item.text("predicateType")),
                              *item.find("predicate")};
    const std::string payload = statement.encode();
    const Result<Statement> read = parse_statement(payload, arena);
    ASSERT_TRUE(read.has_value()) << read.error().text();
    EXPECT_EQ(read->encode(), payload);
    EXPECT_EQ(json::canonical(read->predicate), json::canonical(*item.find("predicate")));
  }
}

}  // namespace
}  // namespace kernelindex
