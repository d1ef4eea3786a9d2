// SPDX-License-Identifier: Apache-2.0
// Memory and events of a device that go when their owner goes, and the time between two events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "cuda/cuda_driver.h"
#include "schema/result.h"

namespace kernelindex::runner {

// Keeps the first error of several calls.
inline void note_error(int& first, int error) {
  if (first == kCudaSuccess) first = error;
}

// Errors (system) of making resources: DEVICE_MEMORY when there was no room, else CUDA_ERROR.
// `what` is the start of the sentence: "the buffers of a trial".
Status made_or_error(int error, std::string_view what);

class DeviceResources {
 public:
  // Requires: a driver that outlives it, and a current context in every call.
  explicit DeviceResources(const CudaDriver& driver) : driver_(driver) {}
  DeviceResources(const DeviceResources&) = delete;
  DeviceResources& operator=(const DeviceResources&) = delete;
  ~DeviceResources();

  // 0 and null when they cannot be had; `error` keeps the first error.
  CudaPointer memory(std::size_t bytes, int& error);
  CudaEvent event(int& error);

 private:
  const CudaDriver& driver_;
  std::vector<CudaPointer> memory_;
  std::vector<CudaEvent> events_;
};

// Milliseconds as events say them to nanoseconds, half to even. PROTOCOL section 9.1.
std::uint64_t to_nanoseconds(float milliseconds);
// Requires: both events are done.
std::uint64_t elapsed_ns(const CudaDriver& driver, CudaEvent from, CudaEvent to, int& error);

}  // namespace kernelindex::runner
