// SPDX-License-Identifier: Apache-2.0
#include "cuda/device_session.h"

#include <algorithm>

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

}  // namespace

CudaPointer DeviceSession::Slab::at(std::uint64_t window_index, std::uint64_t offset) const {
  return base + window_index % kWindows * window + kGuardBytes + offset % kOffsetRoom;
}

DeviceSession::~DeviceSession() {
  for (const CudaPointer pointer : given_) driver_.release(pointer);
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
bool DeviceSession::lies_in_ours(CudaPointer at, std::size_t bytes, const CallBuffers&) const {
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
  driver_.fill8(pointer, 0xff, bytes);
  return pointer;
}

SampleReport DeviceSession::run(const SamplePlan& plan, std::span<const std::string> inputs,
                                std::vector<std::string>& outputs, const SubmissionCall& call) {
  SampleReport report;
  int& error = report.cuda_error;
  CallBuffers buffers;
  const bool odd = plan.pattern % 2 == 1;
  const auto choice = [&plan](std::size_t tensor) {
    const std::uint64_t window = tensor < plan.windows.size() ? plan.windows[tensor] : 0;
    const std::uint64_t offset = tensor < plan.offsets.size() ? plan.offsets[tensor] : 0;
    return std::pair(window, offset / kAlignment * kAlignment);
  };
  const auto poison = [&](CudaPointer at, std::size_t bytes) {
    // NaN of every floating format; every other sample a finite number, which is no result either.
    note_error(error, driver_.fill8(at, odd ? 0xff : 0x3b, bytes));
  };

  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const auto [window, offset] = choice(i);
    const CudaPointer live = inputs_[i].at(window, offset);
    buffers.inputs.push_back(live);
    note_error(error, driver_.copy_to_device(shadows_[i], inputs[i].data(), inputs[i].size()));
    note_error(error, driver_.copy_on_device(live, shadows_[i], inputs[i].size()));
    withhold(live, shadows_[i], inputs_[i].bytes, plan, true, error);
    note_error(error, put_guards(live, inputs_[i].bytes, plan.pattern));
  }
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const auto [window, offset] = choice(inputs_.size() + i);
    const CudaPointer live = outputs_[i].at(window, offset);
    buffers.outputs.push_back(live);
    poison(live, outputs_[i].bytes);
    note_error(error, put_guards(live, outputs_[i].bytes, plan.pattern));
  }
  if (workspace_.base != 0) {
    buffers.workspace = workspace_.at(plan.pattern, 0);
    poison(buffers.workspace, workspace_.bytes);
    note_error(error, put_guards(buffers.workspace, workspace_.bytes, plan.pattern));
  }
  const CallBuffers ours = buffers;
  note_error(error, driver_.set_limit(kLimitPersistingL2, 0));
  note_error(error, driver_.reset_persisting_l2());
  if (plan.flush == SamplePlan::Flush::write) {
    note_error(error, driver_.fill32(flush_, flush_value_++, flush_bytes_ / 4));
  }
  note_error(error, driver_.context_synchronize());
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    withhold(buffers.inputs[i], shadows_[i], inputs_[i].bytes, plan, false, error);
  }

  note_error(error, driver_.event_record(events_[0], nullptr));
  report.call_result = call(buffers);
  note_error(error, driver_.event_record(events_[1], nullptr));
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    // Where the call says its results are; never where nobody may have put them.
    report.output_aliases =
        report.output_aliases || lies_in_ours(buffers.outputs[i], outputs_[i].bytes, ours);
    note_error(error, driver_.copy_on_device(copies_[i], buffers.outputs[i], outputs_[i].bytes));
  }
  note_error(error, driver_.event_record(events_[2], nullptr));
  note_error(error, driver_.context_synchronize());

  report.window_ns = elapsed_ns(driver_, events_[0], events_[1], error);
  report.late_ns = elapsed_ns(driver_, events_[1], events_[2], error);

  outputs.resize(outputs_.size());
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    outputs[i].resize(outputs_[i].bytes);
    note_error(error, driver_.copy_to_host(outputs[i].data(), copies_[i], outputs_[i].bytes));
    report.guards_broken |= !guards_whole(ours.outputs[i], outputs_[i].bytes, plan.pattern, error);
  }
  std::string now;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    now.resize(inputs_[i].bytes);
    note_error(error, driver_.copy_to_host(now.data(), ours.inputs[i], inputs_[i].bytes));
    report.inputs_changed |= now != inputs[i];
    report.guards_broken |= !guards_whole(ours.inputs[i], inputs_[i].bytes, plan.pattern, error);
  }
  if (workspace_.base != 0) {
    report.guards_broken |= !guards_whole(ours.workspace, workspace_.bytes, plan.pattern, error);
  }
  std::size_t limit = 0;
  note_error(error, driver_.get_limit(&limit, kLimitPersistingL2));
  report.l2_limit_changed = limit != 0;
  for (const CudaPointer pointer : given_) note_error(error, driver_.release(pointer));
  given_.clear();
  return report;
}

SampleReport DeviceSession::empty_window() {
  SampleReport report;
  note_error(report.cuda_error, driver_.event_record(events_[0], nullptr));
  note_error(report.cuda_error, driver_.event_record(events_[1], nullptr));
  note_error(report.cuda_error, driver_.context_synchronize());
  report.window_ns = elapsed_ns(driver_, events_[0], events_[1], report.cuda_error);
  return report;
}

}  // namespace kernelindex::runner
