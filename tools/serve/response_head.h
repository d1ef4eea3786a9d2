// SPDX-License-Identifier: Apache-2.0
// An answer as lines of HTTP/1.1 (RFC 9110, RFC 9112), with what every answer says to browsers.
#pragma once

#include <string>

#include "tools/serve/response_cache.h"

namespace kernelindex::serve {

struct HeadOptions {
  bool tls = false;  // then browsers are told to come back over TLS alone
};

// Requires: header values without control characters.
PreparedPointer prepare(Response response, const HeadOptions& options);

// "Sun, 06 Nov 1994 08:49:37 GMT" of POSIX seconds.
std::string http_date(std::int64_t seconds);

}  // namespace kernelindex::serve
