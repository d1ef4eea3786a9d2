// SPDX-License-Identifier: Apache-2.0
// What evidence shows about a run: each act alone gives its own code and status, and nothing else.
// HACKS; PROTOCOL sections 9, 12, 13 and 14.
#include "ledger/result_findings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "tests/support/sample_result.h"

namespace kernelindex::test {
namespace {

using What = Observation::What;
using Kind = Trial::Kind;
using Outcome = CorrectnessRound::Outcome;

constexpr std::int64_t kBytes = 12 * 1'048'576;  // of the sample's addition: 2.6 us on an H200

std::vector<ResultFinding> findings_of(const SampleResult& sample, std::int64_t bytes = kBytes) {
  const std::optional<ResultSamples> samples =
      cut_samples(sample.result, sample.samples, sample.diagnostic_samples);
  if (!samples) return {{"NOT_CUT", std::nullopt}};
  return find_in_result(sample.result, *samples, {sample_job().workloads.front().digest}, bytes);
}

void fail_observation(SampleResult& sample, What what) {
  for (Observation& one : sample.result.trials[0].observations) {
    if (one.what == what) {
      one.failed = 1;
      return;
    }
  }
  sample.result.trials[0].observations.push_back({what, 200, 1});
}

std::vector<Samples> cut(const SampleResult& sample, bool timed) {
  const ResultSamples samples =
      cut_samples(sample.result, sample.samples, sample.diagnostic_samples).value();
  return timed ? samples.timed : samples.diagnostics;
}

// Puts other samples in the place of those of a diagnostic trial.
void measure_diagnostic(SampleResult& sample, Kind kind, std::uint64_t nanoseconds) {
  std::vector<Samples> diagnostics = cut(sample, false);
  for (std::size_t i = 0; i < diagnostics.size(); ++i) {
    if (sample.result.diagnostics[i].kind != kind) continue;
    std::ranges::fill(diagnostics[i], nanoseconds);
  }
  set_samples(sample, cut(sample, true), diagnostics);
}

void measure_timed(SampleResult& sample, std::uint64_t nanoseconds) {
  std::vector<Samples> timed = cut(sample, true);
  for (Samples& samples : timed) std::ranges::fill(samples, nanoseconds);
  set_samples(sample, timed, cut(sample, false));
}

Trial& diagnostic(SampleResult& sample, Kind kind) {
  return *std::ranges::find(sample.result.diagnostics, kind, &Trial::kind);
}

struct Act {
  std::string_view code;
  std::optional<RunStatus> status;
  std::function<void(SampleResult&)> commit;
};

std::ostream& operator<<(std::ostream& out, const Act& act) { return out << act.code; }

class EachAct : public testing::TestWithParam<Act> {};

TEST_P(EachAct, IsFoundAloneWithItsStatus) {
  SampleResult sample = sample_result(sample_job());
  ASSERT_EQ(findings_of(sample), std::vector<ResultFinding>{});
  GetParam().commit(sample);
  const std::vector<ResultFinding> expected = {{std::string(GetParam().code), GetParam().status}};
  EXPECT_EQ(findings_of(sample), expected);
  EXPECT_EQ(status_of(findings_of(sample)), GetParam().status.value_or(RunStatus::passed));
}

Act observed(std::string_view code, std::optional<RunStatus> status, What what) {
  return {code, status, [what](SampleResult& sample) { fail_observation(sample, what); }};
}
Act round_of(std::string_view code, RunStatus status, Outcome outcome) {
  return {code, status, [outcome](SampleResult& s) { s.result.rounds[3].outcome = outcome; }};
}
Act ended(std::string_view code, RunStatus status, Trial::End end) {
  return {code, status, [end](SampleResult& s) { s.result.trials[1].end = end; }};
}

const Act kActs[] = {
    // The channel, the memory and the device, as observations.
    observed("WRONG_OUTPUT", RunStatus::incorrect_numerical, What::outputs),
    observed("EARLY_COMPUTE", RunStatus::incorrect_numerical, What::unwithheld),
    observed("OUTPUT_REPLAY", RunStatus::incorrect_numerical, What::replayed),
    observed("GUARD_WRITE", RunStatus::policy_violation, What::guards),
    observed("INPUT_MUTATED", RunStatus::policy_violation, What::inputs),
    observed("OUTPUT_ALIASES_INPUT", RunStatus::policy_violation, What::aliases),
    observed("WORK_OUTSIDE_WINDOW", RunStatus::suspected_reward_hack, What::late_work),
    observed("L2_PERSIST", RunStatus::suspected_reward_hack, What::l2_limit),
    observed("TIMER_TAMPER", RunStatus::suspected_reward_hack, What::code_pages),
    observed("THREAD_INJECTION", RunStatus::suspected_reward_hack, What::threads),
    observed("CHANNEL_FORGERY", RunStatus::suspected_reward_hack, What::frames),
    observed("CUDA_ERROR", RunStatus::runtime_error, What::cuda_errors),
    observed("POLICY_VENDOR_CALL", std::nullopt, What::vendor_calls),
    // How a child ended.
    ended("CHILD_TIMEOUT", RunStatus::timeout, Trial::End::timeout),
    ended("CHILD_FAILED", RunStatus::runtime_error, Trial::End::signal),
    ended("RESOURCE_LIMIT", RunStatus::resource_exceeded, Trial::End::resource),
    ended("FORBIDDEN_CALL", RunStatus::policy_violation, Trial::End::forbidden),
    // Correctness.
    round_of("WRONG_SHAPE", RunStatus::incorrect_shape, Outcome::incorrect_shape),
    round_of("WRONG_DTYPE", RunStatus::incorrect_dtype, Outcome::incorrect_dtype),
    round_of("WRONG_OUTPUT", RunStatus::incorrect_numerical, Outcome::incorrect_numerical),
    round_of("INVALID_REFERENCE", RunStatus::invalid_reference, Outcome::invalid_reference),
    {"NAN_OUTPUT", RunStatus::incorrect_numerical,
     [](SampleResult& s) { s.result.rounds[0].nans = 1; }},
    {"TOLERANCE_VACUOUS", RunStatus::incorrect_numerical,
     [](SampleResult& s) { s.result.rounds[0].rms_ppb = 100'000'001; }},
    {"ROUNDS_MISSING", RunStatus::incomplete_evidence,
     [](SampleResult& s) { s.result.rounds.pop_back(); }},
    {"CHECKS_MISSING", RunStatus::incomplete_evidence,
     [](SampleResult& s) { s.result.trials[2].observations.clear(); }},
    // Times.
    {"WARMUP_NOT_STEADY", std::nullopt,
     [](SampleResult& s) { s.result.trials[0].warmup_steady = false; }},
    {"MISSING_TRIALS", RunStatus::incomplete_evidence,
     [](SampleResult& s) {
       std::vector<Samples> timed = cut(s, true);
       timed.pop_back();
       const std::vector<Samples> diagnostics = cut(s, false);
       s.result.trials.pop_back();
       set_samples(s, timed, diagnostics);
     }},
    {"CUPTI_DROPPED", RunStatus::incomplete_evidence,
     [](SampleResult& s) { diagnostic(s, Kind::cupti_envelope).dropped_records = 1; }},
    {"NO_DEVICE_WORK", RunStatus::suspected_reward_hack,
     [](SampleResult& s) { diagnostic(s, Kind::cupti_envelope).activity_records = 0; }},
    {"KERNEL_SET_VARIES", std::nullopt,
     [](SampleResult& s) { diagnostic(s, Kind::cupti_envelope).kernel_set_varies = true; }},
    {"WORK_OUTSIDE_WINDOW", RunStatus::suspected_reward_hack,
     [](SampleResult& s) { measure_diagnostic(s, Kind::cupti_envelope, 105'501); }},
    {"LAUNCH_BOUND", std::nullopt,
     [](SampleResult& s) { measure_diagnostic(s, Kind::cupti_envelope, 94'999); }},
    {"SAME_INPUT_FASTER", RunStatus::suspected_reward_hack,
     [](SampleResult& s) { measure_diagnostic(s, Kind::same_input, 90'000); }},
    {"STATE_CARRIED", RunStatus::suspected_reward_hack,
     [](SampleResult& s) {
       fail_observation(s, What::retained);
       measure_diagnostic(s, Kind::same_input, 95'000);
     }},
    {"ADDRESS_SENSITIVE", std::nullopt,
     [](SampleResult& s) { measure_diagnostic(s, Kind::constant_address, 90'000); }},
    // 2,000 calls of 250 us, less 3 us of overhead, against windows of 100 us.
    {"CLOCK_CONTRADICTION", RunStatus::suspected_reward_hack,
     [](SampleResult& s) { measure_diagnostic(s, Kind::wall_clock, 2000 * 250'000); }},
    {"WALL_CLOCK_MISSING", RunStatus::incomplete_evidence,
     [](SampleResult& s) {
       const std::vector<Samples> timed = cut(s, true);
       std::vector<Samples> diagnostics = cut(s, false);
       diagnostics.pop_back();
       s.result.diagnostics.pop_back();
       set_samples(s, timed, diagnostics);
     }},
};

INSTANTIATE_TEST_SUITE_P(ResultFindings, EachAct, testing::ValuesIn(kActs), [](const auto& info) {
  return std::string(info.param.code) + "_" + std::to_string(info.index);
});

TEST(ResultFindings, NothingIsFasterThanItsMemory) {
  // 48 GB at 4.8 TB/s and two percent more: 9.8 ms; the sample says 100 us.
  SampleResult sample = sample_result(sample_job());
  const std::vector<ResultFinding> expected = {
      {"BELOW_ROOFLINE", RunStatus::suspected_reward_hack}};
  EXPECT_EQ(findings_of(sample, std::int64_t{48} << 30), expected);
  EXPECT_EQ(floor_ns({4'896'000, "NVIDIA H200"}), 1'000);
  EXPECT_EQ(floor_ns({4'896'000, "a device that nobody knows"}), std::nullopt);
  EXPECT_EQ(floor_ns({3'417'000, "NVIDIA H100 80GB HBM3"}), 1'000);
}

// Each bound is on the side of the submission.
TEST(ResultFindings, WhatLiesAtABoundIsNotFound) {
  const auto clean = [](const std::function<void(SampleResult&)>& change) {
    SampleResult sample = sample_result(sample_job());
    change(sample);
    return findings_of(sample).empty();
  };
  EXPECT_TRUE(clean([](SampleResult& s) { s.result.rounds[0].rms_ppb = 100'000'000; }));
  EXPECT_TRUE(clean([](SampleResult& s) {
    measure_timed(s, 100'000);
    measure_diagnostic(s, Kind::cupti_envelope, 105'500);
  }));
  EXPECT_TRUE(clean([](SampleResult& s) {
    measure_timed(s, 110'000);
    measure_diagnostic(s, Kind::cupti_envelope, 110'000);
    measure_diagnostic(s, Kind::same_input, 100'000);
    measure_diagnostic(s, Kind::constant_address, 100'000);
  }));
}

TEST(ResultFindings, AFailedBuildIsToldApartFromAnAdapterThatLacksSomething) {
  SampleResult sample = sample_result(sample_job());
  sample.result.build.built = false;
  const std::vector<ResultFinding> failed = {{"BUILD_FAILED", RunStatus::compile_error}};
  EXPECT_EQ(findings_of(sample), failed);
  sample.result.build.adapter_gap = true;
  const std::vector<ResultFinding> gap = {{"ADAPTER_GAP", RunStatus::compile_error}};
  EXPECT_EQ(findings_of(sample), gap);
}

TEST(ResultFindings, SamplesThatAreNotThoseOfTheResultAreNotCut) {
  const SampleResult sample = sample_result(sample_job());
  std::string other = sample.samples;
  other[0] = static_cast<char>(other[0] ^ 1);
  EXPECT_FALSE(cut_samples(sample.result, other, sample.diagnostic_samples));
  EXPECT_FALSE(cut_samples(sample.result, sample.samples.substr(8), sample.diagnostic_samples));
  EXPECT_FALSE(cut_samples(sample.result, sample.samples, ""));
}

}  // namespace
}  // namespace kernelindex::test
