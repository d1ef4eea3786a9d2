// SPDX-License-Identifier: Apache-2.0
// Whether a text is an https URL that a browser would open: the WHATWG URL parser's answer, without
// its repairs.
#pragma once

#include <string_view>

namespace kernelindex::schema {

// True when the text is "https://" (in any case), an optional user part, a host and an optional
// port that the WHATWG URL standard accepts, and then any path. The repairs that the standard makes
// before parsing are refused, since a URL is stored as it was written: white space around it,
// control characters inside, backslashes before the path, a missing "//". Host names beyond ASCII
// are taken as they are; their IDNA mapping is not checked.
bool is_https_url(std::string_view text);

}  // namespace kernelindex::schema
