// SPDX-License-Identifier: Apache-2.0
// Public CUDA solutions, unmodified, through the real builder and its sandbox. REFERENCES
// section 3.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "cuda/kernel_builder.h"
#include "schema/json_reader.h"
#include "tests/support/corpus.h"

namespace kernelindex::runner {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Toolchain toolchain() {
  Toolchain found = find_toolchain();
  found.runner = KERNELINDEX_RUNNER;
  return found;
}

struct Solution {
  BuildRecipe recipe;
  std::vector<JobSourceFile> sources;
};

std::vector<std::string> texts(const json::Value& list) {
  std::vector<std::string> out;
  for (const json::Value& item : list.array()) out.emplace_back(item.string());
  return out;
}

Solution read_solution(const std::filesystem::path& path) {
  json::Arena arena;
  const std::string text = kernelindex::test::read_file(path);
  const json::Value value = json::parse(text, arena).value();
  Solution solution;
  const json::Value& spec = *value.find("spec");
  const std::string entry(spec.text("entry_point"));
  solution.recipe.binding = BuildRecipe::Binding::torch;
  solution.recipe.language = "cuda_cpp";
  solution.recipe.entry_path = entry.substr(0, entry.find("::"));
  solution.recipe.entry_symbol = entry.substr(entry.find("::") + 2);
  if (const json::Value* options = spec.find("compile_options"); options && options->is_object()) {
    BuildRecipe::CompileOptions given;
    if (const json::Value* list = options->find("cflags")) given.cflags = texts(*list);
    if (const json::Value* list = options->find("cuda_cflags")) given.cuda_cflags = texts(*list);
    if (const json::Value* list = options->find("ld_flags")) given.ld_flags = texts(*list);
    solution.recipe.compile_options = given;
  }
  for (const json::Value& source : value.find("sources")->array()) {
    const std::string content(source.text("content"));
    solution.sources.push_back({std::string(source.text("path")), sha256(content), content});
  }
  return solution;
}

BuildOutcome build(const Solution& solution, const std::string& architecture) {
  JobLimits limits;
  limits.build_seconds = 300;
  const auto outcome =
      build_kernel({solution.recipe, solution.sources, limits, architecture}, toolchain());
  EXPECT_TRUE(outcome) << outcome.error().text();
  return outcome ? *outcome : BuildOutcome{};
}

class PublicSolutions : public ::testing::Test {
 protected:
  void SetUp() override {
    KERNELINDEX_REQUIRE_CORPUS();
    if (toolchain().nvcc.empty()) GTEST_SKIP() << "SKIPPED: no CUDA toolkit here";
  }
  void expect_builds(const std::string& relative) {
    const Solution solution =
        read_solution(kernelindex::test::corpus_path("data/sources/sol-execbench/" + relative));
    for (const char* architecture : {"sm_90a", "sm_100a"}) {
      const BuildOutcome outcome = build(solution, architecture);
      ASSERT_EQ(outcome.status, RunStatus::passed) << outcome.log;
      EXPECT_TRUE(outcome.facts.built);
      EXPECT_TRUE(outcome.facts.compile_digest.has_value());
      EXPECT_EQ(outcome.facts.artifact_digest, sha256(outcome.artifact));
      EXPECT_THAT(outcome.cubins, Not(IsEmpty()));
      EXPECT_THAT(outcome.facts.kernels, Not(IsEmpty()));
      EXPECT_EQ(outcome.facts.adapter, "torch-shim/1");
      EXPECT_FALSE(outcome.facts.adapter_gap);
      EXPECT_TRUE(outcome.sandbox.seccomp);
      EXPECT_THAT(outcome.artifact, HasSubstr("ki_shim_call"));
      for (const Digest& cubin : outcome.cubins) {
        RecordProperty(std::string(architecture) + "_cubin", cubin.text());
      }
    }
  }
};

TEST_F(PublicSolutions, FluxRopeBuildsUnmodified) {
  expect_builds("nvidia-repo/examples/cuda_cpp/flux_rope/solution_cuda.json");
}

TEST_F(PublicSolutions, BothByteVariantsOfRmsNormBuildUnmodified) {
  expect_builds("nvidia-repo/examples/cuda_cpp/rmsnorm/solution_cuda.json");
  expect_builds("nvidia-repo/tests/sol_execbench/samples/rmsnorm/solution_cuda.json");
}

TEST_F(PublicSolutions, CudnnSoftmaxBuildsWhereCudnnIs) {
  if (!toolchain().has_cudnn) GTEST_SKIP() << "SKIPPED: cudnn.h is not here";
  const BuildOutcome outcome = build(
      read_solution(kernelindex::test::corpus_path(
          "data/sources/sol-execbench/nvidia-repo/examples/cudnn/softmax/solution_cudnn.json")),
      "sm_90a");
  EXPECT_EQ(outcome.status, RunStatus::passed) << outcome.log;
}

TEST_F(PublicSolutions, CutlassGemmBuildsWhereCutlassIs) {
  if (std::getenv("CUTLASS_DIR") == nullptr) GTEST_SKIP() << "SKIPPED: CUTLASS_DIR is not set";
  expect_builds("nvidia-repo/examples/cutlass/gemm/solution_cutlass.json");
}

class Builder : public ::testing::Test {
 protected:
  void SetUp() override {
    if (toolchain().nvcc.empty()) GTEST_SKIP() << "SKIPPED: no CUDA toolkit here";
  }
  static Solution one(std::string path, std::string text, BuildRecipe::Binding binding) {
    Solution solution;
    solution.recipe.binding = binding;
    solution.recipe.entry_path = path;
    solution.recipe.entry_symbol = "run";
    solution.sources.push_back({path, sha256(text), text});
    return solution;
  }
};

TEST_F(Builder, ASyntaxErrorIsACompileErrorOfTheSources) {
  const BuildOutcome outcome =
      build(one("a.cu", "int f( {", BuildRecipe::Binding::ki_abi), "sm_90a");
  EXPECT_EQ(outcome.status, RunStatus::compile_error);
  EXPECT_FALSE(outcome.facts.adapter_gap);
  EXPECT_THAT(outcome.log, HasSubstr("error"));
}

TEST_F(Builder, WhatTheShimLacksIsAnAdapterGap) {
  const BuildOutcome outcome =
      build(one("a.cu",
                "#include <torch/extension.h>\n"
                "torch::Tensor run(torch::Tensor a) { return at::linear(a, a); }\n"
                "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def(\"run\", &run); }\n",
                BuildRecipe::Binding::torch),
            "sm_90a");
  EXPECT_EQ(outcome.status, RunStatus::compile_error);
  EXPECT_TRUE(outcome.facts.adapter_gap);
  EXPECT_THAT(outcome.codes, Contains("ADAPTER_GAP"));
}

TEST_F(Builder, ADeniedFlagIsAViolationAndStartsNoCompiler) {
  Solution solution = one("a.cu", "int x;", BuildRecipe::Binding::ki_abi);
  solution.recipe.compile_options.emplace();
  solution.recipe.compile_options->cuda_cflags = std::vector<std::string>{"-include=/etc/passwd"};
  const BuildOutcome outcome = build(solution, "sm_90a");
  EXPECT_EQ(outcome.status, RunStatus::policy_violation);
  EXPECT_THAT(outcome.codes, Contains("FLAG_DENIED"));
  EXPECT_FALSE(outcome.facts.compile_digest.has_value());
}

TEST_F(Builder, FlagsArePartOfTheIdentity) {
  Solution solution = one("a.cu", "__global__ void k(float* x) { *x = *x / 3.0f; }\n",
                          BuildRecipe::Binding::ki_abi);
  const BuildOutcome absent = build(solution, "sm_90a");
  const BuildOutcome again = build(solution, "sm_90a");
  solution.recipe.compile_options.emplace();
  const BuildOutcome fast = build(solution, "sm_90a");
  EXPECT_EQ(absent.facts.compile_digest, again.facts.compile_digest);
  EXPECT_EQ(absent.cubins, again.cubins);
  EXPECT_NE(absent.facts.compile_digest, fast.facts.compile_digest);
  EXPECT_NE(absent.cubins, fast.cubins);
}

TEST_F(Builder, CannotIncludeAFileOfItsOwner) {
  const std::filesystem::path secret =
      std::filesystem::temp_directory_path() / "kernelindex-secret-of-test.h";
  { std::ofstream(secret) << "#error LEAKED\n"; }
  const BuildOutcome outcome =
      build(one("a.cu", "#include \"" + secret.string() + "\"\n", BuildRecipe::Binding::ki_abi),
            "sm_90a");
  std::filesystem::remove(secret);
  if (outcome.sandbox.landlock_abi == 0) GTEST_SKIP() << "SKIPPED: this kernel has no Landlock";
  EXPECT_EQ(outcome.status, RunStatus::compile_error);
  EXPECT_THAT(outcome.log, Not(HasSubstr("LEAKED")));
}

TEST_F(Builder, NvrtcMakesACubinAndNamesItsKernels) {
  if (toolchain().nvrtc.empty()) GTEST_SKIP() << "SKIPPED: no NVRTC here";
  LaunchManifest manifest;
  manifest.kernels.push_back(
      {"k.cu",
       "scale<float>",
       {{LaunchArgument::Kind::output, "y"}, {LaunchArgument::Kind::input, "x"}},
       {"1", "1", "1"},
       {"32", "1", "1"},
       {},
       "0"});
  const std::string launch = write_launch_manifest(manifest).value();
  Solution solution = one("launch.json", launch, BuildRecipe::Binding::ki_kernel);
  const std::string text =
      "#include <cuda_bf16.h>\n"
      "template <typename T> __global__ void scale(T* y, const T* x) { y[threadIdx.x] = "
      "x[threadIdx.x]; }\n";
  solution.sources.push_back({"k.cu", sha256(text), text});
  const BuildOutcome outcome = build(solution, "sm_90a");
  ASSERT_EQ(outcome.status, RunStatus::passed) << outcome.log;
  EXPECT_EQ(outcome.artifact.substr(1, 3), "ELF");
  EXPECT_THAT(outcome.lowered_names.at("scale<float>"), HasSubstr("scale"));
  // REFERENCES section 3: NVRTC takes no host code.
  solution.sources[1].content = "void host() {}\n" + text;
  EXPECT_EQ(build(solution, "sm_90a").status, RunStatus::compile_error);
}

TEST(BuilderParts, ReadPtxas) {
  const auto kernels = parse_ptxas(
      "ptxas info    : Compiling entry function '_Z4ropePf' for 'sm_90a'\n"
      "    0 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads\n"
      "ptxas info    : Used 38 registers, used 1 barriers, 4096 bytes smem\n");
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].name, "_Z4ropePf");
  EXPECT_EQ(kernels[0].registers, 38);
  EXPECT_EQ(kernels[0].spill_bytes, 8);
  EXPECT_EQ(kernels[0].shared_bytes, 4096);
}

TEST(BuilderParts, TheTargetIsThatOfTheDevice) {
  EXPECT_EQ(build_architecture("sm_90"), "sm_90a");
  EXPECT_EQ(build_architecture("sm_100"), "sm_100a");
  EXPECT_EQ(build_architecture("sm_80"), "sm_80");
  EXPECT_EQ(build_architecture("sm_90a"), "sm_90a");
}

}  // namespace
}  // namespace kernelindex::runner
