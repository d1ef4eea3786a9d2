// SPDX-License-Identifier: Apache-2.0
#include "cuda/compile_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelindex::runner {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(CompileFlags, TheThreeCasesAreKeptApart) {
  const CompilerFlags absent = choose_flags({}).value();
  EXPECT_THAT(absent.device, IsEmpty());
  EXPECT_THAT(absent.link, IsEmpty());

  const CompilerFlags empty = choose_flags({.options_present = true}).value();
  EXPECT_THAT(empty.device, ElementsAre("-O3", "--use_fast_math"));
  EXPECT_THAT(empty.link, ElementsAre("-lcuda"));

  const CompilerFlags none =
      choose_flags({.options_present = true, .cuda_cflags = std::vector<std::string>{}}).value();
  EXPECT_THAT(none.device, IsEmpty());
}

TEST(CompileFlags, AllowsTheList) {
  for (const char* flag : {"-O0",
                           "-O3",
                           "--use_fast_math",
                           "-ftz=true",
                           "-prec-div=false",
                           "-prec-sqrt=true",
                           "-fmad=false",
                           "-std=c++14",
                           "-std=c++17",
                           "-std=c++20",
                           "--maxrregcount=64",
                           "-lineinfo",
                           "--expt-relaxed-constexpr",
                           "--extended-lambda",
                           "-DNAME",
                           "-DNAME=1",
                           "-DX=1.5e-3",
                           "-Iinclude",
                           "-Ia/b",
                           "-lcuda",
                           "-lcublas",
                           "-lcublasLt",
                           "-lcudnn"}) {
    EXPECT_TRUE(is_allowed_flag(flag)) << flag;
  }
}

TEST(CompileFlags, DeniesAllElse) {
  for (const char* flag : {"",
                           "-O4",
                           "-Xlinker",
                           "-Xcompiler",
                           "-L/usr",
                           "@file",
                           "--run",
                           "-run",
                           "-include",
                           "-include=/etc/passwd",
                           "-fplugin=x.so",
                           "-I/usr/include",
                           "-I../x",
                           "-Ia/../../b",
                           "-I",
                           "-I-x",
                           "-Ia,b",
                           "-DA=$(id)",
                           "-DA=\"x\"",
                           "-D",
                           "-D1A",
                           "-DA B",
                           "-lssl",
                           "-l",
                           "-std=c++98",
                           "-std=gnu++17",
                           "--maxrregcount=",
                           "--maxrregcount=12345",
                           "-ftz=maybe",
                           "-o",
                           "-odir",
                           "--keep",
                           "-ccbin=other",
                           "-Wl,-rpath=elsewhere",
                           "-dlto",
                           "kernel.cu"}) {
    EXPECT_FALSE(is_allowed_flag(flag)) << flag;
  }
}

TEST(CompileFlags, OneDeniedFlagDeniesTheBuildAndIsNamed) {
  const auto flags = choose_flags(
      {.options_present = true, .cuda_cflags = std::vector<std::string>{"-O3", "-Xptxas"}});
  ASSERT_FALSE(flags);
  EXPECT_EQ(flags.error().code, "FLAG_DENIED");
  EXPECT_EQ(flags.error().place, "-Xptxas");
  EXPECT_FALSE(
      choose_flags({.options_present = true, .ld_flags = std::vector<std::string>{"-L."}}));
  EXPECT_FALSE(
      choose_flags({.options_present = true, .cflags = std::vector<std::string>{"-fplugin=a"}}));
}

TEST(CompileFlags, NvrtcHasItsOwnSpelling) {
  EXPECT_EQ(nvrtc_form("-std=c++17"), "--std=c++17");
  EXPECT_EQ(nvrtc_form("-fmad=false"), "--fmad=false");
  EXPECT_EQ(nvrtc_form("--use_fast_math"), "--use_fast_math");
  EXPECT_EQ(nvrtc_form("-O3"), "");
  EXPECT_EQ(nvrtc_form("-lcuda"), "");
  EXPECT_EQ(nvrtc_form("-lineinfo"), "--lineinfo");
}

}  // namespace
}  // namespace kernelindex::runner
