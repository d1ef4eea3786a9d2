// SPDX-License-Identifier: Apache-2.0
#include "cuda/vacuity.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>

namespace kernelindex::runner {
namespace {

constexpr std::string_view kControlNames[] = {
    "zeros",          "nan_poison",       "constant_mean",
    "tiny_constant",  "input_copy",       "partial_reduction",
    "weight_ignored", "residual_ignored", "other_seed"};

bool has_role(const ReferenceOperation& operation, InputRole role) {
  return std::any_of(operation.inputs.begin(), operation.inputs.end(),
                     [role](const InputSpec& input) { return input.role == role; });
}

// The input that a lazy implementation would hand back; its size must be the output's.
const HostTensor* input_like(const Arguments& arguments, std::int64_t count) {
  for (const HostTensor& input : arguments.inputs) {
    if (input.count() == count && is_floating(input.dtype())) return &input;
  }
  return nullptr;
}

void set_all(HostTensor& tensor, double value) {
  for (std::int64_t i = 0; i < tensor.count(); ++i) tensor.set(i, value);
}

// Rows spread evenly over an output.
std::vector<std::int64_t> some_rows(std::int64_t all, std::int64_t most) {
  std::vector<std::int64_t> rows;
  const std::int64_t count = std::min(all, most);
  for (std::int64_t i = 0; i < count; ++i) rows.push_back(i * all / count);
  return rows;
}

// What a control gives for one row; nothing when it does not apply.
struct Wrong {
  const ReferenceOperation& operation;
  const Arguments& right;
  std::optional<Arguments> changed;  // for the controls that are the reference of other inputs

  bool row(Control control, std::size_t output, std::int64_t index,
           std::span<const double> expected, std::span<double> out) const {
    const auto fill_with = [&out](double value) { std::fill(out.begin(), out.end(), value); };
    switch (control) {
      case Control::zeros:
        fill_with(0);
        return true;
      case Control::poison:
        fill_with(std::numeric_limits<double>::quiet_NaN());
        return true;
      case Control::tiny:
        fill_with(1e-30);
        return true;
      case Control::constant_mean: {
        double sum = 0;
        for (const double value : expected) sum += value;
        fill_with(sum / static_cast<double>(expected.size()));
        return true;
      }
      case Control::copy_of_input: {
        const auto shape = extents(operation.outputs[output].axes, right.axes);
        const HostTensor* input = input_like(right, *element_count(*shape));
        if (input == nullptr) return false;
        const auto length = static_cast<std::int64_t>(out.size());
        for (std::int64_t i = 0; i < length; ++i) {
          out[static_cast<std::size_t>(i)] = input->value(index * length + i);
        }
        return true;
      }
      default:
        operation.evaluate(*changed, output, index, 0, out);
        return true;
    }
  }
};

// The inputs on which the reference gives what the control claims.
std::optional<Arguments> changed_arguments(Control control, const ReferenceOperation& operation,
                                           const Arguments& right, const Arguments& other) {
  Arguments changed = right;
  const auto change = [&](InputRole role, double value) {
    for (std::size_t i = 0; i < operation.inputs.size(); ++i) {
      if (operation.inputs[i].role == role) set_all(changed.inputs[i], value);
    }
  };
  switch (control) {
    case Control::seven_eighths:
      changed.kept = 0.875;
      return changed;
    case Control::weight_ignored:
      change(InputRole::weight, 1);
      return changed;
    case Control::residual_ignored:
      change(InputRole::residual, 0);
      return changed;
    case Control::other_seed:
      return other;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::string_view control_name(Control control) {
  return kControlNames[static_cast<std::size_t>(control)];
}

std::vector<Control> controls_of(const ReferenceOperation& operation) {
  std::vector<Control> controls = {Control::zeros, Control::poison, Control::constant_mean,
                                   Control::tiny, Control::copy_of_input};
  if (operation.reduces) controls.push_back(Control::seven_eighths);
  if (has_role(operation, InputRole::weight)) controls.push_back(Control::weight_ignored);
  if (has_role(operation, InputRole::residual)) controls.push_back(Control::residual_ignored);
  controls.push_back(Control::other_seed);
  return controls;
}

Result<VacuityReport> test_comparator(const ReferenceOperation& operation, const Axes& axes,
                                      const StreamOf& stream, const InputOptions& inputs,
                                      const Tolerance& tolerance, std::int64_t rows) {
  VacuityReport report{controls_of(operation), {}};
  std::set<Control> surviving(report.tried.begin(), report.tried.end());
  // Every round, as a candidate has to pass it, from streams of its own.
  std::size_t number = 0;
  for (const InputFamily family : correctness_rounds(operation)) {
    const std::string suffix = "/round" + std::to_string(number++);
    const StreamOf round_stream = [&stream, &suffix](std::string_view name) {
      return stream(std::string(name) + suffix);
    };
    // The result of other inputs: all streams another.
    const StreamOf other_stream = [&stream, &suffix](std::string_view name) {
      return stream(std::string(name) + suffix + "/other");
    };
    if (surviving.empty()) break;
    InputOptions options = inputs;
    options.family = family;
    const Result<Arguments> right = make_inputs(operation, axes, round_stream, options);
    if (!right) return fail(right.error());
    const Result<Arguments> other = make_inputs(operation, axes, other_stream, options);
    if (!other) return fail(other.error());
    for (std::size_t output = 0; output < operation.outputs.size(); ++output) {
      const OutputSpec& spec = operation.outputs[output];
      const HostTensor shape(std::string(spec.name), spec.dtype, *extents(spec.axes, axes));
      std::vector<double> expected(static_cast<std::size_t>(shape.row_length()));
      std::vector<double> wrong(expected.size());
      std::map<Control, Comparison> comparisons;
      std::map<Control, Wrong> wrongs;
      for (const Control control : surviving) {
        comparisons.emplace(control, Comparison(spec.dtype, tolerance));
        wrongs.emplace(control, Wrong{operation, *right,
                                      changed_arguments(control, operation, *right, *other)});
      }
      std::set<Control> applied;
      for (const std::int64_t row : some_rows(shape.rows(), rows)) {
        operation.evaluate(*right, output, row, 0, expected);
        for (const Control control : surviving) {
          if (!wrongs.at(control).row(control, output, row, expected, wrong)) continue;
          applied.insert(control);
          for (std::size_t i = 0; i < wrong.size(); ++i) {
            comparisons.at(control).add(static_cast<std::int64_t>(i),
                                        encode_number(spec.dtype, expected[i]),
                                        encode_number(spec.dtype, wrong[i]));
          }
        }
      }
      for (const auto& [control, comparison] : comparisons) {
        // What cannot be made for any output was not tried, and what is right is no control: a
        // family may leave it nothing wrong, so only a difference that passes keeps it alive.
        if (!applied.contains(control)) {
          if (operation.outputs.size() == 1) surviving.erase(control);
          continue;
        }
        const Comparison::Outcome outcome = comparison.finish();
        if (!outcome.source_rule) surviving.erase(control);
      }
    }
  }
  report.accepted.assign(surviving.begin(), surviving.end());
  return report;
}

}  // namespace kernelindex::runner
