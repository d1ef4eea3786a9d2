// SPDX-License-Identifier: Apache-2.0
#include "schema/digest.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace kernelindex {
namespace {

// FIPS 180-4 examples.
TEST(Digest, Sha256KnownAnswers) {
  EXPECT_EQ(sha256("").hex(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc").hex(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq").hex(),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST(Digest, PiecesHashAsTheirConcatenation) {
  EXPECT_EQ(sha256({"a", "", "bc"}), sha256("abc"));
  Sha256 hasher;
  hasher.update("a").update("bc");
  EXPECT_EQ(hasher.finish(), sha256("abc"));
  EXPECT_EQ(hasher.update("abc").finish(), sha256("abc")) << "finish() starts over";
}

TEST(Digest, TextHasOneSpelling) {
  const Digest digest = sha256("abc");
  EXPECT_EQ(Digest::parse(digest.text()).value(), digest);
  EXPECT_EQ(Digest::parse_hex(digest.hex()).value(), digest);
  EXPECT_EQ(Digest::from_raw(digest.raw()), digest);
  EXPECT_FALSE(Digest::parse(digest.hex()).has_value());
  EXPECT_FALSE(Digest::parse("SHA256:" + digest.hex()).has_value());
  EXPECT_FALSE(Digest::parse("sha256:" + digest.hex().substr(1)).has_value());
  EXPECT_FALSE(Digest::parse(digest.text() + "0").has_value());
  std::string upper = digest.text();
  upper[7] = 'B';
  EXPECT_FALSE(Digest::parse(upper).has_value());
}

TEST(Digest, HexIsLowerCaseAndOfEvenLength) {
  EXPECT_EQ(to_hex(std::string_view("\x00\xff", 2)), "00ff");
  EXPECT_EQ(from_hex("00ff").value(), std::string("\x00\xff", 2));
  EXPECT_FALSE(from_hex("0").has_value());
  EXPECT_FALSE(from_hex("0F").has_value());
  EXPECT_FALSE(from_hex("0g").has_value());
}

// RFC 4648 section 10.
TEST(Digest, Base64KnownAnswers) {
  const std::pair<std::string, std::string> rows[] = {{"", ""},
                                                      {"f", "Zg=="},
                                                      {"fo", "Zm8="},
                                                      {"foo", "Zm9v"},
                                                      {"foob", "Zm9vYg=="},
                                                      {"fooba", "Zm9vYmE="},
                                                      {"foobar", "Zm9vYmFy"}};
  for (const auto& [plain, encoded] : rows) {
    EXPECT_EQ(to_base64(plain), encoded);
    EXPECT_EQ(from_base64(encoded).value(), plain);
  }
}

TEST(Digest, Base64ThatDoesNotEncodeBackIsRefused) {
  for (const std::string_view text :
       {"Zg", "Zg=", "Zh==", "Zm9", "Z===", "Zg==Zg==", "Zm 9v", "Zm9v\n", "Zm8_", "=Zg="}) {
    EXPECT_FALSE(from_base64(text).has_value()) << text;
  }
}

// Every group of four of some characters: 7 digits, of which A, Q, g and w end in four zero bits,
// and 5 others. RFC 4648 lets through 7^4 groups, 7 * 7 * 4 with one "=" and 7 * 4 with two.
TEST(Digest, Base64HasOneSpellingForEachValue) {
  constexpr std::string_view kCharacters("ABQgw/+=-\n\0\xff", 12);
  std::set<std::string> values;
  std::size_t accepted = 0;
  for (const char a : kCharacters) {
    for (const char b : kCharacters) {
      for (const char c : kCharacters) {
        for (const char d : kCharacters) {
          const std::string text{a, b, c, d};
          const std::optional<std::string> value = from_base64(text);
          if (!value) continue;
          ++accepted;
          values.insert(*value);
          EXPECT_EQ(to_base64(*value), text);
        }
      }
    }
  }
  EXPECT_EQ(accepted, 7u * 7 * 7 * 7 + 7 * 7 * 4 + 7 * 4);
  EXPECT_EQ(values.size(), accepted);
}

}  // namespace
}  // namespace kernelindex
