// SPDX-License-Identifier: Apache-2.0
// RFC 8785, against the public vectors, the published number sequence and Node.js.
#include "schema/canonical_json.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "schema/digest.h"
#include "schema/json_reader.h"
#include "schema/number_sequence.h"
#include "schema/random_json.h"
#include "support/corpus.h"
#include "support/run_program.h"

namespace kernelindex {
namespace {

// A vector file of the corpus as a value.
class VectorFile {
 public:
  explicit VectorFile(std::string_view path)
      : root_(json::parse(test::read_file(test::corpus_path(path)), arena_,
                          {limits::kSourceJsonBytes})) {}
  const json::Value& operator[](std::string_view name) const { return *root_->find(name); }

 private:
  json::Arena arena_;
  Result<json::Value> root_;
};

std::uint64_t from_hex_bits(std::string_view hex) {
  return std::strtoull(std::string(hex).c_str(), nullptr, 16);
}

std::string canonical_of(std::string_view text) {
  json::Arena arena;
  const Result<json::Value> value = json::parse(text, arena);
  return value ? json::canonical(*value) : value.error().text();
}

std::string number_text(double number) {
  std::string out;
  json::append_number(number, out);
  return out;
}

test::NumberSequence published_sequence(const VectorFile& file) {
  std::vector<std::uint64_t> fixed;
  for (const json::Value& bits : file["static_u64"].array()) {
    fixed.push_back(from_hex_bits(bits.string()));
  }
  return test::NumberSequence(std::move(fixed));
}

TEST(CanonicalJson, EveryPublishedTransformComesOutByteForByte) {
  KERNELINDEX_REQUIRE_CORPUS();
  const VectorFile file("vectors/jcs/transform.json");
  EXPECT_EQ(file["cases"].array().size(), 10u);
  for (const json::Value& item : file["cases"].array()) {
    const std::string input = from_base64(item.text("input_base64")).value();
    const std::string found = canonical_of(input);
    EXPECT_EQ(to_hex(found), item.text("canonical_hex")) << item.text("name");
    EXPECT_EQ(sha256(found).hex(), item.text("sha256")) << item.text("name");
  }
}

TEST(CanonicalJson, AcceptedStrictVectorsComeOutByteForByte) {
  KERNELINDEX_REQUIRE_CORPUS();
  const VectorFile file("vectors/derived/jcs_strict.json");
  EXPECT_GT(file["accept"].array().size(), 10u);
  for (const json::Value& item : file["accept"].array()) {
    const std::string input = from_hex(item.text("input_hex")).value();
    EXPECT_EQ(to_hex(canonical_of(input)), item.text("canonical_hex")) << item.text("why");
  }
}

TEST(CanonicalJson, NumbersOfAppendixBPrintAsTheRfcSays) {
  KERNELINDEX_REQUIRE_CORPUS();
  const VectorFile file("vectors/jcs/numbers_appendix_b.json");
  std::size_t printed = 0;
  for (const json::Value& row : file["rows"].array()) {
    const double number = std::bit_cast<double>(from_hex_bits(row.text("ieee754_hex")));
    if (row.find("error")->boolean()) {
      EXPECT_FALSE(std::isfinite(number));  // never a value of ours: no reader gives it
      continue;
    }
    EXPECT_EQ(number_text(number), row.text("expected")) << row.text("comment");
    ++printed;
  }
  EXPECT_EQ(printed, 24u);
}

TEST(CanonicalJson, PublishedNumberSequenceHasItsPublishedHashes) {
  KERNELINDEX_REQUIRE_CORPUS();
  const VectorFile file("vectors/jcs/es6_numbers_sequence.json");
  constexpr std::size_t kLongest = 100'000;  // tests/tools/es6_numbers goes further
  test::NumberSequence sequence = published_sequence(file);
  std::string text;
  std::size_t lines = 0;
  for (const json::Value& checkpoint : file["checkpoints"].array()) {
    const auto count = static_cast<std::size_t>(checkpoint.find("lines")->number());
    if (count > kLongest) break;
    for (; lines < count; ++lines) sequence.append_line(text);
    EXPECT_EQ(sha256(text).hex(), checkpoint.text("sha256")) << count << " lines";
  }
  EXPECT_EQ(lines, kLongest);
}

TEST(CanonicalJson, RandomDoublesPrintAsNodePrintsThem) {
  constexpr std::size_t kSample = 20'000;  // tests/campaigns/check_numbers.sh checks ten million
  if (std::system("node --version > /dev/null 2>&1") != 0) {
    GTEST_SKIP() << "NO NODE: the independent formatter is missing, so this test proves nothing.";
  }
  std::mt19937_64 random(8785);
  test::RunOptions options;
  std::string expected;
  for (std::size_t i = 0; i < kSample; ++i) {
    const double number = test::random_double(random);
    char bits[24];
    std::snprintf(bits, sizeof bits, "%016llx\n",
                  static_cast<unsigned long long>(std::bit_cast<std::uint64_t>(number)));
    options.input += bits;
    expected += number_text(number) + "\n";
  }
  const test::Outcome node = test::run_program(
      {"node", "-e",
       "const lines = require('fs').readFileSync(0, 'latin1').trimEnd().split('\\n');"
       "const view = new DataView(new ArrayBuffer(8));"
       "process.stdout.write(lines.map((bits) => {"
       "  view.setBigUint64(0, BigInt('0x' + bits)); return String(view.getFloat64(0)) + '\\n';"
       "}).join(''));"},
      options);
  ASSERT_EQ(node.exit_code, 0) << node.err;
  EXPECT_TRUE(node.out == expected) << "Node prints some double in another way";
}

TEST(CanonicalJson, WhatIsPrintedReadsBackAndPrintsTheSame) {
  std::mt19937_64 random(20260816);
  for (int round = 0; round < 5'000; ++round) {
    json::Arena arena;
    const std::string first = json::canonical(test::random_json(random, arena));
    ASSERT_EQ(canonical_of(first), first);
  }
}

TEST(CanonicalJson, EveryDoubleReadsBackAsItself) {
  std::mt19937_64 random(754);
  for (int round = 0; round < 100'000; ++round) {
    const double number = test::random_double(random);
    const std::string text = number_text(number);
    ASSERT_EQ(std::strtod(text.c_str(), nullptr), number) << text;
  }
}

TEST(CanonicalJson, SupplementaryCharactersSortBeforeTheEndOfTheBasicPlane) {
  EXPECT_LT(json::compare_utf16("\xF0\x9F\x98\x82", "\xEF\xAC\xB3"), 0);  // U+1F602, U+FB33
  EXPECT_GT(json::compare_utf16("\xEE\x80\x80", "\xF4\x8F\xBF\xBF"), 0);  // U+E000, U+10FFFF
  EXPECT_LT(json::compare_utf16("\xED\x9F\xBF", "\xF0\x90\x80\x80"), 0);  // U+D7FF, U+10000
  EXPECT_LT(json::compare_utf16("a", "aa"), 0);
  EXPECT_EQ(json::compare_utf16("", ""), 0);
}

TEST(CanonicalJson, LengthCountsUtf16CodeUnits) {
  EXPECT_EQ(json::utf16_length(""), 0u);
  EXPECT_EQ(json::utf16_length("a\xC3\xA9\xE2\x82\xAC"), 3u);
  EXPECT_EQ(json::utf16_length("\xF0\x9F\x98\x82"), 2u);
}

TEST(CanonicalJson, IntegersOfTheDatabaseKindPrintAsDoublesDo) {
  EXPECT_EQ(number_text(1.2345678901234568e20), "123456789012345680000");
  EXPECT_EQ(number_text(0.000010048658277929109), "0.000010048658277929109");
  EXPECT_EQ(number_text(1e21), "1e+21");
  EXPECT_EQ(number_text(-0.0), "0");
  EXPECT_EQ(number_text(9007199254740993.0), "9007199254740992");
}

}  // namespace
}  // namespace kernelindex
