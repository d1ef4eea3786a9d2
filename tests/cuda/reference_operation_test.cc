// SPDX-License-Identifier: Apache-2.0
// Each reference against a program written apart from it: straight loops over whole tensors in
// plain C++ types, from the definition's text, with another way of rounding.
#include "cuda/reference_operation.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "cuda/input_family.h"
#include "schema/canonical_json.h"
#include "schema/json_reader.h"
#include "schema/manifest.h"
#include "tests/cuda/streams.h"
#include "tests/support/corpus.h"

namespace kernelindex::runner {
namespace {

using test::stream_of;
using Matrix = std::vector<double>;

// bf16 by the bits of a float; the values here never lie so near a midpoint that float loses it.
double bf16(double value) {
  std::uint32_t word = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  word = (word + 0x7fff + (word >> 16 & 1)) & 0xffff0000;
  return static_cast<double>(std::bit_cast<float>(word));
}

Matrix all(const HostTensor& tensor) {
  Matrix values;
  for (std::int64_t i = 0; i < tensor.count(); ++i) values.push_back(tensor.value(i));
  return values;
}

struct Case {
  const ReferenceOperation* op;
  Arguments arguments;
  std::vector<Matrix> in;

  Case(std::string_view name, const Axes& given,
       std::map<std::string, double, std::less<>> scalars = {})
      : op(find_reference(name)) {
    InputOptions options;
    options.scalars = std::move(scalars);
    arguments = make_inputs(*op, bind_axes(*op, given).value(), stream_of(11), options).value();
    for (const HostTensor& tensor : arguments.inputs) in.push_back(all(tensor));
  }
  Matrix out(std::size_t output = 0) const { return all(evaluate_output(*op, arguments, output)); }
};

// The share of elements that are not equal to the last bit; the two programs sum in another order.
void expect_equal(const Matrix& got, const Matrix& want, double share = 1e-3) {
  ASSERT_EQ(got.size(), want.size());
  std::size_t different = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i] != want[i]) ++different;
    ASSERT_NEAR(got[i], want[i], 0.01 * std::fabs(want[i]) + 1e-30) << i;
  }
  EXPECT_LE(static_cast<double>(different), share * static_cast<double>(got.size()));
}

double reverse_mean_square(const double* row, std::size_t n) {
  long double sum = 0;
  for (std::size_t i = n; i-- > 0;) sum += static_cast<long double>(row[i]) * row[i];
  return static_cast<double>(sum / static_cast<long double>(n));
}

TEST(Reference, RmsNorm) {
  const Case c("rmsnorm-h4096", {{"batch_size", 2}});
  Matrix want;
  double ms = 0;
  for (std::size_t i = 0; i < 2 * 4096; ++i) {
    if (i % 4096 == 0) ms = reverse_mean_square(&c.in[0][i], 4096);
    want.push_back(bf16(c.in[0][i] / std::sqrt(ms + 1e-5) * c.in[1][i % 4096]));
  }
  expect_equal(c.out(), want);
}

TEST(Reference, FluxRopeUsesTheTableAtBothIndices) {
  const Case c("flux-rope", {{"batch_size", 2}, {"seq_len", 3}});
  Matrix want(c.in[0].size());
  for (std::size_t b = 0; b < 2; ++b) {
    for (std::size_t s = 0; s < 3; ++s) {
      for (std::size_t h = 0; h < 24; ++h) {
        for (std::size_t p = 0; p < 64; ++p) {
          const std::size_t x = ((b * 3 + s) * 24 + h) * 128 + 2 * p;
          const std::size_t f = s * 128 + 2 * p;
          want[x] = bf16(c.in[0][x] * c.in[1][f] - c.in[0][x + 1] * c.in[2][f]);
          want[x + 1] = bf16(c.in[0][x] * c.in[2][f + 1] + c.in[0][x + 1] * c.in[1][f + 1]);
        }
      }
    }
  }
  expect_equal(c.out(), want);
}

TEST(Reference, Softmax) {
  const Case c("softmax-h4096", {{"batch_size", 3}});
  Matrix want;
  for (std::size_t row = 0; row < 3; ++row) {
    long double sum = 0;
    for (std::size_t i = 4096; i-- > 0;)
      sum += std::exp(static_cast<long double>(c.in[0][row * 4096 + i]));
    for (std::size_t i = 0; i < 4096; ++i) {
      want.push_back(static_cast<double>(
          static_cast<float>(std::exp(static_cast<long double>(c.in[0][row * 4096 + i])) / sum)));
    }
  }
  expect_equal(c.out(), want);
}

TEST(Reference, NemotronRoundsThreeTimes) {
  const Case c("nemotron-rms-norm", {{"batch_size", 1}, {"seq_len", 4}}, {{"eps", 1e-5}});
  Matrix sum;
  for (std::size_t i = 0; i < c.in[0].size(); ++i) sum.push_back(bf16(c.in[0][i] + c.in[1][i]));
  Matrix want;
  double ms = 0;
  for (std::size_t i = 0; i < sum.size(); ++i) {
    if (i % 8192 == 0) ms = reverse_mean_square(&sum[i], 8192);
    want.push_back(bf16(c.in[2][i % 8192] * bf16(sum[i] / std::sqrt(ms + 1e-5))));
  }
  expect_equal(c.out(), want);
}

TEST(Reference, OlmoPostNorm) {
  const Case c("olmo3-post-norm-residual", {{"batch_size", 2}, {"seq_len", 2}}, {{"eps", 1e-6}});
  Matrix want;
  double ms = 0;
  for (std::size_t i = 0; i < c.in[0].size(); ++i) {
    if (i % 4096 == 0) ms = reverse_mean_square(&c.in[0][i], 4096);
    want.push_back(bf16(c.in[1][i] + bf16(c.in[2][i % 4096] * c.in[0][i] / std::sqrt(ms + 1e-6))));
  }
  expect_equal(c.out(), want);
}

// Column by column, the other way round than the reference.
Matrix product(const Matrix& a, const Matrix& b, std::size_t m, std::size_t k, std::size_t n,
               bool a_transposed, bool b_transposed) {
  Matrix c(m * n);
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < m; ++i) {
      long double sum = 0;
      for (std::size_t l = k; l-- > 0;) {
        sum += static_cast<long double>(a[a_transposed ? l * m + i : i * k + l]) *
               b[b_transposed ? j * k + l : l * n + j];
      }
      c[i * n + j] = static_cast<double>(sum);
    }
  }
  return c;
}

Matrix to_float(Matrix values) {
  for (double& value : values) value = static_cast<double>(static_cast<float>(value));
  return values;
}

TEST(Reference, Gemm) {
  Case c("gemm-n4096-k4096", {{"m", 1}});
  std::vector<double> row(64);
  c.op->evaluate(c.arguments, 0, 0, 1000, row);
  Matrix want;
  for (std::size_t j = 1000; j < 1064; ++j) {
    long double sum = 0;
    for (std::size_t l = 4096; l-- > 0;) {
      sum += static_cast<long double>(c.in[0][l]) * c.in[1][l * 4096 + j];
    }
    want.push_back(static_cast<double>(static_cast<float>(sum)));
  }
  expect_equal(row, want, 0.02);
}

TEST(Reference, Matmul) {
  const Case c("custom-matmul", {{"m", 5}, {"k", 33}, {"n", 7}});
  expect_equal(c.out(), to_float(product(c.in[0], c.in[1], 5, 33, 7, false, false)), 0.03);
}

TEST(Reference, LinearBackward) {
  const Case c("linear-backward", {{"m", 6}, {"k", 11}, {"n", 9}});
  expect_equal(c.out(0), to_float(product(c.in[0], c.in[2], 6, 9, 11, false, false)), 0.03);
  expect_equal(c.out(1), to_float(product(c.in[0], c.in[1], 9, 6, 11, true, false)), 0.03);
}

TEST(Reference, JambaProjection) {
  const Case c("jamba-projection-residual", {{"batch_size", 1}, {"seq_len", 1}});
  std::vector<double> row(48);
  c.op->evaluate(c.arguments, 0, 0, 512, row);
  Matrix want;
  for (std::size_t j = 512; j < 560; ++j) {
    long double sum = 0;
    for (std::size_t l = 2560; l-- > 0;) {
      sum += static_cast<long double>(c.in[0][l]) * c.in[2][j * 2560 + l];
    }
    want.push_back(bf16(bf16(static_cast<double>(sum)) + c.in[1][j]));
  }
  expect_equal(row, want, 0.05);
}

TEST(Reference, VectorAddIsOneRounding) {
  const Case c("vector-add", {});
  Matrix want;
  for (std::size_t i = 0; i < 1024; ++i) {
    want.push_back(
        static_cast<double>(static_cast<float>(c.in[0][i]) + static_cast<float>(c.in[1][i])));
  }
  EXPECT_EQ(c.out(), want);
  EXPECT_TRUE(c.op->exact);
}

// A small stand-in for the weights: the reference reads rows of whatever width there is.
TEST(Reference, GemmaIsGeluTanhAndNotSilu) {
  const ReferenceOperation* op = find_reference("gemma3-gate-up-geglu");
  Arguments arguments{{}, {}, 1};
  arguments.inputs.emplace_back("x", Dtype::bf16, std::vector<std::int64_t>{1, 1, 16});
  arguments.inputs.emplace_back("gate_proj", Dtype::bf16, std::vector<std::int64_t>{8, 16});
  arguments.inputs.emplace_back("up_proj", Dtype::bf16, std::vector<std::int64_t>{8, 16});
  for (HostTensor& tensor : arguments.inputs) fill(tensor, {}, stream_of(12)(tensor.name()));
  std::vector<double> row(8);
  op->evaluate(arguments, 0, 0, 0, row);
  const Matrix x = all(arguments.inputs[0]);
  Matrix want;
  for (std::size_t j = 0; j < 8; ++j) {
    long double gate = 0;
    long double up = 0;
    for (std::size_t l = 0; l < 16; ++l) {
      gate += static_cast<long double>(x[l]) *
              arguments.inputs[1].value(static_cast<std::int64_t>(j * 16 + l));
      up += static_cast<long double>(x[l]) *
            arguments.inputs[2].value(static_cast<std::int64_t>(j * 16 + l));
    }
    const double g = bf16(static_cast<double>(gate));
    const double u = bf16(static_cast<double>(up));
    const double gelu =
        g / 2 * (1 + std::tanh(0.7978845608028654 * (g + 0.044715 * std::pow(g, 3))));
    want.push_back(bf16(bf16(gelu) * u));
  }
  expect_equal(row, want, 0.2);
}

TEST(Reference, PagedDecodeAndItsEmptyBatch) {
  const ReferenceOperation* op = find_reference("gqa-paged-decode");
  InputOptions options;
  options.scalars = {{"sm_scale", 0.08838834764831845}};
  HostTensor starts("kv_indptr", Dtype::i32, {4});
  starts.set(1, 3);
  starts.set(2, 3);  // the second batch is empty
  starts.set(3, 7);
  options.given.emplace("kv_indptr", starts);
  const Axes axes =
      bind_axes(*op,
                {{"batch_size", 3}, {"len_indptr", 4}, {"num_kv_indices", 7}, {"num_pages", 5}})
          .value();
  const Arguments arguments = make_inputs(*op, axes, stream_of(13), options).value();
  const Matrix q = all(arguments.inputs[0]);
  const Matrix k = all(arguments.inputs[1]);
  const Matrix v = all(arguments.inputs[2]);
  const Matrix pages = all(arguments.inputs[4]);
  Matrix want(3 * 32 * 128);
  Matrix want_lse(3 * 32, -std::numeric_limits<double>::infinity());
  for (std::size_t b = 0; b < 3; ++b) {
    for (std::size_t h = 0; h < 32; ++h) {
      long double total = 0;
      std::vector<long double> sums(128);
      for (auto t = static_cast<std::size_t>(starts.value(static_cast<std::int64_t>(b)));
           t < static_cast<std::size_t>(starts.value(static_cast<std::int64_t>(b) + 1)); ++t) {
        const std::size_t base = (static_cast<std::size_t>(pages[t]) * 8 + h / 4) * 128;
        long double dot = 0;
        for (std::size_t d = 0; d < 128; ++d)
          dot += static_cast<long double>(q[(b * 32 + h) * 128 + d]) * k[base + d];
        const long double weight = std::exp(dot * 0.08838834764831845L);
        total += weight;
        for (std::size_t d = 0; d < 128; ++d) sums[d] += weight * v[base + d];
      }
      if (total == 0) continue;
      want_lse[b * 32 + h] = static_cast<double>(static_cast<float>(std::log2(total)));
      for (std::size_t d = 0; d < 128; ++d)
        want[(b * 32 + h) * 128 + d] = bf16(static_cast<double>(sums[d] / total));
    }
  }
  expect_equal(all(evaluate_output(*op, arguments, 0)), want, 5e-3);
  const Matrix lse = all(evaluate_output(*op, arguments, 1));
  for (std::size_t i = 0; i < lse.size(); ++i) {
    if (std::isinf(want_lse[i])) {
      EXPECT_EQ(lse[i], want_lse[i]);
    } else {
      EXPECT_NEAR(lse[i], want_lse[i], 1e-6);
    }
  }
}

TEST(Reference, AStretchOfARowIsThatStretch) {
  const Case c("olmo3-post-norm-residual", {{"batch_size", 1}, {"seq_len", 2}}, {{"eps", 1e-6}});
  const Matrix whole = c.out();
  std::vector<double> part(100);
  c.op->evaluate(c.arguments, 0, 1, 200, part);
  EXPECT_EQ(part, Matrix(whole.begin() + 4096 + 200, whole.begin() + 4096 + 300));
}

// The table binds to identity digests, so the manifests that have them are kept beside this test.
TEST(Reference, TheTableIsThatOfTheManifests) {
  const auto folder = kernelindex::test::source_root() / "tests/cuda/data/operations";
  std::size_t found = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    json::Arena arena;
    const std::string text = kernelindex::test::read_file(file.path());
    const json::Value value = json::parse(text, arena).value();
    const json::Value body = arena.object({{"apiVersion", *value.find("apiVersion")},
                                           {"kind", *value.find("kind")},
                                           {"spec", *value.find("spec")}});
    const ReferenceOperation* op = find_reference(sha256(json::canonical(body)));
    ASSERT_NE(op, nullptr) << file.path();
    ++found;
    const auto inputs = value.find({"spec", "inputs"})->array();
    ASSERT_EQ(inputs.size(), op->inputs.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      EXPECT_EQ(inputs[i].text("name"), op->inputs[i].name);
      if (op->inputs[i].role == InputRole::scalar) continue;
      EXPECT_EQ(dtype_from_name(inputs[i].find("tensor")->text("dtype")), op->inputs[i].dtype);
      const auto shape = inputs[i].find({"tensor", "shape"})->array();
      ASSERT_EQ(shape.size(), op->inputs[i].axes.size());
      for (std::size_t j = 0; j < shape.size(); ++j)
        EXPECT_EQ(shape[j].string(), op->inputs[i].axes[j]);
    }
    const auto outputs = value.find({"spec", "outputs"})->array();
    ASSERT_EQ(outputs.size(), op->outputs.size());
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      EXPECT_EQ(outputs[i].text("name"), op->outputs[i].name);
      EXPECT_EQ(dtype_from_name(outputs[i].find("tensor")->text("dtype")), op->outputs[i].dtype);
    }
    for (const json::Member& axis : value.find({"spec", "axes"})->object()) {
      const json::Value* constant = axis.value.find("value");
      if (constant == nullptr) continue;
      ASSERT_TRUE(op->constants.contains(std::string(axis.name)));
      EXPECT_EQ(static_cast<double>(op->constants.at(std::string(axis.name))), constant->number());
    }
  }
  EXPECT_EQ(found, reference_operations().size());
}

TEST(Reference, CompulsoryTrafficCountsEachByteOnce) {
  const Case c("rmsnorm-h4096", {{"batch_size", 7}});
  EXPECT_EQ(compulsory_bytes(*c.op, c.arguments), 2 * 7 * 4096 * 2 + 4096 * 2);
  const Case g("custom-matmul", {{"m", 2}, {"k", 3}, {"n", 5}});
  EXPECT_EQ(floating_operations(*g.op, g.arguments), 2 * 2 * 3 * 5);
}

}  // namespace
}  // namespace kernelindex::runner
