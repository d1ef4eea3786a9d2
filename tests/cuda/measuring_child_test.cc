// SPDX-License-Identifier: Apache-2.0
// What parent and child of a trial say to each other, and what the parent makes of a workload.
#include "cuda/measuring_child.h"

#include <gtest/gtest.h>

#include "cuda/child_plan.h"
#include "cuda/wire_numbers.h"

namespace kernelindex::runner {
namespace {

BoundWorkload rope() {
  BoundWorkload workload;
  workload.digest = sha256("w");
  workload.operation = find_reference("flux-rope");
  workload.axes = bind_axes(*workload.operation, {{"batch_size", 2}, {"seq_len", 3}}).value();
  return workload;
}

LaunchManifest manifest() {
  using Kind = LaunchArgument::Kind;
  LaunchManifest out;
  out.kernels.push_back({"k.cu",
                         "rope_kernel",
                         {{Kind::input, "query_or_key"},
                          {Kind::input, "freqs_cos"},
                          {Kind::output, "output"},
                          {Kind::i32, "batch_size*seq_len"},
                          {Kind::f32, "1e-5"},
                          {Kind::workspace, ""}},
                         {"ceil_div(batch_size*seq_len*24*64,256)", "1", "1"},
                         {"256", "1", "1"},
                         {},
                         "0"});
  out.workspace_bytes = "seq_len*4";
  return out;
}

const std::map<std::string, std::string> kNames = {{"rope_kernel", "_Z11rope_kernel"}};

BuildRecipe recipe(BuildRecipe::Binding binding) {
  BuildRecipe out;
  out.binding = binding;
  out.entry_symbol = "run";
  return out;
}

TEST(ChildLoad, SurvivesTheWire) {
  const LaunchManifest launch = manifest();
  ChildLoad load =
      plan_load(rope(), recipe(BuildRecipe::Binding::ki_kernel), &launch, kNames, "/a").value();
  load.kernels_image = "/kernels";
  load.cuda_root = "/cuda";
  EXPECT_EQ(decode_load(encode_load(load)), load);
}

TEST(ChildLoad, IsTheWorkloadInPlainNumbers) {
  const LaunchManifest launch = manifest();
  const ChildLoad load =
      plan_load(rope(), recipe(BuildRecipe::Binding::ki_kernel), &launch, kNames, "/a").value();
  ASSERT_EQ(load.inputs.size(), 3u);
  EXPECT_EQ(load.inputs[0].shape, (std::vector<std::int64_t>{2, 3, 24, 128}));
  EXPECT_EQ(load.inputs[0].bytes, 2u * 2 * 3 * 24 * 128);
  EXPECT_EQ(load.workspace_bytes, 12u);
  ASSERT_EQ(load.kernels.size(), 1u);
  EXPECT_EQ(load.kernels[0].symbol, "_Z11rope_kernel");
  EXPECT_EQ(load.kernels[0].grid[0], 36u);
  EXPECT_EQ(load.kernels[0].arguments[1].index, 1u);
  EXPECT_EQ(load.kernels[0].arguments[3].integer, 6);
  EXPECT_EQ(load.kernels[0].arguments[4].real, 1e-5);
}

TEST(ChildLoad, RefusesWhatTheImageOrTheOperationHasNot) {
  LaunchManifest launch = manifest();
  const auto code = [&launch](const std::map<std::string, std::string>& names) {
    const auto load =
        plan_load(rope(), recipe(BuildRecipe::Binding::ki_kernel), &launch, names, "/a");
    return load ? "" : load.error().code;
  };
  EXPECT_EQ(code({}), "NO_LOWERED_NAME");
  launch.kernels[0].args[0].text = "nothing";
  EXPECT_EQ(code(kNames), "UNKNOWN_TENSOR");
  launch = manifest();
  launch.kernels[0].args[3].text = "4294967296";
  EXPECT_EQ(code(kNames), "EXPRESSION_OVERFLOW");
  launch = manifest();
  launch.workspace_bytes = "0-1";
  EXPECT_EQ(code(kNames), "LAUNCH_LIMIT");
}

TEST(ChildLoad, AScalarNeedsAValue) {
  BoundWorkload workload;
  workload.operation = find_reference("nemotron-rms-norm");
  workload.axes = bind_axes(*workload.operation, {{"batch_size", 1}, {"seq_len", 1}}).value();
  EXPECT_EQ(
      plan_load(workload, recipe(BuildRecipe::Binding::torch), nullptr, {}, "/a").error().code,
      "MISSING_SCALAR");
  workload.scalars["eps"] = 1e-5;
  const ChildLoad load =
      plan_load(workload, recipe(BuildRecipe::Binding::torch), nullptr, {}, "/a").value();
  EXPECT_TRUE(load.inputs[3].scalar);
  EXPECT_EQ(load.inputs[3].value, 1e-5);
}

TEST(ChildWire, EveryCutIsNoticed) {
  const LaunchManifest launch = manifest();
  const std::string load = encode_load(
      plan_load(rope(), recipe(BuildRecipe::Binding::ki_kernel), &launch, kNames, "/a").value());
  for (std::size_t size = 0; size < load.size(); ++size) {
    EXPECT_FALSE(decode_load(std::string_view(load).substr(0, size))) << size;
  }
  EXPECT_FALSE(decode_load(load + "x"));
  ChildReport report;
  report.sample.window_ns = 5;
  report.sample.inputs_changed = true;
  report.sample.held_too_long = true;
  report.call.dropped = 3;
  report.call.activities.push_back({Activity::Kind::fill, 10, 20, 7, "name"});
  const std::string text = encode_report(report);
  const auto read = decode_report(text);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->sample.window_ns, 5u);
  EXPECT_TRUE(read->sample.inputs_changed);
  EXPECT_TRUE(read->sample.held_too_long);
  EXPECT_FALSE(read->sample.guards_broken);
  EXPECT_EQ(read->call.dropped, 3u);
  ASSERT_EQ(read->call.activities.size(), 1u);
  EXPECT_EQ(read->call.activities[0].name, "name");
  EXPECT_EQ(read->call.activities[0].stream, 7u);
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_FALSE(decode_report(std::string_view(text).substr(0, size)));
  }
}

TEST(ChildWire, ACountThatClaimsMuchReservesNothing) {
  // The count of windows comes after seven numbers.
  WireWriter out;
  for (int i = 0; i < 7; ++i) out.number(0);
  EXPECT_FALSE(decode_sample(out.number(~0ull).bytes()));
}

TEST(ChildWire, ARequestThatIsNoneIsRefused) {
  ChildSample sample;
  sample.what = static_cast<ChildSample::What>(7);
  EXPECT_FALSE(decode_sample(encode_sample(sample)));
  sample.what = ChildSample::What::timed;
  sample.plan.flush = static_cast<SamplePlan::Flush>(3);
  EXPECT_FALSE(decode_sample(encode_sample(sample)));
}

TEST(ChildSampleWire, KeepsThePlan) {
  ChildSample sample;
  sample.plan = {{1, 2}, {256, 512}, 7, 9, SamplePlan::Flush::read, true};
  sample.what = ChildSample::What::run_nothing;
  sample.number = 11;
  sample.launches = 12;
  const auto read = decode_sample(encode_sample(sample));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->plan.windows, sample.plan.windows);
  EXPECT_EQ(read->plan.offsets, sample.plan.offsets);
  EXPECT_EQ(read->plan.withheld_phase, 7u);
  EXPECT_EQ(read->plan.pattern, 9u);
  EXPECT_EQ(read->plan.flush, SamplePlan::Flush::read);
  EXPECT_TRUE(read->plan.blocking);
  EXPECT_EQ(read->what, ChildSample::What::run_nothing);
  EXPECT_EQ(read->number, 11u);
  EXPECT_EQ(read->launches, 12u);
}

}  // namespace
}  // namespace kernelindex::runner
