// SPDX-License-Identifier: Apache-2.0
// The runner's own parts on the device of the machine, skipped where there is none. What is seen is
// printed, one line each, for the report of tools/gpu-check. PROTOCOL section 17, 1, 2 and 6.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <filesystem>

#include "cuda/code_pages.h"
#include "cuda/confined_process.h"
#include "cuda/device_polls.h"
#include "cuda/measuring_child.h"
#include "cuda/runner_kernels.h"
#include "cuda/sentinel_kernels.h"

namespace kernelindex::runner {
namespace {

using What = ChildChannel::Judged::What;
using Clock = ConfinedProcess::Clock;

constexpr int kRepetitions = 30;

void seen(const std::string& what) { std::printf("seen: %s\n", what.c_str()); }

class RealDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    const LoadedDriver driver = load_driver();
    CudaDevice device = 0;
    if (!driver.usable() || driver.driver.init(0) != kCudaSuccess ||
        driver.driver.device_get(&device, 0) != kCudaSuccess) {
      GTEST_SKIP() << "SKIPPED: there is no device here";
    }
    int major = 0;
    int minor = 0;
    driver.driver.device_attribute(&major, kAttributeMajor, device);
    driver.driver.device_attribute(&minor, kAttributeMinor, device);
    toolchain_ = find_toolchain();
    toolchain_.runner = KERNELINDEX_RUNNER;
    const Result<std::string> image = compile_runner_kernels(
        build_architecture("sm_" + std::to_string(major) + std::to_string(minor)), toolchain_);
    ASSERT_TRUE(image) << image.error().text();
    ASSERT_TRUE(directory_.write("kernels", *image));
  }
  std::unique_ptr<ConfinedProcess> start(const char* mode) {
    ConfinedPlan plan;
    plan.command = {KERNELINDEX_RUNNER, mode};
    plan.environment = {{"LANG", "C"}, {"CUDA_MODULE_LOADING", "EAGER"}};
    plan.sandbox.directory = directory_.path();
    plan.sandbox.readable = system_folders();
    plan.sandbox.readable.push_back(std::filesystem::path(KERNELINDEX_RUNNER).parent_path());
    plan.sandbox.readable.push_back(toolchain_.cuda_root);
    plan.sandbox.writable = {"/dev"};
    plan.sandbox.cap_address_space = false;
    auto process = ConfinedProcess::start(plan);
    EXPECT_TRUE(process) << process.error().text();
    return process ? std::move(*process) : nullptr;
  }
  std::string kernels() const { return (directory_.path() / "kernels").string(); }
  static Clock::time_point soon() { return Clock::now() + std::chrono::seconds(60); }

  Toolchain toolchain_;
  PrivateDirectory directory_ = PrivateDirectory::make().value();
};

TEST_F(RealDevice, GivesASessionOfSentinels) {
  const auto process = start("role-sentinels");
  ASSERT_NE(process, nullptr);
  const auto opened = process->request(FrameKind::open, kernels(), soon());
  ASSERT_EQ(opened.what, What::answer) << opened.payload << process->log();
  std::vector<SentinelSample> samples;
  for (int i = 0; i < kRepetitions; ++i) {
    const auto judged = process->request(FrameKind::sample, {}, soon());
    ASSERT_EQ(judged.what, What::answer) << judged.payload;
    samples.push_back(decode_sentinel_sample(judged.payload).value());
  }
  const SentinelSession session =
      sentinel_outcome(ClockVariant::unlocked, Digest{}, samples).session;
  seen("sentinels: launch " + std::to_string(session.launch_ns) + " ns, bandwidth " +
       std::to_string(session.bandwidth_ns) + " ns, compute " + std::to_string(session.compute_ns) +
       " ns, tensor " + std::to_string(session.tensor_ns) + " ns, SM clock " +
       std::to_string(session.sm_khz) + " kHz");
  // PROTOCOL section 6: what is not absurd.
  EXPECT_GE(session.launch_ns, 500);
  EXPECT_LE(session.launch_ns, 20'000);
  EXPECT_GE(session.sm_khz, 200'000);
  EXPECT_LE(session.sm_khz, 4'000'000);
  process->request(FrameKind::finish, {}, soon());
}

TEST_F(RealDevice, ShowsItsOwnKernelToCupti) {
  ChildLoad load;
  load.kernels_image = kernels();
  load.cuda_root = toolchain_.cuda_root.string();
  const auto process = start("role-child");
  ASSERT_NE(process, nullptr);
  const auto opened = process->request(FrameKind::open, encode_load(load), soon());
  seen("CUPTI: " + (opened.what == What::answer ? "sees the runner's kernel" : opened.payload));
  EXPECT_EQ(opened.what, What::answer) << opened.payload << process->log();
  process->request(FrameKind::finish, {}, soon());
}

TEST_F(RealDevice, HasTheCodeOfItsFilesAfterAContextWasMade) {
  ChildLoad load;
  load.kernels_image = kernels();
  const auto process = start("role-child");
  ASSERT_NE(process, nullptr);
  const auto opened = process->request(FrameKind::open, encode_load(load), soon());
  ASSERT_EQ(opened.what, What::answer) << opened.payload << process->log();
  const auto code = read_timing_code(process->inner(), KERNELINDEX_RUNNER);
  ASSERT_TRUE(code) << code.error().text();
  for (const auto& [file, image] : *code) {
    seen("code of " + file + (image.as_in_file ? ": as in its file" : ": NOT as in its file"));
  }
  const auto again = read_timing_code(process->inner(), KERNELINDEX_RUNNER);
  ASSERT_TRUE(again);
  EXPECT_EQ(changed_code(*code, *again), 0);
  process->request(FrameKind::finish, {}, soon());
}

TEST_F(RealDevice, TellsOfItselfThroughNvml) {
  const LoadedNvml nvml = load_nvml();
  NvmlDevice handle = nullptr;
  ASSERT_TRUE(nvml.usable() && nvml.nvml.init() == kNvmlSuccess &&
              nvml.nvml.device_by_index(0, &handle) == kNvmlSuccess);
  DevicePoller poller(nvml.nvml, handle);
  poller.poll(Clock::now(), 0);
  const auto polls = poller.polls();
  ASSERT_TRUE(polls);
  seen("NVML: SM " + std::to_string(polls->sm_khz_median) + " kHz, " +
       std::to_string(polls->temperature_last) + " C, processes of others " +
       std::to_string(polls->foreign_processes) + ", uncorrected errors " +
       (polls->ecc_before ? std::to_string(*polls->ecc_before) : "not told"));
  for (const std::string_view gap : poller.gaps()) seen("NVML lacks: " + std::string(gap));
}

}  // namespace
}  // namespace kernelindex::runner
