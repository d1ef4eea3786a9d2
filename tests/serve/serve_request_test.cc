// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tools/serve/rate_limit.h"
#include "tools/serve/request.h"
#include "tools/serve/response_cache.h"
#include "tools/serve/response_head.h"

namespace kernelindex::serve {
namespace {

std::string code_of(std::string_view target) {
  const Result<Target> parsed = parse_target(target);
  return parsed ? "" : parsed.error().code;
}

TEST(Target, SegmentsAndQueryAreDecoded) {
  const Result<Target> target = parse_target("/a%20b/%C3%A9/?q=x+y%2B&q=&z");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->segments, (std::vector<std::string>{"a b", "é"}));
  EXPECT_TRUE(target->trailing_slash);
  ASSERT_EQ(target->query.size(), 3u);
  EXPECT_EQ(target->query[0].value, "x y+");
  EXPECT_EQ(target->query[2].name, "z");
  EXPECT_EQ(target->path(), "/a%20b/%C3%A9");
}

TEST(Target, TricksWithPathsAreRefused) {
  for (const char* path : {"/..", "/a/../b", "/%2e%2e/x", "/.%2E", "/%2e", "//a", "/a//b", "/a%2fb",
                           "/a%5Cb", "/a%00b", "/%0a"}) {
    EXPECT_EQ(code_of(path), "BAD_PATH") << path;
  }
  for (const char* path : {"/%c0%ae%c0%ae", "/%c0%af", "/%ed%a0%80", "/%ff", "/?q=%80"}) {
    EXPECT_EQ(code_of(path), "NOT_UTF8") << path;
  }
  for (const char* path : {"/%", "/%4", "/%zz", "/?a=%g0"}) {
    EXPECT_EQ(code_of(path), "BAD_ESCAPE") << path;
  }
  EXPECT_EQ(code_of("a"), "BAD_TARGET");
  EXPECT_EQ(code_of("/a#b"), "BAD_TARGET");
}

TEST(Target, LimitsHoldAndAreReached) {
  EXPECT_EQ(code_of("/" + std::string(kTargetBytes - 1, 'a')), "");
  EXPECT_EQ(code_of("/" + std::string(kTargetBytes, 'a')), "TARGET_TOO_LONG");
  std::string path;
  for (std::size_t i = 0; i < kPathSegments; ++i) path += "/a";
  EXPECT_EQ(code_of(path), "");
  EXPECT_EQ(code_of(path + "/a"), "TOO_MANY_SEGMENTS");
  std::string query = "/?a";
  for (std::size_t i = 1; i < kQueryParameters; ++i) query += "&a";
  EXPECT_EQ(code_of(query), "");
  EXPECT_EQ(code_of(query + "&a"), "TOO_MANY_PARAMETERS");
}

TEST(Accept, AMediaTypeIsNamedByItselfWithAQualityAboveZero) {
  EXPECT_TRUE(accepts("text/html, application/jsonl;q=0.5", "application/jsonl"));
  EXPECT_TRUE(accepts("Application/JSONL", "application/jsonl"));
  EXPECT_FALSE(accepts("application/jsonl;q=0.0, */*", "application/jsonl"));
  EXPECT_FALSE(accepts("application/jsonlines", "application/jsonl"));
}

TEST(IfNoneMatch, ComparesWeakly) {
  EXPECT_TRUE(matches_tag("\"a\", W/\"b\"", "\"b\""));
  EXPECT_TRUE(matches_tag("*", "\"b\""));
  EXPECT_FALSE(matches_tag("\"a\"", "\"b\""));
  EXPECT_FALSE(matches_tag("*", ""));
}

TEST(ResponseHead, TheDateIsThatOfTheRfc) {
  EXPECT_EQ(http_date(784'111'777), "Sun, 06 Nov 1994 08:49:37 GMT");  // RFC 9110 section 5.6.7
}

TEST(ResponseHead, BrowsersAreToldToRunNothing) {
  const PreparedPointer prepared = prepare(answer("<p>", kHtml), {.tls = true});
  for (const char* line : {"Content-Security-Policy: default-src 'none'", "frame-ancestors 'none'",
                           "X-Content-Type-Options: nosniff", "Referrer-Policy: no-referrer",
                           "Strict-Transport-Security: ", "Content-Length: 3"}) {
    EXPECT_NE(prepared->head.find(line), std::string::npos) << line;
  }
  EXPECT_EQ(prepared->head.find("unsafe"), std::string::npos);
}

TEST(ResponseCache, NeverHoldsMoreThanItsBytes) {
  constexpr std::size_t kBytes = 64 * 1024;
  ResponseCache cache(kBytes);
  for (int i = 0; i < 1000; ++i) {
    cache.put("/" + std::to_string(i), prepare(answer(std::string(1000, 'x'), kText), {}));
    ASSERT_NE(cache.find("/0"), nullptr) << i;  // what is asked for stays
    ASSERT_LE(cache.bytes(), kBytes);
  }
  EXPECT_EQ(cache.find("/1"), nullptr);
  cache.put("/large", prepare(answer(std::string(kBytes / 2, 'x'), kText), {}));
  EXPECT_EQ(cache.find("/large"), nullptr);
}

TEST(RateLimit, ABucketEmptiesAndFillsWithTime) {
  RateLimit limit({.burst = 2, .refill = 100, .names_max = 2});
  EXPECT_TRUE(limit.take("a", 0));
  EXPECT_TRUE(limit.take("a", 0));
  EXPECT_FALSE(limit.take("a", 99));
  EXPECT_TRUE(limit.take("a", 100));
  EXPECT_FALSE(limit.take("a", 100));
  EXPECT_TRUE(limit.take("b", 100));
  EXPECT_FALSE(limit.take("c", 100)) << "more names than are remembered";
  EXPECT_TRUE(limit.take("c", 1000)) << "a full bucket is forgotten";
}

}  // namespace
}  // namespace kernelindex::serve
