// SPDX-License-Identifier: Apache-2.0
#include "cuda/comparator.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace kernelindex::runner {
namespace {

constexpr std::string_view kPrecisionNames[] = {"fp32_exact", "tf32_like", "bf16_like",
                                                "out_of_budget"};
constexpr double kF32Budget = 1e-5;
constexpr double kTf32Budget = 1e-3;
constexpr double kBf16Budget = 6e-3;
constexpr double kFp8Budget = 5e-2;

PrecisionClass classify(double relative_rms) {
  if (relative_rms <= kF32Budget) return PrecisionClass::fp32_exact;
  if (relative_rms <= kTf32Budget) return PrecisionClass::tf32_like;
  if (relative_rms <= kBf16Budget) return PrecisionClass::bf16_like;
  return PrecisionClass::out_of_budget;
}

}  // namespace

std::string_view precision_class_name(PrecisionClass precision) {
  return kPrecisionNames[static_cast<std::size_t>(precision)];
}

double rms_budget(Dtype dtype) {
  switch (dtype) {
    case Dtype::f64:
    case Dtype::f32:
      return kF32Budget;
    case Dtype::f16:
      return kTf32Budget;
    case Dtype::bf16:
      return kBf16Budget;
    case Dtype::f8_e4m3:
    case Dtype::f8_e5m2:
    case Dtype::f4_e2m1:
      return kFp8Budget;
    default:
      return 0;
  }
}

void Comparison::add(std::int64_t index, std::uint64_t expected, std::uint64_t got) {
  ++outcome_.count;
  if (expected == got) ++equal_bits_;
  const double r = decode_number(dtype_, expected);
  const double o = decode_number(dtype_, got);
  bool ok = false;
  if (!is_floating(dtype_)) {
    ok = expected ==
         got;  // exactly: beyond 2^24 binary32 sees no difference, beyond 2^53 this neither
    if (!ok) {
      outcome_.largest_absolute_error =
          std::max(outcome_.largest_absolute_error, std::max(std::fabs(o - r), 1.0));
    }
    squared_errors_ += ok ? 0 : std::max((o - r) * (o - r), 1.0);
    squared_values_ += r * r;
  } else if (std::isfinite(o) && std::isfinite(r)) {
    const double error = std::fabs(o - r);
    ok = error <= tolerance_.absolute + tolerance_.relative * std::fabs(r);
    outcome_.largest_absolute_error = std::max(outcome_.largest_absolute_error, error);
    outcome_.largest_relative_error =
        std::max(outcome_.largest_relative_error,
                 error / std::max({std::fabs(r), tolerance_.absolute, 1e-300}));
    squared_errors_ += error * error;
    squared_values_ += r * r;
  } else {
    ok = tolerance_.allow_negative_infinity && std::isinf(r) && r < 0 && o == r;
    if (!ok) outcome_.not_finite = true;
  }
  if (ok) {
    ++outcome_.matched;
  } else if (outcome_.first_fault < 0) {
    outcome_.first_fault = index;
    outcome_.expected_bits = expected;
    outcome_.got_bits = got;
  }
}

Comparison::Outcome Comparison::finish() const {
  Outcome outcome = outcome_;
  outcome.bit_exact = outcome.count == equal_bits_;
  // A reference of zeros alone leaves no scale: any error is then out of budget.
  outcome.relative_rms = squared_errors_ == 0   ? 0
                         : squared_values_ == 0 ? 1
                                                : std::sqrt(squared_errors_ / squared_values_);
  const double needed = tolerance_.required_matched_ratio * static_cast<double>(outcome.count);
  outcome.source_rule =
      outcome.count > 0 && !outcome.not_finite && static_cast<double>(outcome.matched) >= needed &&
      (!tolerance_.max_error_cap || outcome.largest_absolute_error <= *tolerance_.max_error_cap);
  outcome.within_budget = !outcome.not_finite && outcome.relative_rms <= rms_budget(dtype_);
  outcome.precision =
      outcome.not_finite ? PrecisionClass::out_of_budget : classify(outcome.relative_rms);
  return outcome;
}

bool Comparison::sampled_rule(const Outcome& outcome) const {
  if (outcome.count == 0 || outcome.not_finite) return false;
  const std::int64_t mismatches = outcome.count - outcome.matched;
  return mismatches <= sampled_mismatches_allowed(outcome.count, tolerance_.required_matched_ratio);
}

Comparison::Outcome compare(const HostTensor& expected, const HostTensor& got,
                            const Tolerance& tolerance) {
  assert(expected.dtype() == got.dtype());
  assert(expected.count() == got.count());
  Comparison comparison(expected.dtype(), tolerance);
  for (std::int64_t i = 0; i < expected.count(); ++i) {
    comparison.add(i, expected.bits(i), got.bits(i));
  }
  return comparison.finish();
}

std::int64_t sampled_mismatches_allowed(std::int64_t positions, double required_ratio) {
  const auto n = static_cast<double>(positions);
  const double mean = n * (1 - required_ratio);
  const double spread = std::sqrt(n * required_ratio * (1 - required_ratio));
  return static_cast<std::int64_t>(std::ceil(mean + 5 * spread - 1e-9));
}

}  // namespace kernelindex::runner
