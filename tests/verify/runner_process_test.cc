// SPDX-License-Identifier: Apache-2.0
// Runners that do not behave: each ends, and says how.
#include "verify/runner_process.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/support/corpus.h"
#include "tests/support/temp_dir.h"

namespace kernelindex::test {
namespace {

class RunnerProcessTest : public testing::Test {
 protected:
  // Starts a shell script in the place of a runner, whose descriptor 3 is the channel.
  std::string code(const std::string& script, std::string_view work = "{}") {
    const std::filesystem::path program = folder_ / "runner";
    write_file(program, "#!/bin/sh\n" + script + "\n");
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    return code_of(program, work);
  }
  std::string code_of(const std::filesystem::path& program, std::string_view work = "{}") {
    const RunnerListener listener{{}, [](std::string_view) { return Status(); }};
    const Result<std::string> document = run_runner({program, "measure", false, 1}, work, listener);
    if (document) return "a document";
    message_ = document.error().message;
    return document.error().code;
  }

  TempDir folder_;
  std::string message_;
};

TEST_F(RunnerProcessTest, OneThatIsNotThereIsNoRunner) {
  EXPECT_EQ(code_of(folder_ / "nowhere"), "NO_RUNNER");
}

TEST_F(RunnerProcessTest, OneThatEndsWithoutAResultSaysSo) {
  EXPECT_EQ(code("exit 0"), "RUNNER_ENDED");
}

TEST_F(RunnerProcessTest, OneThatSaysNothingIsEnded) {
  EXPECT_EQ(code("exec sleep 1000"), "RUNNER_TIMEOUT");
}

TEST_F(RunnerProcessTest, OneThatTakesNothingOfALargeJobIsEnded) {
  EXPECT_EQ(code("exec sleep 1000", std::string(std::size_t{8} << 20, 'x')), "RUNNER_TIMEOUT");
}

TEST_F(RunnerProcessTest, OneThatGivesAByteNowAndThenIsEnded) {
  EXPECT_EQ(code("while printf '\\020' >&3; do sleep 0.2; done"), "RUNNER_TIMEOUT");
}

TEST_F(RunnerProcessTest, OneThatLeavesItsGroupIsEnded) {
  EXPECT_EQ(code("exec python3 -c 'import os, time; os.setpgid(0, os.getpgid(os.getppid())); "
                 "time.sleep(1000)'"),
            "RUNNER_TIMEOUT");
}

// A failed message (kind 20) of 13 bytes: the name "OOPS", and a text of two lines.
TEST_F(RunnerProcessTest, WhatItSaysOfAFailureIsOneLine) {
  EXPECT_EQ(
      code(
          "printf '\\024\\0\\0\\0\\0\\0\\0\\0\\015\\0\\0\\0\\0\\0\\0\\0\\004\\0OOPSone\\ntwo' >&3"),
      "OOPS");
  EXPECT_EQ(message_, "one two");
}

TEST_F(RunnerProcessTest, AMessageThatOnlyItsCallerMaySendIsRefused) {
  EXPECT_EQ(code("printf '\\003\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0' >&3; sleep 5"),
            "BAD_RUNNER_MESSAGE");
}

}  // namespace
}  // namespace kernelindex::test
