// SPDX-License-Identifier: Apache-2.0
// The parts of an http or https URL, and what a relative reference means against one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "schema/result.h"

namespace kernelindex::tools {

struct HttpUrl {
  bool secure = true;        // https
  std::string host;          // lower case; an IPv6 address without its brackets
  std::uint16_t port = 443;  // 1 to 65535
  std::string target = "/";  // path and query as written, from its "/"

  // "host" or "host:port" as the Host header says it: the scheme's own port is left out, and an
  // IPv6 address stands in brackets.
  std::string authority() const;
  // "https://host/target".
  std::string text() const;

  friend bool operator==(const HttpUrl&, const HttpUrl&) = default;
};

// Parses an absolute URL (RFC 3986, the schemes http and https alone), at most 8,192 bytes. A
// fragment is left out, since it is never sent. Refused: user names and passwords, hosts that are
// neither an ASCII name nor an address in its usual spelling, ports beyond 16 bits, bytes outside
// printable ASCII. Error: invalid URL_MALFORMED.
Result<HttpUrl> parse_http_url(std::string_view text);

// What `reference`, the text of a Location header, means at `base` (RFC 3986 section 5.2).
// Error: as parse_http_url.
Result<HttpUrl> resolve_http_url(const HttpUrl& base, std::string_view reference);

}  // namespace kernelindex::tools
