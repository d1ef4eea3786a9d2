// SPDX-License-Identifier: Apache-2.0
#include "schema/json_reader.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "schema/canonical_json.h"
#include "schema/digest.h"
#include "support/corpus.h"

namespace kernelindex {
namespace {

std::string repeated(std::string_view text, std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += text;
  return out;
}

// The code of the error of a strict reading; empty when it succeeds.
std::string code_of(std::string_view text, const json::ReadLimits& limits = {}) {
  json::Arena arena;
  const Result<json::Value> value = json::parse(text, arena, limits);
  return value ? "" : value.error().code;
}

std::string place_of(std::string_view text) {
  json::Arena arena;
  const Result<json::Value> value = json::parse(text, arena);
  return value ? "" : value.error().place;
}

TEST(JsonReader, EveryRejectVectorIsRefused) {
  KERNELINDEX_REQUIRE_CORPUS();
  json::Arena arena;
  const std::string text = test::read_file(test::corpus_path("vectors/derived/jcs_strict.json"));
  const Result<json::Value> file = json::parse(text, arena);
  ASSERT_TRUE(file.has_value());
  EXPECT_EQ(file->find("reject")->array().size(), 36u);
  for (const json::Value& item : file->find("reject")->array()) {
    EXPECT_NE(code_of(from_hex(item.text("input_hex")).value()), "") << item.text("why");
  }
}

TEST(JsonReader, InputsThatOtherImplementationsTookAreRefused) {
  KERNELINDEX_REQUIRE_CORPUS();
  json::Arena arena;
  const std::string text = test::read_file(test::corpus_path("vectors/jcs/issue_inputs.json"));
  const Result<json::Value> file = json::parse(text, arena);
  ASSERT_TRUE(file.has_value());
  for (const json::Value& row : file->find("rows")->array()) {
    const bool refused = !code_of(from_hex(row.text("input_hex")).value()).empty();
    EXPECT_EQ(refused, row.text("expect") == "error") << row.text("why");
  }
}

TEST(JsonReader, DuplicateNamesAreRefusedAtAnyDepthAndAfterUnescaping) {
  EXPECT_EQ(code_of(R"({"a":1,"a":2})"), "DUPLICATE_KEY");
  EXPECT_EQ(code_of(R"({"a":1,"\u0061":2})"), "DUPLICATE_KEY");
  EXPECT_EQ(code_of(R"([{"x":{"b":1,"b":1}}])"), "DUPLICATE_KEY");
  EXPECT_EQ(code_of(R"({"":1,"":2})"), "DUPLICATE_KEY");
  EXPECT_EQ(code_of(R"({"a":{"a":1},"b":{"a":1}})"), "");
  std::string wide = "{";
  for (int i = 0; i < 100; ++i) wide += "\"k" + std::to_string(i) + "\":0,";
  EXPECT_EQ(code_of(wide + "\"k100\":0}"), "");
  EXPECT_EQ(code_of(wide + "\"k7\":0}"), "DUPLICATE_KEY");
}

TEST(JsonReader, SixtyFourLevelsAreReadAndSixtyFiveRefused) {
  EXPECT_EQ(code_of(repeated("[", 64) + repeated("]", 64)), "");
  EXPECT_EQ(code_of(repeated("[", 65) + repeated("]", 65)), "TOO_DEEP");
  EXPECT_EQ(code_of(repeated("{\"a\":", 64) + "1" + repeated("}", 64)), "");
  EXPECT_EQ(code_of(repeated("{\"a\":", 65) + "1" + repeated("}", 65)), "TOO_DEEP");
}

TEST(JsonReader, AHundredThousandBracketsAreRefusedAndNotRecursedInto) {
  EXPECT_EQ(code_of(repeated("[", 100'000) + repeated("]", 100'000)), "TOO_DEEP");
  EXPECT_NE(code_of(repeated("[", 100'000)), "");
  EXPECT_NE(code_of(repeated("{\"a\":[", 100'000)), "");
}

TEST(JsonReader, NumberTokensEndAt1024Bytes) {
  const auto digits = [](std::size_t count) { return "0." + std::string(count - 2, '1'); };
  EXPECT_EQ(code_of(digits(1024)), "");
  EXPECT_EQ(code_of(digits(1025)), "NUMBER_TOO_LONG");
  EXPECT_EQ(code_of("[" + digits(1025) + "]"), "NUMBER_TOO_LONG");
}

TEST(JsonReader, ADocumentEndsAtItsLimitInBytes) {
  const auto document = [](std::size_t size) { return "\"" + std::string(size - 2, 'x') + "\""; };
  EXPECT_EQ(code_of(document(limits::kMiB)), "");
  EXPECT_EQ(code_of(document(limits::kMiB + 1)), "TOO_LARGE");
  EXPECT_EQ(code_of(document(limits::kMiB + 1), {limits::kAnyJsonBytes}), "");
}

TEST(JsonReader, NumbersBeyondBinary64AreRefusedAndUnderflowIsZero) {
  EXPECT_EQ(code_of("1e400"), "NUMBER_RANGE");
  EXPECT_EQ(code_of("-1e400"), "NUMBER_RANGE");
  EXPECT_EQ(code_of("1e-400"), "");
  EXPECT_EQ(code_of("1.7976931348623157e308"), "");
  EXPECT_EQ(code_of("1.7976931348623159e308"), "NUMBER_RANGE");
}

TEST(JsonReader, ErrorsNameLineAndColumn) {
  EXPECT_EQ(place_of("{\n  \"a\": tru\n}"), "2:8");
  EXPECT_EQ(place_of("{\n\"a\":1,\n\"a\":2}"), "3:5");
  EXPECT_EQ(place_of("[\"\xC3\x28\"]"), "1:3");
  EXPECT_EQ(place_of("[1e999]"), "1:2");
  EXPECT_EQ(json::line_and_column("ab\ncd", 4), "2:2");
  EXPECT_EQ(json::line_and_column("ab\ncd", 0), "1:1");
}

TEST(JsonReader, ValuesKnowWhereTheyStood) {
  json::Arena arena;
  const std::string text = R"( {"a" : "xy" , "b":[1, 22]})";
  const Result<json::Value> value = json::parse(text, arena);
  ASSERT_TRUE(value.has_value());
  const auto slice = [&](const json::Value& item) {
    return text.substr(item.begin(), item.end() - item.begin());
  };
  EXPECT_EQ(slice(*value->find("a")), "\"xy\"");
  EXPECT_EQ(slice(value->find("b")->array()[1]), "22");
  EXPECT_EQ(slice(*value->find("b")), "[1, 22]");
}

TEST(JsonReader, MembersKeepTheOrderOfTheDocument) {
  json::Arena arena;
  const Result<json::Value> value = json::parse(R"({"z":1,"a":2,"m":3})", arena);
  ASSERT_TRUE(value.has_value());
  EXPECT_EQ(value->object()[0].name, "z");
  EXPECT_EQ(value->object()[2].name, "m");
}

TEST(JsonReader, ASpoiltItemIsSetAsideAndItsNeighboursAreKept) {
  json::Arena arena;
  std::vector<json::Defect> defects;
  const std::string text =
      "[{\"a\":1}, {\"a\":1,\"a\":2}, {\"b\":\"\\ud800\"}, {\"c\":9007199254740993},"
      " {\"d\":1e999}, {\"e\":\"\xFF\"}, {\"f\":2}]";
  const Result<json::Value> value =
      json::parse_collecting_defects(text, arena, {limits::kSourceJsonBytes}, defects);
  ASSERT_TRUE(value.has_value()) << value.error().text();
  std::vector<std::string> codes;
  for (const json::Value& item : value->array()) {
    const json::Defect* defect = json::defect_within(defects, item);
    codes.emplace_back(defect != nullptr ? defect->code : "");
  }
  EXPECT_EQ(codes, (std::vector<std::string>{"", "DUPLICATE_KEY", "LONE_SURROGATE",
                                             "UNSAFE_INTEGER", "NUMBER_RANGE", "BAD_UTF8", ""}));
}

TEST(JsonReader, StructureThatCannotBeReadIsAnErrorAlsoWhenDefectsAreCollected) {
  json::Arena arena;
  std::vector<json::Defect> defects;
  for (const std::string_view text : {"[1,", "{\"a\" 1}", "[1] x", "", "[tru]"}) {
    EXPECT_FALSE(json::parse_collecting_defects(text, arena, {}, defects).has_value()) << text;
  }
}

}  // namespace
}  // namespace kernelindex
