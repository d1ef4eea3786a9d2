// SPDX-License-Identifier: Apache-2.0
// What a plain YAML scalar means: the core schema of YAML 1.2, section 10.3.2. Internal to schema/.
#pragma once

#include <string_view>

namespace kernelindex {

struct PlainScalar {
  enum class Kind { null, boolean, number, text, not_finite, out_of_range };
  Kind kind = Kind::text;
  bool boolean = false;
  double number = 0;
};

// Kinds not_finite (".inf", ".nan") and out_of_range (beyond binary64, octal or hexadecimal beyond
// 2^53 - 1) have no JSON value.
PlainScalar resolve_plain_scalar(std::string_view text);

}  // namespace kernelindex
