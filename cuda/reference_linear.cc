// SPDX-License-Identifier: Apache-2.0
// Matrix products, and paged attention.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "cuda/reference_kernels.h"

namespace kernelindex::runner::reference {
namespace {

double q(Dtype dtype, double value) { return round_to(dtype, value); }

// Row `row` of a [M,K] times columns of b [K,N]: the inner loop runs along rows of b.
void row_times_matrix(const Arguments& arguments, const HostTensor& a, const HostTensor& b,
                      std::int64_t row, std::int64_t first, Out out) {
  const std::int64_t inner = a.row_length();
  const std::int64_t columns = b.row_length();
  std::fill(out.begin(), out.end(), 0.0);
  for (std::int64_t k = 0; k < arguments.kept_of(inner); ++k) {
    const double factor = a.value(row * inner + k);
    if (factor == 0) continue;  // a probe row has one element; inputs are finite
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i] += factor * b.value(k * columns + first + static_cast<std::int64_t>(i));
    }
  }
}

// Row `row` of a [M,K] times rows of b [N,K]: a dot product each.
void row_times_transposed(const Arguments& arguments, const HostTensor& a, const HostTensor& b,
                          std::int64_t row, std::int64_t first, Out out) {
  const std::int64_t inner = a.row_length();
  const std::int64_t kept = arguments.kept_of(inner);
  std::vector<double> left(static_cast<std::size_t>(kept));
  for (std::int64_t k = 0; k < kept; ++k) {
    left[static_cast<std::size_t>(k)] = a.value(row * inner + k);
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::int64_t start = (first + static_cast<std::int64_t>(i)) * inner;
    double sum = 0;
    for (std::int64_t k = 0; k < kept; ++k) {
      sum += left[static_cast<std::size_t>(k)] * b.value(start + k);
    }
    out[i] = sum;
  }
}

double gelu_tanh(double x) {
  const double inner = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
  return 0.5 * x * (1 + std::tanh(inner));
}

}  // namespace

void matmul(const Arguments& arguments, std::size_t, std::int64_t row, std::int64_t first,
            Out out) {
  row_times_matrix(arguments, arguments.inputs[0], arguments.inputs[1], row, first, out);
  for (double& value : out) value = q(Dtype::f32, value);
}

void gemma_geglu(const Arguments& arguments, std::size_t, std::int64_t row, std::int64_t first,
                 Out out) {
  std::vector<double> up(out.size());
  row_times_transposed(arguments, arguments.inputs[0], arguments.inputs[1], row, first, out);
  row_times_transposed(arguments, arguments.inputs[0], arguments.inputs[2], row, first, up);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double activated = q(Dtype::bf16, gelu_tanh(q(Dtype::bf16, out[i])));
    out[i] = q(Dtype::bf16, activated * q(Dtype::bf16, up[i]));
  }
}

void linear_backward(const Arguments& arguments, std::size_t output, std::int64_t row,
                     std::int64_t first, Out out) {
  const HostTensor& grad = arguments.inputs[0];  // [M,N]
  if (output == 0) {
    row_times_matrix(arguments, grad, arguments.inputs[2], row, first, out);  // [M,N][N,K]
  } else {
    // Row n of gO^T x: column n of gO against the columns of x.
    const HostTensor& x = arguments.inputs[1];  // [M,K]
    const std::int64_t columns = x.row_length();
    std::fill(out.begin(), out.end(), 0.0);
    for (std::int64_t m = 0; m < arguments.kept_of(grad.rows()); ++m) {
      const double factor = grad.value(m * grad.row_length() + row);
      for (std::size_t i = 0; i < out.size(); ++i) {
        out[i] += factor * x.value(m * columns + first + static_cast<std::int64_t>(i));
      }
    }
  }
  for (double& value : out) value = q(Dtype::f32, value);
}

void projection_residual(const Arguments& arguments, std::size_t, std::int64_t row,
                         std::int64_t first, Out out) {
  row_times_transposed(arguments, arguments.inputs[0], arguments.inputs[2], row, first, out);
  const HostTensor& residual = arguments.inputs[1];
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::int64_t at = row * residual.row_length() + first + static_cast<std::int64_t>(i);
    out[i] = q(Dtype::bf16, q(Dtype::bf16, out[i]) + residual.value(at));
  }
}

namespace {

// The scores of one head, and where its members lie.
struct Head {
  std::vector<std::int64_t> pages;
  std::vector<double> scores;
  double largest = -std::numeric_limits<double>::infinity();
  double sum = 0;  // of exp(score - largest)
};

Head score_head(const Arguments& arguments, std::int64_t batch, std::int64_t head) {
  const HostTensor& query = arguments.inputs[0];
  const HostTensor& keys = arguments.inputs[1];
  const HostTensor& starts = arguments.inputs[3];
  const HostTensor& members = arguments.inputs[4];
  const double scale = arguments.inputs[5].value(0);
  const std::int64_t dim = query.row_length();
  const std::int64_t heads = arguments.axes.find("num_qo_heads")->second;
  const std::int64_t kv_heads = arguments.axes.find("num_kv_heads")->second;
  Head scored;
  const auto begin = static_cast<std::int64_t>(starts.value(batch));
  const auto end = static_cast<std::int64_t>(starts.value(batch + 1));
  const std::int64_t kept = begin + arguments.kept_of(end - begin);
  for (std::int64_t t = begin; t < kept; ++t) {
    const auto page = static_cast<std::int64_t>(members.value(t));
    const std::int64_t key = (page * kv_heads + head / (heads / kv_heads)) * dim;
    double dot = 0;
    for (std::int64_t i = 0; i < dim; ++i) {
      dot += query.value((batch * heads + head) * dim + i) * keys.value(key + i);
    }
    scored.pages.push_back(key);
    scored.scores.push_back(dot * scale);
    scored.largest = std::max(scored.largest, dot * scale);
  }
  for (const double score : scored.scores) scored.sum += std::exp(score - scored.largest);
  return scored;
}

}  // namespace

void gqa_paged_decode(const Arguments& arguments, std::size_t output, std::int64_t row,
                      std::int64_t first, Out out) {
  const std::int64_t heads = arguments.axes.find("num_qo_heads")->second;
  if (output == 1) {  // a row of `lse` is all heads of one batch
    for (std::size_t i = 0; i < out.size(); ++i) {
      const Head scored = score_head(arguments, row, first + static_cast<std::int64_t>(i));
      out[i] = scored.scores.empty()
                   ? -std::numeric_limits<double>::infinity()
                   : q(Dtype::f32, (scored.largest + std::log(scored.sum)) / std::numbers::ln2);
    }
    return;
  }
  const HostTensor& values = arguments.inputs[2];
  const Head scored = score_head(arguments, row / heads, row % heads);
  std::fill(out.begin(), out.end(), 0.0);
  for (std::size_t t = 0; t < scored.scores.size(); ++t) {
    const double weight = std::exp(scored.scores[t] - scored.largest) / scored.sum;
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i] += weight * values.value(scored.pages[t] + first + static_cast<std::int64_t>(i));
    }
  }
  for (double& value : out) value = q(Dtype::bf16, value);
}

}  // namespace kernelindex::runner::reference
