// SPDX-License-Identifier: Apache-2.0
// A device for tests: memory of the host behind the table of driver functions, and a clock that
// each call moves on. No built program links it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "cuda/cuda_driver.h"

namespace kernelindex::runner::test {

struct FakeDevice {
  std::map<CudaPointer, std::vector<unsigned char>> memory;
  CudaPointer next = CudaPointer{1} << 40;
  std::size_t room = std::size_t{1} << 30;  // what may still be allocated
  std::size_t persisting_l2 = 0;
  float clock_ms = 1;
  std::map<CudaEvent, float> events;
  std::uintptr_t next_event = 1;
  std::vector<unsigned> flushes;      // values of large fills
  int fail_with = 0;                  // of every call from now on
  std::set<std::string> names;        // of kernels; a function is the address of its name
  std::vector<std::string> launches;  // names of kernels, in their order
  // What a kernel does, by its name and the pointers to its arguments. ki_hold_back is known.
  std::function<void(const std::string& kernel, void** arguments)> run_kernel;
  // Words that a held-back stream waits for: a synchronisation before the host lets go times out.
  unsigned char* held = nullptr;

  // Bytes at a pointer; null outside of what was allocated.
  unsigned char* at(CudaPointer pointer, std::size_t bytes);
};

// The table; one device at a time.
CudaDriver fake_driver(FakeDevice& device);

}  // namespace kernelindex::runner::test
