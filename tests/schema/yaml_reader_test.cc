// SPDX-License-Identifier: Apache-2.0
#include "schema/yaml_reader.h"

#include <gtest/gtest.h>

#include <string>

#include "schema/canonical_json.h"
#include "schema/json_reader.h"

namespace kernelindex {
namespace {

// The canonical text of the values, or "place CODE" of the error.
std::string read(std::string_view text) {
  json::Arena arena;
  const Result<json::Value> value = parse_yaml(text, arena);
  return value ? json::canonical(*value) : value.error().place + " " + value.error().code;
}

std::string repeated(std::string_view text, std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += text;
  return out;
}

// "a: &a 1\nb: [*a,*a,...]\n"
std::string with_aliases(std::size_t count) {
  return "a: &a 1\nb: [" + repeated("*a,", count) + "]\n";
}

TEST(YamlReader, BlockFlowAndScalarStylesGiveTheSameValues) {
  EXPECT_EQ(read("# c\na:\n  - 1\n  - {b: 'x', \"c\": \"\\u0041\\n\"}\nd: |\n  one\n  two\ne: >-\n "
                 " f\n  g\n"),
            "{\"a\":[1,{\"b\":\"x\",\"c\":\"A\\n\"}],\"d\":\"one\\ntwo\\n\",\"e\":\"f g\"}");
  EXPECT_EQ(read("---\na: 1\n...\n"), R"({"a":1})");
  EXPECT_EQ(read("a: 1\r\nb: 2\r\n"), R"({"a":1,"b":2})");
  EXPECT_EQ(read(R"({"json": [true, null, 1.5e3]})"), R"({"json":[true,null,1500]})");
}

// YAML 1.2.2 section 10.3.2.
TEST(YamlReader, PlainScalarsMeanWhatTheCoreSchemaSays) {
  EXPECT_EQ(read("[null, Null, NULL, ~, true, True, TRUE, false, False, FALSE]"),
            "[null,null,null,null,true,true,true,false,false,false]");
  EXPECT_EQ(read("-\n- 1\n"), "[null,1]");
}

TEST(YamlReader, PlainNumbersMeanWhatTheCoreSchemaSays) {
  EXPECT_EQ(read("[0, -19, +7, 017, 0o17, 0x1F, 1., .5, -2E+05, 12e03, -0, 0.1]"),
            "[0,-19,7,17,15,31,1,0.5,-200000,12000,0,0.1]");
}

TEST(YamlReader, WhatLooksLikeAnotherSchemaIsText) {
  EXPECT_EQ(
      read("[no, yes, on, y, nUll, 1_000, 0b1, 1:30, 0x, 0o8, -0x1, ., 1e, +, '1', \"null\"]"),
      R"(["no","yes","on","y","nUll","1_000","0b1","1:30","0x","0o8","-0x1",".","1e","+","1","null"])");
  EXPECT_EQ(read("a: 2026-08-01T12:00:00Z"), R"({"a":"2026-08-01T12:00:00Z"})");
  EXPECT_EQ(read("<<: {a: 1}"), R"({"<<":{"a":1}})") << "a key like any other";
}

TEST(YamlReader, NumbersWithoutAJsonValueAreRefused) {
  for (const std::string_view word : {".inf", "-.Inf", "+.INF", ".nan", ".NaN"}) {
    EXPECT_EQ(read("a: " + std::string(word)), "1:4 NOT_FINITE");
  }
  EXPECT_EQ(read("a: 1e999"), "1:4 NUMBER_RANGE");
  EXPECT_EQ(read("a: 0x20000000000000"), "1:4 NUMBER_RANGE");
  EXPECT_EQ(read("a: 0x1FFFFFFFFFFFFF"), R"({"a":9007199254740991})");
  EXPECT_EQ(read("a: 1" + std::string(1024, '0')), "1:4 NUMBER_RANGE");
  EXPECT_EQ(read("a: 0." + std::string(1023, '1')), "1:4 NUMBER_TOO_LONG");
  EXPECT_EQ(read("a: 1e-999"), R"({"a":0})");
}

TEST(YamlReader, DuplicateKeysAreRefused) {
  EXPECT_EQ(read("a: 1\nb: 2\na: 3\n"), "3:1 DUPLICATE_KEY");
  EXPECT_EQ(read("x: {a: 1, 'a': 2}"), "1:12 DUPLICATE_KEY");
  EXPECT_EQ(read("x: {a: 1, \"\\x61\": 2}"), "1:12 DUPLICATE_KEY");
}

TEST(YamlReader, KeysAreTexts) {
  EXPECT_EQ(read("1: x"), "1:1 BAD_KEY");
  EXPECT_EQ(read("true: x"), "1:1 BAD_KEY");
  EXPECT_EQ(read("'1': x"), R"({"1":"x"})");
  EXPECT_EQ(read("? [a]\n: x"), "1:3 BAD_KEY");
  EXPECT_NE(read("a: &a 1\n*a : 2").find("BAD_KEY"), std::string::npos);
  EXPECT_NE(read("&a k: 1").find("BAD_KEY"), std::string::npos);
}

TEST(YamlReader, TagsDirectivesAndSecondDocumentsAreRefused) {
  EXPECT_NE(read("a: !custom 1").find("YAML_TAG"), std::string::npos);
  EXPECT_NE(read("a: !!str 1").find("YAML_TAG"), std::string::npos);
  EXPECT_NE(read("!!map {a: 1}").find("YAML_TAG"), std::string::npos);
  EXPECT_NE(read("! a: 1").find("YAML_TAG"), std::string::npos);
  EXPECT_EQ(read("%YAML 1.1\n---\na: no\n"), "1:1 YAML_DIRECTIVE");
  EXPECT_EQ(read("%TAG ! tag:x,2000:\n---\na: 1\n"), "1:1 YAML_DIRECTIVE");
  EXPECT_NE(read("a: 1\n---\nb: 2\n").find("SECOND_DOCUMENT"), std::string::npos);
  EXPECT_NE(read("a: 1\n...\nb: 2\n").find("SECOND_DOCUMENT"), std::string::npos);
  EXPECT_EQ(read(""), "1:1 EMPTY_DOCUMENT");
  EXPECT_EQ(read("# only a comment\n"), "1:1 EMPTY_DOCUMENT");
}

TEST(YamlReader, BytesThatAreNoTextAreRefused) {
  EXPECT_EQ(read("a: \xFF"), "1:4 BAD_UTF8");
  EXPECT_EQ(read("\xEF\xBB\xBF"
                 "a: 1"),
            "1:1 BYTE_ORDER_MARK");
  EXPECT_EQ(read(std::string_view("a: 1\n\0b: 2\n", 11)), "2:1 CONTROL_CHARACTER");
  EXPECT_EQ(read(R"(a: "\ud800")"), "1:5 BAD_YAML");
  EXPECT_EQ(read(R"(a: "\ud83d\ude00")"), "{\"a\":\"\xF0\x9F\x98\x80\"}");
}

TEST(YamlReader, AliasesRepeatTheirAnchor) {
  EXPECT_EQ(read("a: &x {b: [1]}\nc: *x\n"), R"({"a":{"b":[1]},"c":{"b":[1]}})");
  EXPECT_EQ(read("- &x 1\n- *x\n- &x 2\n- *x\n"), "[1,1,2,2]");
  EXPECT_NE(read("a: *x").find("UNKNOWN_ALIAS"), std::string::npos);
  EXPECT_NE(read("a: &x [*x]").find("UNKNOWN_ALIAS"), std::string::npos) << "no cycles";
}

TEST(YamlReader, AHundredAliasesAreReadAndTheNextRefused) {
  EXPECT_EQ(read(with_aliases(100)).find("TOO_MANY"), std::string::npos);
  EXPECT_NE(read(with_aliases(101)).find("TOO_MANY_ALIASES"), std::string::npos);
}

TEST(YamlReader, AnAliasBombIsRefusedBeforeItGrows) {
  std::string nodes = "a: &a [x,x,x,x,x,x,x,x,x,x]\n";
  for (char name = 'b'; name <= 'j'; ++name) {
    const std::string before = std::string("*") + static_cast<char>(name - 1) + ",";
    nodes += std::string(1, name) + ": &" + name + " [" + repeated(before, 10) + "]\n";
  }
  EXPECT_NE(read(nodes).find("TOO_MANY_NODES"), std::string::npos);
  const std::string text =
      "a: &a \"" + std::string(200'000, 'x') + "\"\nb: &b [*a,*a,*a]\nc: [*b,*b]\n";
  EXPECT_NE(read(text).find("TOO_LARGE"), std::string::npos);
}

TEST(YamlReader, NestingCountsWhatAliasesBring) {
  const auto nested = [](std::size_t depth, std::string_view inner) {
    return repeated("[", depth) + std::string(inner) + repeated("]", depth);
  };
  EXPECT_EQ(read(nested(64, "")), nested(64, ""));
  EXPECT_EQ(read(nested(65, "")), "1:65 TOO_DEEP");
  EXPECT_EQ(read(repeated("[", 100'000)), "1:65 TOO_DEEP");
  EXPECT_EQ(read(repeated("- ", 100'000)), "1:129 TOO_DEEP");
  const std::string anchor = "a: &a " + nested(32, "") + "\n";
  EXPECT_EQ(read(anchor + "b: " + nested(31, "*a")).find("TOO_DEEP"), std::string::npos);
  EXPECT_NE(read(anchor + "b: " + nested(32, "*a")).find("TOO_DEEP"), std::string::npos);
  const std::string second = "b: &b [[*a],1]\n";
  EXPECT_EQ(read(anchor + second + "c: " + nested(29, "*b")).find("TOO_DEEP"), std::string::npos);
  EXPECT_NE(read(anchor + second + "c: " + nested(30, "*b")).find("TOO_DEEP"), std::string::npos);
}

TEST(YamlReader, ADocumentEndsAtOneMebibyte) {
  const auto document = [](std::size_t size) { return "a: " + std::string(size - 3, 'x'); };
  EXPECT_EQ(read(document(limits::kMiB)).find("TOO_LARGE"), std::string::npos);
  EXPECT_EQ(read(document(limits::kMiB + 1)), " TOO_LARGE");
}

TEST(YamlReader, FaultsOfTheSyntaxNameLineAndColumn) {
  EXPECT_EQ(read("a: [1, 2\nb: 3\n"), "3:1 BAD_YAML");
  EXPECT_EQ(read("a: 1\n b: 2\n"), "1:4 BAD_YAML");
  EXPECT_EQ(read("a: b\n\tc: 1\n").find("BAD_YAML"), 4u);
}

TEST(YamlReader, FaultsOfTheSchemaNameLineAndColumn) {
  const std::string text =
      "apiVersion: kernelindex.dev/v1alpha1\nkind: SoftwareProject\nmetadata:\n  name: n\nspec:\n"
      "  name: P\n  kind: shop\n";
  const Result<Manifest> manifest = read_manifest_file_text(text);
  ASSERT_FALSE(manifest.has_value());
  EXPECT_EQ(manifest.error().place, "7:9: spec.kind");
}

TEST(YamlReader, AnEmptyValueIsANullAtItsKey) {
  json::Arena arena;
  const std::string text = "a:\nb: 1\n";
  const Result<json::Value> value = parse_yaml(text, arena);
  ASSERT_TRUE(value.has_value());
  EXPECT_TRUE(value->find("a")->is_null());
  EXPECT_EQ(json::line_and_column(text, value->find("b")->begin()), "2:4");
}

TEST(YamlReader, SyntaxIsDetectedByTheFirstBrace) {
  const std::string json = R"({"apiVersion":"kernelindex.dev/v1alpha1","kind":"SoftwareProject",)"
                           R"("metadata":{"name":"n"},"spec":{"name":"P"}})";
  const std::string yaml =
      "apiVersion: kernelindex.dev/v1alpha1\nkind: SoftwareProject\nmetadata: {name: n}\n"
      "spec: {name: P}\n";
  const Result<Manifest> one = read_manifest_file_text("\n " + json);
  const Result<Manifest> two = read_manifest_file_text(yaml);
  const Result<Manifest> three = read_manifest_file_text(json, ManifestSyntax::yaml);
  ASSERT_TRUE(one.has_value());
  ASSERT_TRUE(two.has_value());
  ASSERT_TRUE(three.has_value());
  EXPECT_EQ(one->document, two->document);
  EXPECT_EQ(one->document, three->document);
  EXPECT_FALSE(read_manifest_file_text(yaml, ManifestSyntax::json).has_value());
}

}  // namespace
}  // namespace kernelindex
