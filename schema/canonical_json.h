// SPDX-License-Identifier: Apache-2.0
// One JSON value, one byte string: RFC 8785 (JSON Canonicalization Scheme).
#pragma once

#include <string>
#include <string_view>

#include "schema/json_value.h"

namespace kernelindex::json {

// Appends the canonical text of a value: no white space, members sorted by UTF-16 code unit,
// ECMAScript numbers, minimal escapes. No newline is added. RFC 8785 section 3.2.
// Requires: valid UTF-8 and no duplicate names, which every reader of ours assures.
void append_canonical(const Value& value, std::string& out);
std::string canonical(const Value& value);

// ECMAScript Number::toString of a finite binary64; -0 is "0". RFC 8785 section 3.2.2.3.
void append_number(double number, std::string& out);

// A string literal with its quotes. RFC 8785 section 3.2.2.2.
void append_string(std::string_view text, std::string& out);

// Negative, zero or positive as `a` sorts before, with or after `b` by UTF-16 code unit. It differs
// from byte order only where a supplementary character meets one of U+E000..U+FFFF.
int compare_utf16(std::string_view a, std::string_view b);

// Number of UTF-16 code units. Requires: valid UTF-8.
std::size_t utf16_length(std::string_view text);

}  // namespace kernelindex::json
