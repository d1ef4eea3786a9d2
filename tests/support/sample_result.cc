// SPDX-License-Identifier: Apache-2.0
#include "tests/support/sample_result.h"

#include <algorithm>
#include <map>
#include <span>

#include "schema/manifest.h"

namespace kernelindex::test {
namespace {

constexpr std::string_view kOperation = R"({
  "apiVersion":"kernelindex.dev/v1alpha1","kind":"OperationSpec",
  "metadata":{"name":"triton-ref-vecadd"},
  "spec":{"family":"elementwise","axes":{"n":{"role":"variable","type":"integer"}},
    "inputs":[{"name":"x","tensor":{"shape":["n"],"dtype":"float32"}},
              {"name":"y","tensor":{"shape":["n"],"dtype":"float32"}}],
    "outputs":[{"name":"z","tensor":{"shape":["n"],"dtype":"float32"}}],
    "semantics":{"mutation":"none","determinism":"deterministic"}}})";

std::string workload_text(const Digest& operation) {
  return R"({"apiVersion":"kernelindex.dev/v1alpha1","kind":"WorkloadCase",
    "metadata":{"name":"vecadd-1048576"},
    "spec":{"operationSpecDigest":")" +
         operation.text() + R"(","axes":{"n":1048576},
      "tensors":{"x":{"shape":[1048576],"dtype":"float32"},
                 "y":{"shape":[1048576],"dtype":"float32"}},
      "correctness":{"comparator":"allclose","maxAbsoluteError":0.01,"maxRelativeError":0.01,
                     "requiredMatchedRatio":0.99}}})";
}

// `count` values around the median that have it as their median.
Samples around(std::uint64_t median, std::size_t count, std::uint64_t spread) {
  Samples samples;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t step = count > 1 ? i * 2 * spread / (count - 1) : spread;
    samples.push_back(median + step - spread);
  }
  // Not in order of size, as measured samples are not.
  for (std::size_t i = 0; i + 7 < samples.size(); i += 11) std::swap(samples[i], samples[i + 7]);
  return samples;
}

std::string all_bytes(const std::vector<Samples>& series) {
  std::string bytes;
  for (const Samples& one : series) bytes += write_samples(one);
  return bytes;
}

void name_samples(std::vector<Trial>& trials, const std::vector<Samples>& series,
                  std::string& bytes, std::optional<Digest>& digest) {
  for (std::size_t i = 0; i < trials.size(); ++i) {
    trials[i].samples = static_cast<std::int64_t>(series[i].size());
    trials[i].digest = sha256(write_samples(series[i]));
  }
  bytes = all_bytes(series);
  digest = bytes.empty() ? std::nullopt : std::optional(sha256(bytes));
}

std::vector<Observation> clean_observations(std::int64_t count) {
  std::vector<Observation> all;
  for (const auto what :
       {Observation::What::outputs, Observation::What::guards, Observation::What::inputs,
        Observation::What::aliases, Observation::What::retained, Observation::What::late_work,
        Observation::What::l2_limit, Observation::What::code_pages, Observation::What::threads,
        Observation::What::frames, Observation::What::cuda_errors}) {
    all.push_back({what, count, 0});
  }
  return all;
}

Trial trial(const Digest& workload, Trial::Kind kind) {
  Trial out;
  out.workload = workload;
  out.kind = kind;
  out.warmup_steady = true;
  out.warmup_calls = 40;
  out.observations = clean_observations(200);
  return out;
}

std::vector<Trial> diagnostics(const Digest& workload) {
  using Kind = Trial::Kind;
  std::vector<Trial> all;
  for (const Kind kind : {Kind::cupti_envelope, Kind::clean_flush, Kind::constant_address,
                          Kind::same_input, Kind::empty_window, Kind::wall_clock}) {
    all.push_back(trial(workload, kind));
  }
  all[0].kernels_per_call = 1;
  all[0].activity_records = 200;
  all[5].calls = 2000;
  all[5].overhead_ns = 3'000;
  return all;
}

SandboxFacts full_sandbox() {
  SandboxFacts facts;
  facts.user_namespace = facts.mount_namespace = facts.pid_namespace = true;
  facts.network_namespace = facts.ipc_namespace = facts.no_new_privileges = true;
  facts.seccomp = facts.private_directory = true;
  facts.landlock_abi = 3;
  facts.memory_cap = facts.process_cap = SandboxFacts::Cap::cgroup;
  return facts;
}

DevicePolls calm_polls() {
  DevicePolls polls;
  polls.polls = 500;
  polls.sm_khz_lowest = 1'965'000;
  polls.sm_khz_median = 1'980'000;
  polls.sm_khz_highest = 1'980'000;
  polls.temperature_first = 41;
  polls.temperature_last = 45;
  polls.temperature_highest = 46;
  polls.temperature_slowdown = 87;
  polls.ecc_before = 0;
  polls.ecc_after = 0;
  return polls;
}

void add_correctness(const JobDocument& job, MeasurementResult& result) {
  using Family = CorrectnessRound::Family;
  for (const JobManifest& workload : job.workloads) {
    for (const Family family : {Family::T0, Family::T0, Family::T0, Family::T0, Family::C1,
                                Family::C1, Family::C2, Family::C2, Family::C4, Family::C6}) {
      CorrectnessRound round;
      round.workload = workload.digest;
      round.family = family;
      round.elements = round.matched = 1'048'576;
      round.rms_ppb = 30;
      round.max_absolute_error = 0.0;
      result.rounds.push_back(round);
    }
    for (const char* control : {"zeros", "nan_poison", "constant_mean", "tiny_constant",
                                "input_copy", "partial_reduction", "other_seed"}) {
      result.controls.push_back({workload.digest, control, true});
    }
  }
}

std::string add_sentinels(MeasurementResult& result) {
  SentinelSession session;
  session.boot = result.host.boot;
  session.clocks = result.clocks;
  session.repetitions = 5;
  session.launch_ns = 2'100;
  session.bandwidth_ns = 690'000;
  session.compute_ns = 1'000'000;
  session.tensor_ns = 900'000;
  session.sm_khz = 1'980'000;
  result.sentinels = {session, session};
  std::vector<Samples> series;
  for (int i = 0; i < 2; ++i) {
    for (const std::uint64_t median : {2'100U, 690'000U, 1'000'000U, 900'000U, 1'980'000U}) {
      series.push_back(around(median, 5, 10));
    }
  }
  return all_bytes(series);
}

}  // namespace

JobDocument sample_job() {
  JobDocument job;
  job.ledger = sha256("ledger");
  job.job = sha256("job");
  job.seen_size = 20;
  job.seen_root = sha256("root");
  job.run = sha256("run");
  job.implementation = sha256("implementation");
  job.runner = sha256("runner");
  job.protocol = sha256("protocol");
  job.harness = sha256("harness");
  job.nonce = sha256("nonce").bytes;
  job.expires_at = parse_utc_instant("2026-12-01T12:00:00.000000Z").value();
  job.source_reviewed = true;
  job.device = {"NVIDIA H200", "sm_90", std::nullopt, "", 1};
  job.limits.output_bytes = 1 << 23;
  job.limits.vram_bytes = std::int64_t{16} << 30;
  const auto carried = [](const std::string& text) {
    const Manifest manifest = read_manifest(text).value();
    return JobManifest{manifest.identity, manifest.name, manifest.bytes};
  };
  job.operation = carried(std::string(kOperation));
  job.workloads = {carried(workload_text(job.operation.digest))};
  job.recipe.binding = BuildRecipe::Binding::torch;
  job.recipe.language = "cuda_cpp";
  job.recipe.entry_path = "main.cpp";
  job.recipe.entry_symbol = "run";
  const auto file = [](std::string path, std::string content) {
    return JobSourceFile{std::move(path), sha256(content), content};
  };
  job.sources = {file("kernel.cu", "__global__ void add();\n"),
                 file(std::string(kRecipePath), write_build_recipe(job.recipe)),
                 file("main.cpp", "void run() {}\n")};
  return job;
}

void set_samples(SampleResult& sample, const std::vector<Samples>& timed,
                 const std::vector<Samples>& diagnostic) {
  MeasurementResult& result = sample.result;
  name_samples(result.trials, timed, sample.samples, result.samples);
  name_samples(result.diagnostics, diagnostic, sample.diagnostic_samples,
               result.diagnostic_samples);
  result.statistics.clear();
  std::map<Digest, std::vector<std::span<const std::uint64_t>>> by_workload;
  for (std::size_t i = 0; i < timed.size(); ++i) {
    by_workload[result.trials[i].workload].push_back(timed[i]);
  }
  for (const auto& [workload, trials] : by_workload) {
    if (const auto statistics = pooled_statistics(trials)) {
      result.statistics.emplace(workload, *statistics);
    }
  }
}

SampleResult sample_result(const JobDocument& job, const SampleTiming& timing) {
  SampleResult sample;
  MeasurementResult& result = sample.result;
  result.ledger = job.ledger;
  result.job = job.job;
  result.nonce = job.nonce;
  result.runner = job.runner;
  result.protocol = job.protocol;
  result.harness = job.harness;
  result.clocks = job.clocks;
  result.trust = job.recipe.trust();
  result.started_at = job.expires_at - UtcMicros{3'600'000'000};
  result.finished_at = result.started_at + UtcMicros{120'000'000};
  result.entropy = sha256("entropy").bytes;
  result.device.kind = MeasuredDevice::Kind::physical;
  result.device.product = job.device.product;
  result.device.architecture = job.device.architecture;
  result.device.memory_bytes = std::int64_t{141} << 30;
  result.device.id = sha256("device");
  result.host = {sha256("host"), sha256("boot")};
  result.software.driver = "580.65.06";
  result.software.cuda_toolkit = "13.0";
  result.builder_sandbox = result.child_sandbox = full_sandbox();
  result.polls = calm_polls();
  result.build.built = true;
  result.build.compile_digest = sha256("compile");
  result.build.artifact_digest = sha256("artifact");
  result.build.architecture = "sm_90a";
  for (const JobSourceFile& source : job.sources) {
    if (source.path != kRecipePath) result.build.sources.push_back(source.digest);
  }
  std::ranges::sort(result.build.sources);
  result.build.toolchain = {{"nvcc", "13.0.88"}};
  result.status = RunStatus::passed;
  result.countable = true;
  add_correctness(job, result);
  sample.sentinel_samples = add_sentinels(result);
  result.sentinel_samples = sha256(sample.sentinel_samples);

  const Digest workload = job.workloads.front().digest;
  std::vector<Samples> timed;
  for (const std::uint64_t median : timing.trial_medians) {
    result.trials.push_back(trial(workload, Trial::Kind::timed));
    timed.push_back(around(median, timing.samples, timing.spread));
  }
  const std::uint64_t middle = timed.empty() ? 100'000 : median_of(timing.trial_medians);
  const std::uint64_t cupti = timing.cupti != 0 ? timing.cupti : middle - middle / 100;
  result.diagnostics = diagnostics(workload);
  set_samples(sample, timed,
              {around(cupti, timing.samples, timing.spread),
               around(middle, 50, timing.spread),
               around(middle, 50, timing.spread),
               around(middle, 50, timing.spread),
               around(1'500, 100, 10),
               {2000 * (middle * 9 / 10 + 3'000)}});
  return sample;
}

}  // namespace kernelindex::test
