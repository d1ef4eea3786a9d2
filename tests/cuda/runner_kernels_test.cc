// SPDX-License-Identifier: Apache-2.0
// The runner's own device code through NVRTC, for the devices it is meant for.
#include "cuda/runner_kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelindex::runner {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class OwnKernels : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    toolchain_ = find_toolchain();
    toolchain_.runner = KERNELINDEX_RUNNER;
    if (toolchain_.nvrtc.empty()) GTEST_SKIP() << "SKIPPED: no NVRTC here";
  }
  Toolchain toolchain_;
};

TEST_P(OwnKernels, CompileToAnImageThatHoldsEachOfThem) {
  const Result<std::string> image = compile_runner_kernels(GetParam(), toolchain_);
  ASSERT_TRUE(image) << image.error().text();
  EXPECT_THAT(*image, StartsWith("\x7f"
                                 "ELF"));
  for (const char* name : {"ki_nothing", "ki_scatter", "ki_triad", "ki_multiply_add",
                           "ki_tensor_multiply", "ki_hold_back", "ki_read_all"}) {
    EXPECT_THAT(*image, HasSubstr(std::string(".text.") + name));
  }
}

INSTANTIATE_TEST_SUITE_P(Architectures, OwnKernels, ::testing::Values("sm_90a", "sm_100a"));

TEST(OwnKernelsFaults, AreErrors) {
  EXPECT_EQ(compile_runner_kernels("sm_90a", Toolchain{}).error().code, "NO_COMPILER");
  Toolchain toolchain = find_toolchain();
  if (toolchain.nvrtc.empty()) GTEST_SKIP() << "SKIPPED: no NVRTC here";
  toolchain.runner = KERNELINDEX_RUNNER;
  const Result<std::string> image =
      compile_device_code("__global__ void f( {", "sm_90a", toolchain);
  ASSERT_FALSE(image);
  EXPECT_EQ(image.error().code, "RUNNER_KERNELS");
  EXPECT_THAT(image.error().message, HasSubstr("error"));
}

}  // namespace
}  // namespace kernelindex::runner
