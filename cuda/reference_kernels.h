// SPDX-License-Identifier: Apache-2.0
// The arithmetic of the references, one function an operation; see reference_operation.h.
#pragma once

#include <cstdint>
#include <span>

#include "cuda/reference_operation.h"

namespace kernelindex::runner::reference {

using Out = std::span<double>;

// y = q((x * iv) * w), iv = 1/sqrt(sum x^2 / n + 1e-5)
void rmsnorm(const Arguments&, std::size_t output, std::int64_t row, std::int64_t first, Out out);
// x = q(residual + h); y = q(w * q(x * iv)): three roundings
void nemotron_rmsnorm(const Arguments&, std::size_t, std::int64_t row, std::int64_t first, Out);
// y = q(residual + q(w * (x * iv)))
void olmo_post_norm(const Arguments&, std::size_t, std::int64_t row, std::int64_t first, Out);
// o[i] = q(x[i] c[i] - x[i+1] s[i]), o[i+1] = q(x[i] s[i+1] + x[i+1] c[i+1])
void flux_rope(const Arguments&, std::size_t, std::int64_t row, std::int64_t first, Out);
void softmax(const Arguments&, std::size_t, std::int64_t row, std::int64_t first, Out);
void vector_add(const Arguments&, std::size_t, std::int64_t row, std::int64_t first, Out);
// C = A B, B not transposed
void matmul(const Arguments&, std::size_t, std::int64_t row, std::int64_t first, Out);
// g = q(x gate^T), u = q(x up^T), a = q(gelu_tanh(g)), q(a u)
void gemma_geglu(const Arguments&, std::size_t, std::int64_t row, std::int64_t first, Out);
// output 0: gO W; output 1: gO^T x
void linear_backward(const Arguments&, std::size_t, std::int64_t row, std::int64_t first, Out);
// q(q(a W^T) + residual)
void projection_residual(const Arguments&, std::size_t, std::int64_t row, std::int64_t first, Out);
// output 0: attention; output 1: log2-sum-exp
void gqa_paged_decode(const Arguments&, std::size_t, std::int64_t row, std::int64_t first, Out);

}  // namespace kernelindex::runner::reference
