// SPDX-License-Identifier: Apache-2.0
#include "tests/cuda/fake_device.h"

#include <cstring>

namespace kernelindex::runner::test {
namespace {

FakeDevice* device = nullptr;  // the functions of the table have nowhere else to look
constexpr int kInvalid = 1;

int answer(int error = 0) { return device->fail_with != 0 ? device->fail_with : error; }

int allocate(CudaPointer* out, std::size_t bytes) {
  if (bytes > device->room) return answer(kCudaOutOfMemory);
  device->room -= bytes;
  *out = device->next;
  device->memory[device->next].resize(bytes);
  device->next += (bytes + 4095) / 4096 * 4096 + 4096;
  return answer();
}
int release(CudaPointer pointer) {
  return answer(device->memory.erase(pointer) == 1 ? 0 : kInvalid);
}
int to_device(CudaPointer to, const void* from, std::size_t bytes) {
  unsigned char* at = device->at(to, bytes);
  if (at == nullptr) return answer(kInvalid);
  std::memcpy(at, from, bytes);
  return answer();
}
int to_host(void* to, CudaPointer from, std::size_t bytes) {
  const unsigned char* at = device->at(from, bytes);
  if (at == nullptr) return answer(kInvalid);
  std::memcpy(to, at, bytes);
  return answer();
}
int on_device(CudaPointer to, CudaPointer from, std::size_t bytes) {
  unsigned char* target = device->at(to, bytes);
  const unsigned char* source = device->at(from, bytes);
  if (target == nullptr || source == nullptr) return answer(kInvalid);
  std::memmove(target, source, bytes);
  device->clock_ms += 0.002F;
  return answer();
}
int fill8(CudaPointer to, unsigned char value, std::size_t bytes) {
  unsigned char* at = device->at(to, bytes);
  if (at == nullptr) return answer(kInvalid);
  std::memset(at, value, bytes);
  return answer();
}
int fill32(CudaPointer to, unsigned value, std::size_t words) {
  unsigned char* at = device->at(to, 4 * words);
  if (at == nullptr) return answer(kInvalid);
  for (std::size_t i = 0; i < words; ++i) std::memcpy(at + 4 * i, &value, 4);
  device->flushes.push_back(value);
  return answer();
}
int event_create(CudaEvent* event, unsigned) {
  *event = reinterpret_cast<CudaEvent>(device->next_event++);
  return answer();
}
int event_destroy(CudaEvent) { return answer(); }
int event_record(CudaEvent event, CudaStream) {
  device->events[event] = device->clock_ms;
  return answer();
}
int event_elapsed(float* out, CudaEvent from, CudaEvent to) {
  *out = device->events[to] - device->events[from];
  return answer();
}
int reset_l2() { return answer(); }
int synchronize() {
  if (device->held != nullptr) {
    std::uint32_t released = 0;
    std::memcpy(&released, device->held, sizeof released);
    const std::uint32_t timed_out = 1;
    if (released == 0) std::memcpy(device->held + sizeof released, &timed_out, sizeof timed_out);
    device->held = nullptr;
  }
  return answer();
}
int host_allocate(void** out, std::size_t bytes, unsigned) {
  CudaPointer pointer = 0;
  const int error = allocate(&pointer, bytes);
  if (error == 0) *out = device->at(pointer, bytes);
  return error;
}
// The address of a vector of bytes as the device knows it; 0 when it is none.
CudaPointer pointer_of(const void* host) {
  for (const auto& [pointer, bytes] : device->memory) {
    if (bytes.data() == host) return pointer;
  }
  return 0;
}
int host_release(void* host) { return release(pointer_of(host)); }
int host_pointer(CudaPointer* out, void* host, unsigned) {
  *out = pointer_of(host);
  return answer(*out != 0 ? 0 : kInvalid);
}
int module_load(CudaModule* out, const void*) {
  *out = reinterpret_cast<CudaModule>(device);
  return answer();
}
int module_function(CudaFunction* out, CudaModule, const char* name) {
  const auto [at, added] = device->names.insert(name);
  *out = reinterpret_cast<CudaFunction>(const_cast<std::string*>(&*at));
  return answer();
}
int launch(CudaFunction function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
           unsigned, CudaStream, void** arguments, void**) {
  const auto& name = *reinterpret_cast<const std::string*>(function);
  device->launches.push_back(name);
  if (name == "ki_hold_back") {
    CudaPointer words = 0;
    std::memcpy(&words, arguments[0], sizeof words);
    device->held = device->at(words, 8);
  } else if (device->run_kernel) {
    device->run_kernel(name, arguments);
  }
  return answer();
}
int set_limit(int, std::size_t value) {
  device->persisting_l2 = value;
  return answer();
}
int get_limit(std::size_t* out, int) {
  *out = device->persisting_l2;
  return answer();
}

}  // namespace

unsigned char* FakeDevice::at(CudaPointer pointer, std::size_t bytes) {
  auto found = memory.upper_bound(pointer);
  if (found == memory.begin()) return nullptr;
  --found;
  const std::size_t offset = pointer - found->first;
  if (offset + bytes > found->second.size()) return nullptr;
  return found->second.data() + offset;
}

CudaDriver fake_driver(FakeDevice& used) {
  device = &used;
  CudaDriver driver{};
  driver.allocate = allocate;
  driver.release = release;
  driver.copy_to_device = to_device;
  driver.copy_to_host = to_host;
  driver.copy_on_device = on_device;
  driver.fill8 = fill8;
  driver.fill32 = fill32;
  driver.event_create = event_create;
  driver.event_destroy = event_destroy;
  driver.event_record = event_record;
  driver.event_elapsed = event_elapsed;
  driver.context_synchronize = synchronize;
  driver.set_limit = set_limit;
  driver.get_limit = get_limit;
  driver.reset_persisting_l2 = reset_l2;
  driver.host_allocate = host_allocate;
  driver.host_release = host_release;
  driver.host_pointer = host_pointer;
  driver.module_load = module_load;
  driver.module_function = module_function;
  driver.launch = launch;
  return driver;
}

}  // namespace kernelindex::runner::test
