// SPDX-License-Identifier: Apache-2.0
// Distributions and families of inputs.
#include "cuda/input_family.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/cuda/streams.h"

namespace kernelindex::runner {
namespace {

using test::stream_of;

const ReferenceOperation& operation(std::string_view name) {
  const ReferenceOperation* found = find_reference(name);
  EXPECT_NE(found, nullptr);
  return *found;
}

Arguments inputs(std::string_view name, const Axes& given, InputFamily family,
                 InputOptions options = {}) {
  options.family = family;
  const Axes axes = bind_axes(operation(name), given).value();
  return make_inputs(operation(name), axes, stream_of(1), options).value();
}

TEST(Distribution, NormalsHaveTheMomentsOfNormalsAndABound) {
  const WordStream words = stream_of(3)("x");
  double sum = 0;
  double squares = 0;
  double fourths = 0;
  constexpr int kCount = 400'000;
  for (std::uint64_t i = 0; i < kCount; ++i) {
    const double z = standard_normal(words, i);
    ASSERT_LE(std::fabs(z), 6.765);
    sum += z;
    squares += z * z;
    fourths += z * z * z * z;
  }
  EXPECT_NEAR(sum / kCount, 0, 0.01);
  EXPECT_NEAR(squares / kCount, 1, 0.01);
  EXPECT_NEAR(fourths / kCount, 3, 0.1);
}

TEST(Distribution, ATensorIsItsElementsAlone) {
  const WordStream words = stream_of(4)("x");
  HostTensor tensor("x", Dtype::f32, {3, 7});
  fill(tensor, {}, words);
  for (std::int64_t i = 0; i < tensor.count(); ++i) {
    EXPECT_EQ(tensor.value(i),
              round_to(Dtype::f32, standard_normal(words, static_cast<std::uint64_t>(i))));
  }
}

TEST(Distribution, FollowsTheNamesThatSolExecBenchLooksAt) {
  const std::int64_t matrix[] = {8, 4096};
  const std::int64_t vector[] = {4096};
  EXPECT_EQ(sol_distribution("A", Dtype::f32, matrix).kind, Distribution::Kind::decay);
  EXPECT_EQ(sol_distribution("a", Dtype::f32, matrix).kind, Distribution::Kind::normal);
  EXPECT_EQ(sol_distribution("gate_proj", Dtype::bf16, matrix).scale, 1 / 64.0);
  EXPECT_EQ(sol_distribution("o_proj_weight", Dtype::bf16, matrix).scale, 1 / 64.0);
  EXPECT_EQ(sol_distribution("weight", Dtype::bf16, vector).scale, 1);
  EXPECT_EQ(sol_distribution("input_norm_weight", Dtype::bf16, vector).kind,
            Distribution::Kind::ones);
  EXPECT_EQ(sol_distribution("freqs_cos", Dtype::bf16, matrix).kind, Distribution::Kind::normal);
  EXPECT_EQ(sol_distribution("gate_proj", Dtype::bf16, matrix).text(), "sol:normal/sqrt(4096)");
}

TEST(Distribution, RowStartsAreMonotoneFromZeroToTheTotal) {
  HostTensor starts("kv_indptr", Dtype::i32, {9});
  fill(starts, {Distribution::Kind::row_starts, 1, 100}, stream_of(5)("p"));
  EXPECT_EQ(starts.value(0), 0);
  EXPECT_EQ(starts.value(8), 100);
  for (std::int64_t i = 1; i < 9; ++i) EXPECT_GE(starts.value(i), starts.value(i - 1));
}

TEST(InputFamily, SameStreamsSameInputsOtherStreamsOthers) {
  const Axes axes = bind_axes(operation("vector-add"), {}).value();
  const auto a = make_inputs(operation("vector-add"), axes, stream_of(1)).value();
  const auto b = make_inputs(operation("vector-add"), axes, stream_of(1)).value();
  const auto c = make_inputs(operation("vector-add"), axes, stream_of(2)).value();
  EXPECT_EQ(a.inputs[0].text(), b.inputs[0].text());
  EXPECT_NE(a.inputs[0].text(), c.inputs[0].text());
}

TEST(InputFamily, RowScaleIsAPowerBetweenAnEighthAndEight) {
  const Arguments plain = inputs("softmax-h4096", {{"batch_size", 16}}, InputFamily::source);
  const Arguments scaled = inputs("softmax-h4096", {{"batch_size", 16}}, InputFamily::row_scale);
  double smallest = 1e9;
  double largest = 0;
  for (std::int64_t row = 0; row < 16; ++row) {
    const double first = scaled.inputs[0].value(row * 4096) / plain.inputs[0].value(row * 4096);
    const double other =
        scaled.inputs[0].value(row * 4096 + 99) / plain.inputs[0].value(row * 4096 + 99);
    EXPECT_NEAR(first, other, 1e-5 * first);
    smallest = std::min(smallest, first);
    largest = std::max(largest, first);
  }
  EXPECT_GE(smallest, 0.125);
  EXPECT_LE(largest, 8);
  EXPECT_GT(largest / smallest, 2);
}

TEST(InputFamily, BlocksOf512ColumnsHaveAFactorOfTheirOwn) {
  const Arguments rows = inputs("softmax-h4096", {{"batch_size", 2}}, InputFamily::row_scale);
  const Arguments blocks = inputs("softmax-h4096", {{"batch_size", 2}}, InputFamily::block_scale);
  const auto factor = [&](std::int64_t at) {
    return blocks.inputs[0].value(at) / rows.inputs[0].value(at);
  };
  EXPECT_NEAR(factor(0), factor(511), 1e-5);
  EXPECT_GT(std::fabs(std::log2(factor(0) / factor(512))), 1e-3);
  EXPECT_NE(factor(512), factor(4096 + 512));
}

TEST(InputFamily, ProbeRowsGiveBackRowsOfTheOtherMatrixExactly) {
  const ReferenceOperation& matmul = operation("custom-matmul");
  const Arguments probe =
      inputs("custom-matmul", {{"m", 9}, {"k", 32}, {"n", 17}}, InputFamily::exact_probe);
  const HostTensor product = evaluate_output(matmul, probe, 0);
  for (std::int64_t row = 0; row < 9; ++row) {
    std::int64_t column = -1;
    for (std::int64_t k = 0; k < 32; ++k) {
      if (probe.inputs[0].value(row * 32 + k) == 0) continue;
      ASSERT_EQ(column, -1) << "two elements in a row";
      column = k;
    }
    ASSERT_GE(column, 0);
    const double factor = probe.inputs[0].value(row * 32 + column);
    EXPECT_EQ(std::exp2(std::round(std::log2(factor))), factor);
    for (std::int64_t n = 0; n < 17; ++n) {
      EXPECT_EQ(product.value(row * 17 + n), factor * probe.inputs[1].value(column * 17 + n));
    }
  }
}

TEST(InputFamily, ExtremesHoldBothAndTheReferenceStaysFinite) {
  for (const ReferenceOperation& op : reference_operations()) {
    Axes axes = {{"batch_size", 2}, {"seq_len", 3}, {"m", 8}, {"n", 8}, {"k", 8}};
    if (op.constants.size() == 0) axes = {{"m", 8}, {"n", 8}, {"k", 8}};
    Axes used;
    for (const auto& [name, value] : axes) {
      const auto in = [&](const auto& specs) {
        return std::any_of(specs.begin(), specs.end(), [&, &axis = name](const auto& spec) {
          return std::find(spec.axes.begin(), spec.axes.end(), axis) != spec.axes.end();
        });
      };
      if (!op.constants.contains(name) && (in(op.inputs) || in(op.outputs))) used[name] = value;
    }
    if (op.name == "gqa-paged-decode") {
      used["len_indptr"] = 3;
      used["num_kv_indices"] = 5;
      used["num_pages"] = 4;
    }
    if (op.name == "gemma3-gate-up-geglu" || op.name == "gemm-n4096-k4096") continue;  // minutes
    InputOptions options;
    options.family = InputFamily::extremes;
    options.scalars = {{"eps", 1e-5}, {"sm_scale", 0.125}};
    const auto bound = bind_axes(op, used);
    ASSERT_TRUE(bound) << op.name << bound.error().text();
    const auto made = make_inputs(op, *bound, stream_of(7), options);
    ASSERT_TRUE(made) << op.name;
    for (std::size_t output = 0; output < op.outputs.size(); ++output) {
      const HostTensor result = evaluate_output(op, *made, output);
      for (std::int64_t i = 0; i < result.count(); ++i) {
        if (op.outputs[output].name == "lse" && result.value(i) < 0) continue;  // an empty batch
        ASSERT_TRUE(std::isfinite(result.value(i))) << op.name << " " << i;
      }
    }
  }
}

TEST(InputFamily, OneRedrawnChangesThatTensorAlone) {
  InputOptions options;
  options.redrawn = 1;
  const Arguments before = inputs("vector-add", {}, InputFamily::source);
  const Arguments after = inputs("vector-add", {}, InputFamily::one_redrawn, options);
  EXPECT_EQ(before.inputs[0].text(), after.inputs[0].text());
  EXPECT_NE(before.inputs[1].text(), after.inputs[1].text());
}

TEST(InputFamily, ConstantRowsAreConstant) {
  const Arguments rows = inputs("softmax-h4096", {{"batch_size", 2}}, InputFamily::constant_rows);
  EXPECT_EQ(rows.inputs[0].value(0), rows.inputs[0].value(4095));
  EXPECT_NE(rows.inputs[0].value(0), rows.inputs[0].value(4096));
}

TEST(InputFamily, RefusesWhatTheWorkloadLeavesOut) {
  const ReferenceOperation& norm = operation("nemotron-rms-norm");
  const Axes axes = bind_axes(norm, {{"batch_size", 1}, {"seq_len", 1}}).value();
  EXPECT_EQ(make_inputs(norm, axes, stream_of(1)).error().code, "MISSING_SCALAR");
  EXPECT_EQ(bind_axes(norm, {{"batch_size", 1}}).error().code, "MISSING_AXIS");
  EXPECT_EQ(bind_axes(norm, {{"batch_size", 1}, {"seq_len", 1}, {"more", 1}}).error().code,
            "UNKNOWN_AXIS");
  EXPECT_EQ(bind_axes(norm, {{"batch_size", 1}, {"seq_len", 1}, {"hidden_size", 1}}).error().code,
            "WRONG_CONSTANT");
  EXPECT_EQ(bind_axes(norm, {{"batch_size", 1 << 20}, {"seq_len", 1 << 20}}).error().code,
            "AXIS_RANGE");
}

}  // namespace
}  // namespace kernelindex::runner
