// SPDX-License-Identifier: Apache-2.0
#include "cuda/cuda_driver.h"

namespace kernelindex::runner {

void bind_driver(DynamicLibrary& library, CudaDriver& driver) {
  library.bind(driver.init, "cuInit");
  library.bind(driver.driver_version, "cuDriverGetVersion");
  library.bind(driver.device_count, "cuDeviceGetCount");
  library.bind(driver.device_get, "cuDeviceGet");
  library.bind(driver.device_name, "cuDeviceGetName");
  library.bind(driver.device_attribute, "cuDeviceGetAttribute");
  library.bind(driver.device_memory, "cuDeviceTotalMem_v2");
  library.bind(driver.device_uuid, "cuDeviceGetUuid_v2");
  library.bind(driver.primary_retain, "cuDevicePrimaryCtxRetain");
  library.bind(driver.primary_release, "cuDevicePrimaryCtxRelease_v2");
  library.bind(driver.context_set, "cuCtxSetCurrent");
  library.bind(driver.context_synchronize, "cuCtxSynchronize");
  library.bind(driver.set_limit, "cuCtxSetLimit");
  library.bind(driver.get_limit, "cuCtxGetLimit");
  library.bind(driver.reset_persisting_l2, "cuCtxResetPersistingL2Cache");
  library.bind(driver.allocate, "cuMemAlloc_v2");
  library.bind(driver.release, "cuMemFree_v2");
  library.bind(driver.host_allocate, "cuMemHostAlloc");
  library.bind(driver.host_release, "cuMemFreeHost");
  library.bind(driver.host_pointer, "cuMemHostGetDevicePointer_v2");
  library.bind(driver.copy_to_device, "cuMemcpyHtoD_v2");
  library.bind(driver.copy_to_host, "cuMemcpyDtoH_v2");
  library.bind(driver.copy_on_device, "cuMemcpyDtoD_v2");
  library.bind(driver.fill8, "cuMemsetD8_v2");
  library.bind(driver.fill32, "cuMemsetD32_v2");
  library.bind(driver.event_create, "cuEventCreate");
  library.bind(driver.event_destroy, "cuEventDestroy_v2");
  library.bind(driver.event_record, "cuEventRecord");
  library.bind(driver.event_synchronize, "cuEventSynchronize");
  library.bind(driver.event_elapsed, "cuEventElapsedTime");
  library.bind(driver.module_load, "cuModuleLoadData");
  library.bind(driver.module_unload, "cuModuleUnload");
  library.bind(driver.module_function, "cuModuleGetFunction");
  library.bind(driver.function_attribute, "cuFuncSetAttribute");
  library.bind(driver.launch, "cuLaunchKernel");
}

LoadedDriver load_driver() {
  LoadedDriver loaded{DynamicLibrary{"libcuda.so.1"}, {}};
  bind_driver(loaded.library, loaded.driver);
  return loaded;
}

LoadedNvml load_nvml() {
  LoadedNvml loaded{DynamicLibrary{"libnvidia-ml.so.1"}, {}};
  Nvml& nvml = loaded.nvml;
  DynamicLibrary& library = loaded.library;
  library.bind(nvml.init, "nvmlInit_v2");
  library.bind(nvml.driver_version, "nvmlSystemGetDriverVersion");
  library.bind(nvml.device_by_index, "nvmlDeviceGetHandleByIndex_v2");
  library.bind(nvml.device_name, "nvmlDeviceGetName");
  library.bind(nvml.device_uuid, "nvmlDeviceGetUUID");
  library.bind(nvml.clock, "nvmlDeviceGetClockInfo");
  library.bind(nvml.temperature, "nvmlDeviceGetTemperature");
  library.bind_optional(nvml.event_reasons, "nvmlDeviceGetCurrentClocksEventReasons");
  if (nvml.event_reasons == nullptr) {  // its name before driver 535
    library.bind(nvml.event_reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
  }
  library.bind(nvml.power_limit, "nvmlDeviceGetPowerManagementLimit");
  library.bind(nvml.persistence, "nvmlDeviceGetPersistenceMode");
  library.bind_optional(nvml.temperature_threshold, "nvmlDeviceGetTemperatureThreshold");
  library.bind_optional(nvml.ecc_mode, "nvmlDeviceGetEccMode");
  library.bind_optional(nvml.total_ecc_errors, "nvmlDeviceGetTotalEccErrors");
  library.bind_optional(nvml.compute_processes, "nvmlDeviceGetComputeRunningProcesses_v3");
  library.bind_optional(nvml.event_set_create, "nvmlEventSetCreate");
  library.bind_optional(nvml.event_set_free, "nvmlEventSetFree");
  library.bind_optional(nvml.register_events, "nvmlDeviceRegisterEvents");
  library.bind_optional(nvml.event_set_wait, "nvmlEventSetWait_v2");
  return loaded;
}

}  // namespace kernelindex::runner
