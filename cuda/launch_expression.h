// SPDX-License-Identifier: Apache-2.0
// The expressions of launch manifests: integers, names of axes, + - * / % ( ), ceil_div, min, max,
// in checked 64-bit integers. REFERENCES section 4.2.
//
//   sum     = product { ("+" | "-") product }
//   product = unary { ("*" | "/" | "%") unary }
//   unary   = "-" unary | number | name | name "(" sum "," sum ")" | "(" sum ")"
//
// Division truncates towards zero, as in C; by zero it is an error.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "cuda/reference_operation.h"
#include "schema/result.h"

namespace kernelindex::runner {

// Errors (invalid): BAD_EXPRESSION (grammar, more than 200 bytes, deeper than 32), UNKNOWN_AXIS,
// EXPRESSION_OVERFLOW, DIVISION_BY_ZERO; the place is the expression.
Result<std::int64_t> evaluate_expression(std::string_view text, const Axes& axes);

// What one launch may ask of a device.
struct LaunchLimits {
  std::array<std::int64_t, 3> grid = {2147483647, 65535, 65535};
  std::array<std::int64_t, 3> block = {1024, 1024, 64};
  std::int64_t threads_per_block = 1024;
  std::int64_t shared_bytes = 227 * 1024;  // sm_90, with opt-in
  std::int64_t cluster_blocks = 8;         // the portable size
  std::int64_t workspace_bytes = std::int64_t{16} << 30;
};

struct LaunchShape {
  std::array<std::uint32_t, 3> grid{1, 1, 1};
  std::array<std::uint32_t, 3> block{1, 1, 1};
  std::array<std::uint32_t, 3> cluster{1, 1, 1};
  std::uint32_t shared_bytes = 0;
};

// The texts of a kernel's launch, evaluated. `cluster` may be empty. Errors: those above, and
// LAUNCH_LIMIT when a value is below 1 or above what the device takes. Requires: three texts in
// `grid` and `block`, none or three in `cluster`.
Result<LaunchShape> evaluate_launch(std::span<const std::string> grid,
                                    std::span<const std::string> block,
                                    std::span<const std::string> cluster,
                                    std::string_view shared_bytes, const Axes& axes,
                                    const LaunchLimits& limits = {});

}  // namespace kernelindex::runner
