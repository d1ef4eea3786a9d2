// SPDX-License-Identifier: Apache-2.0
// Our own declarations of the driver against the toolkit's header and its stub of the driver.
#include <cuda.h>
#include <gtest/gtest.h>

#include <type_traits>

#include "cuda/cuda_driver.h"

namespace kernelindex::runner {
namespace {

static_assert(sizeof(CUdeviceptr) == sizeof(CudaPointer));
static_assert(std::is_same_v<CUdevice, CudaDevice>);
static_assert(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT == kAttributeMultiprocessors);
static_assert(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE == kAttributeL2Bytes);
static_assert(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR == kAttributeMajor);
static_assert(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR == kAttributeMinor);
static_assert(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES == kFunctionMaxDynamicShared);
static_assert(CU_LIMIT_PERSISTING_L2_CACHE_SIZE == kLimitPersistingL2);
static_assert(CU_MEMHOSTALLOC_DEVICEMAP == kHostMemoryMapped);
static_assert(CUDA_SUCCESS == kCudaSuccess);
static_assert(CUDA_ERROR_OUT_OF_MEMORY == kCudaOutOfMemory);
static_assert(CUDA_ERROR_NOT_FOUND == kCudaNotFound);

TEST(DriverTable, EverySymbolIsInTheDriver) {
  DynamicLibrary library{KERNELINDEX_DRIVER_STUB};
  if (!library.loaded()) GTEST_SKIP() << "SKIPPED: no stub of the driver: " << library.fault();
  CudaDriver driver{};
  bind_driver(library, driver);
  for (const std::string& symbol : library.missing()) ADD_FAILURE() << symbol;
}

}  // namespace
}  // namespace kernelindex::runner
