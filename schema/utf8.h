// SPDX-License-Identifier: Apache-2.0
// UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing above U+10FFFF.
#pragma once

#include <cstddef>
#include <string_view>

namespace kernelindex {

// The length of the valid sequence at the front of `text`, or 0. Requires: `text` is not empty.
std::size_t utf8_sequence(std::string_view text);

// The offset of the first byte that is not UTF-8; text.size() when all of it is.
std::size_t utf8_prefix(std::string_view text);

}  // namespace kernelindex
