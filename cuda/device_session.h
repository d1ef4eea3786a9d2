// SPDX-License-Identifier: Apache-2.0
// Timed calls on a device: buffers with guards at addresses that move, poison, withheld lines, the
// flush, the event window, and what is looked at afterwards. PROTOCOL sections 3.4 and 8.
//
//   1 inputs -> shadow buffers                  6 synchronize
//   2 shadow -> live, every 256th line wrong    7 the withheld lines are put right
//   3 poison outputs and workspace, guards      8 e0, the call, e1
//   4 reset persisting L2, limit 0              9 outputs copied right behind, e2
//   5 flush: write, a new value each time      10 synchronize; guards, inputs, addresses, limits
//
// All of it goes through a table of driver functions, so that tests can put a device of their own
// in its place. One session is one process is one trial.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/cuda_driver.h"
#include "cuda/device_resources.h"
#include "schema/result.h"

namespace kernelindex::runner {

inline constexpr std::size_t kGuardBytes = 4096;
inline constexpr std::size_t kWindows = 3;
inline constexpr std::size_t kAlignment = 256;
inline constexpr std::size_t kLineBytes = 128;
inline constexpr std::size_t kWithheldStride = 256;  // one line of so many
inline constexpr std::size_t kFlushBytes = std::size_t{256} << 20;

// How one sample is made; drawn by the parent.
struct SamplePlan {
  std::vector<std::uint64_t> windows;  // of each tensor, inputs first: index of window
  std::vector<std::uint64_t> offsets;  // bytes, multiples of kAlignment, below 1 MiB
  std::uint64_t withheld_phase = 0;    // which line of kWithheldStride; above: none is withheld
  std::uint64_t pattern = 0;           // of guards; poison is 0xff for odd ones
  enum class Flush : std::uint8_t { none, write };
  Flush flush = Flush::write;
};

struct SampleReport {
  std::uint64_t window_ns = 0;  // e1 - e0
  std::uint64_t late_ns = 0;    // e2 - e1
  int cuda_error = 0;           // the first one, of anything
  int call_result = 0;          // what the submission's function gave back
  bool guards_broken = false;
  bool inputs_changed = false;
  bool output_aliases = false;
  bool l2_limit_changed = false;
  std::uint64_t retained_bytes = 0;  // given to the submission and not of this call
};

// Where the tensors of one call lie.
struct CallBuffers {
  std::vector<CudaPointer> inputs;
  std::vector<CudaPointer> outputs;
  CudaPointer workspace = 0;
};
// Calls the submission on the legacy default stream; 0 when it says that all went well. It may say
// that results lie elsewhere by changing `outputs`.
using SubmissionCall = std::function<int(CallBuffers&)>;

class DeviceSession {
 public:
  // Requires: a current context.
  explicit DeviceSession(const CudaDriver& driver) : driver_(driver), resources_(driver) {}
  DeviceSession(const DeviceSession&) = delete;
  DeviceSession& operator=(const DeviceSession&) = delete;
  ~DeviceSession();

  // Slabs of three windows for each tensor, shadows, the flush buffer, events. Errors (system):
  // DEVICE_MEMORY, CUDA_ERROR.
  Status prepare(std::span<const std::size_t> input_bytes,
                 std::span<const std::size_t> output_bytes, std::size_t workspace_bytes,
                 std::size_t flush_bytes = kFlushBytes);

  // One call. `inputs` as the definition stores them; `outputs` receive what the call left at the
  // end of its window. The report says what was wrong; nothing is thrown away here.
  SampleReport run(const SamplePlan& plan, std::span<const std::string> inputs,
                   std::vector<std::string>& outputs, const SubmissionCall& call);

  // Two events and nothing between them, in nanoseconds.
  SampleReport empty_window();

  // Memory for a submission that asks for some inside its call; poisoned, counted, freed after the
  // sample. 0 when there is none.
  CudaPointer give(std::size_t bytes);

 private:
  struct Slab {
    CudaPointer base = 0;
    std::size_t bytes = 0;   // of the tensor
    std::size_t window = 0;  // of one window with its guards
    CudaPointer at(std::uint64_t window_index, std::uint64_t offset) const;
  };
  void make_slab(Slab& slab, std::size_t bytes, int& error);
  int put_guards(CudaPointer at, std::size_t bytes, std::uint64_t pattern);
  bool guards_whole(CudaPointer at, std::size_t bytes, std::uint64_t pattern, int& error);
  void withhold(CudaPointer live, CudaPointer shadow, std::size_t bytes, const SamplePlan& plan,
                bool make_wrong, int& error);
  bool lies_in_ours(CudaPointer at, std::size_t bytes, const CallBuffers& buffers) const;

  const CudaDriver& driver_;
  DeviceResources resources_;
  std::vector<Slab> inputs_;
  std::vector<Slab> outputs_;
  std::vector<CudaPointer> shadows_;
  std::vector<CudaPointer> copies_;  // of outputs, taken right behind the window
  Slab workspace_;
  CudaPointer flush_ = 0;
  std::size_t flush_bytes_ = 0;
  unsigned flush_value_ = 1;
  std::vector<CudaEvent> events_;
  std::vector<CudaPointer> given_;
};

}  // namespace kernelindex::runner
