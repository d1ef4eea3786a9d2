// SPDX-License-Identifier: Apache-2.0
// The whole flow as `rerun --simulate` sees it: the real program on the other end of a channel.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <map>
#include <string>

#include "cuda/host_facts.h"
#include "schema/manifest.h"
#include "schema/measurement_job.h"
#include "schema/measurement_result.h"
#include "schema/runner_channel.h"
#include "schema/sentinel_session.h"
#include "schema/statistics.h"
#include "tests/cuda/rmsnorm_job.h"
#include "tests/cuda/started_runner.h"
#include "tests/support/corpus.h"
#include "tests/support/run_program.h"

namespace kernelindex::runner {
namespace {

using test::rmsnorm_job;
using test::Runner;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(SimulatedRun, GivesAResultThatSaysItIsSimulated) {
  const JobDocument job = rmsnorm_job();
  Runner runner({"measure", "--simulate"});
  runner.say(RunnerMessageKind::job, write_job_document(job).value());
  runner.say(RunnerMessageKind::begin, "");
  auto heard = runner.listen();
  ASSERT_EQ(heard[RunnerMessageKind::failed], std::vector<std::string>{});
  ASSERT_EQ(heard[RunnerMessageKind::result].size(), 1u);
  const auto result = read_measurement_result(heard[RunnerMessageKind::result][0]);
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->device.kind, MeasuredDevice::Kind::simulated);
  EXPECT_EQ(result->nonce, job.nonce);
  EXPECT_EQ(result->job, job.job);
  EXPECT_FALSE(result->countable);
  EXPECT_THAT(result->uncountable_reasons, Contains("SIMULATED_DEVICE"));
  EXPECT_NE(result->status, RunStatus::passed);

  // Three trials, each in a process of its own, and statistics that follow from the samples.
  ASSERT_EQ(result->trials.size(), 3u);
  ASSERT_EQ(heard[RunnerMessageKind::samples].size(), 1u);
  const std::string& bytes = heard[RunnerMessageKind::samples][0];
  EXPECT_EQ(sha256(bytes), result->samples);
  const Samples all = read_samples(bytes).value();
  std::vector<std::span<const std::uint64_t>> trials;
  std::size_t at = 0;
  for (const Trial& trial : result->trials) {
    trials.push_back(std::span(all).subspan(at, static_cast<std::size_t>(trial.samples)));
    at += static_cast<std::size_t>(trial.samples);
  }
  EXPECT_EQ(pooled_statistics(trials), result->statistics.at(job.workloads[0].digest));
  EXPECT_TRUE(result->child_sandbox.seccomp);
  EXPECT_TRUE(result->child_sandbox.no_new_privileges);

  // Every artifact that the document names came along.
  std::map<std::string, std::string> artifacts;
  for (const std::string& body : heard[RunnerMessageKind::artifact]) {
    const NamedBody named = decode_named_body(body).value();
    artifacts[sha256(named.bytes).text()] = named.name;
  }
  EXPECT_TRUE(artifacts.contains(result->diagnostic_samples.value().text()));
  EXPECT_TRUE(artifacts.contains(result->sentinel_samples.value().text()));
  for (const RunnerLog& log : result->logs) {
    EXPECT_TRUE(!log.digest || artifacts.contains(log.digest->text()));
  }

  // The controls are real, and so is the scan of the sources.
  EXPECT_GE(result->controls.size(), 8u);
  for (const VacuityControl& control : result->controls)
    EXPECT_TRUE(control.rejected) << control.control;
  EXPECT_THAT(result->codes, Not(Contains("COMPARATOR_VACUOUS")));
  EXPECT_TRUE(
      std::any_of(result->checks.begin(), result->checks.end(),
                  [](const RunnerCheck& check) { return check.code == "SCAN_ENVIRONMENT"; }));
}

TEST(SimulatedRun, DrawsOtherEntropyEachTime) {
  const std::string document = write_job_document(rmsnorm_job()).value();
  std::vector<RunnerEntropy> entropies;
  for (int i = 0; i < 2; ++i) {
    Runner runner({"measure", "--simulate"});
    runner.say(RunnerMessageKind::job, document);
    runner.say(RunnerMessageKind::begin, "");
    auto heard = runner.listen();
    ASSERT_EQ(heard[RunnerMessageKind::result].size(), 1u);
    entropies.push_back(read_measurement_result(heard[RunnerMessageKind::result][0])->entropy);
  }
  EXPECT_NE(entropies[0], entropies[1]);
}

TEST(SimulatedRun, AnOperationWithoutANativeReferenceIsAnInvalidReference) {
  JobDocument job = rmsnorm_job();
  const Manifest other =
      read_manifest(R"({"apiVersion":"kernelindex.dev/v1alpha1","kind":"OperationSpec",
        "metadata":{"name":"rmsnorm-h4096"},
        "spec":{"family":"rmsnorm","axes":{"n":{"role":"variable","type":"integer"}},
          "inputs":[{"name":"x","tensor":{"shape":["n"],"dtype":"fp32"}}],
          "outputs":[{"name":"y","tensor":{"shape":["n"],"dtype":"fp32"}}],
          "semantics":{"mutation":"none","determinism":"deterministic"}}})")
          .value();
  job.operation = {other.identity, other.name, other.bytes};
  const Manifest workload =
      read_manifest(R"({"apiVersion":"kernelindex.dev/v1alpha1","kind":"WorkloadCase",
        "metadata":{"name":"w"},"spec":{"axes":{"n":7},"correctness":{"comparator":"allclose"},
        "operationSpecDigest":")" +
                    other.identity.text() + R"(","tensors":{"x":{"dtype":"fp32","shape":[7]}}}})")
          .value();
  job.workloads = {{workload.identity, workload.name, workload.bytes}};
  Runner runner({"measure", "--simulate"});
  runner.say(RunnerMessageKind::job, write_job_document(job).value());
  runner.say(RunnerMessageKind::begin, "");
  auto heard = runner.listen();
  ASSERT_EQ(heard[RunnerMessageKind::result].size(), 1u);
  const auto result = read_measurement_result(heard[RunnerMessageKind::result][0]);
  EXPECT_EQ(result->status, RunStatus::invalid_reference);
  EXPECT_THAT(result->codes, Contains("NO_NATIVE_REFERENCE"));
}

TEST(SimulatedRun, ASpoiltJobIsAFailureWithItsCode) {
  Runner runner({"measure", "--simulate"});
  runner.say(RunnerMessageKind::job, "{}");
  runner.say(RunnerMessageKind::begin, "");
  auto heard = runner.listen();
  ASSERT_EQ(heard[RunnerMessageKind::failed].size(), 1u);
  EXPECT_EQ(heard[RunnerMessageKind::result].size(), 0u);
}

TEST(SimulatedRun, WithoutADeviceNothingIsMeasured) {
  Runner runner({"measure"});
  runner.say(RunnerMessageKind::job, write_job_document(rmsnorm_job()).value());
  runner.say(RunnerMessageKind::begin, "");
  auto heard = runner.listen();
  ASSERT_EQ(heard[RunnerMessageKind::failed].size(), 1u);
  EXPECT_EQ(decode_named_body(heard[RunnerMessageKind::failed][0])->name, "NO_DEVICE");
}

TEST(SimulatedRun, CalibratesWithSessionsAndTheirSamples) {
  Runner runner({"calibrate", "--simulate"});
  CalibrationRequest request;
  request.ledger = sha256("ledger");
  request.sessions = 3;
  request.repetitions = 10;
  runner.say(RunnerMessageKind::job, write_calibration_request(request).value());
  runner.say(RunnerMessageKind::begin, "");
  auto heard = runner.listen();
  ASSERT_EQ(heard[RunnerMessageKind::result].size(), 1u);
  const auto document = read_calibration_document(heard[RunnerMessageKind::result][0]);
  ASSERT_TRUE(document) << document.error().text();
  EXPECT_TRUE(document->simulated);
  EXPECT_EQ(document->sessions.size(), 3u);
  ASSERT_EQ(heard[RunnerMessageKind::samples].size(), 1u);
  EXPECT_EQ(sha256(heard[RunnerMessageKind::samples][0]), document->samples);
  EXPECT_EQ(heard[RunnerMessageKind::samples][0].size(), 3u * 10 * kSentinelSeries * 8);
}

TEST(RunnerProgram, SaysWhatItCanDoAndRefusesTheRest) {
  const auto help = kernelindex::test::run_program({KERNELINDEX_RUNNER, "--help"});
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_THAT(help.out, HasSubstr("measure"));
  EXPECT_EQ(kernelindex::test::run_program({KERNELINDEX_RUNNER}).exit_code, 2);
  EXPECT_EQ(kernelindex::test::run_program({KERNELINDEX_RUNNER, "measure"}).exit_code, 2);
  EXPECT_EQ(
      kernelindex::test::run_program({KERNELINDEX_RUNNER, "measure", "--channel", "x"}).exit_code,
      2);
}

TEST(RunnerProgram, DoctorSaysWhatIsMissingAndStartsWithoutIt) {
  kernelindex::test::RunOptions options;
  options.environment = {{"CUDA_HOME", "/nonexistent"}};
  const auto told = kernelindex::test::run_program({KERNELINDEX_RUNNER, "doctor"}, options);
  EXPECT_EQ(told.exit_code, 1);
  EXPECT_THAT(told.out, HasSubstr("nvcc"));
  EXPECT_THAT(told.out, HasSubstr("MISSING"));
  EXPECT_THAT(told.out, HasSubstr("seccomp"));
}

}  // namespace
}  // namespace kernelindex::runner
