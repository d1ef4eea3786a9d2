// SPDX-License-Identifier: Apache-2.0
// Polls of an NVML of the test. PROTOCOL section 5.
#include "cuda/device_polls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelindex::runner {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct FakeNvml {
  unsigned mhz = 1980;
  unsigned degrees = 40;
  unsigned long long reasons = 0;
  unsigned long long errors = 2;
  unsigned processes = 0;
  std::vector<NvmlEvent> events;
  int list_result = 0;
  int register_result = 0;
  int lists = 0;
  int sets = 0;  // alive
};
FakeNvml* fake = nullptr;

Nvml table() {
  Nvml nvml{};
  nvml.clock = [](NvmlDevice, int, unsigned* out) { return *out = fake->mhz, 0; };
  nvml.temperature = [](NvmlDevice, int, unsigned* out) { return *out = fake->degrees, 0; };
  nvml.event_reasons = [](NvmlDevice, unsigned long long* out) { return *out = fake->reasons, 0; };
  nvml.power_limit = [](NvmlDevice, unsigned* out) { return *out = 700'000, 0; };
  nvml.persistence = [](NvmlDevice, int* out) { return *out = 1, 0; };
  nvml.temperature_threshold = [](NvmlDevice, int, unsigned* out) { return *out = 92, 0; };
  nvml.ecc_mode = [](NvmlDevice, int* now, int* after) { return *now = 1, *after = 0, 0; };
  nvml.total_ecc_errors = [](NvmlDevice, int type, int counter, unsigned long long* out) {
    *out = fake->errors;
    return type == kNvmlUncorrected && counter == kNvmlVolatile ? 0 : 2;
  };
  nvml.compute_processes = [](NvmlDevice, unsigned* count, NvmlProcess*) {
    ++fake->lists;
    *count = fake->processes;
    return fake->list_result;
  };
  nvml.event_set_create = [](NvmlEventSet* out) {
    ++fake->sets;
    *out = reinterpret_cast<NvmlEventSet>(fake);
    return 0;
  };
  nvml.event_set_free = [](NvmlEventSet) { return --fake->sets, 0; };
  nvml.register_events = [](NvmlDevice, unsigned long long types, NvmlEventSet) {
    return types == kNvmlXidEvent ? fake->register_result : 2;
  };
  nvml.event_set_wait = [](NvmlEventSet, NvmlEvent* out, unsigned milliseconds) {
    EXPECT_EQ(milliseconds, 0u);  // never waits between samples
    if (fake->events.empty()) return 10;
    *out = fake->events.back();
    fake->events.pop_back();
    return 0;
  };
  return nvml;
}

class Polls : public ::testing::Test {
 protected:
  Polls() { fake = &fake_; }
  ~Polls() override { fake = nullptr; }
  static DevicePoller::Clock::time_point at(int milliseconds) {
    return DevicePoller::Clock::time_point{} + std::chrono::milliseconds(milliseconds);
  }
  FakeNvml fake_;
};

TEST_F(Polls, AreCountedAtMostEveryTwentyMilliseconds) {
  DevicePoller poller(table(), nullptr);
  EXPECT_EQ(poller.polls(), std::nullopt);
  poller.poll(at(0), 1);
  poller.poll(at(19), 1);
  fake_.mhz = 1500;
  fake_.degrees = 55;
  fake_.reasons = 0x4 | 0x8;
  poller.poll(at(20), 1);
  fake_.mhz = 1700;
  fake_.degrees = 50;
  fake_.reasons = 0x20 | 0x40 | 0x80;
  poller.poll(at(40), 1);
  const DevicePolls polls = poller.polls().value();
  EXPECT_EQ(polls.polls, 3);
  EXPECT_EQ(polls.sm_khz_lowest, 1'500'000);
  EXPECT_EQ(polls.sm_khz_median, 1'700'000);
  EXPECT_EQ(polls.sm_khz_highest, 1'980'000);
  EXPECT_EQ(polls.temperature_first, 40);
  EXPECT_EQ(polls.temperature_last, 50);
  EXPECT_EQ(polls.temperature_highest, 55);
  EXPECT_EQ(polls.temperature_slowdown, 92);
  for (const std::int64_t count : {polls.hw_slowdown, polls.sw_thermal, polls.hw_thermal,
                                   polls.power_brake, polls.sw_power_cap}) {
    EXPECT_EQ(count, 1);
  }
}

TEST_F(Polls, UncorrectedErrorsAreThoseBeforeAndAfter) {
  DevicePoller poller(table(), nullptr);
  poller.poll(at(0), 1);
  fake_.errors = 5;
  EXPECT_EQ(poller.polls()->ecc_before, 2);
  EXPECT_EQ(poller.polls()->ecc_after, 5);
}

TEST_F(Polls, EachXidCountsAndOtherEventsDoNot) {
  DevicePoller poller(table(), nullptr);
  fake_.events = {{nullptr, kNvmlXidEvent, 31, 0, 0},
                  {nullptr, 1, 0, 0, 0},
                  {nullptr, kNvmlXidEvent, 13, 0, 0}};
  poller.poll(at(0), 1);
  EXPECT_EQ(poller.polls()->xids, 2);
}

TEST_F(Polls, ProcessesBesideOursAreOthers) {
  DevicePoller poller(table(), nullptr);
  fake_.processes = 1;
  poller.poll(at(0), 1);
  EXPECT_EQ(poller.polls()->foreign_processes, 0);
  fake_.processes = 3;
  poller.poll(at(50), 1);  // too early for another list
  EXPECT_EQ(poller.polls()->foreign_processes, 0);
  poller.poll(at(100), 1);
  fake_.processes = 1;
  poller.poll(at(200), 1);
  EXPECT_EQ(poller.polls()->foreign_processes, 2);  // the most at one time
}

TEST_F(Polls, AProcessThatWasThereBeforeIsSeenAtOnce) {
  fake_.processes = 1;
  DevicePoller poller(table(), nullptr);
  poller.poll(at(0), 1);
  EXPECT_EQ(poller.polls()->foreign_processes, 1);
}

TEST_F(Polls, AListThatIsTooLongIsAListOfThatLength) {
  fake_.processes = 70;
  fake_.list_result = kNvmlInsufficientSize;
  DevicePoller poller(table(), nullptr);
  poller.poll(at(0), 1);
  EXPECT_EQ(poller.polls()->foreign_processes, 70);
  EXPECT_THAT(poller.gaps(), IsEmpty());
}

TEST_F(Polls, WhatIsNotToldIsAGapAndAbsent) {
  fake_.register_result = 3;
  fake_.list_result = 4;
  Nvml nvml = table();
  nvml.total_ecc_errors = nullptr;
  {
    DevicePoller poller(nvml, nullptr);
    poller.poll(at(0), 1);
    EXPECT_THAT(poller.gaps(),
                ElementsAre("ECC_NOT_COUNTED", "XID_NOT_WATCHED", "PROCESSES_NOT_LISTED"));
    EXPECT_EQ(poller.polls()->ecc_before, std::nullopt);
    EXPECT_EQ(poller.polls()->ecc_after, std::nullopt);
  }
  EXPECT_EQ(fake_.sets, 0);
}

TEST_F(Polls, SettingsAreThoseOfTheDevice) {
  const MeasuredSettings settings = DevicePoller(table(), nullptr).settings();
  EXPECT_EQ(settings.power_limit_milliwatts, 700'000);
  EXPECT_EQ(settings.persistence_mode, true);
  EXPECT_EQ(settings.ecc_enabled, true);
  EXPECT_EQ(settings.clocks_locked, std::nullopt);  // nobody can tell
  EXPECT_EQ(fake_.sets, 0);
}

}  // namespace
}  // namespace kernelindex::runner
