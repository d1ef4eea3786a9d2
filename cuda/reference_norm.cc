// SPDX-License-Identifier: Apache-2.0
// Norms, rotary embedding, softmax, addition.
#include <algorithm>
#include <cmath>
#include <vector>

#include "cuda/reference_kernels.h"

namespace kernelindex::runner::reference {
namespace {

double q(Dtype dtype, double value) { return round_to(dtype, value); }

// 1 / sqrt(mean of squares + eps) over the values of a row.
double inverse_rms(const Arguments& arguments, std::span<const double> row, double eps) {
  const auto length = static_cast<std::int64_t>(row.size());
  const std::int64_t kept = arguments.kept_of(length);
  double sum = 0;
  for (std::int64_t i = 0; i < kept; ++i) {
    sum += row[static_cast<std::size_t>(i)] * row[static_cast<std::size_t>(i)];
  }
  return 1 / std::sqrt(sum / static_cast<double>(kept) + eps);
}

std::vector<double> row_of(const HostTensor& tensor, std::int64_t row) {
  const std::int64_t length = tensor.row_length();
  std::vector<double> values(static_cast<std::size_t>(length));
  for (std::int64_t i = 0; i < length; ++i) {
    values[static_cast<std::size_t>(i)] = tensor.value(row * length + i);
  }
  return values;
}

}  // namespace

void rmsnorm(const Arguments& arguments, std::size_t, std::int64_t row, std::int64_t first,
             Out out) {
  const std::vector<double> x = row_of(arguments.inputs[0], row);
  const HostTensor& weight = arguments.inputs[1];
  const double iv = inverse_rms(arguments, x, 1e-5);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto column = static_cast<std::size_t>(first) + i;
    out[i] = q(Dtype::bf16, x[column] * iv * weight.value(first + static_cast<std::int64_t>(i)));
  }
}

void nemotron_rmsnorm(const Arguments& arguments, std::size_t, std::int64_t row, std::int64_t first,
                      Out out) {
  std::vector<double> x = row_of(arguments.inputs[0], row);
  const HostTensor& residual = arguments.inputs[1];
  const HostTensor& weight = arguments.inputs[2];
  const auto length = static_cast<std::int64_t>(x.size());
  for (std::int64_t i = 0; i < length; ++i) {
    double& value = x[static_cast<std::size_t>(i)];
    value = q(Dtype::bf16, residual.value(row * length + i) + value);
  }
  const double iv = inverse_rms(arguments, x, arguments.inputs[3].value(0));
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::int64_t column = first + static_cast<std::int64_t>(i);
    const double normed = q(Dtype::bf16, x[static_cast<std::size_t>(column)] * iv);
    out[i] = q(Dtype::bf16, weight.value(column) * normed);
  }
}

void olmo_post_norm(const Arguments& arguments, std::size_t, std::int64_t row, std::int64_t first,
                    Out out) {
  const std::vector<double> x = row_of(arguments.inputs[0], row);
  const HostTensor& residual = arguments.inputs[1];
  const HostTensor& weight = arguments.inputs[2];
  const double iv = inverse_rms(arguments, x, arguments.inputs[3].value(0));
  const auto length = static_cast<std::int64_t>(x.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::int64_t column = first + static_cast<std::int64_t>(i);
    const double normed =
        q(Dtype::bf16, weight.value(column) * (x[static_cast<std::size_t>(column)] * iv));
    out[i] = q(Dtype::bf16, residual.value(row * length + column) + normed);
  }
}

void flux_rope(const Arguments& arguments, std::size_t, std::int64_t row, std::int64_t first,
               Out out) {
  const HostTensor& x = arguments.inputs[0];
  const HostTensor& cosines = arguments.inputs[1];
  const HostTensor& sines = arguments.inputs[2];
  const std::int64_t heads = arguments.axes.find("num_attention_heads")->second;
  const std::int64_t positions = arguments.axes.find("seq_len")->second;
  const std::int64_t length = x.row_length();
  const std::int64_t position = row / heads % positions;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::int64_t column = first + static_cast<std::int64_t>(i);
    const double even = x.value(row * length + column / 2 * 2);
    const double odd = x.value(row * length + column / 2 * 2 + 1);
    // Both use the table at their own index; a real rotary table holds each value twice.
    const double c = cosines.value(position * length + column);
    const double s = sines.value(position * length + column);
    out[i] = q(Dtype::bf16, column % 2 == 0 ? even * c - odd * s : even * s + odd * c);
  }
}

void softmax(const Arguments& arguments, std::size_t, std::int64_t row, std::int64_t first,
             Out out) {
  const std::vector<double> x = row_of(arguments.inputs[0], row);
  const std::int64_t kept = arguments.kept_of(static_cast<std::int64_t>(x.size()));
  const double largest = *std::max_element(x.begin(), x.end());
  double sum = 0;
  for (std::int64_t i = 0; i < kept; ++i) sum += std::exp(x[static_cast<std::size_t>(i)] - largest);
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = q(Dtype::f32, std::exp(x[static_cast<std::size_t>(first) + i] - largest) / sum);
  }
}

void vector_add(const Arguments& arguments, std::size_t, std::int64_t row, std::int64_t first,
                Out out) {
  const std::int64_t start = row * arguments.inputs[0].row_length() + first;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::int64_t at = start + static_cast<std::int64_t>(i);
    out[i] = q(Dtype::f32, arguments.inputs[0].value(at) + arguments.inputs[1].value(at));
  }
}

}  // namespace kernelindex::runner::reference
