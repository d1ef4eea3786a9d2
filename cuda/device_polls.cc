// SPDX-License-Identifier: Apache-2.0
#include "cuda/device_polls.h"

#include <algorithm>
#include <array>

namespace kernelindex::runner {
namespace {

constexpr std::chrono::milliseconds kPollEvery{20};
constexpr std::chrono::milliseconds kListEvery{100};
// nvmlClocksEventReasons
constexpr std::uint64_t kPowerCap = 0x4;
constexpr std::uint64_t kHardwareSlowdown = 0x8;
constexpr std::uint64_t kSoftwareThermal = 0x20;
constexpr std::uint64_t kHardwareThermal = 0x40;
constexpr std::uint64_t kPowerBrake = 0x80;

bool is_due(std::optional<DevicePoller::Clock::time_point>& last,
            DevicePoller::Clock::time_point now, std::chrono::milliseconds every) {
  if (last && now - *last < every) return false;
  last = now;
  return true;
}

}  // namespace

DevicePoller::DevicePoller(const Nvml& nvml, NvmlDevice device) : nvml_(nvml), device_(device) {
  polls_.ecc_before = uncorrected_errors();
  unsigned degrees = 0;
  if (nvml_.temperature_threshold != nullptr &&
      nvml_.temperature_threshold(device_, kNvmlSlowdown, &degrees) == kNvmlSuccess) {
    polls_.temperature_slowdown = degrees;
  }
  if (nvml_.event_set_create != nullptr && nvml_.register_events != nullptr &&
      nvml_.event_set_wait != nullptr && nvml_.event_set_create(&events_) == kNvmlSuccess &&
      nvml_.register_events(device_, kNvmlXidEvent, events_) != kNvmlSuccess) {
    if (nvml_.event_set_free != nullptr) nvml_.event_set_free(events_);
    events_ = nullptr;
  }
  count_others(0);
}

DevicePoller::~DevicePoller() {
  if (events_ != nullptr && nvml_.event_set_free != nullptr) nvml_.event_set_free(events_);
}

std::optional<std::int64_t> DevicePoller::uncorrected_errors() const {
  unsigned long long count = 0;
  if (nvml_.total_ecc_errors == nullptr ||
      nvml_.total_ecc_errors(device_, kNvmlUncorrected, kNvmlVolatile, &count) != kNvmlSuccess) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(count);
}

std::optional<std::uint32_t> DevicePoller::processes() const {
  std::array<NvmlProcess, 64> list{};
  unsigned count = list.size();
  if (nvml_.compute_processes == nullptr) return std::nullopt;
  const int result = nvml_.compute_processes(device_, &count, list.data());
  if (result != kNvmlSuccess && result != kNvmlInsufficientSize) return std::nullopt;
  return count;
}

void DevicePoller::count_others(std::uint32_t own) {
  const std::optional<std::uint32_t> count = processes();
  lists_processes_ = lists_processes_ && count.has_value();
  if (!count || *count <= own) return;
  polls_.foreign_processes = std::max(polls_.foreign_processes, std::int64_t{*count - own});
}

void DevicePoller::count_xids() {
  NvmlEvent event;
  while (events_ != nullptr && nvml_.event_set_wait(events_, &event, 0) == kNvmlSuccess) {
    if (event.type == kNvmlXidEvent) ++polls_.xids;
  }
}

void DevicePoller::poll(Clock::time_point now, std::uint32_t own) {
  if (!is_due(last_poll_, now, kPollEvery)) return;
  if (is_due(last_list_, now, kListEvery)) count_others(own);
  count_xids();
  unsigned mhz = 0;
  unsigned degrees = 0;
  unsigned long long reasons = 0;
  if (nvml_.clock(device_, kNvmlSmClock, &mhz) != kNvmlSuccess) return;
  nvml_.temperature(device_, 0, &degrees);
  nvml_.event_reasons(device_, &reasons);
  khz_.push_back(std::int64_t{mhz} * 1000);
  const auto count = [reasons](std::int64_t& polls, std::uint64_t reason) {
    polls += (reasons & reason) != 0 ? 1 : 0;
  };
  count(polls_.hw_slowdown, kHardwareSlowdown);
  count(polls_.sw_thermal, kSoftwareThermal);
  count(polls_.hw_thermal, kHardwareThermal);
  count(polls_.power_brake, kPowerBrake);
  count(polls_.sw_power_cap, kPowerCap);
  if (khz_.size() == 1) polls_.temperature_first = degrees;
  polls_.temperature_last = degrees;
  polls_.temperature_highest = std::max(polls_.temperature_highest, std::int64_t{degrees});
}

std::optional<DevicePolls> DevicePoller::polls() const {
  if (khz_.empty()) return std::nullopt;
  DevicePolls polls = polls_;
  if (polls.ecc_before) polls.ecc_after = uncorrected_errors();
  std::vector<std::int64_t> sorted = khz_;
  std::sort(sorted.begin(), sorted.end());
  polls.polls = static_cast<std::int64_t>(sorted.size());
  polls.sm_khz_lowest = sorted.front();
  polls.sm_khz_highest = sorted.back();
  polls.sm_khz_median = sorted[(sorted.size() - 1) / 2];
  return polls;
}

MeasuredSettings DevicePoller::settings() const {
  MeasuredSettings settings;
  unsigned milliwatts = 0;
  int persistent = 0;
  int ecc = 0;
  int ecc_after_reboot = 0;
  if (nvml_.power_limit(device_, &milliwatts) == kNvmlSuccess) {
    settings.power_limit_milliwatts = milliwatts;
  }
  if (nvml_.persistence(device_, &persistent) == kNvmlSuccess) {
    settings.persistence_mode = persistent != 0;
  }
  if (nvml_.ecc_mode != nullptr &&
      nvml_.ecc_mode(device_, &ecc, &ecc_after_reboot) == kNvmlSuccess) {
    settings.ecc_enabled = ecc != 0;
  }
  return settings;
}

std::vector<std::string_view> DevicePoller::gaps() const {
  std::vector<std::string_view> gaps;
  if (!polls_.ecc_before) gaps.push_back("ECC_NOT_COUNTED");
  if (events_ == nullptr) gaps.push_back("XID_NOT_WATCHED");
  if (!lists_processes_) gaps.push_back("PROCESSES_NOT_LISTED");
  return gaps;
}

}  // namespace kernelindex::runner
