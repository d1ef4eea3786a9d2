// SPDX-License-Identifier: Apache-2.0
// Whether an output is the reference's: the source's own rule, and budgets that it does not have.
// PROTOCOL section 12.3 to 12.5.
//
// Verdicts about correctness are made of binary64 numbers in one fixed order; what a ledger decides
// is decided from integers elsewhere.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "cuda/host_tensor.h"

namespace kernelindex::runner {

// The source's elementwise rule; SOL-ExecBench's defaults.
struct Tolerance {
  double absolute = 1e-2;
  double relative = 1e-2;
  double required_matched_ratio = 0.99;
  std::optional<double> max_error_cap = {};
  bool allow_negative_infinity = false;  // where the reference has it too
};

// What the relative root mean square of the errors says about the arithmetic.
enum class PrecisionClass : std::uint8_t { fp32_exact, tf32_like, bf16_like, out_of_budget };
std::string_view precision_class_name(PrecisionClass precision);

// B of PROTOCOL section 12.5 for an output of this type; 0 for integers.
double rms_budget(Dtype dtype);

// Collects pairs of expected and got; the order does not matter to any verdict but the first fault.
class Comparison {
 public:
  Comparison(Dtype dtype, Tolerance tolerance) : dtype_(dtype), tolerance_(tolerance) {}

  // `expected` and `got` as stored bits.
  void add(std::int64_t index, std::uint64_t expected, std::uint64_t got);

  struct Outcome {
    bool source_rule = false;  // the source's own rule passes
    bool within_budget = false;
    bool bit_exact = false;
    bool not_finite = false;  // a NaN or an infinity where none may be
    std::int64_t count = 0;
    std::int64_t matched = 0;
    double largest_absolute_error = 0;
    double largest_relative_error = 0;  // |o - r| / max(|r|, atol): the floor is the source's
    double relative_rms = 0;            // sqrt(sum (o-r)^2 / sum r^2)
    PrecisionClass precision = PrecisionClass::out_of_budget;
    std::int64_t first_fault = -1;  // index of the first element that is not within the tolerance
    std::uint64_t expected_bits = 0;
    std::uint64_t got_bits = 0;

    // The source's rule let through what is wrong by a tenth: TOLERANCE_VACUOUS.
    bool vacuous_pass() const { return source_rule && !within_budget && relative_rms > 0.1; }
  };
  Outcome finish() const;
  // For a sample of the positions of a timed output: fails only beyond five standard deviations of
  // what the source's ratio allows, PROTOCOL section 12.7.
  bool sampled_rule(const Outcome& outcome) const;

 private:
  Dtype dtype_;
  Tolerance tolerance_;
  Outcome outcome_;
  std::int64_t equal_bits_ = 0;
  double squared_errors_ = 0;
  double squared_values_ = 0;
};

// All elements. Requires: the same type and count.
Comparison::Outcome compare(const HostTensor& expected, const HostTensor& got,
                            const Tolerance& tolerance);

// Mismatches among `positions` sampled ones that still pass with a required ratio: 73 for 4096 and
// 0.99.
std::int64_t sampled_mismatches_allowed(std::int64_t positions, double required_ratio);

}  // namespace kernelindex::runner
