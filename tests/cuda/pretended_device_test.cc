// SPDX-License-Identifier: Apache-2.0
// The bench of physical devices from a job to its result, on a device that a driver of the test
// pretends: real compilers, real sandboxes, real children, times that mean nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "cuda/kernel_builder.h"
#include "schema/measurement_result.h"
#include "schema/sentinel_session.h"
#include "schema/statistics.h"
#include "tests/cuda/rmsnorm_job.h"
#include "tests/cuda/started_runner.h"
#include "tests/support/corpus.h"
#include "tests/support/temp_dir.h"

namespace kernelindex::runner {
namespace {

using test::Runner;
using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Device memory is memory of the host here, so host code can do the work.
constexpr std::string_view kHonest = R"(
#include "ki_abi.h"
#include <cmath>
#include <cstdint>
#include <cstring>
static float wide(std::uint16_t bits) {
  const std::uint32_t word = std::uint32_t{bits} << 16;
  float value;
  std::memcpy(&value, &word, 4);
  return value;
}
static std::uint16_t narrow(float value) {
  std::uint32_t word;
  std::memcpy(&word, &value, 4);
  return static_cast<std::uint16_t>((word + 0x7fff + (word >> 16 & 1)) >> 16);
}
extern "C" int ki_abi_version(void) { return 1; }
extern "C" int ki_run(const ki_tensor* in, int, const ki_scalar*, int, ki_tensor* out, int, void*,
                      std::uint64_t, ki_stream) {
  const auto* x = static_cast<const std::uint16_t*>(in[0].data);
  const auto* weight = static_cast<const std::uint16_t*>(in[1].data);
  auto* y = static_cast<std::uint16_t*>(out[0].data);
  const std::int64_t columns = in[0].shape[1];
  for (std::int64_t row = 0; row < in[0].shape[0]; ++row, x += columns, y += columns) {
    double sum = 0;
    for (std::int64_t i = 0; i < columns; ++i) sum += double{wide(x[i])} * wide(x[i]);
    const double factor = 1 / std::sqrt(sum / static_cast<double>(columns) + 1e-5);
    for (std::int64_t i = 0; i < columns; ++i)
      y[i] = narrow(static_cast<float>(wide(x[i]) * factor * wide(weight[i])));
  }
  return 0;
}
)";

JobDocument job_of(std::string_view source) {
  JobDocument job = test::rmsnorm_job();
  job.recipe.binding = BuildRecipe::Binding::ki_abi;
  job.recipe.entry_path = "kernel.cpp";
  job.recipe.entry_symbol = "ki_run";
  const auto file = [](std::string path, std::string content) {
    return JobSourceFile{std::move(path), sha256(content), content};
  };
  job.sources = {file("kernel.cpp", std::string(source)),
                 file(std::string(kRecipePath), write_build_recipe(job.recipe))};
  job.harness = sha256(kernelindex::test::read_file(KERNELINDEX_RUNNER));
  return job;
}

std::map<RunnerMessageKind, std::vector<std::string>> run(Runner& runner, const std::string& work) {
  runner.say(RunnerMessageKind::job, work);
  runner.say(RunnerMessageKind::begin, "");
  return runner.listen();
}

// The toolkit of the machine, but for its CUPTI.
void make_toolkit(const std::filesystem::path& real, const std::filesystem::path& made) {
  std::filesystem::create_directories(made / "lib64");
  for (const auto& entry : std::filesystem::directory_iterator(real)) {
    if (entry.path().filename() == "lib64") continue;
    std::filesystem::create_symlink(entry.path(), made / entry.path().filename());
  }
  for (const auto& entry : std::filesystem::directory_iterator(real / "lib64")) {
    const std::string name = entry.path().filename();
    if (!name.starts_with("libcupti")) {
      std::filesystem::create_symlink(entry.path(), made / "lib64" / name);
    }
  }
  std::filesystem::copy_file(KERNELINDEX_PRETENDED_CUPTI, made / "lib64/libcupti.so");
}

class PretendedDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    const Toolchain toolchain = find_toolchain();
    if (toolchain.nvcc.empty()) GTEST_SKIP() << "SKIPPED: no CUDA toolkit here";
    make_toolkit(toolchain.cuda_root, toolkit_.path() / "cuda");
    // Children are another user where the test is root.
    std::filesystem::permissions(toolkit_.path(), std::filesystem::perms(0755));
  }
  MeasurementResult measure(std::string_view source) {
    const Result<std::string> job = write_job_document(job_of(source));
    EXPECT_TRUE(job) << job.error().text();
    if (!job) return {};
    Runner runner({"measure"}, (toolkit_.path() / "cuda").string());
    auto heard = run(runner, *job);
    for (const std::string& failed : heard[RunnerMessageKind::failed]) ADD_FAILURE() << failed;
    for (const std::string& body : heard[RunnerMessageKind::artifact]) {
      const NamedBody named = decode_named_body(body).value();
      if (named.name.starts_with("child")) logs_ += named.bytes;
    }
    if (heard[RunnerMessageKind::result].empty()) return {};
    const auto result = read_measurement_result(heard[RunnerMessageKind::result][0]);
    EXPECT_TRUE(result) << result.error().text();
    return result ? *result : MeasurementResult{};
  }
  kernelindex::test::TempDir toolkit_;
  std::string logs_;
};

std::vector<Observation> of_kind(const Trial& trial, Observation::What what) {
  std::vector<Observation> found;
  for (const Observation& one : trial.observations) {
    if (one.what == what) found.push_back(one);
  }
  return found;
}

TEST_F(PretendedDevice, MeasuresAnHonestCandidateFromItsJobToAPassedResult) {
  const MeasurementResult result = measure(kHonest);
  EXPECT_EQ(result.device.product, "Pretended device");
  EXPECT_EQ(result.status, RunStatus::passed) << logs_;
  EXPECT_THAT(result.uncountable_reasons, IsEmpty()) << logs_;
  EXPECT_THAT(result.sentinels, SizeIs(2));
  ASSERT_TRUE(result.polls);
  EXPECT_GT(result.polls->polls, 0);
  EXPECT_EQ(result.polls->ecc_after, 0);
  EXPECT_EQ(result.settings.power_limit_milliwatts, 700'000);
  ASSERT_THAT(result.trials, SizeIs(3));
  for (const Trial& trial : result.trials) {
    EXPECT_GE(trial.samples, 200);
    EXPECT_TRUE(trial.blocking);
    EXPECT_EQ(trial.late_ns, 20'000'000);
    EXPECT_EQ(trial.compare_ns, 20'000'000);
    for (const Observation& one : trial.observations) {
      EXPECT_EQ(one.failed, 0) << static_cast<int>(one.what);
    }
    EXPECT_THAT(of_kind(trial, Observation::What::threads), SizeIs(1));
    EXPECT_THAT(of_kind(trial, Observation::What::code_pages), SizeIs(1)) << logs_;
  }
  std::map<Trial::Kind, Trial> diagnostics;
  for (const Trial& trial : result.diagnostics) diagnostics[trial.kind] = trial;
  EXPECT_THAT(diagnostics, SizeIs(6));
  for (const auto& [kind, trial] : diagnostics) {
    EXPECT_GT(trial.samples, 0) << static_cast<int>(kind) << "\n" << logs_;
    EXPECT_EQ(trial.end, Trial::End::done);
  }
  const Trial& envelopes = diagnostics[Trial::Kind::cupti_envelope];
  EXPECT_EQ(envelopes.kernels_per_call, 1);
  EXPECT_EQ(envelopes.activity_records, envelopes.samples);
  EXPECT_FALSE(envelopes.kernel_set_varies);
  EXPECT_EQ(diagnostics[Trial::Kind::wall_clock].calls, 100);
}

TEST_F(PretendedDevice, FindsAHookInTheCodeThatTakesTheTime) {
  std::string hooked(kHonest);
  hooked += R"(
#include <dlfcn.h>
#include <sys/mman.h>
extern "C" int ki_prepare(const ki_device*) {
  auto* at = reinterpret_cast<unsigned char*>(dlsym(RTLD_DEFAULT, "getppid"));
  auto* page = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(at) / 4096 * 4096);
  if (mprotect(page, 4096, PROT_READ | PROT_WRITE | PROT_EXEC) == 0) at[0] = 0xc3;
  return 0;
}
)";
  const MeasurementResult result = measure(hooked);
  EXPECT_EQ(result.status, RunStatus::suspected_reward_hack) << logs_;
  EXPECT_THAT(result.codes, Contains("TIMER_TAMPER"));
}

TEST_F(PretendedDevice, IsCalibrated) {
  Runner runner({"calibrate"}, (toolkit_.path() / "cuda").string());
  CalibrationRequest request;
  request.ledger = sha256("ledger");
  request.sessions = 2;
  request.repetitions = 10;
  auto heard = run(runner, write_calibration_request(request).value());
  for (const std::string& failed : heard[RunnerMessageKind::failed]) ADD_FAILURE() << failed;
  ASSERT_EQ(heard[RunnerMessageKind::result].size(), 1u);
  const auto document = read_calibration_document(heard[RunnerMessageKind::result][0]);
  ASSERT_TRUE(document) << document.error().text();
  EXPECT_FALSE(document->simulated);
  EXPECT_EQ(document->product, "Pretended device");
  ASSERT_THAT(document->sessions, SizeIs(2));
  for (const SentinelSession& session : document->sessions) {
    EXPECT_EQ(session.launch_ns, 20'000'000);
    EXPECT_EQ(session.sm_khz, 1'980'000);
  }
  EXPECT_EQ(heard[RunnerMessageKind::samples].at(0).size(), 2u * 10 * kSentinelSeries * 8);
}

}  // namespace
}  // namespace kernelindex::runner
