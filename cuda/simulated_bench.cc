// SPDX-License-Identifier: Apache-2.0
// A bench without a device, for demonstrations and tests of the flow: times are made up, in a child
// that is as confined as a real one. Its device is `simulated`, which no acceptance takes.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <utility>

#include "cuda/child_frames.h"
#include "cuda/confined_process.h"
#include "cuda/host_facts.h"
#include "cuda/input_seed.h"
#include "cuda/measurement.h"

namespace kernelindex::runner {
namespace {

constexpr std::uint64_t kMadeUpNs = 50'000;
constexpr std::size_t kTimedSamples = 200;
constexpr std::size_t kDiagnosticSamples = 50;
constexpr std::uint64_t kWallCalls = 2000;

std::string number_text(std::uint64_t value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

// Around 50 us, decided by the seed of the sample alone.
std::uint64_t made_up_ns(std::string_view seed) {
  return kMadeUpNs + WordStream(seed).word(0) % 200;
}

Samples repeated(std::uint64_t value, std::int64_t count) {
  return Samples(static_cast<std::size_t>(count), value);
}

class SimulatedBench final : public Bench {
 public:
  SimulatedBench(const JobDevice& device, const Digest& ledger, const JobLimits& limits)
      : limits_(limits) {
    device_.kind = MeasuredDevice::Kind::simulated;
    device_.product = device.product.empty() ? "simulated" : device.product;
    device_.architecture = device.architecture.empty() ? "sm_90" : device.architecture;
    device_.memory_bytes = device.memory_bytes;
    device_.mig_profile = device.mig_profile;
    device_.count = device.count;
    device_.id = keyed_id(ledger, "simulated");
  }

  MeasuredDevice device() const override { return device_; }
  std::string driver() const override { return {}; }
  std::optional<DevicePolls> polls() const override { return std::nullopt; }
  MeasuredSettings settings() const override {
    MeasuredSettings settings;
    settings.environment_variables = child_environment();
    return settings;
  }
  void use(const BuildOutcome&) override {}

  Result<SentinelOutcome> sentinels(ClockVariant clocks, std::int64_t repetitions,
                                    const Digest& boot) override {
    SentinelOutcome outcome;
    outcome.session = {boot, clocks, repetitions, 2'000, 700'000, 1'000'000, 900'000, 1'500'000};
    for (const std::int64_t value :
         {outcome.session.launch_ns, outcome.session.bandwidth_ns, outcome.session.compute_ns,
          outcome.session.tensor_ns, outcome.session.sm_khz}) {
      const Samples series = repeated(static_cast<std::uint64_t>(value), repetitions);
      outcome.samples.insert(outcome.samples.end(), series.begin(), series.end());
    }
    return outcome;
  }

  Result<TrialOutcome> trial(const BoundWorkload& workload, Trial::Kind kind, std::uint32_t,
                             const std::function<std::string(std::uint32_t)>& seed) override {
    const Result<PrivateDirectory> directory = PrivateDirectory::make();
    if (!directory) return fail(directory.error());
    std::error_code ignored;
    const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", ignored);
    ConfinedPlan plan;
    plan.command = {self.string(), "role-simulated-child"};
    plan.environment = child_environment();
    plan.log_bytes = limits_.log_bytes;
    plan.sandbox.directory = directory->path();
    plan.sandbox.readable = system_folders();
    plan.sandbox.readable.push_back(self.parent_path());
    plan.sandbox.writable = {"/dev/null"};
    plan.sandbox.processes = limits_.pids;
    plan.sandbox.memory_bytes = std::int64_t{1} << 30;
    auto child = ConfinedProcess::start(plan);
    if (!child) return fail(child.error());
    const auto deadline =
        ConfinedProcess::Clock::now() + std::chrono::seconds(limits_.child_seconds);
    TrialOutcome outcome;
    outcome.facts.workload = workload.digest;
    outcome.facts.kind = kind;
    outcome.facts.warmup_steady = true;
    const std::size_t count = kind == Trial::Kind::timed            ? kTimedSamples
                              : kind == Trial::Kind::cupti_envelope ? kTimedSamples
                              : kind == Trial::Kind::wall_clock     ? 1
                                                                    : kDiagnosticSamples;
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto judged = (*child)->request(FrameKind::sample, seed(i), deadline);
      if (judged.what != ChildChannel::Judged::What::answer ||
          judged.payload.size() != sizeof(std::uint64_t)) {
        outcome.facts.end = Trial::End::error;
        break;
      }
      std::uint64_t ns = 0;
      std::memcpy(&ns, judged.payload.data(), sizeof ns);
      outcome.samples.push_back(adjusted(kind, ns));
    }
    (*child)->request(FrameKind::finish, {}, deadline);
    if ((*child)->wait(deadline).timed_out) outcome.facts.end = Trial::End::timeout;
    outcome.sandbox = (*child)->facts();
    outcome.log = (*child)->log();
    outcome.log_original_bytes = (*child)->log_original_bytes();
    describe(kind, **child, outcome);
    return outcome;
  }

  Result<std::vector<HostTensor>> outputs(const BoundWorkload&, const Arguments&) override {
    return std::vector<HostTensor>{};  // nothing was run
  }

 private:
  static std::map<std::string, std::string> child_environment() { return {{"LANG", "C"}}; }
  static std::uint64_t adjusted(Trial::Kind kind, std::uint64_t ns) {
    if (kind == Trial::Kind::cupti_envelope) return ns - ns / 100;
    if (kind == Trial::Kind::empty_window) return 1'500;
    if (kind == Trial::Kind::wall_clock) return kWallCalls * ns;
    return ns;
  }
  static void describe(Trial::Kind kind, const ConfinedProcess& child, TrialOutcome& outcome) {
    if (kind == Trial::Kind::cupti_envelope) {
      outcome.facts.kernels_per_call = 1;
      outcome.facts.activity_records = static_cast<std::int64_t>(outcome.samples.size());
    }
    if (kind == Trial::Kind::wall_clock) {
      outcome.facts.calls = kWallCalls;
      outcome.facts.overhead_ns = 0;
    }
    outcome.facts.observations.push_back(
        {Observation::What::frames, child.packets(), child.forgeries()});
  }

  JobLimits limits_;
  MeasuredDevice device_;
};

}  // namespace

std::unique_ptr<Bench> make_simulated_bench(const JobDevice& device, const Digest& ledger,
                                            const JobLimits& limits) {
  return std::make_unique<SimulatedBench>(device, ledger, limits);
}

int simulated_child_main() {
  if (!forbid_new_processes()) return 3;
  while (const auto request = receive_request(kChannelDescriptor)) {
    if (request->kind == FrameKind::finish) {
      return send_answer(kChannelDescriptor, *request, FrameKind::answer, {}) ? 0 : 1;
    }
    const bool sample =
        request->kind == FrameKind::sample && request->payload.size() == WordStream::kSeedBytes;
    const bool sent =
        sample ? send_answer(kChannelDescriptor, *request, FrameKind::answer,
                             number_text(made_up_ns(request->payload)))
               : send_answer(kChannelDescriptor, *request, FrameKind::failure, "BAD_REQUEST");
    if (!sent) return 1;
  }
  return 1;
}

}  // namespace kernelindex::runner
