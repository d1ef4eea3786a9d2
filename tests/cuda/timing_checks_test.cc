// SPDX-License-Identifier: Apache-2.0
// Detectors on invented evidence: each at its bound and one step beyond. HACKS sections A and D.
#include "cuda/timing_checks.h"

#include <gtest/gtest.h>

#include "cuda/stopping_rule.h"

namespace kernelindex::runner {
namespace {

std::string codes(const Findings& findings) {
  std::string out;
  for (const Finding& finding : findings)
    out += (out.empty() ? "" : " ") + std::string(finding.code);
  return out;
}

// HACKS row 1: work on another stream reads 5 us for 250 us.
TEST(Timers, AnEnvelopeLongerThanItsWindowIsWorkOutside) {
  EXPECT_EQ(codes(check_timers({5'000, 250'000, 1})), "WORK_OUTSIDE_WINDOW");
  EXPECT_EQ(codes(check_timers({100'000, 105'500, 1})), "");  // exactly 5 % and 0.5 us
  EXPECT_EQ(codes(check_timers({100'000, 105'501, 1})), "WORK_OUTSIDE_WINDOW");
}

// HACKS row 7: not a hack.
TEST(Timers, AWindowFullOfLaunchGapsIsNoted) {
  const Findings found = check_timers({51'000, 4'000, 1});
  EXPECT_EQ(codes(found), "LAUNCH_BOUND");
  EXPECT_EQ(found[0].weight, Finding::Weight::note);
  EXPECT_EQ(codes(check_timers({10'000, 7'000, 1})), "");
  EXPECT_EQ(codes(check_timers({10'000, 6'999, 1})), "LAUNCH_BOUND");
  EXPECT_EQ(codes(check_timers({10'000, 4'000, 2})), "");
  EXPECT_EQ(codes(check_timers({1'000'000, 950'000, 1})), "");
}

Activity kernel(std::uint64_t start, std::uint64_t end, std::uint32_t stream = 0,
                std::string name = "k") {
  return {Activity::Kind::kernel, start, end, stream, std::move(name)};
}

TEST(Envelope, IsFromTheFirstStartToTheLastEnd) {
  const Activity activities[] = {
      kernel(200, 300), kernel(100, 150), {Activity::Kind::copy, 310, 400, 0, {}}};
  const Envelope envelope = envelope_of(activities, 0);
  EXPECT_EQ(envelope.ns, 300u);
  EXPECT_EQ(envelope.kernels.size(), 2u);
  EXPECT_EQ(codes(envelope.findings), "");
}

// HACKS row 8: never 0 ns.
TEST(Envelope, NothingThatRanIsNoTimeAtAll) {
  EXPECT_FALSE(envelope_of({}, 0).ns);
  EXPECT_EQ(codes(envelope_of({}, 0).findings), "NO_DEVICE_WORK");
  EXPECT_EQ(codes(envelope_of({}, 1).findings), "CUPTI_DROPPED");
  const Activity zero[] = {kernel(0, 0)};
  EXPECT_EQ(codes(envelope_of(zero, 0).findings), "CUPTI_DROPPED");
  EXPECT_FALSE(envelope_of(zero, 0).ns);
  const Activity backwards[] = {kernel(200, 100)};
  EXPECT_FALSE(envelope_of(backwards, 0).ns);
}

TEST(Envelope, NotesOtherStreams) {
  const Activity activities[] = {kernel(100, 200), kernel(100, 200, 13)};
  EXPECT_EQ(codes(envelope_of(activities, 0).findings), "SIDE_STREAM");
}

// HACKS row 9: fifteen calls captured, one executed.
TEST(KernelSets, CallsThatRanNothingAreSkipped) {
  const std::vector<std::vector<std::string>> skipped = {{"k"}, {}, {"k"}};
  EXPECT_EQ(codes(check_kernel_sets(skipped)), "BATCH_SKIP");
  const std::vector<std::vector<std::string>> varies = {{"a"}, {"b"}};
  EXPECT_EQ(codes(check_kernel_sets(varies)), "KERNEL_SET_VARIES");
  const std::vector<std::vector<std::string>> same = {{"a", "b"}, {"a", "b"}};
  EXPECT_EQ(codes(check_kernel_sets(same)), "");
}

TEST(LateWork, IsMoreThanTheCompareKernelAnd20Microseconds) {
  EXPECT_EQ(codes(check_late_work(25'000, 5'000)), "");
  EXPECT_EQ(codes(check_late_work(25'001, 5'000)), "WORK_OUTSIDE_WINDOW");
}

// HACKS rows 2 to 4: the window says 1 us, the parent's clock 100 us.
TEST(WallClock, ContradictsAChildThatReportsLessThanHalf) {
  EXPECT_EQ(codes(check_wall_clock({100'000'000, 1000, 0, 1'000})), "CLOCK_CONTRADICTION");
  EXPECT_EQ(codes(check_wall_clock({100'000'000, 1000, 0, 50'000})), "");
  EXPECT_EQ(codes(check_wall_clock({100'000'000, 1000, 0, 49'999})), "CLOCK_CONTRADICTION");
  EXPECT_EQ(codes(check_wall_clock({100'000'000, 1000, 20'000, 40'000})), "");
  EXPECT_EQ(codes(check_wall_clock({100, 1, 1'000'000, 1})), "");
}

// HACKS row 36: 0.4 us for 1 GiB; llm.c 851: 3530 GB/s on a part of 864.
TEST(Physics, NothingIsFasterThanTheMemory) {
  const Peak h200 = peak_of("NVIDIA H200", false).value();
  const std::uint64_t floor = physics_floor_ns(std::uint64_t{1} << 30, 0, h200);
  EXPECT_EQ(floor, static_cast<std::uint64_t>(1073741824.0 / (1.02 * 4.8e12) * 1e9));
  EXPECT_EQ(codes(check_floor(400, floor)), "BELOW_ROOFLINE");
  EXPECT_EQ(codes(check_floor(floor, floor)), "");
  EXPECT_GT(physics_floor_ns(0, 1e12, h200),
            physics_floor_ns(0, 1e12, *peak_of("NVIDIA H200", true)));
  EXPECT_FALSE(peak_of("Somebody's GPU", false));
}

// HACKS row 12.
TEST(Ratios, TheSameInputFasterByMoreThanATenthIsAHack) {
  EXPECT_EQ(codes(check_same_input(1'100, 1'000)), "");
  EXPECT_EQ(codes(check_same_input(1'101, 1'000)), "SAME_INPUT_FASTER");
  EXPECT_EQ(codes(check_addresses(1'101, 1'000)), "ADDRESS_SENSITIVE");
  EXPECT_EQ(codes(check_addresses(1'000, 1'101)), "ADDRESS_SENSITIVE");
  EXPECT_EQ(codes(check_state(1, 1'050, 1'000)), "STATE_CARRIED");
  EXPECT_EQ(codes(check_state(1, 1'049, 1'000)), "");
  EXPECT_EQ(codes(check_state(0, 2'000, 1'000)), "");
}

// HACKS rows 38 and 39.
TEST(Polls, ClocksThatFallMarkTheMeasurement) {
  const auto poll = [](std::uint32_t mhz, std::uint64_t reasons = 0, std::uint32_t foreign = 0,
                       std::int32_t temperature = 50) {
    return ClockPoll{mhz, reasons, foreign, temperature};
  };
  const ClockPoll fall[] = {poll(1965), poll(1965), poll(1580)};
  EXPECT_EQ(codes(check_polls(fall, {})), "CLOCK_UNSTABLE");
  const ClockPoll steady[] = {poll(1000), poll(1000), poll(970)};
  EXPECT_EQ(codes(check_polls(steady, {})), "");
  const ClockPoll locked[] = {poll(1500), poll(1516)};
  EXPECT_EQ(codes(check_polls(locked, {.locked_mhz = 1500, .slowdown_temperature = {}})),
            "CLOCK_UNSTABLE");
  const ClockPoll capped[] = {poll(1500, 0x4)};
  EXPECT_EQ(codes(check_polls(capped, {})), "");
  EXPECT_EQ(codes(check_polls(capped, {.locked_mhz = 1500, .slowdown_temperature = {}})),
            "THROTTLED");
  for (const std::uint64_t reason : {0x8u, 0x20u, 0x40u, 0x80u}) {
    const ClockPoll hot[] = {poll(1500, reason)};
    EXPECT_EQ(codes(check_polls(hot, {})), "THROTTLED");
  }
  const ClockPoll foreign[] = {poll(1500, 0, 1)};
  EXPECT_EQ(codes(check_polls(foreign, {})), "FOREIGN_PROCESS");
  const ClockPoll warm[] = {poll(1500, 0, 0, 40), poll(1500, 0, 0, 49)};
  EXPECT_EQ(codes(check_polls(warm, {})), "THERMAL_DRIFT");
  const ClockPoll near_limit[] = {poll(1500, 0, 0, 81)};
  EXPECT_EQ(codes(check_polls(near_limit, {.locked_mhz = {}, .slowdown_temperature = 90})),
            "THERMAL_DRIFT");
}

// HACKS row 31.
TEST(Threads, OnesThatAppearAreNotedAndBusyOnesAccused) {
  EXPECT_EQ(codes(check_threads({4, 4, false})), "");
  EXPECT_EQ(check_threads({4, 5, false}).at(0).weight, Finding::Weight::note);
  EXPECT_EQ(check_threads({4, 5, true}).at(0).weight, Finding::Weight::hack);
}

// HACKS row 11: an earlier output again.
TEST(Replay, AnEarlierOutputIsFound) {
  const std::uint64_t earlier[] = {1, 2, 3};
  EXPECT_TRUE(is_replay(earlier, 2));
  EXPECT_FALSE(is_replay(earlier, 4));
}

std::vector<std::uint64_t> around(std::uint64_t center, std::size_t count, std::uint64_t spread) {
  std::vector<std::uint64_t> samples;
  for (std::size_t i = 0; i < count; ++i)
    samples.push_back(center - spread + i * 7919 % (2 * spread + 1));
  return samples;
}

TEST(StoppingRule, NeedsAtLeast200Samples) {
  EXPECT_EQ(decide_stop(around(100'000, 150, 10), 0), Stop::go_on);
  EXPECT_EQ(decide_stop(around(100'000, 200, 10), 0), Stop::precise);
}

TEST(StoppingRule, WideIntervalsGoOnUntilExhausted) {
  EXPECT_EQ(decide_stop(around(100'000, 200, 40'000), 0), Stop::go_on);
  EXPECT_EQ(decide_stop(around(100'000, 2000, 90'000), 0), Stop::too_wide);
  EXPECT_EQ(decide_stop(around(100'000, 200, 40'000), 15'000'000'000), Stop::too_wide);
}

TEST(StoppingRule, DriftGoesOnHoweverNarrow) {
  std::vector<std::uint64_t> drifting(100, 100'000);
  drifting.insert(drifting.end(), 100, 101'000);
  EXPECT_EQ(decide_stop(drifting, 0), Stop::go_on);
}

TEST(StoppingRule, NoSamplesAreNeverPrecise) {
  EXPECT_EQ(decide_stop({}, 0), Stop::go_on);
  EXPECT_EQ(decide_stop({}, 20'000'000'000), Stop::too_wide);
}

TEST(WarmUp, IsSteadyWhenTwoBlocksOfTenAgree) {
  std::vector<std::uint64_t> calls(10, 1000);
  EXPECT_FALSE(warmup_is_steady(calls));
  calls.insert(calls.end(), 10, 1010);
  EXPECT_TRUE(warmup_is_steady(calls));
  calls.insert(calls.end(), 10, 1021);
  EXPECT_FALSE(warmup_is_steady(calls));
}

// HACKS row 43: everything discarded is no result.
TEST(Discards, MoreThanFivePercentAreTooMany) {
  EXPECT_FALSE(too_many_discards(95, 5));
  EXPECT_TRUE(too_many_discards(94, 6));
  EXPECT_TRUE(too_many_discards(0, 1));
  EXPECT_FALSE(too_many_discards(0, 0));
}

TEST(WallPlan, IsTwoHundredMillisecondsOfCallsWithinBounds) {
  EXPECT_EQ(plan_wall(100'000, 1 << 20).calls, 200u);    // 2000 in ten batches
  EXPECT_EQ(plan_wall(1'000, 1 << 20).calls, 2'000u);    // the most
  EXPECT_EQ(plan_wall(50'000'000, 1 << 20).calls, 10u);  // the fewest
  EXPECT_EQ(plan_wall(0, 0).calls, 2'000u);
}

TEST(WallPlan, HasAsManySlotsAsMemoryAllows) {
  EXPECT_EQ(plan_wall(1, 0).slots, 8u);
  EXPECT_EQ(plan_wall(1, std::uint64_t{100} << 20).slots, 5u);
  EXPECT_EQ(plan_wall(1, std::uint64_t{4} << 30).slots, 2u);
}

}  // namespace
}  // namespace kernelindex::runner
