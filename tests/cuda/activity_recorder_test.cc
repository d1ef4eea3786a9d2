// SPDX-License-Identifier: Apache-2.0
// The recorder against a CUPTI of the test, which hands out one buffer of made-up records.
#include "cuda/activity_recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "tests/cuda/fake_device.h"

namespace kernelindex::runner {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::size_t kRecordBytes = 160;

struct FakeCupti {
  std::vector<std::string> records;  // handed out at the next flush
  std::set<std::uint32_t> enabled;
  std::uint32_t refused = 0;  // a kind that cannot be enabled
  std::size_t dropped = 0;
  std::uint64_t clock = 1;
  int flush_error = 0;
  int end_of_buffer = kCuptiNoMoreRecords;
  Cupti::BufferRequested requested = nullptr;
  Cupti::BufferCompleted completed = nullptr;
};
FakeCupti* fake = nullptr;

int flush(std::uint32_t) {
  std::uint8_t* buffer = nullptr;
  std::size_t size = 0;
  std::size_t most = 0;
  fake->requested(&buffer, &size, &most);
  std::size_t valid = 0;
  for (const std::string& record : fake->records) {
    std::memcpy(buffer + valid, record.data(), kRecordBytes);
    valid += kRecordBytes;
  }
  fake->records.clear();
  fake->completed(nullptr, 0, buffer, size, valid);
  return fake->flush_error;
}
int next_record(std::uint8_t* buffer, std::size_t valid, void** record) {
  std::uint8_t* next =
      *record == nullptr ? buffer : static_cast<std::uint8_t*>(*record) + kRecordBytes;
  if (next >= buffer + valid) return fake->end_of_buffer;
  *record = next;
  return kCuptiSuccess;
}

class Recorder : public ::testing::Test {
 protected:
  Recorder() {
    fake = &fake_;
    cupti_.register_callbacks = [](Cupti::BufferRequested requested,
                                   Cupti::BufferCompleted completed) {
      fake->requested = requested;
      fake->completed = completed;
      return 0;
    };
    cupti_.enable = [](std::uint32_t kind) {
      fake->enabled.insert(kind);
      return kind == fake->refused ? 25 : 0;
    };
    cupti_.flush = flush;
    cupti_.next_record = next_record;
    cupti_.dropped = [](CudaContext, std::uint32_t, std::size_t* out) {
      *out = std::exchange(fake->dropped, 0);
      return 0;
    };
    cupti_.timestamp = [](std::uint64_t* out) {
      *out = fake->clock;
      return 0;
    };
    cupti_.stream_id = [](CudaContext, CudaStream, std::uint8_t, std::uint32_t* out) {
      *out = 7;
      return 0;
    };
  }
  ~Recorder() override { fake = nullptr; }
  // An API call at `at` that starts a kernel on the default stream.
  void run_kernel(std::uint64_t at, std::uint32_t correlation) {
    const auto put = [](std::string& bytes, std::size_t where, auto value) {
      std::memcpy(bytes.data() + where, &value, sizeof value);
    };
    std::string call(kRecordBytes, '\0');
    put(call, 0, RecordKind::driver_call);
    put(call, layout_of(4)->start, at);
    put(call, layout_of(4)->correlation, correlation);
    std::string kernel(kRecordBytes, '\0');
    put(kernel, 0, RecordKind::kernel);
    put(kernel, layout_of(10)->start, at + 10);
    put(kernel, layout_of(10)->end, at + 30);
    put(kernel, layout_of(10)->correlation, correlation);
    put(kernel, layout_of(10)->stream, std::uint32_t{7});
    put(kernel, layout_of(10)->name, "k");
    fake_.records.push_back(call);
    fake_.records.push_back(kernel);
  }

  FakeCupti fake_;
  Cupti cupti_{};
  ActivityRecorder recorder_;
};

TEST_F(Recorder, TakesTheWorkBetweenTwoMarksAndForgetsTheRest) {
  ASSERT_TRUE(recorder_.start(cupti_));
  ASSERT_TRUE(recorder_.find_default_stream());
  EXPECT_THAT(fake_.enabled, SizeIs(std::size(kRecordKinds)));
  fake_.clock = 100;
  const std::uint64_t begin = recorder_.now();
  run_kernel(50, 1);
  run_kernel(120, 2);
  const CallActivities call = recorder_.take(begin, 200);
  EXPECT_EQ(call.dropped, 0u);
  ASSERT_THAT(call.activities, SizeIs(1));
  EXPECT_EQ(call.activities[0].start_ns, 130u);
  EXPECT_EQ(call.activities[0].stream, 0u);
  EXPECT_THAT(recorder_.take(begin, 200).activities, IsEmpty());
}

// Silence is never taken for rest: each of these spoils the sample.
TEST_F(Recorder, WhatCannotBeReadCountsAsDropped) {
  ASSERT_TRUE(recorder_.start(cupti_));
  fake_.dropped = 3;
  EXPECT_EQ(recorder_.take(1, 2).dropped, 3u);
  fake_.flush_error = 1;
  EXPECT_EQ(recorder_.take(1, 2).dropped, 1u);
  fake_.flush_error = 0;
  EXPECT_EQ(recorder_.take(0, 2).dropped, 1u);
  fake_.end_of_buffer = 21;
  run_kernel(1, 1);
  EXPECT_EQ(recorder_.take(1, 2).dropped, 1u);
  fake_.end_of_buffer = kCuptiNoMoreRecords;
  EXPECT_EQ(recorder_.take(1, 2).dropped, 0u);
}

TEST_F(Recorder, AKindThatCannotBeEnabledIsAnErrorThatSaysSo) {
  fake_.refused = static_cast<std::uint32_t>(RecordKind::driver_call);
  const Status started = recorder_.start(cupti_);
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code, "CUPTI_UNAVAILABLE");
}

// Without this, a CUPTI that sees nothing would accuse every candidate of doing nothing.
TEST_F(Recorder, ProvesItselfWithAKernelOfOurOwn) {
  test::FakeDevice device;
  const CudaDriver driver = test::fake_driver(device);
  CudaFunction nothing = nullptr;
  driver.module_function(&nothing, nullptr, "ki_nothing");
  ASSERT_TRUE(recorder_.start(cupti_));
  fake_.clock = 100;
  int lost = 3;  // the first records of a session
  device.run_kernel = [&](const std::string&, void**) {
    if (lost-- <= 0) run_kernel(100, 1);
  };
  EXPECT_TRUE(recorder_.prove(driver, nothing));
  EXPECT_EQ(device.launches.size(), 4u);
  device.run_kernel = nullptr;
  const Status proved = recorder_.prove(driver, nothing);
  ASSERT_FALSE(proved);
  EXPECT_EQ(proved.error().code, "CUPTI_UNAVAILABLE");
}

}  // namespace
}  // namespace kernelindex::runner
