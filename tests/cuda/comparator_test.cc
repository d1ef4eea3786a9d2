// SPDX-License-Identifier: Apache-2.0
// The comparator and its controls. PROTOCOL sections 12 and 18.
#include "cuda/comparator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "cuda/vacuity.h"
#include "tests/cuda/streams.h"

namespace kernelindex::runner {
namespace {

using test::stream_of;

HostTensor tensor(Dtype dtype, std::initializer_list<double> values) {
  HostTensor made("t", dtype, {static_cast<std::int64_t>(values.size())});
  std::int64_t at = 0;
  for (const double value : values) made.set(at++, value);
  return made;
}

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

TEST(Comparator, TheElementRuleIsAbsolutePlusRelative) {
  const Tolerance tolerance{0.5, 0.1, 1.0, {}, false};
  EXPECT_TRUE(compare(tensor(Dtype::f32, {10}), tensor(Dtype::f32, {11.5}), tolerance).source_rule);
  const auto outcome = compare(tensor(Dtype::f32, {10}), tensor(Dtype::f32, {11.75}), tolerance);
  EXPECT_FALSE(outcome.source_rule);
  EXPECT_EQ(outcome.first_fault, 0);
  EXPECT_EQ(outcome.largest_absolute_error, 1.75);
  EXPECT_EQ(outcome.largest_relative_error, 0.175);
}

TEST(Comparator, TheRatioIsAllowedToMissAsManyAsItSays) {
  HostTensor want("w", Dtype::f32, {100});
  HostTensor got = want;
  got.set(7, 1.0);
  EXPECT_TRUE(compare(want, got, {}).source_rule);
  got.set(8, 1.0);
  EXPECT_FALSE(compare(want, got, {}).source_rule);
}

TEST(Comparator, ACapOnTheLargestErrorHoldsBesideTheRatio) {
  HostTensor want("w", Dtype::f32, {1000});
  HostTensor got = want;
  got.set(7, 5.0);
  EXPECT_TRUE(compare(want, got, {}).source_rule);
  EXPECT_FALSE(compare(want, got, {.max_error_cap = 4.0}).source_rule);
}

TEST(Comparator, NanNeverPassesNotEvenAgainstNan) {
  EXPECT_FALSE(compare(tensor(Dtype::f32, {kNan}), tensor(Dtype::f32, {kNan}), {}).source_rule);
  EXPECT_FALSE(compare(tensor(Dtype::f32, {1}), tensor(Dtype::f32, {kNan}), {}).source_rule);
}

TEST(Comparator, OneNanAmongManyFailsWhateverTheRatio) {
  HostTensor want("w", Dtype::bf16, {10'000});
  HostTensor got = want;
  got.set(1, kNan);
  const auto outcome = compare(want, got, {});
  EXPECT_FALSE(outcome.source_rule);
  EXPECT_TRUE(outcome.not_finite);
}

TEST(Comparator, NegativeInfinityPassesOnlyWhereBothHaveItAndItIsAllowed) {
  Tolerance allowing;
  allowing.allow_negative_infinity = true;
  const HostTensor lse = tensor(Dtype::f32, {-kInf, 1});
  EXPECT_TRUE(compare(lse, lse, allowing).source_rule);
  EXPECT_FALSE(compare(lse, lse, {}).source_rule);
  EXPECT_FALSE(compare(tensor(Dtype::f32, {1, 1}), lse, allowing).source_rule);
  const HostTensor up = tensor(Dtype::f32, {kInf, 1});
  EXPECT_FALSE(compare(up, up, allowing).source_rule);
}

TEST(Comparator, IntegersAreComparedExactlyBeyondWhatFloatsHold) {
  EXPECT_FALSE(
      compare(tensor(Dtype::i32, {16777217}), tensor(Dtype::i32, {16777216}), {}).source_rule);
  HostTensor want("w", Dtype::i64, {1});
  HostTensor got = want;
  want.set_bits(0, (std::uint64_t{1} << 60) + 1);
  got.set_bits(0, std::uint64_t{1} << 60);
  EXPECT_FALSE(compare(want, got, {}).source_rule);
  EXPECT_FALSE(compare(want, got, {}).within_budget);
}

TEST(Comparator, NothingComparedIsNotAPass) {
  EXPECT_FALSE(Comparison(Dtype::f32, {}).finish().source_rule);
}

TEST(Comparator, BudgetsTellClassesOfArithmeticApart) {
  HostTensor want("w", Dtype::f32, {1000});
  for (std::int64_t i = 0; i < want.count(); ++i) want.set(i, 1.0 + static_cast<double>(i) * 0.01);
  const auto with_error = [&want](double relative) {
    HostTensor got = want;
    for (std::int64_t i = 0; i < got.count(); ++i) got.set(i, want.value(i) * (1 + relative));
    return compare(want, got, {});
  };
  EXPECT_EQ(with_error(0).precision, PrecisionClass::fp32_exact);
  EXPECT_TRUE(with_error(0).bit_exact);
  EXPECT_EQ(with_error(2.8e-4).precision, PrecisionClass::tf32_like);
  EXPECT_EQ(with_error(3e-3).precision, PrecisionClass::bf16_like);
  EXPECT_EQ(with_error(9e-3).precision, PrecisionClass::out_of_budget);
  EXPECT_TRUE(with_error(2.8e-4).source_rule);
  EXPECT_FALSE(with_error(2.8e-4).within_budget);
}

TEST(Comparator, SampledPositionsMayMiss73Of4096AtARatioOf99Percent) {
  EXPECT_EQ(sampled_mismatches_allowed(4096, 0.99), 73);
  EXPECT_EQ(sampled_mismatches_allowed(4096, 1.0), 0);
}

// HACKS row 19: what the source's tolerance lets through, the budget does not.
TEST(Comparator, AConstantThatPassesSoftmaxIsAVacuousPass) {
  const ReferenceOperation* softmax = find_reference("softmax-h4096");
  const Axes axes = bind_axes(*softmax, {{"batch_size", 2}}).value();
  const Arguments arguments = make_inputs(*softmax, axes, stream_of(1)).value();
  const HostTensor want = evaluate_output(*softmax, arguments, 0);
  for (const double constant : {1.0 / 4096, 1e-30, 9e-3}) {
    HostTensor got = want;
    for (std::int64_t i = 0; i < got.count(); ++i) got.set(i, constant);
    const auto outcome = compare(want, got, {});
    EXPECT_TRUE(outcome.source_rule) << constant;
    EXPECT_TRUE(outcome.vacuous_pass()) << constant;
  }
}

// HACKS row 20.
TEST(Comparator, SevenEighthsOfARowPassesTheSourcesInputsAndFailsTheBlocks) {
  const ReferenceOperation* norm = find_reference("rmsnorm-h4096");
  const Axes axes = bind_axes(*norm, {{"batch_size", 16}}).value();
  const auto ratio = [&](InputFamily family) {
    InputOptions options;
    options.family = family;
    Arguments arguments = make_inputs(*norm, axes, stream_of(2), options).value();
    const HostTensor want = evaluate_output(*norm, arguments, 0);
    arguments.kept = 0.875;
    const auto outcome = compare(want, evaluate_output(*norm, arguments, 0), {});
    return static_cast<double>(outcome.matched) / static_cast<double>(outcome.count);
  };
  EXPECT_GT(ratio(InputFamily::source), 0.99);
  EXPECT_LT(ratio(InputFamily::block_scale), 0.9);
}

TEST(Vacuity, SoftmaxUnderTheSourcesToleranceIsVacuous) {
  const ReferenceOperation* softmax = find_reference("softmax-h4096");
  const Axes axes = bind_axes(*softmax, {{"batch_size", 4}}).value();
  const VacuityReport report = test_comparator(*softmax, axes, stream_of(1), {}, {}).value();
  EXPECT_TRUE(report.vacuous());
  EXPECT_NE(std::find(report.accepted.begin(), report.accepted.end(), Control::tiny),
            report.accepted.end());
}

TEST(Vacuity, ATightToleranceIsNot) {
  const ReferenceOperation* softmax = find_reference("softmax-h4096");
  const Axes axes = bind_axes(*softmax, {{"batch_size", 4}}).value();
  const Tolerance tight{1e-8, 1e-5, 1.0, {}, false};
  const VacuityReport report = test_comparator(*softmax, axes, stream_of(1), {}, tight).value();
  EXPECT_FALSE(report.vacuous());
}

TEST(Vacuity, NormsRopeAndSumsAreNot) {
  struct Row {
    std::string_view name;
    Axes axes;
  };
  for (const Row& row :
       {Row{"rmsnorm-h4096", {{"batch_size", 7}}},
        Row{"flux-rope", {{"batch_size", 1}, {"seq_len", 4}}}, Row{"vector-add", {}},
        Row{"nemotron-rms-norm", {{"batch_size", 1}, {"seq_len", 3}}},
        Row{"olmo3-post-norm-residual", {{"batch_size", 1}, {"seq_len", 3}}},
        Row{"custom-matmul", {{"m", 16}, {"k", 64}, {"n", 32}}}}) {
    const ReferenceOperation* op = find_reference(row.name);
    InputOptions options;
    options.scalars = {{"eps", 1e-5}};
    const auto report =
        test_comparator(*op, bind_axes(*op, row.axes).value(), stream_of(3), options, {}, 8);
    ASSERT_TRUE(report) << row.name;
    for (const Control control : report->accepted) {
      ADD_FAILURE() << row.name << " accepts " << control_name(control);
    }
    EXPECT_GE(report->tried.size(), 6u);
  }
}

}  // namespace
}  // namespace kernelindex::runner
