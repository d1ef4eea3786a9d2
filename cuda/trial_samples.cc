// SPDX-License-Identifier: Apache-2.0
#include "cuda/trial_samples.h"

#include <algorithm>

#include "cuda/stopping_rule.h"

namespace kernelindex::runner {

bool TrialSamples::ends_mode(const SampleReport& report) {
  if (!report.held_too_long) return false;
  blocking_ = false;
  host_sync_inside_ = true;
  return true;
}

void TrialSamples::warm(const SampleReport& report) {
  if (ends_mode(report)) {
    warm_.clear();
  } else {
    warm_.push_back(report.window_ns);
  }
}

bool TrialSamples::take(const SampleReport& report) {
  if (ends_mode(report)) {
    discarded_ += static_cast<std::int64_t>(windows_.size()) + 1;
    windows_.clear();
    late_.clear();
    return false;
  }
  windows_.push_back(std::max<std::uint64_t>(report.window_ns, 1));
  late_.push_back(report.late_ns);
  return true;
}

void TrialSamples::describe(Trial& trial) const {
  trial.blocking = blocking_;
  trial.host_sync_inside = host_sync_inside_;
  if (discarded_ > 0) trial.discards.push_back({Discards::Reason::blocking_timeout, discarded_});
  trial.warmup_calls = static_cast<std::int64_t>(warm_.size());
  trial.warmup_steady = warmup_is_steady(warm_);
  if (!late_.empty()) trial.late_ns = static_cast<std::int64_t>(median_of(late_));
}

}  // namespace kernelindex::runner
