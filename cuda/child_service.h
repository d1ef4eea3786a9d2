// SPDX-License-Identifier: Apache-2.0
// What every child that owns a device does alike: opens it, and answers its parent's frames one by
// one until it is told to end. PROTOCOL section 1.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "cuda/cuda_driver.h"

namespace kernelindex::runner {

struct ChildAnswer {
  bool done = false;
  std::string payload;  // of the answer; else "CODE text"
};

struct ChildService {
  // Once, first: what needs no code of others. Nothing, or "CODE text".
  std::function<std::string(std::string_view)> open;
  // Once, after `open` went well: code of others. Empty where there never is any.
  std::function<std::string()> load;
  // As often as asked, after all that went well.
  std::function<ChildAnswer(std::string_view)> sample;
};

// Serves the channel of the process. Returns the exit code when the parent is gone; at its word
// `finish` the process ends at once, and nothing of an artifact runs on the way out.
int serve_parent(const ChildService& service);

// The driver and a current context on the first device. Nothing, or "NO_DEVICE text".
std::string open_device(LoadedDriver& loaded, CudaDevice& device);

}  // namespace kernelindex::runner
