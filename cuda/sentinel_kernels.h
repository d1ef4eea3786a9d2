// SPDX-License-Identifier: Apache-2.0
// Sentinels: four kernels that are always the same, timed as a candidate is, so that what a machine
// gives today can be held against what it gave before. PROTOCOL section 6.
//
//   launch     S0, one thread of an empty kernel
//   bandwidth  S1, a = b + s c over three arrays of 1 GiB each: 3 GiB of traffic, cold
//   compute    S2, kComputeRounds x 8 fused multiply-adds of fp32 a thread
//   tensor     S2, kTensorRounds x 4 mma.sync m16n8k16 of bf16 a warp
//
// both S2 in eight blocks of 256 threads a multiprocessor, around a millisecond on an H200. The SM
// clock is cycles over globaltimer on multiprocessor 0 inside of `compute`.
//
// Their process is one of its own, the mode role-sentinels, and runs the runner's code alone.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cuda/device_resources.h"
#include "cuda/hold_back.h"
#include "cuda/measurement.h"
#include "cuda/runner_kernels.h"
#include "schema/result.h"

namespace kernelindex::runner {

inline constexpr std::size_t kTriadBytes = std::size_t{1} << 30;  // of each array
inline constexpr unsigned kComputeRounds = 16384;
inline constexpr unsigned kTensorRounds = 4096;

// One repetition.
struct SentinelSample {
  std::uint64_t launch_ns = 0;
  std::uint64_t bandwidth_ns = 0;
  std::uint64_t compute_ns = 0;
  std::uint64_t tensor_ns = 0;
  std::uint64_t sm_khz = 0;

  bool operator==(const SentinelSample&) const = default;
};

struct SentinelSizes {
  std::size_t triad_bytes = kTriadBytes;
  std::size_t flush_bytes = std::size_t{256} << 20;
  unsigned multiprocessors = 1;
};

class SentinelKernels {
 public:
  // Requires: a current context; driver and image of the kernels outlive it.
  SentinelKernels(const CudaDriver& driver, const RunnerKernels& kernels);

  // Memory, events, numbers in the arrays. Errors (system): DEVICE_MEMORY, CUDA_ERROR.
  Status prepare(const SentinelSizes& sizes);
  // Each kernel once, each after a flush. Errors (system): CUDA_ERROR; NO_CLOCK_READING when no
  // block ran on multiprocessor 0 or its clocks stood still.
  Result<SentinelSample> measure();

 private:
  template <typename Launch>
  std::uint64_t window(const Launch& launch, int& error);

  const CudaDriver& driver_;
  RunnerKernels kernels_;
  DeviceResources resources_;
  HoldBack hold_back_;
  SentinelSizes sizes_;
  CudaPointer arrays_[3] = {};
  CudaPointer flush_ = 0;
  CudaPointer sums_ = 0;
  CudaPointer reading_ = 0;
  CudaEvent begin_ = nullptr;
  CudaEvent end_ = nullptr;
  unsigned flush_value_ = 1;
};

// Cycles a nanosecond as kHz, rounded down. Nothing when the reading holds none.
std::optional<std::uint64_t> clock_khz(const ClockReading& reading);

// Medians, and the five series one after the other as sentinel_session.h says. Requires: one sample
// at least.
SentinelOutcome sentinel_outcome(ClockVariant clocks, const Digest& boot,
                                 std::span<const SentinelSample> samples);

std::string encode_sentinel_sample(const SentinelSample& sample);
std::optional<SentinelSample> decode_sentinel_sample(std::string_view payload);

// The mode of the program: `open` brings the path of the image, each `sample` answers one
// repetition. Returns the exit code.
int sentinel_child_main();

}  // namespace kernelindex::runner
