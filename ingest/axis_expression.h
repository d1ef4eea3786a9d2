// SPDX-License-Identifier: Apache-2.0
// Axes that are computed from others: "hidden_size // num_heads".
//
//   sum     := product (("+" | "-") product)*
//   product := factor (("*" | "//" | "%") factor)*
//   factor  := digits | name | "(" sum ")"
//
// Both operators' rows associate to the left; there is no unary minus. Characters outside the
// grammar are passed over, so that "a / b" is the two names "a b" and therefore an error.
// Arithmetic is binary64; // is the floor of the quotient, % keeps the sign of its left side.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "schema/result.h"

namespace kernelindex::ingest {

using AxisValues = std::map<std::string, double, std::less<>>;

// The value of an expression, which is lower-cased first. The value may be negative, infinite or no
// number at all (division by zero): the schema of shapes refuses those. Errors: a name without a
// value, a missing parenthesis, an end too early, something left over, more than 200 bytes.
Result<double> evaluate_axis_expression(std::string_view expression, const AxisValues& values);

}  // namespace kernelindex::ingest
