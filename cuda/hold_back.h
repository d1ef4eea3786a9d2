// SPDX-License-Identifier: Apache-2.0
// The blocking kernel: holds the legacy default stream back until a whole window is queued, so that
// gaps of launching stay outside of it. PROTOCOL section 8, step 9.
//
// A call that waits for the device inside the window would wait for ever, so the kernel gives up by
// itself after kHoldBackNs; then the sample is thrown away and the trial goes on without it.
#pragma once

#include <cstdint>

#include "cuda/cuda_driver.h"
#include "schema/result.h"

namespace kernelindex::runner {

inline constexpr std::uint64_t kHoldBackNs = 20'000'000;

class HoldBack {
 public:
  // `kernel` is ki_hold_back. Requires: a driver that outlives it, and a current context.
  HoldBack(const CudaDriver& driver, CudaFunction kernel) : driver_(driver), kernel_(kernel) {}
  HoldBack(const HoldBack&) = delete;
  HoldBack& operator=(const HoldBack&) = delete;
  ~HoldBack();

  // Two words that host and device share. Errors (system): DEVICE_MEMORY, CUDA_ERROR.
  Status prepare();
  // Puts the kernel on the stream; the driver's error.
  int begin();
  void release();
  // Whether the kernel gave up. Requires: the device is done.
  bool timed_out() const;

 private:
  const CudaDriver& driver_;
  CudaFunction kernel_;
  volatile std::uint32_t* state_ = nullptr;  // as runner_kernels.cu says
  CudaPointer device_state_ = 0;
};

}  // namespace kernelindex::runner
