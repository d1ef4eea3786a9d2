// SPDX-License-Identifier: Apache-2.0
#include "cuda/hold_back.h"

#include <atomic>

#include "cuda/device_resources.h"
#include "cuda/runner_kernels.h"

namespace kernelindex::runner {

HoldBack::~HoldBack() {
  if (state_ != nullptr) driver_.host_release(const_cast<std::uint32_t*>(state_));
}

Status HoldBack::prepare() {
  void* memory = nullptr;
  int error = driver_.host_allocate(&memory, 2 * sizeof(std::uint32_t), kHostMemoryMapped);
  if (error == kCudaSuccess) {
    state_ = static_cast<volatile std::uint32_t*>(memory);
    state_[0] = 1;
    state_[1] = 0;
    error = driver_.host_pointer(&device_state_, memory, 0);
  }
  return made_or_error(error, "the words of the blocking kernel");
}

int HoldBack::begin() {
  state_[0] = 0;
  state_[1] = 0;
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return launch_kernel(driver_, kernel_, {}, device_state_, kHoldBackNs);
}

void HoldBack::release() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  state_[0] = 1;
}

bool HoldBack::timed_out() const { return state_[1] != 0; }

}  // namespace kernelindex::runner
