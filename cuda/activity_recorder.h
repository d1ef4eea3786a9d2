// SPDX-License-Identifier: Apache-2.0
// CUPTI as a table of functions, filled when the program runs, and the recorder of a child that
// collects activity records with it. PROTOCOL section 9.2.
//
// CUPTI lives in the process that it watches, so it gets a child of its own, with the same calls as
// the timed ones. It must start before the context is made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <vector>

#include "cuda/activity_records.h"
#include "cuda/cuda_driver.h"
#include "cuda/dynamic_library.h"
#include "schema/result.h"

namespace kernelindex::runner {

inline constexpr int kCuptiSuccess = 0;
inline constexpr int kCuptiNoMoreRecords = 12;    // CUPTI_ERROR_MAX_LIMIT_REACHED
inline constexpr std::uint32_t kCuptiForced = 1;  // of flush: whether records are done or not

// Of cupti_activity.h, with types of our own.
struct Cupti {
  using BufferRequested = void (*)(std::uint8_t**, std::size_t*, std::size_t*);
  using BufferCompleted = void (*)(CudaContext, std::uint32_t, std::uint8_t*, std::size_t,
                                   std::size_t);
  int (*version)(std::uint32_t*);
  int (*register_callbacks)(BufferRequested, BufferCompleted);
  int (*enable)(std::uint32_t);
  int (*flush)(std::uint32_t);
  int (*next_record)(std::uint8_t*, std::size_t, void**);
  int (*dropped)(CudaContext, std::uint32_t, std::size_t*);
  int (*timestamp)(std::uint64_t*);
  int (*stream_id)(CudaContext, CudaStream, std::uint8_t, std::uint32_t*);
};
void bind_cupti(DynamicLibrary& library, Cupti& cupti);

struct LoadedCupti {
  DynamicLibrary library;
  Cupti cupti{};
  bool usable() const { return library.loaded() && library.missing().empty(); }
};
// From the toolkit at `cuda_root`, else by its name.
LoadedCupti load_cupti(const std::filesystem::path& cuda_root);

// One in a process: CUPTI's callbacks know nothing of whom they call.
class ActivityRecorder {
 public:
  ActivityRecorder() = default;
  ActivityRecorder(const ActivityRecorder&) = delete;
  ActivityRecorder& operator=(const ActivityRecorder&) = delete;
  ~ActivityRecorder();

  // Requires: no context yet, and a table that outlives it. Error CUPTI_UNAVAILABLE (system): which
  // call failed.
  Status start(const Cupti& cupti);
  // Requires: a current context. Which number the legacy default stream has.
  Status find_default_stream();

  // Runs an empty kernel of our own until its record comes back: a CUPTI that sees nothing must not
  // make a candidate look as if it did no work. The first records of a session may get lost. Error
  // CUPTI_UNAVAILABLE. Requires: `nothing` is ki_nothing.
  Status prove(const CudaDriver& driver, CudaFunction nothing);

  // CUPTI's clock, in ns; 0 when it gives none.
  std::uint64_t now() const;
  // The work of the calls that began in between, once the device is done; forgets everything else.
  // When a flush fails, one record counts as dropped.
  CallActivities take(std::uint64_t begin, std::uint64_t end);

 private:
  static void request_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records);
  static void complete_buffer(CudaContext, std::uint32_t, std::uint8_t* buffer, std::size_t size,
                              std::size_t valid);
  void read_buffer(std::uint8_t* buffer, std::size_t valid);

  const Cupti* cupti_ = nullptr;
  std::uint32_t default_stream_ = 0;
  std::mutex mutex_;  // buffers come back in a thread of CUPTI's
  RecordBatch batch_;
  bool unreadable_ = false;
};

}  // namespace kernelindex::runner
