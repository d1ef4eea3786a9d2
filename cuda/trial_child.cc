// SPDX-License-Identifier: Apache-2.0
#include "cuda/trial_child.h"

#include <algorithm>

#include "cuda/child_frames.h"
#include "cuda/host_tensor.h"
#include "cuda/reference_operation.h"

namespace kernelindex::runner {
namespace {

constexpr std::chrono::seconds kEndOfChild{20};

}  // namespace

std::filesystem::path own_path() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored);
}

WorkloadBytes bytes_of(const BoundWorkload& workload) {
  WorkloadBytes bytes;
  for (const InputSpec& spec : workload.operation->inputs) {
    if (spec.role == InputRole::scalar) continue;
    bytes.inputs += HostTensor("", spec.dtype, *extents(spec.axes, workload.axes)).bytes().size();
  }
  for (const OutputSpec& spec : workload.operation->outputs) {
    bytes.outputs += HostTensor("", spec.dtype, *extents(spec.axes, workload.axes)).bytes().size();
  }
  return bytes;
}

TrialChild::TrialChild(const BoundWorkload& workload, Trial::Kind kind, DevicePoller& poller)
    : workload_(workload),
      poller_(poller),
      inputs_(bytes_of(workload).inputs),
      outputs_(bytes_of(workload).outputs) {
  outcome_.facts.workload = workload.digest;
  outcome_.facts.kind = kind;
}

Result<std::unique_ptr<TrialChild>> TrialChild::start(const BoundWorkload& workload,
                                                      Trial::Kind kind, ConfinedPlan plan,
                                                      std::int64_t seconds, DevicePoller& poller) {
  std::unique_ptr<TrialChild> child(new TrialChild(workload, kind, poller));
  if (!child->inputs_.made() || !child->outputs_.made()) {
    return fail(ErrorKind::system, "NO_MEMORY", {}, "memory to share with a child cannot be had");
  }
  plan.more_descriptors = {child->inputs_.duplicate(), child->outputs_.duplicate()};
  auto process = ConfinedProcess::start(plan);
  if (!process) return fail(process.error());
  child->process_ = std::move(*process);
  child->deadline_ = Clock::now() + std::chrono::seconds(seconds);
  return child;
}

void TrialChild::saw(Observation::What what, bool wrong) {
  auto& [checked, failed] = seen_[what];
  ++checked;
  failed += wrong ? 1 : 0;
}

bool TrialChild::load(const ChildLoad& load) {
  const bool cupti = outcome_.facts.kind == Trial::Kind::cupti_envelope;
  const auto opened = process_->request(FrameKind::open, encode_load(load), deadline_);
  if (cupti && opened.payload.starts_with("CUPTI_UNAVAILABLE")) {
    // No fault of the candidate, none of whose code was there: no samples, and the log says why.
    outcome_.log += opened.payload + "\n";
    return false;
  }
  if (!answered(opened)) return false;
  look_at_code();
  if (!answered(process_->request(FrameKind::load, {}, deadline_))) return false;
  threads_ = process_->threads();
  return true;
}

// The code that takes the time, before any code of others is there.
void TrialChild::look_at_code() {
  const Result<CodeImages> code = read_timing_code(process_->inner(), own_path().string());
  if (!code) {
    outcome_.log += code.error().text() + "\n";
    return;
  }
  code_ = *code;
  for (const auto& [file, image] : code_) {
    if (!image.as_in_file) outcome_.log += file + ": its code is not that of the file\n";
  }
}

// And after all calls, while the child still waits for its next request.
void TrialChild::look_at_code_again() {
  if (code_.empty()) return;
  const Result<CodeImages> now = read_timing_code(process_->inner(), own_path().string());
  if (!now) return;  // it is gone, and its end says so
  seen_[Observation::What::code_pages] = {static_cast<std::int64_t>(code_.size()),
                                          changed_code(code_, *now)};
}

void TrialChild::count_threads() {
  const std::uint32_t now = process_->threads();
  if (now > 0 && threads_ > 0) saw(Observation::What::threads, now > threads_);
}

std::optional<std::string> TrialChild::answered(ChildChannel::Judged judged) {
  if (judged.what == ChildChannel::Judged::What::answer) return std::move(judged.payload);
  outcome_.facts.end = Trial::End::error;
  outcome_.log += judged.payload + "\n";
  return std::nullopt;
}

std::optional<SampleReport> TrialChild::ask(const ChildSample& sample) {
  const auto payload =
      answered(process_->request(FrameKind::sample, encode_sample(sample), deadline_));
  if (!payload) return std::nullopt;
  std::optional<ChildReport> report = decode_report(*payload);
  if (!report) {
    outcome_.facts.end = Trial::End::error;
    saw(Observation::What::frames, true);
    return std::nullopt;
  }
  if (sample.what != ChildSample::What::empty_window) {
    saw(Observation::What::cuda_errors,
        report->sample.cuda_error != 0 || report->sample.call_result != 0);
  }
  activities_ = std::move(report->call);
  return report->sample;
}

bool TrialChild::write_inputs(const Arguments& inputs) const {
  off_t at = 0;
  for (std::size_t i = 0; i < inputs.inputs.size(); ++i) {
    if (workload_.operation->inputs[i].role == InputRole::scalar) continue;
    if (!inputs_.write(at, inputs.inputs[i].text())) return false;
    at += static_cast<off_t>(inputs.inputs[i].bytes().size());
  }
  return true;
}

std::optional<std::vector<HostTensor>> TrialChild::read_outputs() const {
  std::vector<HostTensor> outputs;
  off_t at = 0;
  for (const OutputSpec& spec : workload_.operation->outputs) {
    HostTensor tensor(std::string(spec.name), spec.dtype, *extents(spec.axes, workload_.axes));
    if (!outputs_.read(at, tensor.bytes())) return std::nullopt;
    at += static_cast<off_t>(tensor.bytes().size());
    outputs.push_back(std::move(tensor));
  }
  return outputs;
}

std::optional<TrialChild::Called> TrialChild::call(const Arguments& inputs,
                                                   const ChildSample& sample) {
  if (!write_inputs(inputs)) return std::nullopt;
  const std::optional<SampleReport> report = ask(sample);
  if (!report) return std::nullopt;
  saw(Observation::What::guards, report->guards_broken);
  saw(Observation::What::inputs, report->inputs_changed);
  saw(Observation::What::aliases, report->output_aliases);
  saw(Observation::What::l2_limit, report->l2_limit_changed);
  poller_.poll(Clock::now(), 1);  // the child
  std::optional<std::vector<HostTensor>> outputs = read_outputs();
  if (!outputs) return std::nullopt;
  return Called{*report, std::move(*outputs)};
}

TrialOutcome TrialChild::end() {
  if (outcome_.facts.end == Trial::End::done) {
    look_at_code_again();
    count_threads();
    process_->request(FrameKind::finish, {}, deadline_);
  }
  const ConfinedEnd ended = process_->wait(std::min(deadline_, Clock::now() + kEndOfChild));
  if (ended.forbidden_call()) {
    outcome_.facts.end = Trial::End::forbidden;
  } else if (ended.out_of_memory) {
    outcome_.facts.end = Trial::End::resource;
  } else if (ended.timed_out && Clock::now() >= deadline_) {
    outcome_.facts.end = Trial::End::timeout;
  } else if (ended.signal != 0 && !ended.timed_out) {
    outcome_.facts.end = Trial::End::signal;
  }
  outcome_.sandbox = process_->facts();
  outcome_.log += process_->log();
  outcome_.log_original_bytes =
      std::max(process_->log_original_bytes(), static_cast<std::int64_t>(outcome_.log.size()));
  seen_[Observation::What::frames].first += process_->packets();
  seen_[Observation::What::frames].second += process_->forgeries();
  for (const auto& [what, counts] : seen_) {
    outcome_.facts.observations.push_back({what, counts.first, counts.second});
  }
  return std::move(outcome_);
}

}  // namespace kernelindex::runner
