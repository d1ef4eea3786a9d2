// SPDX-License-Identifier: Apache-2.0
// libcupti.so for the same test: between two timestamps there always was one call and one kernel.
#include <array>
#include <cstring>

#include "cuda/activity_recorder.h"

namespace {

using namespace kernelindex::runner;

// Offsets of RecordLayout, which lives in the runner and not here.
constexpr std::size_t kCallBytes = 40;
constexpr std::size_t kKernelBytes = 200;
constexpr std::uint64_t kKernelNs =
    19'900'000;  // a little less than the window of pretend_driver.cc
constexpr std::uint32_t kDefaultStream = 7;

Cupti::BufferRequested requested = nullptr;
Cupti::BufferCompleted completed = nullptr;
std::uint64_t clock_ns = 1;
std::uint32_t calls = 0;

template <typename T>
void put(std::uint8_t* record, std::size_t at, T value) {
  std::memcpy(record + at, &value, sizeof value);
}

}  // namespace

extern "C" {

int cuptiGetVersion(std::uint32_t* out) { return *out = 0, 0; }
int cuptiActivityRegisterCallbacks(Cupti::BufferRequested request,
                                   Cupti::BufferCompleted complete) {
  requested = request;
  completed = complete;
  return 0;
}
int cuptiActivityEnable(std::uint32_t) { return 0; }
int cuptiActivityFlushAll(std::uint32_t) {
  std::uint8_t* buffer = nullptr;
  std::size_t size = 0;
  std::size_t most = 0;
  requested(&buffer, &size, &most);
  std::memset(buffer, 0, kCallBytes + kKernelBytes);
  ++calls;
  put(buffer, 0, RecordKind::driver_call);
  put(buffer, 8, clock_ns);
  put(buffer, 16, clock_ns);
  put(buffer, 32, calls);
  std::uint8_t* kernel = buffer + kCallBytes;
  put(kernel, 0, RecordKind::kernel);
  put(kernel, 16, clock_ns);
  put(kernel, 24, clock_ns + kKernelNs);
  put(kernel, 48, kDefaultStream);
  put(kernel, 92, calls);
  put<const char*>(kernel, 104, "pretended");
  completed(nullptr, 0, buffer, size, kCallBytes + kKernelBytes);
  return 0;
}
int cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t, void** record) {
  if (*record == buffer + kCallBytes) return kCuptiNoMoreRecords;
  *record = *record == nullptr ? buffer : buffer + kCallBytes;
  return 0;
}
int cuptiActivityGetNumDroppedRecords(CudaContext, std::uint32_t, std::size_t* out) {
  return *out = 0, 0;
}
int cuptiGetTimestamp(std::uint64_t* out) { return *out = ++clock_ns, 0; }
int cuptiGetStreamIdEx(CudaContext, CudaStream, std::uint8_t, std::uint32_t* out) {
  return *out = kDefaultStream, 0;
}

}  // extern "C"
