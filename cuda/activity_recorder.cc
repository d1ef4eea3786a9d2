// SPDX-License-Identifier: Apache-2.0
#include "cuda/activity_recorder.h"

#include <cstdlib>
#include <string>
#include <utility>

#include "cuda/runner_kernels.h"

namespace kernelindex::runner {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 20;
constexpr int kProofs = 10;
constexpr std::size_t kBufferAlignment = 8;  // of records
ActivityRecorder* recorder = nullptr;

std::unexpected<Error> unavailable(const char* what, int error) {
  return fail(ErrorKind::system, "CUPTI_UNAVAILABLE", {},
              std::string(what) + " gives CUPTI error " + std::to_string(error));
}

}  // namespace

void bind_cupti(DynamicLibrary& library, Cupti& cupti) {
  library.bind(cupti.version, "cuptiGetVersion");
  library.bind(cupti.register_callbacks, "cuptiActivityRegisterCallbacks");
  library.bind(cupti.enable, "cuptiActivityEnable");
  library.bind(cupti.flush, "cuptiActivityFlushAll");
  library.bind(cupti.next_record, "cuptiActivityGetNextRecord");
  library.bind(cupti.dropped, "cuptiActivityGetNumDroppedRecords");
  library.bind(cupti.timestamp, "cuptiGetTimestamp");
  library.bind(cupti.stream_id, "cuptiGetStreamIdEx");
}

LoadedCupti load_cupti(const std::filesystem::path& cuda_root) {
  LoadedCupti loaded{DynamicLibrary{(cuda_root / "lib64/libcupti.so").string(),
                                    (cuda_root / "extras/CUPTI/lib64/libcupti.so").string(),
                                    "libcupti.so.13", "libcupti.so.12"},
                     {}};
  bind_cupti(loaded.library, loaded.cupti);
  return loaded;
}

ActivityRecorder::~ActivityRecorder() {
  if (recorder == this) recorder = nullptr;
}

Status ActivityRecorder::start(const Cupti& cupti) {
  cupti_ = &cupti;
  recorder = this;
  if (const int error = cupti.register_callbacks(&request_buffer, &complete_buffer);
      error != kCuptiSuccess) {
    return unavailable("registering buffers", error);
  }
  for (const RecordKind kind : kRecordKinds) {
    const auto number = static_cast<std::uint32_t>(kind);
    if (const int error = cupti.enable(number); error != kCuptiSuccess) {
      return unavailable(("enabling activity " + std::to_string(number)).c_str(), error);
    }
  }
  return {};
}

Status ActivityRecorder::find_default_stream() {
  const int error = cupti_->stream_id(nullptr, nullptr, 0, &default_stream_);
  if (error != kCuptiSuccess) return unavailable("asking for the default stream", error);
  return {};
}

Status ActivityRecorder::prove(const CudaDriver& driver, CudaFunction nothing) {
  for (int i = 0; i < kProofs; ++i) {
    const std::uint64_t begin = now();
    const int error = launch_kernel(driver, nothing, {});
    const std::uint64_t end = now();
    if (error != kCudaSuccess || driver.context_synchronize() != kCudaSuccess) break;
    const CallActivities seen = take(begin, end);
    if (envelope_of(seen.activities, seen.dropped).ns) return {};
  }
  return fail(ErrorKind::system, "CUPTI_UNAVAILABLE", {},
              "CUPTI does not see the runner's own kernel");
}

std::uint64_t ActivityRecorder::now() const {
  std::uint64_t ns = 0;
  return cupti_->timestamp(&ns) == kCuptiSuccess ? ns : 0;
}

CallActivities ActivityRecorder::take(std::uint64_t begin, std::uint64_t end) {
  CallActivities call;
  const bool flushed = cupti_->flush(kCuptiForced) == kCuptiSuccess;
  std::size_t dropped = 0;
  const bool counted = cupti_->dropped(nullptr, 0, &dropped) == kCuptiSuccess;
  const std::lock_guard lock(mutex_);
  call.activities = work_between(batch_, begin, end);
  call.dropped = dropped;
  const bool sound = flushed && counted && begin != 0 && end != 0 && !unreadable_;
  if (!sound) ++call.dropped;
  batch_ = {};
  unreadable_ = false;
  return call;
}

void ActivityRecorder::request_buffer(std::uint8_t** buffer, std::size_t* size,
                                      std::size_t* most_records) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(kBufferAlignment, kBufferBytes));
  *size = *buffer == nullptr ? 0 : kBufferBytes;
  *most_records = 0;  // as many as fit
}

void ActivityRecorder::complete_buffer(CudaContext, std::uint32_t, std::uint8_t* buffer,
                                       std::size_t, std::size_t valid) {
  if (recorder != nullptr && valid > 0) recorder->read_buffer(buffer, valid);
  std::free(buffer);
}

void ActivityRecorder::read_buffer(std::uint8_t* buffer, std::size_t valid) {
  const std::lock_guard lock(mutex_);
  void* record = nullptr;
  int error = kCuptiSuccess;
  while ((error = cupti_->next_record(buffer, valid, &record)) == kCuptiSuccess) {
    add_record(record, default_stream_, batch_);
  }
  if (error != kCuptiNoMoreRecords) unreadable_ = true;
}

}  // namespace kernelindex::runner
