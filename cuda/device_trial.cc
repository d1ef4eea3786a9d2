// SPDX-License-Identifier: Apache-2.0
#include "cuda/device_trial.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <deque>
#include <vector>

#include "cuda/comparator.h"
#include "cuda/host_facts.h"
#include "cuda/input_family.h"
#include "cuda/stopping_rule.h"
#include "cuda/timing_checks.h"
#include "cuda/trial_samples.h"

namespace kernelindex::runner {
namespace {

using Clock = TrialChild::Clock;

constexpr std::uint64_t kWarmupCalls = 40;
constexpr std::size_t kDiagnosticSamples = 50;
constexpr std::int64_t kVerifiedRows = 64;
constexpr std::size_t kRemembered = 8;
constexpr std::uint64_t kNothingWithheld = kWithheldStride;
constexpr std::uint32_t kMostCalls = 1u << 20;
constexpr std::uint32_t kThreadsEvery = 16;  // calls
constexpr int kCompareWindows = 11;
constexpr int kEmptyWindows = 100;

SamplePlan plan_of(const BoundWorkload& workload, std::string_view seed, bool constant,
                   bool withhold) {
  SamplePlan plan;
  const WordStream words(seed);
  const std::size_t tensors =
      workload.operation->inputs.size() + workload.operation->outputs.size();
  for (std::size_t i = 0; i < tensors; ++i) {
    // Far from the words of the inputs, whose counters begin at 0.
    const PhiloxCounter drawn = words.block((std::uint64_t{1} << 60) + i);
    plan.windows.push_back(constant ? 0 : drawn[0] % kWindows);
    plan.offsets.push_back(constant ? 0 : std::uint64_t{drawn[1] % 4096} * kAlignment);
  }
  const PhiloxCounter drawn = words.block(std::uint64_t{1} << 61);
  plan.withheld_phase = withhold ? drawn[0] % kWithheldStride : kNothingWithheld;
  plan.pattern = drawn[1];
  return plan;
}

Result<Arguments> inputs_of(const BoundWorkload& workload, std::string_view seed) {
  InputOptions options;
  options.scalars = workload.scalars;
  // A stream of its own for each tensor, all from the one seed of the sample.
  const StreamOf stream = [seed](std::string_view tensor) {
    return WordStream(hkdf_expand(seed, tensor, WordStream::kSeedBytes));
  };
  return make_inputs(*workload.operation, workload.axes, stream, options);
}

// Rows of the output against the reference, drawn after the output is here.
bool verify(const BoundWorkload& workload, const Arguments& inputs,
            const std::vector<HostTensor>& outputs) {
  const WordStream words(random_text(WordStream::kSeedBytes));
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    Comparison comparison(outputs[i].dtype(), workload.tolerance);
    const std::int64_t length = outputs[i].row_length();
    std::vector<double> want(static_cast<std::size_t>(length));
    const std::int64_t rows = std::min(outputs[i].rows(), kVerifiedRows);
    for (std::int64_t j = 0; j < rows; ++j) {
      const std::int64_t row = rows == outputs[i].rows()
                                   ? j
                                   : words.word(static_cast<std::uint64_t>(j)) % outputs[i].rows();
      workload.operation->evaluate(inputs, i, row, 0, want);
      for (std::int64_t k = 0; k < length; ++k) {
        comparison.add(row * length + k,
                       encode_number(outputs[i].dtype(), want[static_cast<std::size_t>(k)]),
                       outputs[i].bits(row * length + k));
      }
    }
    const Comparison::Outcome found = comparison.finish();
    if (!comparison.sampled_rule(found) || found.relative_rms > 0.1) return false;
  }
  return true;
}

// Trials whose medians are published go on until these are precise; others are short.
bool is_enough(Trial::Kind kind, const Samples& samples, Clock::time_point begin) {
  const bool published = kind == Trial::Kind::timed || kind == Trial::Kind::cupti_envelope;
  if (!published && samples.size() >= kDiagnosticSamples) return true;
  const StoppingRule rule;
  const std::int64_t elapsed =
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin).count();
  return !samples.empty() && samples.size() % rule.block == 0 &&
         decide_stop(samples, elapsed, rule) != Stop::go_on;
}

// Keeps a sample, and its envelope where CUPTI records. Whether the trial has enough of them.
bool keep(Trial::Kind kind, const SampleReport& report, const CallActivities& call,
          Clock::time_point begin, TrialSamples& samples, EnvelopePass& pass) {
  if (!samples.take(report)) {
    pass.clear();
    return false;
  }
  if (kind != Trial::Kind::cupti_envelope) return is_enough(kind, samples.windows(), begin);
  pass.add(call);
  // Calls that all are spoiled or empty must end, too.
  return is_enough(kind, pass.envelopes(), begin) ||
         samples.windows().size() >= StoppingRule{}.most;
}

ChildSample empty_window(bool blocking) {
  ChildSample sample;
  sample.what = ChildSample::What::empty_window;
  sample.plan.blocking = blocking;
  return sample;
}

class DeviceTrial {
 public:
  DeviceTrial(TrialChild& child, const SeedOf& seed, bool own_kernels, TrialFindings& findings)
      : child_(child), seed_(seed), own_kernels_(own_kernels), findings_(findings) {}

  void run() {
    if (kind() == Trial::Kind::empty_window) return measure_empty();
    if (kind() == Trial::Kind::wall_clock) return measure_wall();
    measure_windows();
  }

 private:
  const BoundWorkload& workload() const { return child_.workload(); }
  TrialOutcome& outcome() { return child_.outcome(); }
  Trial::Kind kind() { return outcome().facts.kind; }

  void measure_windows() {
    const auto begin = Clock::now();
    TrialSamples samples(own_kernels_);
    EnvelopePass pass;
    std::deque<std::uint64_t> hashes;
    for (std::uint32_t i = 0; i < kMostCalls; ++i) {
      const bool warming = samples.warm_windows().size() < kWarmupCalls;
      // Warm-up has seeds of its own, and so has every sample; but for the trial of one input.
      const std::string drawn = seed_(warming                             ? (1u << 30) + i
                                      : kind() == Trial::Kind::same_input ? 0
                                                                          : i);
      const Result<Arguments> inputs = inputs_of(workload(), drawn);
      if (!inputs) {
        outcome().facts.end = Trial::End::error;
        break;
      }
      const auto called = child_.call(*inputs, sample_of(i, samples.blocking()));
      if (!called) break;
      judge_outputs(*inputs, called->outputs, hashes);
      if (i % kThreadsEvery == 0) child_.count_threads();
      if (warming) {
        samples.warm(called->report);
      } else if (keep(kind(), called->report, child_.activities(), begin, samples, pass)) {
        break;
      }
    }
    conclude(samples, pass);
    if (child_.done()) outcome().facts.compare_ns = compare_cost(samples.blocking());
  }

  ChildSample sample_of(std::uint32_t number, bool blocking) {
    ChildSample sample;
    const bool constant = kind() == Trial::Kind::constant_address;
    sample.plan = plan_of(workload(), seed_((1u << 29) + number), constant, true);
    sample.plan.blocking = blocking;
    if (kind() == Trial::Kind::clean_flush) sample.plan.flush = SamplePlan::Flush::read;
    return sample;
  }

  // Whether the outputs are right; says so, and whether wrong ones are those of an earlier sample.
  void judge_outputs(const Arguments& inputs, const std::vector<HostTensor>& outputs,
                     std::deque<std::uint64_t>& hashes) {
    const bool right = verify(workload(), inputs, outputs);
    child_.saw(Observation::What::outputs, !right);
    const std::string first = sha256(outputs[0].text()).hex().substr(0, 16);
    std::uint64_t hash = 0;
    std::from_chars(first.data(), first.data() + first.size(), hash, 16);
    if (!right) {
      child_.saw(Observation::What::replayed,
                 is_replay(std::vector<std::uint64_t>(hashes.begin(), hashes.end()), hash));
    }
    hashes.push_back(hash);
    if (hashes.size() > kRemembered) hashes.pop_front();
  }

  void conclude(const TrialSamples& samples, const EnvelopePass& pass) {
    samples.describe(outcome().facts);
    if (kind() == Trial::Kind::cupti_envelope) {
      pass.describe(outcome().facts);
      outcome().samples = pass.envelopes();
      outcome().findings = pass.findings();
      if (pass.works_per_call() > 0) findings_.launches[workload().digest] = pass.works_per_call();
      return;
    }
    outcome().samples = samples.windows();
    if (kind() == Trial::Kind::timed && !outcome().samples.empty()) {
      findings_.timed_medians[workload().digest] = median_of(outcome().samples);
    }
  }

  // What is queued behind each window costs, with nothing in the window.
  std::optional<std::int64_t> compare_cost(bool blocking) {
    Samples costs;
    for (int i = 0; i < kCompareWindows; ++i) {
      const auto report = child_.ask(empty_window(blocking));
      if (!report) return std::nullopt;
      costs.push_back(report->late_ns);
    }
    return static_cast<std::int64_t>(median_of(costs));
  }

  void measure_empty() {
    outcome().facts.blocking = own_kernels_;
    for (int i = 0; i < kEmptyWindows; ++i) {
      const auto report = child_.ask(empty_window(outcome().facts.blocking));
      if (!report) return;
      outcome().samples.push_back(report->window_ns);
    }
  }

  // The parent's clock around one request. Nothing when there was no report, or a bad one.
  std::optional<std::uint64_t> time_request(const ChildSample& sample) {
    const auto begin = Clock::now();
    const auto report = child_.ask(sample);
    const auto taken = Clock::now() - begin;
    if (!report || report->cuda_error != 0 || report->call_result != 0) return std::nullopt;
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(taken).count());
  }

  bool fill_slot(std::uint64_t slot, const Arguments& inputs) {
    ChildSample sample;
    sample.what = ChildSample::What::fill_slot;
    sample.number = slot;
    return child_.write_inputs(inputs) && child_.ask(sample).has_value();
  }

  // PROTOCOL section 9.5. No samples rather than wrong ones: without the median that is to be
  // bounded and the number of launches that a call makes, the bound would accuse everybody of
  // launching.
  void measure_wall() {
    const auto median = findings_.timed_medians.find(workload().digest);
    const auto launches = findings_.launches.find(workload().digest);
    if (median == findings_.timed_medians.end() || launches == findings_.launches.end() ||
        !own_kernels_) {
      outcome().log +=
          "NO_WALL_BOUND it needs a timed trial, a CUPTI pass and the runner's kernels\n";
      return;
    }
    const WorkloadBytes bytes = bytes_of(workload());
    const WallPlan plan = plan_wall(median->second, bytes.inputs + bytes.outputs);
    std::uint32_t drawn = 0;
    const auto fresh = [&](std::uint64_t slot) -> std::optional<Arguments> {
      Result<Arguments> inputs = inputs_of(workload(), seed_(drawn++));
      if (!inputs || !fill_slot(slot, *inputs)) return std::nullopt;
      return std::move(*inputs);
    };
    ChildSample sample;
    sample.what = ChildSample::What::make_slots;
    sample.number = plan.slots;
    if (!time_request(sample)) return;
    for (std::uint64_t slot = 0; slot < plan.slots; ++slot) {
      if (!fresh(slot)) return;
    }
    ChildSample calls;
    calls.what = ChildSample::What::run_slots;
    calls.number = plan.slots;  // warms up, and shows what memory a call asks for
    if (!time_request(calls)) return;
    ChildSample nothing;
    nothing.what = ChildSample::What::run_nothing;
    nothing.number = plan.calls;
    nothing.launches = launches->second;
    const auto overhead = time_request(nothing);
    if (!overhead) return;
    calls.number = plan.calls;
    std::uint64_t total = 0;
    for (std::uint64_t batch = 0; batch < kWallBatches; ++batch) {
      const std::uint64_t slot = batch % plan.slots;
      const std::optional<Arguments> inputs = fresh(slot);
      if (!inputs) return;
      const auto taken = time_request(calls);
      if (!taken || !challenge(slot, *inputs)) return;
      total += *taken;
    }
    outcome().samples = {total};
    outcome().facts.calls = static_cast<std::int64_t>(plan.calls * kWallBatches);
    outcome().facts.overhead_ns = static_cast<std::int64_t>(*overhead / plan.calls);
  }

  // The output of a slot that got its input just now. False when the trial is over.
  bool challenge(std::uint64_t slot, const Arguments& inputs) {
    ChildSample sample;
    sample.what = ChildSample::What::read_slot;
    sample.number = slot;
    const auto report = child_.ask(sample);
    if (!report) return false;
    child_.saw(Observation::What::aliases, report->output_aliases);
    const auto outputs = child_.read_outputs();
    if (!outputs) return false;
    child_.saw(Observation::What::outputs, !verify(workload(), inputs, *outputs));
    return true;
  }

  TrialChild& child_;
  const SeedOf& seed_;
  const bool own_kernels_;
  TrialFindings& findings_;
};

}  // namespace

void measure_trial(TrialChild& child, const SeedOf& seed, bool own_kernels,
                   TrialFindings& findings) {
  DeviceTrial(child, seed, own_kernels, findings).run();
}

std::vector<HostTensor> call_once(TrialChild& child, const Arguments& inputs) {
  ChildSample sample;
  sample.plan = plan_of(child.workload(), std::string(WordStream::kSeedBytes, '\1'), false, false);
  std::optional<TrialChild::Called> called = child.call(inputs, sample);
  return called ? std::move(called->outputs) : std::vector<HostTensor>();
}

}  // namespace kernelindex::runner
