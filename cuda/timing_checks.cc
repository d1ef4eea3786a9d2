// SPDX-License-Identifier: Apache-2.0
#include "cuda/timing_checks.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace kernelindex::runner {
namespace {

using Weight = Finding::Weight;
__extension__ using Wide = unsigned __int128;

constexpr std::uint64_t kEventResolutionNs = 500;
constexpr std::uint64_t kLaunchGapNs = 3000;
constexpr std::uint64_t kLateWorkNs = 20'000;
constexpr std::uint64_t kWallNs = 200'000'000;
constexpr std::uint64_t kWallFewest = 100;
constexpr std::uint64_t kWallMost = 20'000;
constexpr std::uint64_t kWallBytes = std::uint64_t{512} << 20;
constexpr std::uint64_t kWallFewestSlots = 2;
constexpr std::uint64_t kWallMostSlots = 8;
static_assert(kWallFewest / kWallBatches >= kWallMostSlots);  // every batch uses every slot
// nvmlClocksEventReasons: hardware slowdown, software thermal, hardware thermal, power brake.
constexpr std::uint64_t kThrottleReasons = 0x8 | 0x20 | 0x40 | 0x80;
constexpr std::uint64_t kPowerCapReason = 0x4;

std::string ns(std::uint64_t value) { return std::to_string(value) + " ns"; }

// a / b > numerator / denominator, exactly.
bool ratio_above(std::uint64_t a, std::uint64_t b, std::uint64_t numerator,
                 std::uint64_t denominator) {
  return Wide{a} * denominator > Wide{b} * numerator;
}

}  // namespace

Findings check_timers(const TimerPair& timers) {
  const std::uint64_t events = timers.event_median_ns;
  const std::uint64_t envelope = timers.envelope_median_ns;
  if (envelope > events) {
    // m_L - m_E >= -(0.05 m_L + 0.5 us), times 20
    if (Wide{envelope - events} * 20 > Wide{events} + 20 * kEventResolutionNs) {
      return {{"WORK_OUTSIDE_WINDOW", Weight::hack,
               "envelope " + ns(envelope) + ", window " + ns(events)}};
    }
    return {};
  }
  const std::uint64_t gap = events - envelope;
  const bool above_share = Wide{gap} * 20 > Wide{events};
  if (above_share && gap > kLaunchGapNs * timers.kernels_per_call) {
    return {{"LAUNCH_BOUND", Weight::note, "envelope " + ns(envelope) + ", window " + ns(events)}};
  }
  return {};
}

Envelope envelope_of(std::span<const Activity> activities, std::uint64_t dropped) {
  Envelope envelope;
  if (dropped > 0) {
    envelope.findings.push_back(
        {"CUPTI_DROPPED", Weight::incomplete, std::to_string(dropped) + " records were dropped"});
    return envelope;
  }
  if (activities.empty()) {
    envelope.findings.push_back({"NO_DEVICE_WORK", Weight::hack, "no kernel, copy or fill ran"});
    return envelope;
  }
  std::uint64_t first = activities.front().start_ns;
  std::uint64_t last = 0;
  bool side_stream = false;
  for (const Activity& activity : activities) {
    if (activity.start_ns == 0 || activity.end_ns == 0 || activity.end_ns < activity.start_ns) {
      envelope.findings.push_back({"CUPTI_DROPPED", Weight::incomplete, "a record holds no times"});
      return envelope;
    }
    first = std::min(first, activity.start_ns);
    last = std::max(last, activity.end_ns);
    side_stream |= activity.stream != 0;
    if (activity.kind == Activity::Kind::kernel) envelope.kernels.push_back(activity.name);
  }
  std::sort(envelope.kernels.begin(), envelope.kernels.end());
  if (side_stream) envelope.findings.push_back({"SIDE_STREAM", Weight::note, {}});
  envelope.ns = last - first;
  return envelope;
}

Findings check_kernel_sets(std::span<const std::vector<std::string>> samples) {
  if (samples.empty()) return {};
  const auto ran_nothing = [](const auto& kernels) { return kernels.empty(); };
  const auto empty = std::count_if(samples.begin(), samples.end(), ran_nothing);
  if (empty != 0 && empty != static_cast<std::ptrdiff_t>(samples.size())) {
    return {
        {"BATCH_SKIP", Weight::hack,
         std::to_string(empty) + " of " + std::to_string(samples.size()) + " calls ran no kernel"}};
  }
  const bool varies = std::any_of(samples.begin(), samples.end(), [&samples](const auto& kernels) {
    return kernels != samples.front();
  });
  if (varies) return {{"KERNEL_SET_VARIES", Weight::note, {}}};
  return {};
}

Findings check_late_work(std::uint64_t late_median_ns, std::uint64_t compare_ns) {
  if (late_median_ns <= compare_ns + kLateWorkNs) return {};
  return {{"WORK_OUTSIDE_WINDOW", Weight::hack,
           ns(late_median_ns) +
               " from the end of the window to that of the compare kernel, which "
               "takes " +
               ns(compare_ns)}};
}

WallPlan plan_wall(std::uint64_t event_median_ns, std::uint64_t bytes) {
  const std::uint64_t calls = std::clamp<std::uint64_t>(
      kWallNs / std::max<std::uint64_t>(event_median_ns, 1), kWallFewest, kWallMost);
  WallPlan plan;
  plan.calls = calls / kWallBatches;
  plan.slots = std::clamp<std::uint64_t>(kWallBytes / std::max<std::uint64_t>(bytes, 1),
                                         kWallFewestSlots, kWallMostSlots);
  return plan;
}

Findings check_wall_clock(const WallBound& bound) {
  if (bound.calls == 0) return {};
  // m_L >= ((t1-t0)/N - g) / 2   <=>   2 N m_L + N g >= t1 - t0
  const Wide claimed =
      Wide{2} * bound.calls * bound.event_median_ns + Wide{bound.calls} * bound.overhead_ns;
  if (claimed >= bound.total_ns) return {};
  return {{"CLOCK_CONTRADICTION", Weight::hack,
           std::to_string(bound.calls) + " calls took " + ns(bound.total_ns) +
               " on the parent's clock; the window says " + ns(bound.event_median_ns) + " each"}};
}

std::uint64_t physics_floor_ns(std::uint64_t bytes, double operations, const Peak& peak) {
  double floor = 0;
  if (peak.bytes_per_second > 0) {
    floor = static_cast<double>(bytes) / (1.02 * static_cast<double>(peak.bytes_per_second));
  }
  if (peak.operations_per_second > 0) {
    floor = std::max(floor, operations / (1.02 * static_cast<double>(peak.operations_per_second)));
  }
  return static_cast<std::uint64_t>(floor * 1e9);
}

std::optional<Peak> peak_of(std::string_view product, bool tensor_cores) {
  struct Row {
    std::string_view product;
    std::uint64_t gigabytes;  // per second, of the data sheet
    std::uint64_t fp32;       // 10^9 operations per second at maximum boost, without tensor cores
    std::uint64_t tensor;     // dense, of 8-bit numbers: above every other type
  };
  static constexpr std::array kRows = {
      Row{"NVIDIA H200", 4800, 67'000, 1'979'000}, Row{"NVIDIA H100", 3350, 67'000, 1'979'000},
      Row{"NVIDIA B200", 8000, 80'000, 4'500'000}, Row{"NVIDIA A100", 2039, 19'500, 624'000}};
  for (const Row& row : kRows) {
    if (row.product != product) continue;
    return Peak{row.gigabytes * 1'000'000'000,
                (tensor_cores ? row.tensor : row.fp32) * 1'000'000'000};
  }
  return std::nullopt;
}

Findings check_floor(std::uint64_t median_ns, std::uint64_t floor_ns) {
  if (median_ns >= floor_ns) return {};
  return {{"BELOW_ROOFLINE", Weight::hack,
           "median " + ns(median_ns) + ", but the traffic and arithmetic take " + ns(floor_ns)}};
}

Findings check_same_input(std::uint64_t fresh_median_ns, std::uint64_t same_median_ns) {
  if (!ratio_above(fresh_median_ns, same_median_ns, 110, 100)) return {};
  return {{"SAME_INPUT_FASTER", Weight::hack,
           "fresh input " + ns(fresh_median_ns) + ", same input " + ns(same_median_ns)}};
}

Findings check_addresses(std::uint64_t rotated_median_ns, std::uint64_t constant_median_ns) {
  if (!ratio_above(rotated_median_ns, constant_median_ns, 110, 100) &&
      !ratio_above(constant_median_ns, rotated_median_ns, 110, 100)) {
    return {};
  }
  return {{"ADDRESS_SENSITIVE", Weight::note,
           "rotated " + ns(rotated_median_ns) + ", constant " + ns(constant_median_ns)}};
}

Findings check_state(std::uint64_t retained_bytes, std::uint64_t fresh_median_ns,
                     std::uint64_t same_median_ns) {
  const bool faster = Wide{fresh_median_ns} * 100 >= Wide{same_median_ns} * 105;
  if (retained_bytes == 0 || !faster) return {};
  return {{"STATE_CARRIED", Weight::hack,
           std::to_string(retained_bytes) + " bytes are kept from call to call"}};
}

Findings check_polls(std::span<const ClockPoll> polls, const PollRules& rules) {
  Findings findings;
  if (polls.empty()) return findings;
  const std::uint64_t bad =
      rules.locked_mhz ? kThrottleReasons | kPowerCapReason : kThrottleReasons;
  const auto any = [&polls](auto&& holds) {
    return std::any_of(polls.begin(), polls.end(), holds);
  };
  if (any([bad](const ClockPoll& poll) { return (poll.event_reasons & bad) != 0; })) {
    findings.push_back({"THROTTLED", Weight::incomplete, {}});
  }
  std::vector<std::uint32_t> clocks;
  for (const ClockPoll& poll : polls) clocks.push_back(poll.sm_mhz);
  std::sort(clocks.begin(), clocks.end());
  const std::uint64_t median = clocks[(clocks.size() - 1) / 2];
  bool unstable = std::uint64_t{clocks.front()} * 100 < median * 97;
  if (rules.locked_mhz) {
    unstable = any([target = std::int64_t{*rules.locked_mhz}](const ClockPoll& poll) {
      return std::abs(std::int64_t{poll.sm_mhz} - target) * 100 > target;
    });
  }
  if (unstable) {
    findings.push_back(
        {"CLOCK_UNSTABLE", Weight::incomplete,
         std::to_string(clocks.front()) + " to " + std::to_string(clocks.back()) + " MHz"});
  }
  if (any([](const ClockPoll& poll) { return poll.foreign_processes > 0; })) {
    findings.push_back({"FOREIGN_PROCESS", Weight::incomplete, {}});
  }
  std::int32_t highest = polls.front().temperature;
  for (const ClockPoll& poll : polls) highest = std::max(highest, poll.temperature);
  const bool drifts = std::abs(polls.back().temperature - polls.front().temperature) > 8;
  if (drifts || (rules.slowdown_temperature && highest > *rules.slowdown_temperature - 10)) {
    findings.push_back({"THERMAL_DRIFT", Weight::incomplete, {}});
  }
  return findings;
}

Findings check_threads(const ThreadCount& threads) {
  if (threads.highest <= threads.before_calls) return {};
  return {{"THREAD_INJECTION", threads.extra_thread_busy ? Weight::hack : Weight::note,
           std::to_string(threads.highest) + " threads, " + std::to_string(threads.before_calls) +
               " before the calls"}};
}

bool is_replay(std::span<const std::uint64_t> earlier_hashes, std::uint64_t hash) {
  return std::find(earlier_hashes.begin(), earlier_hashes.end(), hash) != earlier_hashes.end();
}

}  // namespace kernelindex::runner
