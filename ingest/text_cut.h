// SPDX-License-Identifier: Apache-2.0
// Cutting text to a number of UTF-16 code units, the unit in which document limits count.
#pragma once

#include <string>
#include <string_view>

namespace kernelindex::ingest {

// The longest beginning of at most `units` UTF-16 code units; no character is split.
// Requires: valid UTF-8.
std::string_view first_utf16(std::string_view text, std::size_t units);

// A title of at most 200 code units: a longer one is cut to 199 and ends in an ellipsis.
std::string title_cut(std::string_view text);

}  // namespace kernelindex::ingest
