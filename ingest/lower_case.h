// SPDX-License-Identifier: Apache-2.0
// Lower-casing as far as it can matter here: every name that our grammars accept is ASCII.
#pragma once

#include <string>
#include <string_view>

namespace kernelindex::ingest {

// Lowers A..Z and the only two letters outside ASCII whose lower case contains an ASCII letter:
// U+212A KELVIN SIGN (k) and U+0130 (i, U+0307). Everything else stays as it is; a name that keeps
// such a character fails its grammar whether it was lowered or not.
std::string lower_case(std::string_view text);

}  // namespace kernelindex::ingest
