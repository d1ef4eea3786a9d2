// SPDX-License-Identifier: Apache-2.0
// g++ 12 with sanitizers sees uninitialised members in <regex> that are none: gcc.gnu.org/PR105562.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#include "schema/grammar.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <optional>
#include <random>
#include <regex>
#include <string>
#include <vector>

#include "schema/https_url.h"
#include "schema/json_reader.h"
#include "support/run_program.h"

namespace kernelindex::schema {
namespace {

// Nanoseconds, -1 for an ambiguous duration, -2 for what is no duration.
double duration(std::string_view text) {
  const DurationText parsed = parse_duration_text(text);
  if (!parsed.well_formed) return -2;
  return parsed.nanoseconds.value_or(-1);
}

TEST(Grammar, DurationsBecomeWholeNanoseconds) {
  EXPECT_EQ(duration("8120 ns"), 8120);
  EXPECT_EQ(duration("8.5 us"), 8500);
  EXPECT_EQ(duration("8.5us"), 8500);
  EXPECT_EQ(duration("8.5 \xC2\xB5s"), 8500);
  EXPECT_EQ(duration("8.5\xC2\xA0us"), 8500) << "any white space of ECMAScript may stand there";
  EXPECT_EQ(duration("1 ms"), 1'000'000);
  EXPECT_EQ(duration("0.5 s"), 500'000'000);
  EXPECT_EQ(duration("0 s"), 0);
  EXPECT_EQ(duration("007ns"), 7);
  EXPECT_EQ(duration("9007199254740991 ns"), 9007199254740991.0);
}

TEST(Grammar, DurationsThatAreNoWholeNanosecondsAreAmbiguous) {
  EXPECT_EQ(duration("8.12 us"), -1) << "8119.999999999999 in binary64";
  EXPECT_EQ(duration("1.001 us"), -1) << "1000.9999999999999 in binary64";
  EXPECT_EQ(duration("0.0000005 ms"), -1);
  EXPECT_EQ(duration("0.5 ns"), -1);
  EXPECT_EQ(duration("9007199254740992 ns"), -1);
  EXPECT_EQ(duration("9007200 s"), -1);
  EXPECT_EQ(duration(std::string(400, '9') + " s"), -1);
  EXPECT_EQ(duration("0." + std::string(400, '0') + "1 s"), -1);
}

TEST(Grammar, OtherTextsAreNoDurations) {
  for (const std::string_view text :
       {"",       "8",     "8.12",  "us",     "8. us",   ".5 us",          "-8 us",
        "+8 us",  "8  us", "8 us ", " 8 us",  "8 US",    "8 \xCE\xBCs",    "8e3 ns",
        "8,5 us", "8 m",   "8 min", "0x8 ns", "8 us us", "\xEF\xBC\x98 us"}) {
    EXPECT_EQ(duration(text), -2) << text;
  }
}

// The scanners against the regular expressions that they stand for.
TEST(Grammar, ScannersMatchWhatTheirExpressionsMatch) {
  const Grammar* const all[] = {&kDigest,       &kHex64,     &kToken,      &kAxisName,  &kSlug,
                                &kManifestName, &kGitCommit, &kExpression, &kUtcInstant};
  const std::vector<std::string> seeds = {"",
                                          "a",
                                          "a_0",
                                          "0a",
                                          "a-b",
                                          "a.b",
                                          "sha256:",
                                          "_a",
                                          "-a",
                                          "A",
                                          "m*2",
                                          "m * (n+1)",
                                          "x//y%z",
                                          std::string(40, 'a'),
                                          std::string(64, 'f'),
                                          std::string(63, '0') + "g",
                                          "sha256:" + std::string(64, '0'),
                                          "sha256:" + std::string(64, 'A'),
                                          "2026-08-01T12:00:00Z",
                                          "2024-02-29T00:00Z",
                                          "2023-02-29T00:00Z",
                                          "2000-02-29T23:59:59.5Z",
                                          "2100-02-29T00:00Z",
                                          "2026-11-31T00:00Z"};
  std::mt19937_64 random(3);
  const std::string alphabet = "abfz0129_-.: *+/()%TZ\n\x7f";
  for (const Grammar* grammar : all) {
    const std::regex expression{std::string(grammar->expression), std::regex::ECMAScript};
    const auto agree = [&](const std::string& text) {
      EXPECT_EQ(grammar->matches(text), std::regex_match(text, expression))
          << grammar->name << ": " << text;
    };
    for (const std::string& seed : seeds) {
      agree(seed);
      for (int i = 0; i < 300 && !seed.empty(); ++i) {
        std::string mutated = seed;
        mutated[random() % seed.size()] = alphabet[random() % alphabet.size()];
        if (random() % 4 == 0) mutated += alphabet[random() % alphabet.size()];
        agree(mutated);
      }
    }
  }
}

const std::vector<std::string>& good_urls() {
  static const std::vector<std::string> urls = {"https://example.com",
                                                "https://example.com/",
                                                "HTTPS://EXAMPLE.COM/a?b#c",
                                                "https://user:pass@example.com:8443/x",
                                                "https://a@b@example.com/",
                                                "https://example.com:/",
                                                "https://example.com:0",
                                                "https://example.com:65535/",
                                                "https://127.0.0.1/",
                                                "https://0x7f.1/",
                                                "https://0300.0250.0.1",
                                                "https://4294967295/",
                                                "https://[::1]/",
                                                "https://[2001:db8::1]:443/a",
                                                "https://[::ffff:1.2.3.4]/",
                                                "https://[1:2:3:4:5:6:7:8]",
                                                "https://b\xC3\xBC"
                                                "cher.example/",
                                                "https://example.com/a b",
                                                "https://example.com/%zz",
                                                "https://ex%61mple.com/",
                                                "https://localhost",
                                                "https://a_b.example/",
                                                "https://example.com.",
                                                "https://example.invalid/vector/project",
                                                "https://1.2.3.4./",
                                                "https://a-.example/",
                                                "https://example.com?x",
                                                "https://example.com#x",
                                                "https://example.com/\\a",
                                                "https://a..b/",
                                                "https://1a/",
                                                "https://-a.example/"};
  return urls;
}

const std::vector<std::string>& bad_urls() {
  static const std::vector<std::string> urls = {"",
                                                "example.com",
                                                "http://example.com",
                                                "ftp://example.com",
                                                "https:",
                                                "https://",
                                                "https://:443/",
                                                "https://@/",
                                                "https://user@/",
                                                "https://example.com:65536/",
                                                "https://example.com:8a/",
                                                "https://exa mple.com/",
                                                "https://exa<mple.com/",
                                                "https://ex%zzmple.com/",
                                                "https://ex%00mple.com/",
                                                "https://1.2.3.256/",
                                                "https://a.0x/",
                                                "https://1.2.3.4.5/",
                                                "https://4294967296/",
                                                "https://256.1.1.1/",
                                                "https://08.1.1.1/",
                                                "https://1.2.3.0x100/",
                                                "https://[::1",
                                                "https://[::1]x/",
                                                "https://[1:2:3:4:5:6:7]/",
                                                "https://[1:2:3:4:5:6:7:8:9]/",
                                                "https://[1::2::3]/",
                                                "https://[:1::2]/",
                                                "https://[12345::]/",
                                                "https://[::1.2.3]/",
                                                "https://[::01.2.3.4]/",
                                                "https://[g::]/",
                                                "https://a|b/",
                                                "https://a^b/",
                                                "https://%/",
                                                "https://a]b/",
                                                "https://?x",
                                                "https://#x",
                                                "https://[1:2:3:4:5:6:7:1.2.3.4]/"};
  return urls;
}

// What the standard repairs before parsing, and we refuse.
const std::vector<std::string>& repaired_urls() {
  static const std::vector<std::string> urls = {
      " https://example.com",  "https://example.com ",  "https://exam\tple.com/",
      "https:example.com",     "https:/example.com",    "https:\\\\example.com",
      "https:///example.com/", "https://example.com\n", "https://example.com\\path"};
  return urls;
}

TEST(Grammar, HttpsUrlsAreThoseOfTheUrlStandardWithoutItsRepairs) {
  for (const std::string& url : good_urls()) EXPECT_TRUE(is_https_url(url)) << url;
  for (const std::string& url : bad_urls()) EXPECT_FALSE(is_https_url(url)) << url;
  for (const std::string& url : repaired_urls()) EXPECT_FALSE(is_https_url(url)) << url;
}

TEST(Grammar, NodeAgreesAboutTheseUrls) {
  if (std::system("node --version > /dev/null 2>&1") != 0) {
    GTEST_SKIP() << "NO NODE: the independent URL parser is missing, so this test proves nothing.";
  }
  std::string script =
      "const ok = (t) => { try { return new URL(t).protocol === 'https:'; } catch { return false; "
      "} };"
      "const bytes = require('fs').readFileSync(0, 'utf8').split('\\0');"
      "process.stdout.write(bytes.map((t) => ok(t) ? '1' : '0').join(''));";
  test::RunOptions options;
  std::string expected;
  for (const auto& [urls, answer] : {std::pair(&good_urls(), '1'), std::pair(&bad_urls(), '0'),
                                     std::pair(&repaired_urls(), '1')}) {
    for (const std::string& url : *urls) {
      if (!expected.empty()) options.input += '\0';
      options.input += url;
      expected += answer;
    }
  }
  const test::Outcome node = test::run_program({"node", "-e", script}, options);
  EXPECT_EQ(node.exit_code, 0) << node.err;
  EXPECT_EQ(node.out, expected);
}

}  // namespace
}  // namespace kernelindex::schema
