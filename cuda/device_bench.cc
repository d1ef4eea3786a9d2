// SPDX-License-Identifier: Apache-2.0
#include "cuda/device_bench.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <optional>
#include <vector>

#include "cuda/child_frames.h"
#include "cuda/child_plan.h"
#include "cuda/confined_process.h"
#include "cuda/cuda_driver.h"
#include "cuda/device_polls.h"
#include "cuda/device_trial.h"
#include "cuda/host_facts.h"
#include "cuda/runner_kernels.h"
#include "cuda/sentinel_kernels.h"
#include "cuda/trial_child.h"

namespace kernelindex::runner {
namespace {

namespace fs = std::filesystem;
using Clock = ConfinedProcess::Clock;
constexpr std::chrono::seconds kEndOfChild{20};
// A context and 3 GiB of numbers; then a few milliseconds each, and plenty of room.
constexpr std::chrono::seconds kSentinelStart{60};
constexpr std::chrono::milliseconds kSentinelRepetition{200};

// Importers' spelling of what NVML says: "NVIDIA H200" of "NVIDIA H200 141GB HBM3e".
std::string product_of(std::string_view name) {
  for (const std::string_view known :
       {"NVIDIA H200", "NVIDIA H100", "NVIDIA B200", "NVIDIA A100"}) {
    if (name.starts_with(known)) return std::string(known);
  }
  return std::string(name);
}

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
    Result<std::unique_ptr<TrialChild>> child = start(workload, kind);
    if (!child) return fail(child.error());
    if (load(**child)) measure_trial(**child, seed, !kernels_fault_, findings_);
    return (*child)->end();
  }

  Result<std::vector<HostTensor>> outputs(const BoundWorkload& workload,
                                          const Arguments& inputs) override {
    Result<std::unique_ptr<TrialChild>> child = start(workload, Trial::Kind::timed);
    if (!child) return fail(child.error());
    std::vector<HostTensor> got;
    if (load(**child)) got = call_once(**child, inputs);
    (*child)->end();
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

  Result<std::unique_ptr<TrialChild>> start(const BoundWorkload& workload, Trial::Kind kind) {
    if (const Status done = make_directory(); !done) return fail(done.error());
    return TrialChild::start(workload, kind, child_plan("role-child"), job_.limits.child_seconds,
                             poller_);
  }

  // Nothing but with the binding ki-kernel, and when it cannot be read: the plan says so then.
  std::optional<LaunchManifest> launch_manifest() const {
    if (job_.recipe.binding != BuildRecipe::Binding::ki_kernel) return std::nullopt;
    for (const JobSourceFile& source : job_.sources) {
      if (source.path != job_.recipe.entry_path) continue;
      Result<LaunchManifest> read = read_launch_manifest(source.content);
      if (read) return std::move(*read);
    }
    return std::nullopt;
  }

  // Whether the child took the artifact.
  bool load(TrialChild& child) const {
    const std::optional<LaunchManifest> manifest = launch_manifest();
    Result<ChildLoad> plan =
        plan_load(child.workload(), job_.recipe, manifest ? &*manifest : nullptr, lowered_,
                  (directory_->path() / "artifact").string());
    TrialOutcome& outcome = child.outcome();
    if (!plan) {
      outcome.log = plan.error().text() + "\n";
      outcome.facts.end = Trial::End::error;
      return false;
    }
    plan->kernels_image = kernels_path();
    if (outcome.facts.kind == Trial::Kind::cupti_envelope) {
      plan->cuda_root = find_toolchain().cuda_root.string();
    }
    return child.load(*plan);
  }

  const JobDocument& job_;
  MeasuredDevice device_;
  std::string driver_;
  DevicePoller poller_;
  std::string artifact_;
  std::map<std::string, std::string> lowered_;
  TrialFindings findings_;
  std::unique_ptr<PrivateDirectory> directory_;
  std::optional<Error> kernels_fault_;  // why the runner's own kernels are not there
};

std::unexpected<Error> no_device(std::string why) {
  return fail(ErrorKind::system, "NO_DEVICE", {},
              "there is no device to measure on: " + std::move(why),
              "See `kernelindex-runner doctor`, or use --simulate to see the flow");
}

}  // namespace

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
