// SPDX-License-Identifier: Apache-2.0
#include "cuda/runner_kernels.h"

#include "cuda/embedded_files.h"

namespace kernelindex::runner {

Result<std::string> compile_runner_kernels(const std::string& architecture,
                                           const Toolchain& toolchain) {
  return compile_device_code(embedded_file("runner_kernels.cu"), architecture, toolchain);
}

Result<RunnerKernels> load_runner_kernels(const CudaDriver& driver, const std::string& image) {
  CudaModule module = nullptr;
  if (const int error = driver.module_load(&module, image.data()); error != kCudaSuccess) {
    return fail(ErrorKind::system, "RUNNER_KERNELS", {},
                "the runner's own kernels cannot be loaded: CUDA error " + std::to_string(error));
  }
  RunnerKernels kernels;
  const std::pair<CudaFunction*, const char*> wanted[] = {
      {&kernels.nothing, "ki_nothing"},
      {&kernels.scatter, "ki_scatter"},
      {&kernels.triad, "ki_triad"},
      {&kernels.multiply_add, "ki_multiply_add"},
      {&kernels.tensor_multiply, "ki_tensor_multiply"},
      {&kernels.hold_back, "ki_hold_back"},
      {&kernels.read_all, "ki_read_all"}};
  for (const auto& [function, name] : wanted) {
    if (driver.module_function(function, module, name) != kCudaSuccess) {
      return fail(ErrorKind::system, "RUNNER_KERNELS", name, "the image has no such kernel");
    }
  }
  return kernels;
}

}  // namespace kernelindex::runner
