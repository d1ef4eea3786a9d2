// SPDX-License-Identifier: Apache-2.0
// libnvidia-ml.so.1 for the same test: a calm device that nobody else uses.
#include <cstring>

#include "cuda/cuda_driver.h"

using namespace kernelindex::runner;

extern "C" {

int nvmlInit_v2() { return 0; }
int nvmlSystemGetDriverVersion(char* out, unsigned size) {
  return std::strncpy(out, "0.0", size), 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned, NvmlDevice* out) { return *out = nullptr, 0; }
int nvmlDeviceGetName(NvmlDevice, char* out, unsigned size) {
  return std::strncpy(out, "Pretended device", size), 0;
}
int nvmlDeviceGetUUID(NvmlDevice, char* out, unsigned size) {
  return std::strncpy(out, "GPU-pretended", size), 0;
}
int nvmlDeviceGetClockInfo(NvmlDevice, int, unsigned* out) { return *out = 1980, 0; }
int nvmlDeviceGetTemperature(NvmlDevice, int, unsigned* out) { return *out = 40, 0; }
int nvmlDeviceGetCurrentClocksEventReasons(NvmlDevice, unsigned long long* out) {
  return *out = 0, 0;
}
int nvmlDeviceGetPowerManagementLimit(NvmlDevice, unsigned* out) { return *out = 700'000, 0; }
int nvmlDeviceGetPersistenceMode(NvmlDevice, int* out) { return *out = 1, 0; }
int nvmlDeviceGetTotalEccErrors(NvmlDevice, int, int, unsigned long long* out) {
  return *out = 0, 0;
}
int nvmlDeviceGetComputeRunningProcesses_v3(NvmlDevice, unsigned* count, NvmlProcess*) {
  return *count = 0, 0;
}

}  // extern "C"
