// SPDX-License-Identifier: Apache-2.0
// The runner's own device code, runner_kernels.cu: compiled for the device that is here, loaded in
// a child, launched on the legacy default stream. PROTOCOL sections 6 and 8.
#pragma once

#include <string>

#include "cuda/cuda_driver.h"
#include "cuda/kernel_builder.h"
#include "schema/result.h"

namespace kernelindex::runner {

// Functions of one module, in the order of the text. Arguments as there.
struct RunnerKernels {
  CudaFunction nothing = nullptr;
  CudaFunction scatter = nullptr;
  CudaFunction triad = nullptr;
  CudaFunction multiply_add = nullptr;
  CudaFunction tensor_multiply = nullptr;
  CudaFunction hold_back = nullptr;
  CudaFunction read_all = nullptr;
};

// What a block of ki_multiply_add leaves, byte for byte.
struct ClockReading {
  std::uint64_t cycles = 0;
  std::uint64_t ns = 0;
  std::uint32_t claimed = 0;
  std::uint32_t unused = 0;
};

// A cubin for `architecture`, "sm_90a". Errors: those of compile_device_code().
Result<std::string> compile_runner_kernels(const std::string& architecture,
                                           const Toolchain& toolchain);

// Requires: a current context; `image` must outlive the module. Error RUNNER_KERNELS (system).
Result<RunnerKernels> load_runner_kernels(const CudaDriver& driver, const std::string& image);

struct LaunchSize {
  unsigned blocks = 1;
  unsigned threads = 1;
};

// Puts a kernel on the legacy default stream; the driver's error. The arguments must have the types
// of the kernel's parameters.
template <typename... Arguments>
int launch_kernel(const CudaDriver& driver, CudaFunction function, LaunchSize size,
                  Arguments... arguments) {
  void* pointers[] = {static_cast<void*>(&arguments)..., nullptr};
  return driver.launch(function, size.blocks, 1, 1, size.threads, 1, 1, 0, nullptr, pointers,
                       nullptr);
}

}  // namespace kernelindex::runner
