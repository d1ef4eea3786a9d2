// SPDX-License-Identifier: Apache-2.0
// What a result says of a candidate, with a bench whose every answer the test decides.
#include "cuda/measurement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/cuda/rmsnorm_job.h"

namespace kernelindex::runner {
namespace {

using ::testing::Contains;
using ::testing::Not;

// Honest unless told otherwise. Its device is simulated: nothing here can be taken for a
// measurement.
class TestBench final : public Bench {
 public:
  std::map<Trial::Kind, std::uint64_t> medians;
  std::map<Observation::What, std::int64_t> failures;
  Trial::End end = Trial::End::done;
  Findings findings;  // of the CUPTI pass
  std::set<Trial::Kind> without_samples;
  std::function<void(HostTensor&)> spoil = [](HostTensor&) {};

  MeasuredDevice device() const override {
    MeasuredDevice device;
    device.product = "NVIDIA H200";
    device.architecture = "sm_90";
    device.id = sha256("device");
    return device;
  }
  std::string driver() const override { return {}; }
  std::optional<DevicePolls> polls() const override { return std::nullopt; }
  void use(const BuildOutcome&) override {}
  Result<SentinelOutcome> sentinels(ClockVariant clocks, std::int64_t repetitions,
                                    const Digest& boot) override {
    SentinelOutcome outcome;
    outcome.session = {boot, clocks, repetitions, 10, 10, 10, 10, 10};
    outcome.samples.assign(static_cast<std::size_t>(repetitions) * kSentinelSeries, 10);
    return outcome;
  }
  Result<TrialOutcome> trial(const BoundWorkload& workload, Trial::Kind kind, std::uint32_t,
                             const std::function<std::string(std::uint32_t)>&) override {
    TrialOutcome outcome;
    outcome.facts.workload = workload.digest;
    outcome.facts.kind = kind;
    outcome.facts.end = end;
    std::uint64_t ns = medians.contains(kind) ? medians[kind] : 50'000;
    std::size_t count = 50;
    if (kind == Trial::Kind::wall_clock) {
      ns *= 100;
      count = 1;
      outcome.facts.calls = 100;
      outcome.facts.overhead_ns = 0;
    }
    if (!without_samples.contains(kind)) outcome.samples.assign(count, ns);
    if (kind == Trial::Kind::cupti_envelope) outcome.findings = findings;
    for (const auto& [what, failed] : failures)
      outcome.facts.observations.push_back({what, 50, failed});
    return outcome;
  }
  Result<std::vector<HostTensor>> outputs(const BoundWorkload& workload,
                                          const Arguments& inputs) override {
    std::vector<HostTensor> out = {evaluate_output(*workload.operation, inputs, 0)};
    spoil(out[0]);
    return out;
  }
};

MeasurementResult measure(TestBench& bench) {
  const Progress quiet = [](std::string_view) {};
  const auto output = measure_job(test::rmsnorm_job(), bench, Toolchain{}, quiet);
  EXPECT_TRUE(output) << output.error().text();
  return output ? output->result : MeasurementResult{};
}

TEST(Measurement, AnHonestCandidateHasNothingButWhatTheMachineLacks) {
  TestBench bench;
  const MeasurementResult result = measure(bench);
  EXPECT_EQ(result.status, RunStatus::incomplete_evidence);  // no compiler in this test
  EXPECT_EQ(result.rounds.size(), 12u);
  for (const CorrectnessRound& round : result.rounds) {
    EXPECT_EQ(round.outcome, CorrectnessRound::Outcome::passed);
    EXPECT_EQ(round.rms_ppb, 0);
  }
  EXPECT_THAT(result.codes, Not(Contains("SAME_INPUT_FASTER")));
}

TEST(Measurement, WrongOutputsAreIncorrect) {
  TestBench bench;
  bench.spoil = [](HostTensor& output) {
    for (std::int64_t i = 0; i < output.count(); i += 2) output.set(i, 0.0);
  };
  EXPECT_EQ(measure(bench).status, RunStatus::incorrect_numerical);
}

TEST(Measurement, WrongShapesAndTypesAreToldApart) {
  TestBench bench;
  bench.spoil = [](HostTensor& output) { output = HostTensor("output", Dtype::bf16, {7, 4095}); };
  EXPECT_EQ(measure(bench).status, RunStatus::incorrect_shape);
  bench.spoil = [](HostTensor& output) { output = HostTensor("output", Dtype::f32, {7, 4096}); };
  EXPECT_EQ(measure(bench).status, RunStatus::incorrect_dtype);
}

TEST(Measurement, TrialsThatContradictEachOtherAreSuspected) {
  const auto code_for = [](Trial::Kind kind, std::uint64_t ns) {
    TestBench bench;
    bench.medians[kind] = ns;
    const MeasurementResult result = measure(bench);
    EXPECT_EQ(result.status, RunStatus::suspected_reward_hack);
    return result.codes;
  };
  EXPECT_THAT(code_for(Trial::Kind::same_input, 40'000), Contains("SAME_INPUT_FASTER"));
  EXPECT_THAT(code_for(Trial::Kind::cupti_envelope, 90'000), Contains("WORK_OUTSIDE_WINDOW"));
  EXPECT_THAT(code_for(Trial::Kind::wall_clock, 150'000), Contains("CLOCK_CONTRADICTION"));
  EXPECT_THAT(code_for(Trial::Kind::timed, 1), Contains("BELOW_ROOFLINE"));
}

TEST(Measurement, WhatAChildWasSeenDoingHasItsStatusAndCode) {
  struct Row {
    Observation::What what;
    RunStatus status;
    const char* code;
  };
  for (const Row& row :
       {Row{Observation::What::frames, RunStatus::suspected_reward_hack, "CHANNEL_FORGERY"},
        Row{Observation::What::guards, RunStatus::policy_violation, "GUARD_WRITE"},
        Row{Observation::What::inputs, RunStatus::policy_violation, "INPUT_MUTATED"},
        Row{Observation::What::aliases, RunStatus::policy_violation, "OUTPUT_ALIASES_INPUT"},
        Row{Observation::What::l2_limit, RunStatus::suspected_reward_hack, "L2_PERSIST"},
        Row{Observation::What::code_pages, RunStatus::suspected_reward_hack, "TIMER_TAMPER"}}) {
    TestBench bench;
    bench.failures[row.what] = 1;
    const MeasurementResult result = measure(bench);
    EXPECT_EQ(result.status, row.status) << row.code;
    EXPECT_THAT(result.codes, Contains(row.code));
  }
}

TEST(Measurement, HowAChildEndedIsTheStatus) {
  const std::map<Trial::End, RunStatus> expected = {
      {Trial::End::timeout, RunStatus::timeout},
      {Trial::End::signal, RunStatus::runtime_error},
      {Trial::End::resource, RunStatus::resource_exceeded},
      {Trial::End::forbidden, RunStatus::policy_violation}};
  for (const auto& [end, status] : expected) {
    TestBench bench;
    bench.end = end;
    EXPECT_EQ(measure(bench).status, status);
  }
}

TEST(Measurement, ACuptiPassWithoutSamplesIsLoud) {
  TestBench bench;
  bench.without_samples = {Trial::Kind::cupti_envelope};
  const MeasurementResult result = measure(bench);
  EXPECT_THAT(result.uncountable_reasons, Contains("TIMER_CUPTI_UNAVAILABLE"));
  EXPECT_LE(result.status, RunStatus::incomplete_evidence);
}

TEST(Measurement, WhatRanOnTheDeviceCanAccuse) {
  TestBench bench;
  bench.without_samples = {Trial::Kind::cupti_envelope};
  bench.findings = {{"NO_DEVICE_WORK", Finding::Weight::hack, "5 calls"}};
  const MeasurementResult result = measure(bench);
  EXPECT_EQ(result.status, RunStatus::suspected_reward_hack);
  EXPECT_THAT(result.codes, Contains("NO_DEVICE_WORK"));
  EXPECT_THAT(result.codes, Not(Contains("TIMER_CUPTI_UNAVAILABLE")));  // CUPTI did its work
}

}  // namespace
}  // namespace kernelindex::runner
