// SPDX-License-Identifier: Apache-2.0
// Detectors that work on recorded evidence: times, counts, activity records. Each gives the code of
// what it found, or nothing. PROTOCOL sections 5, 9 and 13; HACKS.
//
// All are pure and exact in integers, so that recorded or invented evidence tests them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kernelindex::runner {

// A finding: its code, and whether it accuses the candidate or only marks the measurement.
struct Finding {
  enum class Weight : std::uint8_t { note, incomplete, hack, violation };
  std::string_view code;
  Weight weight = Weight::note;
  std::string detail;

  bool operator==(const Finding&) const = default;
};
using Findings = std::vector<Finding>;

// ---- Two timers (section 9.2)

struct TimerPair {
  std::uint64_t event_median_ns = 0;
  std::uint64_t envelope_median_ns = 0;
  std::uint64_t kernels_per_call = 1;
};
// WORK_OUTSIDE_WINDOW (hack) when the envelope is longer than the window by more than 5 % and 0.5
// us; LAUNCH_BOUND (note) when it is shorter by more than max(5 %, 3 us a kernel).
Findings check_timers(const TimerPair& timers);

// ---- Activity records of one sample (section 9.2 and 9.3)

struct Activity {
  enum class Kind : std::uint8_t { kernel, copy, fill };
  Kind kind{};
  std::uint64_t start_ns = 0;
  std::uint64_t end_ns = 0;
  std::uint32_t stream = 0;  // 0: the legacy default stream
  std::string name;          // of a kernel
};
struct Envelope {
  std::optional<std::uint64_t> ns;   // absent when a record spoils it or nothing ran
  std::vector<std::string> kernels;  // sorted: the multiset
  Findings findings;
};
// max(end) - min(start). CUPTI_DROPPED (incomplete) for records that were dropped or hold no times,
// NO_DEVICE_WORK (hack) when nothing ran and nothing was dropped, SIDE_STREAM (note) for work on
// another stream.
Envelope envelope_of(std::span<const Activity> activities, std::uint64_t dropped);
// KERNEL_SET_VARIES (note) when two samples ran other kernels; BATCH_SKIP (hack) when some of them
// ran nothing at all while others did.
Findings check_kernel_sets(std::span<const std::vector<std::string>> samples);

// ---- Work after the window (section 9.3)

// WORK_OUTSIDE_WINDOW when e2 - e1 is above the compare kernel's cost by more than 20 us.
Findings check_late_work(std::uint64_t late_median_ns, std::uint64_t compare_ns);

// ---- Clocks that disagree (section 9.5)

// How the calls are made: batches of calls one after the other, each with the next of `slots`
// inputs; before each batch one input is drawn anew, and after it that output is verified.
inline constexpr std::uint64_t kWallBatches = 10;
struct WallPlan {
  std::uint64_t calls = 0;  // of one batch
  std::uint64_t slots = 0;  // 2..8, as many as half a GiB holds
};
// For 200 ms of calls, and 100 to 20 000 of them. `bytes`: inputs and outputs of one call.
WallPlan plan_wall(std::uint64_t event_median_ns, std::uint64_t bytes);

struct WallBound {
  std::uint64_t total_ns = 0;         // t1 - t0 on the parent's clock
  std::uint64_t calls = 0;            // N
  std::uint64_t overhead_ns = 0;      // g, of one call
  std::uint64_t event_median_ns = 0;  // m_L
};
// CLOCK_CONTRADICTION (hack) unless m_L >= max((t1-t0)/N - g, 0) / 2.
Findings check_wall_clock(const WallBound& bound);

// ---- Physics (section 9.4)

struct Peak {
  std::uint64_t bytes_per_second = 0;
  std::uint64_t operations_per_second = 0;
};
// The shortest time in ns that bytes and operations can take at 1.02 of the peak; rounded down.
std::uint64_t physics_floor_ns(std::uint64_t bytes, double operations, const Peak& peak);
// By product and kind of number; nothing for a product that is not in the table.
std::optional<Peak> peak_of(std::string_view product, bool tensor_cores);
// BELOW_ROOFLINE (hack).
Findings check_floor(std::uint64_t median_ns, std::uint64_t floor_ns);

// ---- Ratios of diagnostic trials (section 3.4 and 13)

// SAME_INPUT_FASTER (hack) when fresh / same > 1.10.
Findings check_same_input(std::uint64_t fresh_median_ns, std::uint64_t same_median_ns);
// ADDRESS_SENSITIVE (note) when constant addresses differ by more than 1.10 either way.
Findings check_addresses(std::uint64_t rotated_median_ns, std::uint64_t constant_median_ns);
// STATE_CARRIED (hack) when memory was kept across calls and the same input is 1.05 times as fast.
Findings check_state(std::uint64_t retained_bytes, std::uint64_t fresh_median_ns,
                     std::uint64_t same_median_ns);

// ---- Polls of the device (section 5)

struct ClockPoll {
  std::uint32_t sm_mhz = 0;
  std::uint64_t event_reasons = 0;  // of NVML
  std::uint32_t foreign_processes = 0;
  std::int32_t temperature = 0;
};
struct PollRules {
  std::optional<std::uint32_t> locked_mhz;  // absent: the unlocked variant
  std::optional<std::int32_t> slowdown_temperature;
};
// THROTTLED, CLOCK_UNSTABLE, FOREIGN_PROCESS, THERMAL_DRIFT: all mark the measurement.
Findings check_polls(std::span<const ClockPoll> polls, const PollRules& rules);

// ---- Threads of the child (section 9.3)

struct ThreadCount {
  std::uint32_t before_calls = 0;
  std::uint32_t highest = 0;
  bool extra_thread_busy = false;  // above 1 % of a processor
};
// THREAD_INJECTION: hack when an extra thread is busy, else a note.
Findings check_threads(const ThreadCount& threads);

// ---- Outputs that return (section 13)

// Whether the output of a sample is that of an earlier one although their inputs differ.
bool is_replay(std::span<const std::uint64_t> earlier_hashes, std::uint64_t hash);

}  // namespace kernelindex::runner
