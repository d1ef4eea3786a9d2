// SPDX-License-Identifier: Apache-2.0
// libcuda.so.1 for one test: device memory is memory of the host, work is done when it is asked
// for, and every event is 20 ms after the one before. A test puts it into lib/ beside a copy of the
// runner; no program is built with it, and its device has a name that no job asks for.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

#include "cuda/cuda_driver.h"
#include "cuda/runner_kernels.h"

namespace {

using namespace kernelindex::runner;

// Long, so that no busy machine makes the parent's clock contradict it.
constexpr std::uintptr_t kTick = 20;  // ms
std::uintptr_t now = 0;
std::size_t persisting_l2 = 0;
std::map<void*, std::uintptr_t> events;

void* memory(CudaPointer pointer) { return reinterpret_cast<void*>(pointer); }

}  // namespace

extern "C" {

int cuInit(unsigned) { return 0; }
// NVRTC asks for it, and does without.
int cuGetExportTable(const void**, const void*) { return kCudaNotFound; }
int cuDriverGetVersion(int* out) { return *out = 13000, 0; }
int cuDeviceGetCount(int* out) { return *out = 1, 0; }
int cuDeviceGet(CudaDevice* out, int) { return *out = 0, 0; }
int cuDeviceGetName(char* out, int size, CudaDevice) {
  std::strncpy(out, "Pretended device", static_cast<std::size_t>(size));
  return 0;
}
int cuDeviceGetAttribute(int* out, int attribute, CudaDevice) {
  *out = attribute == kAttributeMajor ? 9 : attribute == kAttributeMultiprocessors ? 2 : 0;
  return 0;
}
int cuDeviceTotalMem_v2(std::size_t* out, CudaDevice) { return *out = std::size_t{1} << 40, 0; }
int cuDeviceGetUuid_v2(void* out, CudaDevice) { return std::memset(out, 7, 16), 0; }
int cuDevicePrimaryCtxRetain(CudaContext*, CudaDevice) { return 0; }
int cuDevicePrimaryCtxRelease_v2(CudaDevice) { return 0; }
int cuCtxSetCurrent(CudaContext) { return 0; }
int cuCtxSynchronize() { return 0; }
int cuCtxSetLimit(int, std::size_t value) { return persisting_l2 = value, 0; }
int cuCtxGetLimit(std::size_t* out, int) { return *out = persisting_l2, 0; }
int cuCtxResetPersistingL2Cache() { return 0; }
int cuMemAlloc_v2(CudaPointer* out, std::size_t bytes) {
  void* made = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  *out = reinterpret_cast<CudaPointer>(made);
  return made == nullptr ? kCudaOutOfMemory : 0;
}
int cuMemFree_v2(CudaPointer pointer) { return std::free(memory(pointer)), 0; }
int cuMemHostAlloc(void** out, std::size_t bytes, unsigned) {
  return *out = std::calloc(1, bytes), 0;
}
int cuMemFreeHost(void* pointer) { return std::free(pointer), 0; }
int cuMemHostGetDevicePointer_v2(CudaPointer* out, void* pointer, unsigned) {
  return *out = reinterpret_cast<CudaPointer>(pointer), 0;
}
int cuMemcpyHtoD_v2(CudaPointer to, const void* from, std::size_t bytes) {
  return std::memcpy(memory(to), from, bytes), 0;
}
int cuMemcpyDtoH_v2(void* to, CudaPointer from, std::size_t bytes) {
  return std::memcpy(to, memory(from), bytes), 0;
}
int cuMemcpyDtoD_v2(CudaPointer to, CudaPointer from, std::size_t bytes) {
  return std::memmove(memory(to), memory(from), bytes), 0;
}
int cuMemsetD8_v2(CudaPointer to, unsigned char value, std::size_t bytes) {
  return std::memset(memory(to), value, bytes), 0;
}
// Nobody looks at a flush, and memory that is never touched costs nothing.
int cuMemsetD32_v2(CudaPointer, unsigned, std::size_t) { return 0; }
int cuEventCreate(CudaEvent* out, unsigned) {
  return *out = reinterpret_cast<CudaEvent>(std::malloc(1)), 0;
}
int cuEventDestroy_v2(CudaEvent event) { return std::free(event), 0; }
int cuEventRecord(CudaEvent event, CudaStream) { return events[event] = now += kTick, 0; }
int cuEventSynchronize(CudaEvent) { return 0; }
int cuEventElapsedTime(float* out, CudaEvent from, CudaEvent to) {
  *out = static_cast<float>(events[to] - events[from]);
  return 0;
}
int cuModuleLoadData(CudaModule*, const void*) { return 0; }
int cuModuleUnload(CudaModule) { return 0; }
int cuModuleGetFunction(CudaFunction* out, CudaModule, const char* name) {
  return *out = reinterpret_cast<CudaFunction>(new std::string(name)), 0;
}
int cuFuncSetAttribute(CudaFunction, int, int) { return 0; }
int cuLaunchKernel(CudaFunction function, unsigned, unsigned, unsigned, unsigned, unsigned,
                   unsigned, unsigned, CudaStream, void** arguments, void**) {
  if (*reinterpret_cast<const std::string*>(function) == "ki_multiply_add") {
    const ClockReading reading{1'980'000, 1'000'000, 1, 0};
    std::memcpy(memory(*static_cast<CudaPointer*>(arguments[3])), &reading, sizeof reading);
  }
  return 0;
}

}  // extern "C"
