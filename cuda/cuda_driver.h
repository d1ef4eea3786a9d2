// SPDX-License-Identifier: Apache-2.0
// The CUDA driver and NVML as tables of functions, filled when the program runs. Their types are
// our own declarations of a stable C ABI, so that no CUDA header is needed to build; a test holds
// them against the toolkit's headers where these are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "cuda/dynamic_library.h"

namespace kernelindex::runner {

using CudaDevice = int;
using CudaContext = struct CUctx_st*;
using CudaModule = struct CUmod_st*;
using CudaFunction = struct CUfunc_st*;
using CudaStream = struct CUstream_st*;
using CudaEvent = struct CUevent_st*;
using CudaPointer = unsigned long long;

// Of cuda.h: numbers of attributes and limits.
inline constexpr int kAttributeMultiprocessors = 16;
inline constexpr int kAttributeL2Bytes = 38;
inline constexpr int kAttributeMajor = 75;
inline constexpr int kAttributeMinor = 76;
inline constexpr int kFunctionMaxDynamicShared = 8;
inline constexpr int kLimitPersistingL2 = 6;
inline constexpr unsigned kHostMemoryMapped = 2;
inline constexpr int kCudaSuccess = 0;
inline constexpr int kCudaOutOfMemory = 2;
inline constexpr int kCudaNotFound = 500;

// What the measuring child calls. Tests put functions of their own in its place.
struct CudaDriver {
  int (*init)(unsigned);
  int (*driver_version)(int*);
  int (*device_count)(int*);
  int (*device_get)(CudaDevice*, int);
  int (*device_name)(char*, int, CudaDevice);
  int (*device_attribute)(int*, int, CudaDevice);
  int (*device_memory)(std::size_t*, CudaDevice);
  int (*device_uuid)(void*, CudaDevice);  // 16 bytes
  int (*primary_retain)(CudaContext*, CudaDevice);
  int (*primary_release)(CudaDevice);
  int (*context_set)(CudaContext);
  int (*context_synchronize)();
  int (*set_limit)(int, std::size_t);
  int (*get_limit)(std::size_t*, int);
  int (*reset_persisting_l2)();
  int (*allocate)(CudaPointer*, std::size_t);
  int (*release)(CudaPointer);
  int (*host_allocate)(void**, std::size_t, unsigned);  // memory of the host that the device sees
  int (*host_release)(void*);
  int (*host_pointer)(CudaPointer*, void*, unsigned);  // where the device sees it; flags 0
  int (*copy_to_device)(CudaPointer, const void*, std::size_t);
  int (*copy_to_host)(void*, CudaPointer, std::size_t);
  int (*copy_on_device)(CudaPointer, CudaPointer, std::size_t);
  int (*fill8)(CudaPointer, unsigned char, std::size_t);
  int (*fill32)(CudaPointer, unsigned, std::size_t);
  int (*event_create)(CudaEvent*, unsigned);
  int (*event_destroy)(CudaEvent);
  int (*event_record)(CudaEvent, CudaStream);
  int (*event_synchronize)(CudaEvent);
  int (*event_elapsed)(float*, CudaEvent, CudaEvent);
  int (*module_load)(CudaModule*, const void*);
  int (*module_unload)(CudaModule);
  int (*module_function)(CudaFunction*, CudaModule, const char*);
  int (*function_attribute)(CudaFunction, int, int);
  int (*launch)(CudaFunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                CudaStream, void**, void**);
};

// The symbols that the table is filled from, "cuMemAlloc_v2"; for tests and for the doctor.
void bind_driver(DynamicLibrary& library, CudaDriver& driver);

struct LoadedDriver {
  DynamicLibrary library;
  CudaDriver driver{};
  bool usable() const { return library.loaded() && library.missing().empty(); }
};
LoadedDriver load_driver();

// NVML: what polls and identifies. No toolkit has its header, so these are from its documentation.
using NvmlDevice = struct nvmlDevice_st*;
using NvmlEventSet = struct nvmlEventSet_st*;

inline constexpr int kNvmlSuccess = 0;
inline constexpr int kNvmlInsufficientSize = 7;
inline constexpr int kNvmlSmClock = 1;
inline constexpr int kNvmlSlowdown = 1;                 // a threshold of temperature
inline constexpr int kNvmlUncorrected = 1;              // errors of memory
inline constexpr int kNvmlVolatile = 0;                 // counted since the driver was loaded
inline constexpr unsigned long long kNvmlXidEvent = 8;  // critical Xid errors

struct NvmlProcess {
  unsigned pid = 0;
  unsigned long long memory = 0;
  unsigned gpu_instance = 0;
  unsigned compute_instance = 0;
};
static_assert(sizeof(NvmlProcess) == 24);
struct NvmlEvent {
  NvmlDevice device = nullptr;
  unsigned long long type = 0;
  unsigned long long data = 0;  // the number of an Xid
  unsigned gpu_instance = 0;
  unsigned compute_instance = 0;
};
static_assert(sizeof(NvmlEvent) == 32);

struct Nvml {
  int (*init)();
  int (*driver_version)(char*, unsigned);
  int (*device_by_index)(unsigned, NvmlDevice*);
  int (*device_name)(NvmlDevice, char*, unsigned);
  int (*device_uuid)(NvmlDevice, char*, unsigned);
  int (*clock)(NvmlDevice, int, unsigned*);  // MHz
  int (*temperature)(NvmlDevice, int, unsigned*);
  int (*event_reasons)(NvmlDevice, unsigned long long*);
  int (*power_limit)(NvmlDevice, unsigned*);  // mW
  int (*persistence)(NvmlDevice, int*);
  // From here on null where the driver has none.
  int (*temperature_threshold)(NvmlDevice, int, unsigned*);
  int (*ecc_mode)(NvmlDevice, int* now, int* after_reboot);
  int (*total_ecc_errors)(NvmlDevice, int type, int counter, unsigned long long*);
  int (*compute_processes)(NvmlDevice, unsigned* count, NvmlProcess*);
  int (*event_set_create)(NvmlEventSet*);
  int (*event_set_free)(NvmlEventSet);
  int (*register_events)(NvmlDevice, unsigned long long types, NvmlEventSet);
  int (*event_set_wait)(NvmlEventSet, NvmlEvent*, unsigned milliseconds);
};
struct LoadedNvml {
  DynamicLibrary library;
  Nvml nvml{};
  bool usable() const { return library.loaded() && library.missing().empty(); }
};
LoadedNvml load_nvml();

}  // namespace kernelindex::runner
