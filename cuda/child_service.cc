// SPDX-License-Identifier: Apache-2.0
#include "cuda/child_service.h"

#include <unistd.h>

#include "cuda/child_frames.h"
#include "cuda/confined_process.h"

namespace kernelindex::runner {
namespace {

enum class Stage { started, opened, ready };

ChildAnswer answer_to(const ChildFrame& request, const ChildService& service, Stage& stage) {
  if (request.kind == FrameKind::open && stage == Stage::started) {
    std::string fault = service.open(request.payload);
    if (fault.empty()) stage = service.load ? Stage::opened : Stage::ready;
    return {fault.empty(), std::move(fault)};
  }
  if (request.kind == FrameKind::load && stage == Stage::opened) {
    std::string fault = service.load();
    if (fault.empty()) stage = Stage::ready;
    return {fault.empty(), std::move(fault)};
  }
  if (request.kind == FrameKind::sample && stage == Stage::ready) {
    return service.sample(request.payload);
  }
  return {false, "BAD_REQUEST order"};
}

}  // namespace

int serve_parent(const ChildService& service) {
  Stage stage = Stage::started;
  while (const auto request = receive_request(kChannelDescriptor)) {
    if (request->kind == FrameKind::finish) {
      send_answer(kChannelDescriptor, *request, FrameKind::answer, {});
      ::_exit(0);
    }
    const ChildAnswer answer = answer_to(*request, service, stage);
    if (!send_answer(kChannelDescriptor, *request,
                     answer.done ? FrameKind::answer : FrameKind::failure, answer.payload)) {
      return 1;
    }
  }
  return 1;
}

std::string open_device(LoadedDriver& loaded, CudaDevice& device) {
  loaded = load_driver();
  if (!loaded.usable()) return "NO_DEVICE the driver is not here";
  const CudaDriver& cuda = loaded.driver;
  CudaContext context = nullptr;
  if (cuda.init(0) != kCudaSuccess || cuda.device_get(&device, 0) != kCudaSuccess ||
      cuda.primary_retain(&context, device) != kCudaSuccess ||
      cuda.context_set(context) != kCudaSuccess) {
    return "NO_DEVICE the device gives no context";
  }
  return {};
}

}  // namespace kernelindex::runner
