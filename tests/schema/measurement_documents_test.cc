// SPDX-License-Identifier: Apache-2.0
// Jobs, recipes, launch manifests, results and calibrations: what is written is read back, and
// nothing else is.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "schema/json_reader.h"
#include "schema/launch_manifest.h"
#include "schema/measurement_job.h"
#include "schema/measurement_result.h"
#include "schema/sentinel_session.h"
#include "tests/support/sample_result.h"

namespace kernelindex::test {
namespace {

template <typename Read>
std::string fault_of(const Read& read) {
  return read ? std::string() : read.error().code + " " + read.error().place;
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

std::string job_fault(const std::function<void(JobDocument&)>& change) {
  JobDocument job = sample_job();
  change(job);
  return fault_of(write_job_document(job));
}

std::string result_fault(const std::function<void(MeasurementResult&)>& change) {
  MeasurementResult result = sample_result(sample_job()).result;
  change(result);
  return fault_of(write_measurement_result(result));
}

TEST(JobDocumentFile, IsReadBackAsItWasWritten) {
  const JobDocument job = sample_job();
  const std::string text = write_job_document(job).value();
  EXPECT_EQ(read_job_document(text).value(), job);
  EXPECT_EQ(write_job_document(read_job_document(text).value()).value(), text);
}

TEST(JobDocumentFile, CarriesWhatItNames) {
  EXPECT_EQ(job_fault([](JobDocument& job) { job.sources[0].content += "x"; }),
            "DIGEST_MISMATCH sources[0]");
  EXPECT_EQ(job_fault([](JobDocument& job) { job.workloads[0].text = job.operation.text; }),
            "UNKNOWN_VALUE workloads[0].kind");
  EXPECT_EQ(job_fault([](JobDocument& job) { job.sources.erase(job.sources.begin() + 1); }),
            "NO_RECIPE sources");
  EXPECT_EQ(job_fault([](JobDocument& job) { job.sources.pop_back(); }),
            "BAD_MEMBER kernelindex.build.json: entry.path");
  EXPECT_EQ(job_fault([](JobDocument& job) { std::swap(job.sources[0], job.sources[1]); }),
            "BAD_MEMBER sources");
  EXPECT_EQ(job_fault([](JobDocument& job) { job.workloads.push_back(job.workloads[0]); }),
            "BAD_MEMBER workloads");
  EXPECT_EQ(job_fault([](JobDocument& job) {
              job.sources.insert(job.sources.begin() + 1, {"kernel.cu/inner", sha256(""), ""});
            }),
            "BAD_MEMBER sources");
}

TEST(JobDocumentFile, RefusesWhatIsNoJob) {
  const std::string text = write_job_document(sample_job()).value();
  const auto fault = [&](std::string_view from, std::string_view to) {
    return fault_of(read_job_document(replaced(text, from, to)));
  };
  EXPECT_EQ(fault("kernelindex.job/1", "kernelindex.job/2"), "WRONG_FORMAT format");
  EXPECT_NE(fault("\"seen\"", "\"sawn\""), "");
  EXPECT_NE(fault("\"sourceReviewed\":true", "\"sourceReviewed\":1"), "");
  EXPECT_NE(fault("kernel.cu", "../kernel.cu"), "");
  EXPECT_EQ(fault_of(read_job_document(std::string(kJobDocumentBytes + 1, ' '))).substr(0, 9),
            "TOO_LARGE");
}

TEST(Recipe, KeepsTheThreeCasesOfFlagsApart) {
  BuildRecipe recipe = sample_job().recipe;
  const auto back = [](const BuildRecipe& one) {
    return read_build_recipe(write_build_recipe(one)).value();
  };
  EXPECT_EQ(back(recipe), recipe);
  recipe.compile_options.emplace();
  EXPECT_EQ(back(recipe), recipe);
  recipe.compile_options->cuda_cflags.emplace();
  EXPECT_EQ(back(recipe), recipe);
  EXPECT_TRUE(back(recipe).compile_options->cuda_cflags->empty());
  EXPECT_FALSE(back(recipe).compile_options->cflags);
}

TEST(Recipe, NamesAFunctionUnlessKernelsAreLaunchedByTheRunner) {
  BuildRecipe recipe = sample_job().recipe;
  EXPECT_EQ(recipe.trust(), TrustMode::native_host);
  recipe.binding = BuildRecipe::Binding::ki_kernel;
  EXPECT_EQ(recipe.trust(), TrustMode::device_only);
  EXPECT_EQ(fault_of(read_build_recipe(write_build_recipe(recipe))), "BAD_MEMBER entry.symbol");
  recipe.entry_symbol.clear();
  EXPECT_EQ(fault_of(read_build_recipe(write_build_recipe(recipe))), "");
}

TEST(LaunchManifestFile, IsReadBackAsItWasWritten) {
  using Kind = LaunchArgument::Kind;
  LaunchManifest manifest;
  LaunchKernel kernel{"rope.cu",
                      "rope<float>",
                      {{Kind::input, "q"},
                       {Kind::output, "o"},
                       {Kind::scalar, "eps"},
                       {Kind::i32, "B*24"},
                       {Kind::f32, "1e-5"},
                       {Kind::workspace, ""}},
                      {"ceil_div(B*64,256)", "1", "1"},
                      {"256", "1", "1"},
                      {},
                      "0"};
  manifest.kernels = {kernel};
  manifest.flags = {"--use_fast_math"};
  EXPECT_EQ(read_launch_manifest(write_launch_manifest(manifest).value()).value(), manifest);

  const auto fault = [&](const std::function<void(LaunchKernel&)>& change) {
    LaunchManifest changed = manifest;
    change(changed.kernels[0]);
    return fault_of(write_launch_manifest(changed));
  };
  EXPECT_NE(fault([](LaunchKernel& k) { k.grid.pop_back(); }), "");
  EXPECT_NE(fault([](LaunchKernel& k) { k.block[0] = "system('x')"; }), "");
  EXPECT_EQ(fault([](LaunchKernel& k) { k.args[3].text = "B;C"; }),
            "BAD_MEMBER kernels[0].args[3]");
  EXPECT_EQ(fault([](LaunchKernel& k) { k.args[4].text = "1.0f"; }),
            "BAD_MEMBER kernels[0].args[4]");
}

TEST(ResultDocument, IsReadBackAsItWasWritten) {
  const MeasurementResult result = sample_result(sample_job()).result;
  const std::string text = write_measurement_result(result).value();
  EXPECT_EQ(read_measurement_result(text).value(), result);
  EXPECT_EQ(write_measurement_result(read_measurement_result(text).value()).value(), text);
}

TEST(ResultDocument, OfABuildThatFailedHasNoSamples) {
  MeasurementResult result = sample_result(sample_job()).result;
  result.trials.clear();
  result.diagnostics.clear();
  result.samples.reset();
  result.diagnostic_samples.reset();
  result.statistics.clear();
  result.sentinels.clear();
  result.sentinel_samples.reset();
  result.polls.reset();
  result.build = {};
  result.status = RunStatus::compile_error;
  const std::string text = write_measurement_result(result).value();
  EXPECT_EQ(read_measurement_result(text).value(), result);
}

TEST(ResultDocument, RefusesCountsThatContradictEachOther) {
  using R = MeasurementResult;
  EXPECT_EQ(result_fault([](R& r) { r.trials[1].kind = Trial::Kind::same_input; }),
            "BAD_MEMBER trials[1].kind");
  EXPECT_EQ(result_fault([](R& r) { r.diagnostics[1].kind = Trial::Kind::timed; }),
            "BAD_MEMBER diagnostics[1].kind");
  EXPECT_EQ(result_fault([](R& r) { r.samples.reset(); }), "BAD_MEMBER samples");
  EXPECT_EQ(result_fault([](R& r) {
              for (Trial& trial : r.trials) trial.samples = 0;
            }),
            "BAD_MEMBER samples");
  EXPECT_EQ(result_fault([](R& r) { r.rounds[0].matched = r.rounds[0].elements + 1; }),
            "BAD_MEMBER correctness.rounds[0]");
  EXPECT_EQ(result_fault([](R& r) { r.finished_at = r.started_at - 1; }), "BAD_MEMBER finishedAt");
  EXPECT_EQ(result_fault([](R& r) { r.uncountable_reasons = {"THROTTLED"}; }),
            "BAD_MEMBER countability");
  EXPECT_EQ(result_fault([](R& r) { r.sentinels.clear(); }).substr(0, 13), "TOO_FEW_ITEMS");
  EXPECT_EQ(
      result_fault([](R& r) { r.trials[0].observations.push_back(r.trials[0].observations[0]); }),
      "BAD_MEMBER trials[0].observations");
  EXPECT_EQ(result_fault([](R& r) { r.trials[0].observations[0].failed = 1'000; }),
            "BAD_MEMBER trials[0].observations");
  EXPECT_EQ(result_fault([](R& r) { r.diagnostics[5].calls.reset(); }),
            "BAD_MEMBER diagnostics[5]");
  EXPECT_EQ(result_fault([](R& r) { r.logs = {{"build", {}, 5, 5}}; }), "BAD_MEMBER logs[0]");
  EXPECT_EQ(result_fault([](R& r) {
              r.logs = {{"build", sha256("x"), 5, 4}};
            }),
            "BAD_MEMBER logs[0]");
}

TEST(ResultDocument, HasBounds) {
  using R = MeasurementResult;
  EXPECT_NE(result_fault([](R& r) { r.trials[0].samples = kTrialSamples + 1; }), "");
  EXPECT_EQ(result_fault([](R& r) {
              Trial trial = r.trials[0];
              trial.samples = kTrialSamples;
              r.trials.assign(kPooledSamples / kTrialSamples + 1, trial);
            }),
            "BAD_MEMBER samples");
  EXPECT_NE(result_fault([](R& r) { r.trials.assign(kResultTrials + 1, r.trials[0]); }), "");
  EXPECT_NE(result_fault([](R& r) { r.codes.assign(1, std::string(kCodeBytes + 1, 'A')); }), "");
  EXPECT_NE(result_fault([](R& r) { r.software.driver = "a\nb"; }), "");
  EXPECT_EQ(
      fault_of(read_measurement_result(std::string(kResultDocumentBytes + 1, ' '))).substr(0, 9),
      "TOO_LARGE");
}

TEST(CalibrationFiles, AreReadBackAsTheyWereWritten) {
  CalibrationRequest request{sha256("ledger"), ClockVariant::unlocked, 3, 20};
  EXPECT_EQ(read_calibration_request(write_calibration_request(request).value()).value(), request);
  request.sessions = 0;
  EXPECT_NE(fault_of(write_calibration_request(request)), "");

  CalibrationDocument document;
  document.sessions = sample_result(sample_job()).result.sentinels;
  document.product = "NVIDIA H200";
  EXPECT_EQ(read_calibration_document(write_calibration_document(document).value()).value(),
            document);
  document.sessions.clear();
  EXPECT_NE(fault_of(write_calibration_document(document)), "");
}

}  // namespace
}  // namespace kernelindex::test
