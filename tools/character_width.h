// SPDX-License-Identifier: Apache-2.0
// How many columns of a terminal a character takes.
#pragma once

namespace kernelindex::tools {

// 0 for combining and format characters, 2 for wide ones (CJK, most emoji), else 1.
// Requires: a printable character; escape_text() sees to that.
unsigned character_width(char32_t character);

}  // namespace kernelindex::tools
