// SPDX-License-Identifier: Apache-2.0
#include "cuda/device_session.h"

#include <algorithm>
#include <utility>

namespace kernelindex::runner {
namespace {

std::string guard_pattern(std::uint64_t pattern) {
  std::string bytes(kGuardBytes, '\0');
  std::uint64_t word = pattern | 1;
  for (char& byte : bytes) {
    word ^= word << 13;  // xorshift64: unpredictable enough not to be written by accident
    word ^= word >> 7;
    word ^= word << 17;
    byte = static_cast<char>(word & 0xff);
  }
  return bytes;
}

std::size_t round_up(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

constexpr std::size_t kOffsetRoom = std::size_t{1} << 20;
constexpr LaunchSize kReadLaunch{1024, 256};

// The window and the offset of a tensor, inputs first.
std::pair<std::uint64_t, std::uint64_t> place_of(const SamplePlan& plan, std::size_t tensor) {
  const std::uint64_t window = tensor < plan.windows.size() ? plan.windows[tensor] : 0;
  const std::uint64_t offset = tensor < plan.offsets.size() ? plan.offsets[tensor] : 0;
  return {window, offset / kAlignment * kAlignment};
}

// NaN of every floating format; every other sample a finite number, which is no result either.
unsigned char poison_of(std::uint64_t pattern) { return pattern % 2 == 1 ? 0xff : 0x3b; }

}  // namespace

CudaPointer DeviceSession::Slab::at(std::uint64_t window_index, std::uint64_t offset) const {
  return base + window_index % kWindows * window + kGuardBytes + offset % kOffsetRoom;
}

DeviceSession::~DeviceSession() {
  release_all(given_);
  for (Slot& slot : slots_) release_all(slot.given);
}

int DeviceSession::release_all(std::vector<CudaPointer>& pointers) {
  int error = kCudaSuccess;
  for (const CudaPointer pointer : pointers) note_error(error, driver_.release(pointer));
  pointers.clear();
  return error;
}

Status DeviceSession::use(const RunnerKernels& kernels) {
  kernels_ = kernels;
  hold_back_ = std::make_unique<HoldBack>(driver_, kernels.hold_back);
  return hold_back_->prepare();
}

void DeviceSession::make_slab(Slab& slab, std::size_t bytes, int& error) {
  slab.bytes = bytes;
  slab.window = round_up(bytes) + 2 * kGuardBytes + kOffsetRoom;
  slab.base = resources_.memory(kWindows * slab.window, error);
}

Status DeviceSession::prepare(std::span<const std::size_t> input_bytes,
                              std::span<const std::size_t> output_bytes,
                              std::size_t workspace_bytes, std::size_t flush_bytes) {
  int error = kCudaSuccess;
  const auto plain = [this, &error](std::size_t bytes) {
    return resources_.memory(std::max(bytes, kAlignment), error);
  };
  for (const std::size_t bytes : input_bytes) {
    make_slab(inputs_.emplace_back(), bytes, error);
    shadows_.push_back(plain(bytes));
  }
  for (const std::size_t bytes : output_bytes) {
    make_slab(outputs_.emplace_back(), bytes, error);
    copies_.push_back(plain(bytes));
  }
  if (workspace_bytes > 0) make_slab(workspace_, workspace_bytes, error);
  flush_bytes_ = flush_bytes;
  flush_ = plain(flush_bytes);
  flush_sink_ = plain(sizeof(std::uint32_t));
  if (kernels_.read_all != nullptr) note_error(error, driver_.fill32(flush_, 1, flush_bytes / 4));
  for (int i = 0; i < 3; ++i) events_.push_back(resources_.event(error));
  // The carve-out goes before any code of the submission is there.
  note_error(error, driver_.set_limit(kLimitPersistingL2, 0));
  return made_or_error(error, "the buffers of a trial");
}

int DeviceSession::put_guards(CudaPointer at, std::size_t bytes, std::uint64_t pattern) {
  const std::string guard = guard_pattern(pattern);
  int error = driver_.copy_to_device(at - kGuardBytes, guard.data(), guard.size());
  note_error(error, driver_.copy_to_device(at + bytes, guard.data(), guard.size()));
  return error;
}

bool DeviceSession::guards_whole(CudaPointer at, std::size_t bytes, std::uint64_t pattern,
                                 int& error) {
  const std::string guard = guard_pattern(pattern);
  std::string found(kGuardBytes, '\0');
  note_error(error, driver_.copy_to_host(found.data(), at - kGuardBytes, found.size()));
  bool whole = found == guard;
  note_error(error, driver_.copy_to_host(found.data(), at + bytes, found.size()));
  return whole && found == guard;
}

// One line of kWithheldStride, from the phase of the sample on: made wrong, or put right again.
void DeviceSession::withhold(CudaPointer live, CudaPointer shadow, std::size_t bytes,
                             const SamplePlan& plan, bool make_wrong, int& error) {
  if (plan.withheld_phase >= kWithheldStride) return;
  for (std::size_t line = plan.withheld_phase; line * kLineBytes < bytes; line += kWithheldStride) {
    const std::size_t start = line * kLineBytes;
    const std::size_t size = std::min(kLineBytes, bytes - start);
    note_error(error, make_wrong ? driver_.fill8(live + start, 0x5a, size)
                                 : driver_.copy_on_device(live + start, shadow + start, size));
  }
}

// Whether a result lies in what only the runner may hold: inputs, their guards, shadows.
bool DeviceSession::lies_in_ours(CudaPointer at, std::size_t bytes) const {
  const auto overlaps = [at, bytes](CudaPointer begin, std::size_t size) {
    return at < begin + size && begin < at + bytes;
  };
  for (const Slab& slab : inputs_) {
    if (overlaps(slab.base, kWindows * slab.window)) return true;
  }
  for (std::size_t i = 0; i < shadows_.size(); ++i) {
    if (overlaps(shadows_[i], inputs_[i].bytes)) return true;
  }
  return overlaps(flush_, flush_bytes_);
}

CudaPointer DeviceSession::give(std::size_t bytes) {
  CudaPointer pointer = 0;
  if (driver_.allocate(&pointer, round_up(std::max(bytes, std::size_t{1}))) != kCudaSuccess)
    return 0;
  given_.push_back(pointer);
  asked_.push_back(bytes);
  driver_.fill8(pointer, 0xff, bytes);
  return pointer;
}

CallBuffers DeviceSession::place_inputs(const SamplePlan& plan, std::span<const std::string> inputs,
                                        int& error) {
  CallBuffers buffers;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const auto [window, offset] = place_of(plan, i);
    const CudaPointer live = inputs_[i].at(window, offset);
    buffers.inputs.push_back(live);
    note_error(error, driver_.copy_to_device(shadows_[i], inputs[i].data(), inputs[i].size()));
    note_error(error, driver_.copy_on_device(live, shadows_[i], inputs[i].size()));
    withhold(live, shadows_[i], inputs_[i].bytes, plan, true, error);
    note_error(error, put_guards(live, inputs_[i].bytes, plan.pattern));
  }
  return buffers;
}

void DeviceSession::place_outputs(const SamplePlan& plan, CallBuffers& buffers, int& error) {
  const unsigned char poison = poison_of(plan.pattern);
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const auto [window, offset] = place_of(plan, inputs_.size() + i);
    const CudaPointer live = outputs_[i].at(window, offset);
    buffers.outputs.push_back(live);
    note_error(error, driver_.fill8(live, poison, outputs_[i].bytes));
    note_error(error, put_guards(live, outputs_[i].bytes, plan.pattern));
  }
  if (workspace_.base == 0) return;
  buffers.workspace = workspace_.at(plan.pattern, 0);
  note_error(error, driver_.fill8(buffers.workspace, poison, workspace_.bytes));
  note_error(error, put_guards(buffers.workspace, workspace_.bytes, plan.pattern));
}

void DeviceSession::flush(SamplePlan::Flush kind, int& error) {
  if (kind == SamplePlan::Flush::write) {
    note_error(error, driver_.fill32(flush_, flush_value_++, flush_bytes_ / 4));
  } else if (kind == SamplePlan::Flush::read && kernels_.read_all != nullptr) {
    note_error(error, launch_kernel(driver_, kernels_.read_all, kReadLaunch, flush_,
                                    std::uint64_t{flush_bytes_ / 16}, flush_sink_));
  } else if (kind == SamplePlan::Flush::read) {
    note_error(error, kCudaNotFound);  // never a sample that says it was flushed and was not
  }
}

void DeviceSession::time_call(bool blocking, const CallBuffers& ours, const SubmissionCall& call,
                              SampleReport& report) {
  int& error = report.cuda_error;
  CallBuffers buffers = ours;
  const bool holds = blocking && hold_back_ != nullptr;
  if (blocking && !holds) note_error(error, kCudaNotFound);
  if (holds) note_error(error, hold_back_->begin());
  note_error(error, driver_.event_record(events_[0], nullptr));
  report.call_result = call(buffers);
  note_error(error, driver_.event_record(events_[1], nullptr));
  if (holds) hold_back_->release();
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    // Where the call says its results are; never where nobody may have put them.
    report.output_aliases |= lies_in_ours(buffers.outputs[i], outputs_[i].bytes);
    note_error(error, driver_.copy_on_device(copies_[i], buffers.outputs[i], outputs_[i].bytes));
  }
  note_error(error, driver_.event_record(events_[2], nullptr));
  note_error(error, driver_.context_synchronize());
  report.held_too_long = holds && hold_back_->timed_out();
  report.window_ns = elapsed_ns(driver_, events_[0], events_[1], error);
  report.late_ns = elapsed_ns(driver_, events_[1], events_[2], error);
}

void DeviceSession::inspect(const SamplePlan& plan, std::span<const std::string> inputs,
                            const CallBuffers& ours, SampleReport& report) {
  int& error = report.cuda_error;
  const auto guards = [&](CudaPointer at, std::size_t bytes) {
    report.guards_broken |= !guards_whole(at, bytes, plan.pattern, error);
  };
  for (std::size_t i = 0; i < outputs_.size(); ++i) guards(ours.outputs[i], outputs_[i].bytes);
  std::string now;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    now.resize(inputs_[i].bytes);
    note_error(error, driver_.copy_to_host(now.data(), ours.inputs[i], inputs_[i].bytes));
    report.inputs_changed |= now != inputs[i];
    guards(ours.inputs[i], inputs_[i].bytes);
  }
  if (workspace_.base != 0) guards(ours.workspace, workspace_.bytes);
  std::size_t limit = 0;
  note_error(error, driver_.get_limit(&limit, kLimitPersistingL2));
  report.l2_limit_changed = limit != 0;
}

void DeviceSession::read_back(std::span<const CudaPointer> from, std::vector<std::string>& outputs,
                              int& error) {
  outputs.resize(outputs_.size());
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    outputs[i].resize(outputs_[i].bytes);
    note_error(error, driver_.copy_to_host(outputs[i].data(), from[i], outputs_[i].bytes));
  }
}

SampleReport DeviceSession::run(const SamplePlan& plan, std::span<const std::string> inputs,
                                std::vector<std::string>& outputs, const SubmissionCall& call) {
  SampleReport report;
  int& error = report.cuda_error;
  CallBuffers ours = place_inputs(plan, inputs, error);
  place_outputs(plan, ours, error);
  note_error(error, driver_.set_limit(kLimitPersistingL2, 0));
  note_error(error, driver_.reset_persisting_l2());
  flush(plan.flush, error);
  note_error(error, driver_.context_synchronize());
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    withhold(ours.inputs[i], shadows_[i], inputs_[i].bytes, plan, false, error);
  }
  time_call(plan.blocking, ours, call, report);
  read_back(copies_, outputs, error);
  inspect(plan, inputs, ours, report);
  note_error(error, release_all(given_));
  return report;
}

SampleReport DeviceSession::empty_window(bool blocking) {
  SampleReport report;
  CallBuffers nothing;
  for (const Slab& output : outputs_) nothing.outputs.push_back(output.at(0, 0));
  time_call(
      blocking, nothing, [](CallBuffers&) { return 0; }, report);
  return report;
}

Status DeviceSession::make_slots(std::size_t count) {
  int error = kCudaSuccess;
  for (Slot& slot : slots_) note_error(error, release_all(slot.given));
  slots_.assign(count, {});
  slot_resources_ = std::make_unique<DeviceResources>(driver_);
  const auto plain = [this, &error](std::size_t bytes) {
    return slot_resources_->memory(std::max(bytes, kAlignment), error);
  };
  for (Slot& slot : slots_) {
    for (const Slab& input : inputs_) slot.buffers.inputs.push_back(plain(input.bytes));
    for (const Slab& output : outputs_) slot.buffers.outputs.push_back(plain(output.bytes));
    if (workspace_.base != 0) slot.buffers.workspace = workspace_.at(0, 0);
    slot.results = slot.buffers.outputs;
  }
  return made_or_error(error, "the slots of a trial");
}

SampleReport DeviceSession::fill_slot(std::size_t slot, std::span<const std::string> inputs) {
  SampleReport report;
  int& error = report.cuda_error;
  Slot& filled = slots_[slot];
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    note_error(error, driver_.copy_to_device(filled.buffers.inputs[i], inputs[i].data(),
                                             inputs[i].size()));
  }
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    note_error(error, driver_.fill8(filled.buffers.outputs[i], 0xff, outputs_[i].bytes));
  }
  filled.results = filled.buffers.outputs;
  note_error(error, driver_.context_synchronize());
  return report;
}

SampleReport DeviceSession::run_slots(std::uint64_t calls, const SubmissionCall& call) {
  SampleReport report;
  for (std::uint64_t i = 0; i < calls && report.call_result == 0; ++i) {
    Slot& slot = slots_[i % slots_.size()];
    note_error(report.cuda_error, release_all(slot.given));
    CallBuffers buffers = slot.buffers;
    asked_.clear();
    report.call_result = call(buffers);
    slot.results = std::move(buffers.outputs);
    slot.given = std::exchange(given_, {});
  }
  note_error(report.cuda_error, driver_.context_synchronize());
  return report;
}

SampleReport DeviceSession::read_slot(std::size_t slot, std::vector<std::string>& outputs) {
  SampleReport report;
  const Slot& read = slots_[slot];
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    report.output_aliases |= lies_in_ours(read.results[i], outputs_[i].bytes);
  }
  read_back(read.results, outputs, report.cuda_error);
  return report;
}

}  // namespace kernelindex::runner
