// SPDX-License-Identifier: Apache-2.0
// The samples of one trial as they come in: one mode for all of them, and none thrown away for its
// time. PROTOCOL sections 8 (blocking) and 10 (discards).
#pragma once

#include <cstdint>

#include "cuda/device_session.h"
#include "schema/measurement_result.h"
#include "schema/statistics.h"

namespace kernelindex::runner {

class TrialSamples {
 public:
  // `blocking`: whether the blocking kernel is tried.
  explicit TrialSamples(bool blocking) : blocking_(blocking) {}

  // The mode of the next sample.
  bool blocking() const { return blocking_; }
  // A sample of the warm-up: it may end the mode, and is no sample.
  void warm(const SampleReport& report);
  // Whether it was kept. A call that waits for the device while the queue is held back ends the
  // mode for the whole trial, and takes the samples of the old mode with it.
  bool take(const SampleReport& report);

  const Samples& windows() const { return windows_; }  // ns, at least 1
  const Samples& warm_windows() const { return warm_; }
  // What the trial says of its samples: blocking, host_sync_inside, discards, warm-up, late_ns.
  void describe(Trial& trial) const;

 private:
  bool ends_mode(const SampleReport& report);

  bool blocking_;
  bool host_sync_inside_ = false;
  std::int64_t discarded_ = 0;
  Samples windows_;
  Samples late_;
  Samples warm_;
};

}  // namespace kernelindex::runner
