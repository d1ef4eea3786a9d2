// SPDX-License-Identifier: Apache-2.0
#include "tools/http/http_url.h"

#include <gtest/gtest.h>

#include <string>

namespace kernelindex::tools {
namespace {

TEST(HttpUrl, ItsPartsAreRead) {
  const Result<HttpUrl> url = parse_http_url("HTTPS://Example.ORG:8443/a/b?c=d#e");
  ASSERT_TRUE(url) << url.error().text();
  EXPECT_EQ(*url, (HttpUrl{true, "example.org", 8443, "/a/b?c=d"}));
  EXPECT_EQ(url->text(), "https://example.org:8443/a/b?c=d");
  EXPECT_EQ(parse_http_url("http://example.org").value().text(), "http://example.org/");
  EXPECT_EQ(parse_http_url("https://example.org.:443?q").value().text(), "https://example.org/?q");
  EXPECT_EQ(parse_http_url("https://[::1]:8080/x").value().authority(), "[::1]:8080");
}

TEST(HttpUrl, WhatHidesItsHostIsRefused) {
  for (const char* text : {"",
                           "example.org",
                           "//example.org/",
                           "ftp://example.org/",
                           "file:///etc/passwd",
                           "https:/example.org",
                           "https:///path",
                           "https://user@example.org/",
                           "https://example.org@evil.example/",
                           "https://exa mple.org/",
                           "https://example.org:0/",
                           "https://example.org:65536/",
                           "https://example.org:+1/",
                           "https://[::1/",
                           "https://[x]/",
                           "https://[::1]x/",
                           "https://exämple.org/",
                           "https://example.org\\@evil.example/",
                           "https://a..b/",
                           "https://.a/",
                           "https://example.org/\r\nX: y",
                           "https://example.org/\x01"}) {
    const Result<HttpUrl> url = parse_http_url(text);
    ASSERT_FALSE(url) << text;
    EXPECT_EQ(url.error().code, "URL_MALFORMED");
  }
  EXPECT_FALSE(parse_http_url("https://example.org/" + std::string(8192, 'a')));
}

// RFC 3986 section 5.4, the examples that keep the scheme http; its base has ";p" and a query too.
TEST(HttpUrl, ReferencesAreResolvedAsTheRfcSays) {
  const HttpUrl base = parse_http_url("http://a/b/c/d;p?q").value();
  const struct {
    const char* reference;
    const char* target;
  } cases[] = {
      {"g", "http://a/b/c/g"},
      {"./g", "http://a/b/c/g"},
      {"g/", "http://a/b/c/g/"},
      {"/g", "http://a/g"},
      {"//g", "http://g/"},
      {"?y", "http://a/b/c/d;p?y"},
      {"g?y", "http://a/b/c/g?y"},
      {"#s", "http://a/b/c/d;p?q"},
      {"g#s", "http://a/b/c/g"},
      {";x", "http://a/b/c/;x"},
      {"g;x?y#s", "http://a/b/c/g;x?y"},
      {"", "http://a/b/c/d;p?q"},
      {".", "http://a/b/c/"},
      {"./", "http://a/b/c/"},
      {"..", "http://a/b/"},
      {"../", "http://a/b/"},
      {"../g", "http://a/b/g"},
      {"../..", "http://a/"},
      {"../../", "http://a/"},
      {"../../g", "http://a/g"},
      {"../../../g", "http://a/g"},
      {"/./g", "http://a/g"},
      {"/../g", "http://a/g"},
      {"g.", "http://a/b/c/g."},
      {"..g", "http://a/b/c/..g"},
      {"./../g", "http://a/b/g"},
      {"./g/.", "http://a/b/c/g/"},
      {"g/./h", "http://a/b/c/g/h"},
      {"g/../h", "http://a/b/c/h"},
      {"g;x=1/../y", "http://a/b/c/y"},
      {"g?y/../x", "http://a/b/c/g?y/../x"},
      {"https://h/x", "https://h/x"},
  };
  for (const auto& [reference, target] : cases) {
    const Result<HttpUrl> url = resolve_http_url(base, reference);
    ASSERT_TRUE(url) << reference << ": " << url.error().text();
    EXPECT_EQ(url->text(), target) << reference;
  }
  EXPECT_FALSE(resolve_http_url(base, "javascript:alert(1)"));
}

}  // namespace
}  // namespace kernelindex::tools
