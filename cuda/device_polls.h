// SPDX-License-Identifier: Apache-2.0
// What NVML says of a device from outside, from before the first to after the last trial: clocks,
// reasons to slow down, temperatures, uncorrected errors, Xids, processes of others. PROTOCOL
// section 5. Reads only; nothing is ever set.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "cuda/cuda_driver.h"
#include "schema/measurement_result.h"

namespace kernelindex::runner {

class DevicePoller {
 public:
  using Clock = std::chrono::steady_clock;

  // Counts errors and processes as they are before anything of ours runs, and watches for Xids from
  // now on. Requires: NVML that was initialised; the table is copied.
  DevicePoller(const Nvml& nvml, NvmlDevice device);
  DevicePoller(const DevicePoller&) = delete;
  DevicePoller& operator=(const DevicePoller&) = delete;
  ~DevicePoller();

  // At most every 20 ms, processes every 100 ms. `own` processes on the device are ours: they are
  // counted, not known by their numbers, which NVML gives as another PID namespace has them.
  void poll(Clock::time_point now, std::uint32_t own);
  // So far. Nothing before the first poll that gave a clock.
  std::optional<DevicePolls> polls() const;
  // Power limit, persistence mode, ECC, as far as they can be read.
  MeasuredSettings settings() const;
  // What this device or this machine does not tell: ECC_NOT_COUNTED, XID_NOT_WATCHED,
  // PROCESSES_NOT_LISTED.
  std::vector<std::string_view> gaps() const;

 private:
  std::optional<std::int64_t> uncorrected_errors() const;
  std::optional<std::uint32_t> processes() const;
  void count_others(std::uint32_t own);
  void count_xids();

  Nvml nvml_;
  NvmlDevice device_;
  NvmlEventSet events_ = nullptr;  // null: Xids are not watched
  DevicePolls polls_;
  std::vector<std::int64_t> khz_;
  bool lists_processes_ = true;
  std::optional<Clock::time_point> last_poll_;
  std::optional<Clock::time_point> last_list_;
};

}  // namespace kernelindex::runner
