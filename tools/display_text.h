// SPDX-License-Identifier: Apache-2.0
// Text from outside, made safe and measured for a terminal. Names and titles are data: a control
// character in one must never reach the terminal that shows it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace kernelindex::tools {

// Control characters, line separators, direction overrides, tag characters and bytes that are no
// UTF-8, spelled out: "\x1b", "\u202e". All else stays. What comes back is valid UTF-8 on one line.
std::string escape_text(std::string_view text);

// Columns that the text takes. Requires: text as escape_text() gives it, without colour codes.
std::size_t display_width(std::string_view text);

// The longest beginning that fits, ended by "…" when something was cut. Never use it on a digest.
// Requires: width >= 1.
std::string fit_width(std::string_view text, std::size_t width);

// Filled up with spaces, on the right or on the left.
std::string pad_right(std::string_view text, std::size_t width);
std::string pad_left(std::string_view text, std::size_t width);

// A bar of `columns` columns at most, its length to an eighth of a column. Requires: 0 <= part
// <= 1.
std::string bar(double part, std::size_t columns);

// "1,234,567".
std::string grouped(std::uint64_t count);

// "1 run", "2 runs"; the plural is the singular and an s unless it is given.
std::string counted(std::uint64_t count, std::string_view singular, std::string_view plural = {});

}  // namespace kernelindex::tools
