// SPDX-License-Identifier: Apache-2.0
#include "cuda/device_bench.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstring>
#include <deque>
#include <filesystem>

#include "cuda/activity_records.h"
#include "cuda/child_frames.h"
#include "cuda/code_pages.h"
#include "cuda/comparator.h"
#include "cuda/confined_process.h"
#include "cuda/cuda_driver.h"
#include "cuda/device_polls.h"
#include "cuda/host_facts.h"
#include "cuda/input_family.h"
#include "cuda/launch_expression.h"
#include "cuda/runner_kernels.h"
#include "cuda/sentinel_kernels.h"
#include "cuda/stopping_rule.h"
#include "cuda/timing_checks.h"
#include "cuda/trial_samples.h"

namespace kernelindex::runner {
namespace {

namespace fs = std::filesystem;
using Clock = ConfinedProcess::Clock;
// The 24 bytes of the seed of a sample.
using SeedOf = std::function<std::string(std::uint32_t)>;

constexpr std::uint64_t kWarmupCalls = 40;
constexpr std::size_t kDiagnosticSamples = 50;
constexpr std::int64_t kVerifiedRows = 64;
constexpr std::size_t kRemembered = 8;
constexpr std::uint64_t kNothingWithheld = kWithheldStride;
constexpr std::uint32_t kMostCalls = 1u << 20;
constexpr std::uint32_t kThreadsEvery = 16;  // calls
constexpr int kCompareWindows = 11;
constexpr int kEmptyWindows = 100;
constexpr std::chrono::seconds kEndOfChild{20};
// A context and 3 GiB of numbers; then a few milliseconds each, and plenty of room.
constexpr std::chrono::seconds kSentinelStart{60};
constexpr std::chrono::milliseconds kSentinelRepetition{200};

// Memory that a child sees as a descriptor.
class SharedMemory {
 public:
  explicit SharedMemory(std::size_t bytes)
      : descriptor_(::memfd_create("kernelindex", MFD_CLOEXEC)) {
    if (descriptor_ >= 0 && ::ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0) {
      ::close(std::exchange(descriptor_, -1));
    }
    // The child runs as another user.
    if (descriptor_ >= 0) ::fchmod(descriptor_, 0666);
  }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  bool made() const { return descriptor_ >= 0; }
  int duplicate() const { return ::fcntl(descriptor_, F_DUPFD_CLOEXEC, 3); }
  bool write(off_t at, std::string_view bytes) const {
    return ::pwrite(descriptor_, bytes.data(), bytes.size(), at) ==
           static_cast<ssize_t>(bytes.size());
  }
  bool read(off_t at, std::span<std::uint8_t> bytes) const {
    return ::pread(descriptor_, bytes.data(), bytes.size(), at) ==
           static_cast<ssize_t>(bytes.size());
  }

 private:
  int descriptor_;
};

// Importers' spelling of what NVML says: "NVIDIA H200" of "NVIDIA H200 141GB HBM3e".
std::string product_of(std::string_view name) {
  for (const std::string_view known :
       {"NVIDIA H200", "NVIDIA H100", "NVIDIA B200", "NVIDIA A100"}) {
    if (name.starts_with(known)) return std::string(known);
  }
  return std::string(name);
}

// One child and what it was asked.
struct RunningTrial {
  std::unique_ptr<ConfinedProcess> process;
  std::unique_ptr<SharedMemory> inputs;
  std::unique_ptr<SharedMemory> outputs;
  Clock::time_point deadline;
  CallActivities call;        // of the last request
  CodeImages code;            // before any code of others; empty when it cannot be read
  std::uint32_t threads = 0;  // before the calls; 0 when there were none
  std::map<Observation::What, std::pair<std::int64_t, std::int64_t>> seen;

  void saw(Observation::What what, bool wrong) {
    auto& [checked, failed] = seen[what];
    ++checked;
    failed += wrong ? 1 : 0;
  }
};

class DeviceBench final : public Bench {
 public:
  DeviceBench(const JobDocument& job, MeasuredDevice device, std::string driver, const Nvml& nvml,
              NvmlDevice handle)
      : job_(job), device_(std::move(device)), driver_(std::move(driver)), poller_(nvml, handle) {}

  MeasuredDevice device() const override { return device_; }
  std::string driver() const override { return driver_; }

  void use(const BuildOutcome& build) override {
    artifact_ = build.artifact;
    lowered_ = build.lowered_names;
    directory_.reset();
  }

  std::optional<DevicePolls> polls() const override { return poller_.polls(); }
  std::vector<std::string_view> gaps() const override { return poller_.gaps(); }
  MeasuredSettings settings() const override {
    MeasuredSettings settings = poller_.settings();
    settings.environment_variables = child_environment();
    return settings;
  }

  Result<SentinelOutcome> sentinels(ClockVariant clocks, std::int64_t repetitions,
                                    const Digest& boot) override {
    Result<SentinelOutcome> outcome = run_sentinels(clocks, repetitions, boot);
    if (outcome) return outcome;
    return fail(ErrorKind::system, "NO_SENTINELS", outcome.error().code, outcome.error().message,
                outcome.error().remedy);
  }

  Result<TrialOutcome> trial(const BoundWorkload& workload, Trial::Kind kind, std::uint32_t,
                             const SeedOf& seed) override {
    TrialOutcome outcome;
    outcome.facts.workload = workload.digest;
    outcome.facts.kind = kind;
    Result<RunningTrial> running = start(workload);
    if (!running) return fail(running.error());
    if (loaded(workload, kind, *running, outcome)) measure(workload, kind, seed, *running, outcome);
    end(*running, outcome);
    return outcome;
  }

  Result<std::vector<HostTensor>> outputs(const BoundWorkload& workload,
                                          const Arguments& inputs) override {
    Result<RunningTrial> running = start(workload);
    if (!running) return fail(running.error());
    TrialOutcome outcome;
    std::vector<HostTensor> got;
    if (loaded(workload, Trial::Kind::timed, *running, outcome)) {
      ChildSample sample;
      sample.plan = plan_of(workload, std::string(WordStream::kSeedBytes, '\1'), false, false);
      call(workload, inputs, sample, *running, outcome, got);
    }
    end(*running, outcome);
    return got;
  }

 private:
  // What children read: the artifact, and the runner's own kernels for this device.
  Status make_directory() {
    if (directory_) return {};
    Result<PrivateDirectory> made = PrivateDirectory::make();
    if (!made) return fail(made.error());
    if (const Status done = made->write("artifact", artifact_); !done) return done;
    const Result<std::string> kernels =
        compile_runner_kernels(build_architecture(device_.architecture), find_toolchain());
    if (kernels) {
      if (const Status done = made->write("kernels", *kernels); !done) return done;
    } else {
      kernels_fault_ = kernels.error();
    }
    directory_ = std::make_unique<PrivateDirectory>(std::move(*made));
    return {};
  }

  static fs::path own_path() {
    std::error_code ignored;
    return fs::read_symlink("/proc/self/exe", ignored);
  }

  static std::map<std::string, std::string> child_environment() {
    return {{"LANG", "C"},
            {"CUDA_MODULE_LOADING", "EAGER"},
            {"CUDA_CACHE_DISABLE", "1"},
            {"CUDA_FORCE_PTX_JIT", "0"}};
  }

  // A child of this program that may use the device.
  ConfinedPlan child_plan(std::string mode) const {
    const fs::path self = own_path();
    ConfinedPlan plan;
    plan.command = {self.string(), std::move(mode)};
    plan.environment = child_environment();
    plan.log_bytes = job_.limits.log_bytes;
    plan.sandbox.directory = directory_->path();
    plan.sandbox.readable = system_folders();
    plan.sandbox.readable.push_back(self.parent_path());
    plan.sandbox.readable.push_back(find_toolchain().cuda_root);
    plan.sandbox.writable = {"/dev"};
    plan.sandbox.processes = job_.limits.pids;
    plan.sandbox.memory_bytes = std::int64_t{32} << 30;
    plan.sandbox.cap_address_space = false;  // the driver reserves more than there is
    return plan;
  }

  std::string kernels_path() const {
    return kernels_fault_ ? std::string() : (directory_->path() / "kernels").string();
  }

  Result<SentinelOutcome> run_sentinels(ClockVariant clocks, std::int64_t repetitions,
                                        const Digest& boot) {
    if (const Status done = make_directory(); !done) return fail(done.error());
    if (kernels_fault_) return fail(*kernels_fault_);
    auto process = ConfinedProcess::start(child_plan("role-sentinels"));
    if (!process) return fail(process.error());
    const auto deadline = Clock::now() + kSentinelStart + repetitions * kSentinelRepetition;
    std::vector<SentinelSample> samples;
    std::string payload = kernels_path();
    for (std::int64_t i = -1; i < repetitions; ++i) {
      const auto judged =
          (*process)->request(i < 0 ? FrameKind::open : FrameKind::sample, payload, deadline);
      if (judged.what != ChildChannel::Judged::What::answer) {
        return fail(ErrorKind::system, "SENTINEL_CHILD", {},
                    "the sentinels gave no answer: " + judged.payload + (*process)->log());
      }
      payload.clear();
      if (i < 0) continue;
      const std::optional<SentinelSample> sample = decode_sentinel_sample(judged.payload);
      if (!sample) {
        return fail(ErrorKind::system, "SENTINEL_CHILD", {}, "the sentinels answered no sample");
      }
      samples.push_back(*sample);
    }
    (*process)->request(FrameKind::finish, {}, deadline);
    (*process)->wait(std::min(deadline, Clock::now() + kEndOfChild));
    return sentinel_outcome(clocks, boot, samples);
  }

  struct WorkloadBytes {
    std::size_t inputs = 0;
    std::size_t outputs = 0;
  };
  static WorkloadBytes bytes_of(const BoundWorkload& workload) {
    WorkloadBytes bytes;
    for (const InputSpec& spec : workload.operation->inputs) {
      if (spec.role == InputRole::scalar) continue;
      bytes.inputs += HostTensor("", spec.dtype, *extents(spec.axes, workload.axes)).bytes().size();
    }
    for (const OutputSpec& spec : workload.operation->outputs) {
      bytes.outputs +=
          HostTensor("", spec.dtype, *extents(spec.axes, workload.axes)).bytes().size();
    }
    return bytes;
  }

  Result<RunningTrial> start(const BoundWorkload& workload) {
    RunningTrial running;
    const auto [in, out] = bytes_of(workload);
    running.inputs = std::make_unique<SharedMemory>(in);
    running.outputs = std::make_unique<SharedMemory>(out);
    if (!running.inputs->made() || !running.outputs->made()) {
      return fail(ErrorKind::system, "NO_MEMORY", {}, "memory to share with a child cannot be had");
    }
    if (const Status done = make_directory(); !done) return fail(done.error());
    ConfinedPlan plan = child_plan("role-child");
    plan.more_descriptors = {running.inputs->duplicate(), running.outputs->duplicate()};
    auto process = ConfinedProcess::start(plan);
    if (!process) return fail(process.error());
    running.process = std::move(*process);
    running.deadline = Clock::now() + std::chrono::seconds(job_.limits.child_seconds);
    return running;
  }

  // Whether the child took the artifact.
  bool loaded(const BoundWorkload& workload, Trial::Kind kind, RunningTrial& running,
              TrialOutcome& outcome) {
    const LaunchManifest* manifest = nullptr;
    Result<LaunchManifest> read = fail(ErrorKind::not_found, "NONE", {}, "none");
    if (job_.recipe.binding == BuildRecipe::Binding::ki_kernel) {
      for (const JobSourceFile& source : job_.sources) {
        if (source.path == job_.recipe.entry_path) read = read_launch_manifest(source.content);
      }
      if (read) manifest = &*read;
    }
    Result<ChildLoad> load = plan_load(workload, job_.recipe, manifest, lowered_,
                                       (directory_->path() / "artifact").string());
    if (!load) {
      outcome.log = load.error().text() + "\n";
      outcome.facts.end = Trial::End::error;
      return false;
    }
    load->kernels_image = kernels_path();
    if (kind == Trial::Kind::cupti_envelope) load->cuda_root = find_toolchain().cuda_root.string();
    const auto opened =
        running.process->request(FrameKind::open, encode_load(*load), running.deadline);
    if (kind == Trial::Kind::cupti_envelope && opened.payload.starts_with("CUPTI_UNAVAILABLE")) {
      // No fault of the candidate, none of whose code was there: no samples, and the log says why.
      outcome.log += opened.payload + "\n";
      return false;
    }
    if (!answered(opened, outcome)) return false;
    look_at_code(running, outcome);
    if (!answered(running.process->request(FrameKind::load, {}, running.deadline), outcome)) {
      return false;
    }
    running.threads = running.process->threads();
    return true;
  }

  // The code that takes the time, before any code of others is there.
  static void look_at_code(RunningTrial& running, TrialOutcome& outcome) {
    const Result<CodeImages> code = read_timing_code(running.process->inner(), own_path().string());
    if (!code) {
      outcome.log += code.error().text() + "\n";
      return;
    }
    running.code = *code;
    for (const auto& [file, image] : running.code) {
      if (!image.as_in_file) outcome.log += file + ": its code is not that of the file\n";
    }
  }

  // And after all calls, while the child still waits for its next request.
  static void look_at_code_again(RunningTrial& running) {
    if (running.code.empty()) return;
    const Result<CodeImages> now = read_timing_code(running.process->inner(), own_path().string());
    if (!now) return;  // it is gone, and its end says so
    running.seen[Observation::What::code_pages] = {static_cast<std::int64_t>(running.code.size()),
                                                   changed_code(running.code, *now)};
  }

  // Whether there are more threads than before the calls.
  static void count_threads(RunningTrial& running) {
    const std::uint32_t now = running.process->threads();
    if (now > 0 && running.threads > 0)
      running.saw(Observation::What::threads, now > running.threads);
  }

  static std::optional<std::string> answered(ChildChannel::Judged judged, TrialOutcome& outcome) {
    if (judged.what == ChildChannel::Judged::What::answer) return std::move(judged.payload);
    outcome.facts.end = Trial::End::error;
    outcome.log += judged.payload + "\n";
    return std::nullopt;
  }

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

  // Asks the child for one thing. Nothing when it gave no report; then the trial is over.
  std::optional<SampleReport> ask(const ChildSample& sample, RunningTrial& running,
                                  TrialOutcome& outcome) {
    const auto payload = answered(
        running.process->request(FrameKind::sample, encode_sample(sample), running.deadline),
        outcome);
    if (!payload) return std::nullopt;
    std::optional<ChildReport> report = decode_report(*payload);
    if (!report) {
      outcome.facts.end = Trial::End::error;
      running.saw(Observation::What::frames, true);
      return std::nullopt;
    }
    if (sample.what != ChildSample::What::empty_window) {
      running.saw(Observation::What::cuda_errors,
                  report->sample.cuda_error != 0 || report->sample.call_result != 0);
    }
    running.call = std::move(report->call);
    return report->sample;
  }

  static bool write_inputs(const BoundWorkload& workload, const Arguments& inputs,
                           const RunningTrial& running) {
    off_t at = 0;
    for (std::size_t i = 0; i < inputs.inputs.size(); ++i) {
      if (workload.operation->inputs[i].role == InputRole::scalar) continue;
      if (!running.inputs->write(at, inputs.inputs[i].text())) return false;
      at += static_cast<off_t>(inputs.inputs[i].bytes().size());
    }
    return true;
  }

  static std::optional<std::vector<HostTensor>> read_outputs(const BoundWorkload& workload,
                                                             const RunningTrial& running) {
    std::vector<HostTensor> outputs;
    off_t at = 0;
    for (const OutputSpec& spec : workload.operation->outputs) {
      HostTensor tensor(std::string(spec.name), spec.dtype, *extents(spec.axes, workload.axes));
      if (!running.outputs->read(at, tensor.bytes())) return std::nullopt;
      at += static_cast<off_t>(tensor.bytes().size());
      outputs.push_back(std::move(tensor));
    }
    return outputs;
  }

  // One call with these inputs: the report, and the outputs.
  std::optional<SampleReport> call(const BoundWorkload& workload, const Arguments& inputs,
                                   const ChildSample& sample, RunningTrial& running,
                                   TrialOutcome& outcome, std::vector<HostTensor>& outputs) {
    if (!write_inputs(workload, inputs, running)) return std::nullopt;
    const std::optional<SampleReport> report = ask(sample, running, outcome);
    if (!report) return std::nullopt;
    running.saw(Observation::What::guards, report->guards_broken);
    running.saw(Observation::What::inputs, report->inputs_changed);
    running.saw(Observation::What::aliases, report->output_aliases);
    running.saw(Observation::What::l2_limit, report->l2_limit_changed);
    poller_.poll(Clock::now(), 1);  // the child
    auto read = read_outputs(workload, running);
    if (!read) return std::nullopt;
    outputs = std::move(*read);
    return report;
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
        const std::int64_t row =
            rows == outputs[i].rows()
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

  // Whether the outputs are right; says so, and whether wrong ones are those of an earlier sample.
  void judge_outputs(const BoundWorkload& workload, const Arguments& inputs,
                     const std::vector<HostTensor>& outputs, std::deque<std::uint64_t>& hashes,
                     RunningTrial& running) {
    const bool right = verify(workload, inputs, outputs);
    running.saw(Observation::What::outputs, !right);
    const std::string first = sha256(outputs[0].text()).hex().substr(0, 16);
    std::uint64_t hash = 0;
    std::from_chars(first.data(), first.data() + first.size(), hash, 16);
    if (!right) {
      running.saw(Observation::What::replayed,
                  is_replay(std::vector<std::uint64_t>(hashes.begin(), hashes.end()), hash));
    }
    hashes.push_back(hash);
    if (hashes.size() > kRemembered) hashes.pop_front();
  }

  // Trials whose medians are published go on until these are precise; others are short.
  static bool is_enough(Trial::Kind kind, const Samples& samples, Clock::time_point begin) {
    const bool published = kind == Trial::Kind::timed || kind == Trial::Kind::cupti_envelope;
    if (!published && samples.size() >= kDiagnosticSamples) return true;
    const StoppingRule rule;
    const std::int64_t elapsed =
        std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin).count();
    return !samples.empty() && samples.size() % rule.block == 0 &&
           decide_stop(samples, elapsed, rule) != Stop::go_on;
  }

  // Keeps a sample, and its envelope where CUPTI records. Whether the trial has enough of them.
  static bool keep(Trial::Kind kind, const SampleReport& report, const CallActivities& call,
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

  void conclude(const BoundWorkload& workload, Trial::Kind kind, const TrialSamples& samples,
                const EnvelopePass& pass, TrialOutcome& outcome) {
    samples.describe(outcome.facts);
    if (kind == Trial::Kind::cupti_envelope) {
      pass.describe(outcome.facts);
      outcome.samples = pass.envelopes();
      outcome.findings = pass.findings();
      if (pass.works_per_call() > 0) launches_[workload.digest] = pass.works_per_call();
      return;
    }
    outcome.samples = samples.windows();
    if (kind == Trial::Kind::timed && !outcome.samples.empty()) {
      timed_medians_[workload.digest] = median_of(outcome.samples);
    }
  }

  void measure(const BoundWorkload& workload, Trial::Kind kind, const SeedOf& seed,
               RunningTrial& running, TrialOutcome& outcome) {
    if (kind == Trial::Kind::empty_window) return measure_empty(running, outcome);
    if (kind == Trial::Kind::wall_clock) return measure_wall(workload, seed, running, outcome);
    const auto begin = Clock::now();
    TrialSamples samples(!kernels_fault_);
    EnvelopePass pass;
    std::deque<std::uint64_t> hashes;
    const bool constant = kind == Trial::Kind::constant_address;
    for (std::uint32_t i = 0; i < kMostCalls; ++i) {
      const bool warming = samples.warm_windows().size() < kWarmupCalls;
      // Warm-up has seeds of its own, and so has every sample; but for the trial of one input.
      const std::string drawn = seed(warming                           ? (1u << 30) + i
                                     : kind == Trial::Kind::same_input ? 0
                                                                       : i);
      const Result<Arguments> inputs = inputs_of(workload, drawn);
      if (!inputs) {
        outcome.facts.end = Trial::End::error;
        break;
      }
      ChildSample sample;
      sample.plan = plan_of(workload, seed((1u << 29) + i), constant, true);
      sample.plan.blocking = samples.blocking();
      if (kind == Trial::Kind::clean_flush) sample.plan.flush = SamplePlan::Flush::read;
      std::vector<HostTensor> outputs;
      const auto report = call(workload, *inputs, sample, running, outcome, outputs);
      if (!report) break;
      judge_outputs(workload, *inputs, outputs, hashes, running);
      if (i % kThreadsEvery == 0) count_threads(running);
      if (warming) {
        samples.warm(*report);
      } else if (keep(kind, *report, running.call, begin, samples, pass)) {
        break;
      }
    }
    conclude(workload, kind, samples, pass, outcome);
    if (outcome.facts.end == Trial::End::done) {
      outcome.facts.compare_ns = compare_cost(samples.blocking(), running, outcome);
    }
  }

  static ChildSample empty_window(bool blocking) {
    ChildSample sample;
    sample.what = ChildSample::What::empty_window;
    sample.plan.blocking = blocking;
    return sample;
  }

  // What is queued behind each window costs, with nothing in the window.
  std::optional<std::int64_t> compare_cost(bool blocking, RunningTrial& running,
                                           TrialOutcome& outcome) {
    Samples costs;
    for (int i = 0; i < kCompareWindows; ++i) {
      const auto report = ask(empty_window(blocking), running, outcome);
      if (!report) return std::nullopt;
      costs.push_back(report->late_ns);
    }
    return static_cast<std::int64_t>(median_of(costs));
  }

  void measure_empty(RunningTrial& running, TrialOutcome& outcome) {
    outcome.facts.blocking = !kernels_fault_;
    for (int i = 0; i < kEmptyWindows; ++i) {
      const auto report = ask(empty_window(outcome.facts.blocking), running, outcome);
      if (!report) return;
      outcome.samples.push_back(report->window_ns);
    }
  }

  // The parent's clock around one request. Nothing when there was no report, or a bad one.
  std::optional<std::uint64_t> time_request(const ChildSample& sample, RunningTrial& running,
                                            TrialOutcome& outcome) {
    const auto begin = Clock::now();
    const auto report = ask(sample, running, outcome);
    const auto taken = Clock::now() - begin;
    if (!report || report->cuda_error != 0 || report->call_result != 0) return std::nullopt;
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(taken).count());
  }

  bool fill_slot(const BoundWorkload& workload, std::uint64_t slot, const Arguments& inputs,
                 RunningTrial& running, TrialOutcome& outcome) {
    ChildSample sample;
    sample.what = ChildSample::What::fill_slot;
    sample.number = slot;
    return write_inputs(workload, inputs, running) && ask(sample, running, outcome).has_value();
  }

  // PROTOCOL section 9.5. No samples rather than wrong ones: without the median that is to be
  // bounded and the number of launches that a call makes, the bound would accuse everybody of
  // launching.
  void measure_wall(const BoundWorkload& workload, const SeedOf& seed, RunningTrial& running,
                    TrialOutcome& outcome) {
    const auto median = timed_medians_.find(workload.digest);
    const auto launches = launches_.find(workload.digest);
    if (median == timed_medians_.end() || launches == launches_.end() || kernels_fault_) {
      outcome.log +=
          "NO_WALL_BOUND it needs a timed trial, a CUPTI pass and the runner's kernels\n";
      return;
    }
    const WorkloadBytes bytes = bytes_of(workload);
    const WallPlan plan = plan_wall(median->second, bytes.inputs + bytes.outputs);
    std::uint32_t drawn = 0;
    const auto fresh = [&](std::uint64_t slot) -> std::optional<Arguments> {
      Result<Arguments> inputs = inputs_of(workload, seed(drawn++));
      if (!inputs || !fill_slot(workload, slot, *inputs, running, outcome)) return std::nullopt;
      return std::move(*inputs);
    };
    ChildSample sample;
    sample.what = ChildSample::What::make_slots;
    sample.number = plan.slots;
    if (!time_request(sample, running, outcome)) return;
    for (std::uint64_t slot = 0; slot < plan.slots; ++slot) {
      if (!fresh(slot)) return;
    }
    ChildSample calls;
    calls.what = ChildSample::What::run_slots;
    calls.number = plan.slots;  // warms up, and shows what memory a call asks for
    if (!time_request(calls, running, outcome)) return;
    ChildSample nothing;
    nothing.what = ChildSample::What::run_nothing;
    nothing.number = plan.calls;
    nothing.launches = launches->second;
    const auto overhead = time_request(nothing, running, outcome);
    if (!overhead) return;
    calls.number = plan.calls;
    std::uint64_t total = 0;
    for (std::uint64_t batch = 0; batch < kWallBatches; ++batch) {
      const std::uint64_t slot = batch % plan.slots;
      const std::optional<Arguments> inputs = fresh(slot);
      if (!inputs) return;
      const auto taken = time_request(calls, running, outcome);
      if (!taken || !challenge(workload, slot, *inputs, running, outcome)) return;
      total += *taken;
    }
    outcome.samples = {total};
    outcome.facts.calls = static_cast<std::int64_t>(plan.calls * kWallBatches);
    outcome.facts.overhead_ns = static_cast<std::int64_t>(*overhead / plan.calls);
  }

  // The output of a slot that got its input just now. False when the trial is over.
  bool challenge(const BoundWorkload& workload, std::uint64_t slot, const Arguments& inputs,
                 RunningTrial& running, TrialOutcome& outcome) {
    ChildSample sample;
    sample.what = ChildSample::What::read_slot;
    sample.number = slot;
    const auto report = ask(sample, running, outcome);
    if (!report) return false;
    running.saw(Observation::What::aliases, report->output_aliases);
    const auto outputs = read_outputs(workload, running);
    if (!outputs) return false;
    running.saw(Observation::What::outputs, !verify(workload, inputs, *outputs));
    return true;
  }

  void end(RunningTrial& running, TrialOutcome& outcome) {
    if (outcome.facts.end == Trial::End::done) {
      look_at_code_again(running);
      count_threads(running);
      running.process->request(FrameKind::finish, {}, running.deadline);
    }
    const ConfinedEnd ended =
        running.process->wait(std::min(running.deadline, Clock::now() + kEndOfChild));
    if (ended.forbidden_call()) {
      outcome.facts.end = Trial::End::forbidden;
    } else if (ended.out_of_memory) {
      outcome.facts.end = Trial::End::resource;
    } else if (ended.timed_out && Clock::now() >= running.deadline) {
      outcome.facts.end = Trial::End::timeout;
    } else if (ended.signal != 0 && !ended.timed_out) {
      outcome.facts.end = Trial::End::signal;
    }
    outcome.sandbox = running.process->facts();
    outcome.log += running.process->log();
    outcome.log_original_bytes = std::max(running.process->log_original_bytes(),
                                          static_cast<std::int64_t>(outcome.log.size()));
    running.seen[Observation::What::frames].first += running.process->packets();
    running.seen[Observation::What::frames].second += running.process->forgeries();
    for (const auto& [what, counts] : running.seen) {
      outcome.facts.observations.push_back({what, counts.first, counts.second});
    }
  }

  const JobDocument& job_;
  MeasuredDevice device_;
  std::string driver_;
  DevicePoller poller_;
  std::string artifact_;
  std::map<std::string, std::string> lowered_;
  std::map<Digest, std::uint64_t> timed_medians_;  // of the last timed trial of a workload
  std::map<Digest, std::uint64_t> launches_;       // kernels, copies and fills of a call
  std::unique_ptr<PrivateDirectory> directory_;
  std::optional<Error> kernels_fault_;  // why the runner's own kernels are not there
};

std::unexpected<Error> no_device(std::string why) {
  return fail(ErrorKind::system, "NO_DEVICE", {},
              "there is no device to measure on: " + std::move(why),
              "See `kernelindex-runner doctor`, or use --simulate to see the flow");
}

Result<ChildArgument> plan_argument(const BoundWorkload& workload, const LaunchArgument& argument) {
  ChildArgument planned;
  const auto place = [&argument](const auto& specs) -> std::optional<std::uint64_t> {
    std::uint64_t at = 0;
    for (const auto& spec : specs) {
      if (spec.name == argument.text) return at;
      if constexpr (requires { spec.role; }) {
        if (spec.role == InputRole::scalar) continue;
      }
      ++at;
    }
    return std::nullopt;
  };
  switch (argument.kind) {
    case LaunchArgument::Kind::input:
    case LaunchArgument::Kind::output: {
      const bool input = argument.kind == LaunchArgument::Kind::input;
      const auto index =
          input ? place(workload.operation->inputs) : place(workload.operation->outputs);
      if (!index)
        return fail(ErrorKind::invalid, "UNKNOWN_TENSOR", argument.text, "there is no such tensor");
      planned.kind = input ? ChildArgument::Kind::input : ChildArgument::Kind::output;
      planned.index = *index;
      return planned;
    }
    case LaunchArgument::Kind::workspace:
      planned.kind = ChildArgument::Kind::workspace;
      return planned;
    case LaunchArgument::Kind::i32:
    case LaunchArgument::Kind::i64: {
      const Result<std::int64_t> value = evaluate_expression(argument.text, workload.axes);
      if (!value) return fail(value.error());
      const bool narrow = argument.kind == LaunchArgument::Kind::i32;
      if (narrow && *value != static_cast<std::int32_t>(*value)) {
        return fail(ErrorKind::invalid, "EXPRESSION_OVERFLOW", argument.text,
                    "a value does not fit 32 bits");
      }
      planned.kind = narrow ? ChildArgument::Kind::i32 : ChildArgument::Kind::i64;
      planned.integer = *value;
      return planned;
    }
    case LaunchArgument::Kind::f32:
    case LaunchArgument::Kind::f64: {
      planned.kind = argument.kind == LaunchArgument::Kind::f32 ? ChildArgument::Kind::f32
                                                                : ChildArgument::Kind::f64;
      planned.real = std::strtod(argument.text.c_str(), nullptr);
      return planned;
    }
    case LaunchArgument::Kind::scalar: {
      const auto value = workload.scalars.find(argument.text);
      if (value == workload.scalars.end()) {
        return fail(ErrorKind::invalid, "MISSING_SCALAR", argument.text,
                    "the workload gives it no value");
      }
      planned.kind = ChildArgument::Kind::f32;
      planned.real = value->second;
      return planned;
    }
  }
  return planned;
}

}  // namespace

Result<ChildLoad> plan_load(const BoundWorkload& workload, const BuildRecipe& recipe,
                            const LaunchManifest* manifest,
                            const std::map<std::string, std::string>& lowered_names,
                            std::string artifact_path) {
  ChildLoad load;
  load.binding = recipe.binding == BuildRecipe::Binding::torch    ? ChildLoad::Binding::torch
                 : recipe.binding == BuildRecipe::Binding::ki_abi ? ChildLoad::Binding::ki_abi
                                                                  : ChildLoad::Binding::ki_kernel;
  load.artifact = std::move(artifact_path);
  load.symbol = recipe.entry_symbol;
  load.destination_passing = recipe.destination_passing;
  const auto describe = [&workload](Dtype dtype, std::span<const std::string_view> axes) {
    const HostTensor shape("", dtype, *extents(axes, workload.axes));
    ChildTensor tensor;
    tensor.dtype = dlpack_code(dtype);
    tensor.shape.assign(shape.shape().begin(), shape.shape().end());
    tensor.bytes = shape.bytes().size();
    return tensor;
  };
  for (const InputSpec& input : workload.operation->inputs) {
    ChildTensor tensor;
    if (input.role == InputRole::scalar) {
      const auto value = workload.scalars.find(input.name);
      if (value == workload.scalars.end()) {
        return fail(ErrorKind::invalid, "MISSING_SCALAR", std::string(input.name),
                    "the workload gives it no value");
      }
      tensor.scalar = true;
      tensor.value = value->second;
    } else {
      tensor = describe(input.dtype, input.axes);
    }
    load.inputs.push_back(std::move(tensor));
  }
  for (const OutputSpec& output : workload.operation->outputs) {
    load.outputs.push_back(describe(output.dtype, output.axes));
  }
  if (manifest == nullptr) return load;
  const Result<std::int64_t> workspace =
      evaluate_expression(manifest->workspace_bytes, workload.axes);
  if (!workspace) return fail(workspace.error());
  if (*workspace < 0 || *workspace > LaunchLimits{}.workspace_bytes) {
    return fail(ErrorKind::invalid, "LAUNCH_LIMIT", manifest->workspace_bytes,
                "the workspace is out of range");
  }
  load.workspace_bytes = static_cast<std::uint64_t>(*workspace);
  for (const LaunchKernel& kernel : manifest->kernels) {
    const auto name = lowered_names.find(kernel.name);
    if (name == lowered_names.end()) {
      return fail(ErrorKind::invalid, "NO_LOWERED_NAME", kernel.name,
                  "the image has no such kernel");
    }
    const Result<LaunchShape> shape = evaluate_launch(kernel.grid, kernel.block, kernel.cluster,
                                                      kernel.shared_bytes, workload.axes);
    if (!shape) return fail(shape.error());
    if (!kernel.cluster.empty()) {
      return fail(ErrorKind::invalid, "LAUNCH_LIMIT", kernel.name, "clusters are not launched yet");
    }
    ChildKernel planned;
    planned.symbol = name->second;
    planned.shared_bytes = shape->shared_bytes;
    for (std::size_t i = 0; i < 3; ++i) {
      planned.grid[i] = shape->grid[i];
      planned.block[i] = shape->block[i];
    }
    for (const LaunchArgument& argument : kernel.args) {
      Result<ChildArgument> one = plan_argument(workload, argument);
      if (!one) return fail(one.error());
      planned.arguments.push_back(*one);
    }
    load.kernels.push_back(std::move(planned));
  }
  return load;
}

Result<std::unique_ptr<Bench>> make_device_bench(const JobDocument& job) {
  const LoadedDriver driver = load_driver();
  if (!driver.usable()) return no_device("the driver is not here");
  LoadedNvml nvml = load_nvml();
  if (!nvml.usable() || nvml.nvml.init() != 0) return no_device("NVML is not here");
  const CudaDriver& cuda = driver.driver;
  CudaDevice device = 0;
  NvmlDevice handle = nullptr;
  if (cuda.init(0) != kCudaSuccess || cuda.device_get(&device, 0) != kCudaSuccess ||
      nvml.nvml.device_by_index(0, &handle) != 0) {
    return no_device("the driver sees none");
  }
  MeasuredDevice described;
  described.kind = MeasuredDevice::Kind::physical;
  std::array<char, 256> text{};
  nvml.nvml.device_name(handle, text.data(), static_cast<unsigned>(text.size()) - 1);
  const std::string name = text.data();
  described.product = product_of(name);
  if (described.product != name) described.reported_name = name;
  int major = 0;
  int minor = 0;
  cuda.device_attribute(&major, kAttributeMajor, device);
  cuda.device_attribute(&minor, kAttributeMinor, device);
  described.architecture = "sm_" + std::to_string(major) + std::to_string(minor);
  std::size_t memory = 0;
  if (cuda.device_memory(&memory, device) == kCudaSuccess) {
    described.memory_bytes = static_cast<std::int64_t>(memory);
  }
  text = {};
  nvml.nvml.device_uuid(handle, text.data(), static_cast<unsigned>(text.size()) - 1);
  described.id = keyed_id(job.ledger, text.data());
  text = {};
  nvml.nvml.driver_version(text.data(), static_cast<unsigned>(text.size()) - 1);
  return std::make_unique<DeviceBench>(job, std::move(described), text.data(), nvml.nvml, handle);
}

}  // namespace kernelindex::runner
