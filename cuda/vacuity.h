// SPDX-License-Identifier: Apache-2.0
// Controls: outputs that are wrong on purpose. A comparator that lets one of them through all
// rounds is vacuous for that workload, and no run of it can be verified. PROTOCOL section 12.6.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cuda/comparator.h"
#include "cuda/input_family.h"
#include "cuda/reference_operation.h"

namespace kernelindex::runner {

enum class Control : std::uint8_t {
  zeros,
  poison,            // NaN in every element
  constant_mean,     // the mean of the reference
  tiny,              // 1e-30
  copy_of_input,     // the first input of the output's size
  seven_eighths,     // each reduction cut short
  weight_ignored,    // weights are ones
  residual_ignored,  // residuals are zeros
  other_seed,        // the right result of other inputs
};
std::string_view control_name(Control control);  // "partial_reduction": the token in results

// Those that make sense for an operation.
std::vector<Control> controls_of(const ReferenceOperation& operation);

struct VacuityReport {
  std::vector<Control> tried;
  std::vector<Control> accepted;  // by the source's rule in every round: COMPARATOR_VACUOUS
  bool vacuous() const { return !accepted.empty(); }
};

// Holds every control against the source's rule on the rounds of the operation; at most `rows` rows
// of each output are looked at. Error: that of make_inputs().
Result<VacuityReport> test_comparator(const ReferenceOperation& operation, const Axes& axes,
                                      const StreamOf& stream, const InputOptions& inputs,
                                      const Tolerance& tolerance, std::int64_t rows = 64);

}  // namespace kernelindex::runner
