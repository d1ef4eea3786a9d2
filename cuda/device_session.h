// SPDX-License-Identifier: Apache-2.0
// Timed calls on a device: buffers with guards at addresses that move, poison, withheld lines, the
// flush, the event window, and what is looked at afterwards. PROTOCOL sections 3.4 and 8.
//
//   1 inputs -> shadow buffers                  6 synchronize
//   2 shadow -> live, every 256th line wrong    7 the withheld lines are put right
//   3 poison outputs and workspace, guards      8 the blocking kernel; e0, the call, e1; it lets go
//   4 reset persisting L2, limit 0              9 outputs copied right behind, e2
//   5 flush: write a new value, or read        10 synchronize; guards, inputs, addresses, limits
//
// Beside samples there are slots: inputs and outputs that stay on the device, for calls one after
// the other under the parent's clock. PROTOCOL section 9.5.
//
// All of it goes through a table of driver functions, so that tests can put a device of their own
// in its place. One session is one process is one trial.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/cuda_driver.h"
#include "cuda/device_resources.h"
#include "cuda/hold_back.h"
#include "cuda/runner_kernels.h"
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
  // `read` leaves no dirty lines, whose write-back a call may have to pay for.
  enum class Flush : std::uint8_t { none, write, read };
  Flush flush = Flush::write;
  bool blocking = false;  // the blocking kernel holds the queue back; needs the runner's kernels
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
  bool held_too_long = false;        // the blocking kernel gave up: the call waits for the device
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

  // The runner's own kernels, for Flush::read and the blocking kernel. Before prepare(). Errors:
  // those of HoldBack::prepare().
  Status use(const RunnerKernels& kernels);

  // Slabs of three windows for each tensor, shadows, the flush buffer, events. Errors (system):
  // DEVICE_MEMORY, CUDA_ERROR.
  Status prepare(std::span<const std::size_t> input_bytes,
                 std::span<const std::size_t> output_bytes, std::size_t workspace_bytes,
                 std::size_t flush_bytes = kFlushBytes);

  // One call. `inputs` as the definition stores them; `outputs` receive what the call left at the
  // end of its window. The report says what was wrong; nothing is thrown away here.
  SampleReport run(const SamplePlan& plan, std::span<const std::string> inputs,
                   std::vector<std::string>& outputs, const SubmissionCall& call);

  // Two events and nothing between them; `late_ns` is what step 9 costs by itself.
  SampleReport empty_window(bool blocking = false);

  // `count` slots instead of those that there were. Errors (system): DEVICE_MEMORY, CUDA_ERROR.
  Status make_slots(std::size_t count);
  // Puts inputs into a slot and poison into its outputs. Requires: there is such a slot.
  SampleReport fill_slot(std::size_t slot, std::span<const std::string> inputs);
  // `calls` calls, each with the next slot, and one synchronisation behind all of them. What a call
  // was given stays until its slot is used again. Requires: slots.
  SampleReport run_slots(std::uint64_t calls, const SubmissionCall& call);
  SampleReport read_slot(std::size_t slot, std::vector<std::string>& outputs);
  std::size_t slots() const { return slots_.size(); }
  // Bytes that the last call of run_slots() asked for, one by one.
  const std::vector<std::size_t>& asked() const { return asked_; }

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
  struct Slot {
    CallBuffers buffers;
    std::vector<CudaPointer> results;  // where the last call left them
    std::vector<CudaPointer> given;
  };
  // The steps of run(). Each keeps the first error in its report.
  CallBuffers place_inputs(const SamplePlan& plan, std::span<const std::string> inputs, int& error);
  void place_outputs(const SamplePlan& plan, CallBuffers& buffers, int& error);
  void flush(SamplePlan::Flush kind, int& error);
  void time_call(bool blocking, const CallBuffers& ours, const SubmissionCall& call,
                 SampleReport& report);
  void inspect(const SamplePlan& plan, std::span<const std::string> inputs, const CallBuffers& ours,
               SampleReport& report);
  int release_all(std::vector<CudaPointer>& pointers);
  void read_back(std::span<const CudaPointer> from, std::vector<std::string>& outputs, int& error);
  void withhold(CudaPointer live, CudaPointer shadow, std::size_t bytes, const SamplePlan& plan,
                bool make_wrong, int& error);
  bool lies_in_ours(CudaPointer at, std::size_t bytes) const;

  const CudaDriver& driver_;
  DeviceResources resources_;
  std::vector<Slab> inputs_;
  std::vector<Slab> outputs_;
  std::vector<CudaPointer> shadows_;
  std::vector<CudaPointer> copies_;  // of outputs, taken right behind the window
  Slab workspace_;
  CudaPointer flush_ = 0;
  CudaPointer flush_sink_ = 0;  // the reading flush never writes it, but the compiler must not know
  std::size_t flush_bytes_ = 0;
  unsigned flush_value_ = 1;
  std::vector<CudaEvent> events_;
  std::vector<CudaPointer> given_;
  std::vector<std::size_t> asked_;
  std::vector<Slot> slots_;
  std::unique_ptr<DeviceResources> slot_resources_;
  RunnerKernels kernels_;
  std::unique_ptr<HoldBack> hold_back_;
};

}  // namespace kernelindex::runner
