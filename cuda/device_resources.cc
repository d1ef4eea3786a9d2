// SPDX-License-Identifier: Apache-2.0
#include "cuda/device_resources.h"

#include <cmath>
#include <string>

namespace kernelindex::runner {

Status made_or_error(int error, std::string_view what) {
  if (error == kCudaSuccess) return {};
  return fail(ErrorKind::system, error == kCudaOutOfMemory ? "DEVICE_MEMORY" : "CUDA_ERROR", {},
              std::string(what) + " cannot be made: CUDA error " + std::to_string(error));
}

DeviceResources::~DeviceResources() {
  for (const CudaPointer pointer : memory_) driver_.release(pointer);
  for (const CudaEvent event : events_) driver_.event_destroy(event);
}

CudaPointer DeviceResources::memory(std::size_t bytes, int& error) {
  CudaPointer pointer = 0;
  const int got = driver_.allocate(&pointer, bytes);
  note_error(error, got);
  if (got != kCudaSuccess) return 0;
  memory_.push_back(pointer);
  return pointer;
}

CudaEvent DeviceResources::event(int& error) {
  CudaEvent event = nullptr;
  const int got = driver_.event_create(&event, 0);
  note_error(error, got);
  if (got != kCudaSuccess) return nullptr;
  events_.push_back(event);
  return event;
}

std::uint64_t to_nanoseconds(float milliseconds) {
  return static_cast<std::uint64_t>(std::nearbyint(static_cast<double>(milliseconds) * 1e6));
}

std::uint64_t elapsed_ns(const CudaDriver& driver, CudaEvent from, CudaEvent to, int& error) {
  float milliseconds = 0;
  note_error(error, driver.event_elapsed(&milliseconds, from, to));
  return to_nanoseconds(milliseconds);
}

}  // namespace kernelindex::runner
