// SPDX-License-Identifier: Apache-2.0
// What a trial keeps of its samples. PROTOCOL sections 8 and 10.
#include "cuda/trial_samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelindex::runner {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

SampleReport sample(std::uint64_t window, std::uint64_t late = 0) {
  SampleReport report;
  report.window_ns = window;
  report.late_ns = late;
  return report;
}

SampleReport held_too_long() {
  SampleReport report = sample(20'000'000);
  report.held_too_long = true;
  return report;
}

Trial described(const TrialSamples& samples) {
  Trial trial;
  samples.describe(trial);
  return trial;
}

TEST(TrialSamples, AreKeptWhateverTheirTime) {
  TrialSamples samples(true);
  for (const std::uint64_t ns : {50u, 5'000'000u, 0u}) EXPECT_TRUE(samples.take(sample(ns, 7)));
  EXPECT_THAT(samples.windows(), ElementsAre(50, 5'000'000, 1));  // 0 ns is no latency
  const Trial trial = described(samples);
  EXPECT_TRUE(trial.blocking);
  EXPECT_FALSE(trial.host_sync_inside);
  EXPECT_THAT(trial.discards, IsEmpty());
  EXPECT_EQ(trial.late_ns, 7);
}

TEST(TrialSamples, ACallThatWaitsEndsTheModeInTheWarmUp) {
  TrialSamples samples(true);
  samples.warm(held_too_long());
  EXPECT_FALSE(samples.blocking());
  samples.warm(sample(4));
  EXPECT_THAT(samples.warm_windows(), ElementsAre(4));
  EXPECT_TRUE(samples.take(sample(5)));
  const Trial trial = described(samples);
  EXPECT_FALSE(trial.blocking);
  EXPECT_TRUE(trial.host_sync_inside);
  EXPECT_THAT(trial.discards, IsEmpty());
  EXPECT_EQ(trial.warmup_calls, 1);
}

TEST(TrialSamples, NeverMixTwoModes) {
  TrialSamples samples(true);
  EXPECT_TRUE(samples.take(sample(5)));
  EXPECT_TRUE(samples.take(sample(6)));
  EXPECT_FALSE(samples.take(held_too_long()));
  EXPECT_TRUE(samples.take(sample(7)));
  EXPECT_THAT(samples.windows(), ElementsAre(7));
  const Trial trial = described(samples);
  EXPECT_FALSE(trial.blocking);
  EXPECT_THAT(trial.discards, ElementsAre(Discards{Discards::Reason::blocking_timeout, 3}));
}

TEST(TrialSamples, WithoutSamplesNothingIsLate) {
  const Trial trial = described(TrialSamples(false));
  EXPECT_FALSE(trial.blocking);
  EXPECT_EQ(trial.late_ns, std::nullopt);
}

}  // namespace
}  // namespace kernelindex::runner
