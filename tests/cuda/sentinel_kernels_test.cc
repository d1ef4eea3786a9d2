// SPDX-License-Identifier: Apache-2.0
// Sentinels on a device of host memory whose clock the test moves, and a session made of them.
// PROTOCOL section 6.
#include "cuda/sentinel_kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "schema/statistics.h"
#include "tests/cuda/fake_device.h"

namespace kernelindex::runner {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

constexpr SentinelSizes kSmall{4096, 4096, 2};

class Sentinels : public ::testing::Test {
 protected:
  Sentinels() : driver_(test::fake_driver(device_)) {
    device_.run_kernel = [this](const std::string& name, void** arguments) {
      if (name == "ki_nothing") device_.clock_ms += 0.002F;
      if (name == "ki_triad") device_.clock_ms += 0.5F;
      if (name == "ki_tensor_multiply") device_.clock_ms += 0.75F;
      if (name == "ki_multiply_add") {
        device_.clock_ms += 1.25F;
        CudaPointer at = 0;
        std::memcpy(&at, arguments[3], sizeof at);
        std::memcpy(device_.at(at, sizeof reading_), &reading_, sizeof reading_);
      }
    };
  }
  SentinelKernels make() {
    const Result<RunnerKernels> kernels = load_runner_kernels(driver_, "image");
    EXPECT_TRUE(kernels);
    return {driver_, *kernels};
  }

  test::FakeDevice device_;
  CudaDriver driver_;
  ClockReading reading_{1'980'000, 1'000'000, 1, 0};
};

TEST_F(Sentinels, TimeEachKernelAndReadTheClock) {
  SentinelKernels sentinels = make();
  ASSERT_TRUE(sentinels.prepare(kSmall));
  const Result<SentinelSample> sample = sentinels.measure();
  ASSERT_TRUE(sample) << sample.error().text();
  const auto near = [](std::uint64_t got, double want) {
    EXPECT_NEAR(static_cast<double>(got), want, 200);
  };
  near(sample->launch_ns, 2'000);
  near(sample->bandwidth_ns, 500'000);
  near(sample->compute_ns, 1'250'000);
  near(sample->tensor_ns, 750'000);
  EXPECT_EQ(sample->sm_khz, 1'980'000u);
}

TEST_F(Sentinels, HoldTheQueueBackBeforeEachKernelAndFlushEachTime) {
  SentinelKernels sentinels = make();
  ASSERT_TRUE(sentinels.prepare(kSmall));
  EXPECT_THAT(device_.launches, ElementsAre("ki_scatter", "ki_scatter", "ki_scatter"));
  device_.launches.clear();
  ASSERT_TRUE(sentinels.measure());
  EXPECT_THAT(device_.launches,
              ElementsAre("ki_hold_back", "ki_nothing", "ki_hold_back", "ki_triad", "ki_hold_back",
                          "ki_multiply_add", "ki_hold_back", "ki_tensor_multiply"));
  ASSERT_THAT(device_.flushes, SizeIs(4));
  std::sort(device_.flushes.begin(), device_.flushes.end());
  EXPECT_EQ(std::adjacent_find(device_.flushes.begin(), device_.flushes.end()),
            device_.flushes.end());
}

TEST_F(Sentinels, WithoutAClockThereIsNoSample) {
  reading_.claimed = 0;
  SentinelKernels sentinels = make();
  ASSERT_TRUE(sentinels.prepare(kSmall));
  const Result<SentinelSample> sample = sentinels.measure();
  ASSERT_FALSE(sample);
  EXPECT_EQ(sample.error().code, "NO_CLOCK_READING");
}

TEST_F(Sentinels, AnErrorOfTheDeviceIsNoSample) {
  SentinelKernels sentinels = make();
  ASSERT_TRUE(sentinels.prepare(kSmall));
  device_.fail_with = 700;
  const Result<SentinelSample> sample = sentinels.measure();
  device_.fail_with = 0;
  ASSERT_FALSE(sample);
  EXPECT_EQ(sample.error().code, "CUDA_ERROR");
}

TEST_F(Sentinels, NeedTheirMemory) {
  device_.room = 8192;
  SentinelKernels sentinels = make();
  const Status prepared = sentinels.prepare(kSmall);
  ASSERT_FALSE(prepared);
  EXPECT_EQ(prepared.error().code, "DEVICE_MEMORY");
}

TEST(SentinelSession, HoldsMediansAndFiveSeriesInTheirOrder) {
  const SentinelSample samples[] = {
      {3, 30, 300, 3000, 7}, {1, 10, 100, 1000, 9}, {2, 20, 200, 2000, 8}, {9, 90, 900, 9000, 6}};
  const Digest boot = sha256("boot");
  const SentinelOutcome outcome = sentinel_outcome(ClockVariant::unlocked, boot, samples);
  EXPECT_EQ(outcome.session,
            (SentinelSession{boot, ClockVariant::unlocked, 4, 2, 25, 250, 2500, 7}));
  EXPECT_THAT(outcome.samples, ElementsAre(3, 1, 2, 9, 30, 10, 20, 90, 300, 100, 200, 900, 3000,
                                           1000, 2000, 9000, 7, 9, 8, 6));
  EXPECT_EQ(outcome.samples.size(), kSentinelSeries * 4);
}

TEST(SentinelClock, IsCyclesOverTime) {
  EXPECT_EQ(clock_khz({1'755'000, 1'000'000, 1, 0}), 1'755'000u);
  EXPECT_EQ(clock_khz({1'755'000, 1'000'000, 0, 0}), std::nullopt);
  EXPECT_EQ(clock_khz({1'755'000, 0, 1, 0}), std::nullopt);
  EXPECT_EQ(clock_khz({0, 5, 1, 0}), std::nullopt);
  EXPECT_EQ(clock_khz({~0ull, 5, 1, 0}), std::nullopt);
}

TEST(SentinelWire, SurvivesAndNoticesEveryCut) {
  const SentinelSample sample{1, 2, 3, 4, 5};
  const std::string text = encode_sentinel_sample(sample);
  EXPECT_EQ(decode_sentinel_sample(text), sample);
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_FALSE(decode_sentinel_sample(std::string_view(text).substr(0, size)));
  }
}

}  // namespace
}  // namespace kernelindex::runner
