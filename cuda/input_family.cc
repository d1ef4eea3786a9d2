// SPDX-License-Identifier: Apache-2.0
#include "cuda/input_family.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace kernelindex::runner {
namespace {

constexpr std::int64_t kBlockColumns = 512;
constexpr std::string_view kFamilyNames[] = {"T0", "C1",      "C2",       "C3",
                                             "C4", "C5-rows", "C5-equal", "C6"};

using enum InputFamily;
constexpr std::array kRoundsWithProbe = {
    source,      source,      source,   source,        row_scale, row_scale,  block_scale,
    block_scale, exact_probe, extremes, constant_rows, all_equal, one_redrawn};
constexpr std::array kRounds = {source,    source,        source,      source,
                                row_scale, row_scale,     block_scale, block_scale,
                                extremes,  constant_rows, all_equal,   one_redrawn};

double power_of_two(const WordStream& words, std::uint64_t at, double span) {
  return std::exp2((2 * unit_interval(words.word(at)) - 1) * span);
}

void scale_rows(HostTensor& tensor, const WordStream& rows, const WordStream* blocks) {
  const std::int64_t length = tensor.row_length();
  for (std::int64_t row = 0; row < tensor.rows(); ++row) {
    const double row_factor = power_of_two(rows, static_cast<std::uint64_t>(row), 3);
    for (std::int64_t column = 0; column < length; ++column) {
      double factor = row_factor;
      if (blocks != nullptr) {
        // Another one in each row: one draw for all could leave a block as it was by chance.
        const std::int64_t block = row * (length / kBlockColumns + 1) + column / kBlockColumns;
        factor *= power_of_two(*blocks, static_cast<std::uint64_t>(block), 2);
      }
      const std::int64_t at = row * length + column;
      tensor.set(at, tensor.value(at) * factor);
    }
  }
}

void put_extremes(HostTensor& tensor, const WordStream& words, double extreme) {
  const double largest = std::min(extreme, largest_value(tensor.dtype()));
  const double smallest = smallest_value(tensor.dtype());
  for (std::int64_t i = 0; i < tensor.count(); ++i) {
    const std::uint32_t word = words.word(static_cast<std::uint64_t>(i));
    const double sign = (word & 1) != 0 ? -1 : 1;
    const std::uint32_t share = (word >> 1) % 200;
    if (share < 2) {
      tensor.set(i, sign * largest);
    } else if (share == 2) {
      tensor.set(i, sign * 0.0);
    } else if (share == 3) {
      tensor.set(i, sign * smallest * (1 + (word >> 16) % 3));
    }
  }
}

void make_rows_constant(HostTensor& tensor) {
  const std::int64_t length = tensor.row_length();
  for (std::int64_t i = 0; i < tensor.count(); ++i)
    tensor.set_bits(i, tensor.bits(i / length * length));
}

// Each row one element, a power of two, at a column of its own choice.
void make_one_hot(HostTensor& tensor, const WordStream& words) {
  const std::int64_t length = tensor.row_length();
  std::fill(tensor.bytes().begin(), tensor.bytes().end(), std::uint8_t{0});
  for (std::int64_t row = 0; row < tensor.rows(); ++row) {
    const std::uint32_t word = words.word(static_cast<std::uint64_t>(row));
    const std::int64_t column = static_cast<std::int64_t>(word >> 3) % length;
    tensor.set(row * length + column, std::exp2(static_cast<double>(word & 7) - 3));
  }
}

Distribution index_distribution(const ReferenceOperation& operation, const Axes& axes,
                                const InputSpec& input) {
  // The one operation with index tensors: page lists in compressed rows.
  const auto value = [&axes](std::string_view name) { return axes.find(name)->second; };
  (void)operation;
  if (input.name == "kv_indptr") {
    return {Distribution::Kind::row_starts, 1, value("num_kv_indices")};
  }
  return {Distribution::Kind::row_members, 1, value("num_pages")};
}

}  // namespace

std::string_view family_name(InputFamily family) {
  return kFamilyNames[static_cast<std::size_t>(family)];
}

std::span<const InputFamily> correctness_rounds(const ReferenceOperation& operation) {
  if (operation.probe) return kRoundsWithProbe;
  return kRounds;
}

Distribution distribution_of(const ReferenceOperation& operation, const Axes& axes,
                             std::size_t input) {
  const InputSpec& spec = operation.inputs[input];
  if (spec.role == InputRole::index) return index_distribution(operation, axes, spec);
  if (!spec.scaled_by_axis.empty()) {
    const auto extent = static_cast<double>(axes.find(spec.scaled_by_axis)->second);
    return {Distribution::Kind::normal, 1 / std::sqrt(extent), 0};
  }
  return sol_distribution(spec.definition_name, spec.dtype, *extents(spec.axes, axes));
}

Result<Arguments> make_inputs(const ReferenceOperation& operation, const Axes& axes,
                              const StreamOf& stream, const InputOptions& options) {
  if (options.family == exact_probe && !operation.probe) {
    return fail(ErrorKind::invalid, "NO_PROBE", std::string(operation.name),
                "this operation has no exact probe");
  }
  Arguments arguments{axes, {}, 1};
  for (std::size_t i = 0; i < operation.inputs.size(); ++i) {
    const InputSpec& spec = operation.inputs[i];
    const std::string name(spec.name);
    HostTensor tensor(name, spec.dtype, *extents(spec.axes, axes));
    if (spec.role == InputRole::scalar) {
      const auto value = options.scalars.find(spec.name);
      if (value == options.scalars.end()) {
        return fail(ErrorKind::invalid, "MISSING_SCALAR", name,
                    "the workload gives this scalar no value");
      }
      tensor.set(0, value->second);
      arguments.inputs.push_back(std::move(tensor));
      continue;
    }
    if (const auto given = options.given.find(spec.name); given != options.given.end()) {
      if (given->second.dtype() != spec.dtype ||
          !std::ranges::equal(given->second.shape(), tensor.shape())) {
        return fail(ErrorKind::invalid, "GIVEN_TENSOR", name,
                    "the file has another type or shape for this tensor than the workload");
      }
      arguments.inputs.push_back(given->second);
      continue;
    }
    const bool again = options.family == one_redrawn && options.redrawn == i;
    fill(tensor, distribution_of(operation, axes, i), stream(again ? name + "/again" : name));
    if (spec.role != InputRole::index) {
      const bool is_data = spec.role == InputRole::data || spec.role == InputRole::residual;
      switch (options.family) {
        case row_scale:
          if (is_data) scale_rows(tensor, stream(name + "/rows"), nullptr);
          break;
        case block_scale:
          if (is_data) {
            const WordStream blocks = stream(name + "/blocks");
            scale_rows(tensor, stream(name + "/rows"), &blocks);
          }
          break;
        case exact_probe:
          if (operation.probe->one_hot == i) make_one_hot(tensor, stream(name + "/probe"));
          break;
        case extremes:
          if (is_data) put_extremes(tensor, stream(name + "/extremes"), operation.extreme);
          break;
        case constant_rows:
          if (is_data) make_rows_constant(tensor);
          break;
        case all_equal:
          if (is_data) {
            for (std::int64_t at = 0; at < tensor.count(); ++at) tensor.set(at, 0.5);
          }
          break;
        case source:
        case one_redrawn:
          break;
      }
    }
    arguments.inputs.push_back(std::move(tensor));
  }
  return arguments;
}

}  // namespace kernelindex::runner
