// SPDX-License-Identifier: Apache-2.0
// What holds for the program whatever the verb: exit codes, streams, help.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/run_program.h"
#include "tools/verb.h"

namespace kernelindex::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

Outcome kernelindex(std::vector<std::string> words, const RunOptions& options = {}) {
  words.insert(words.begin(), KERNELINDEX_PROGRAM);
  return run_program(words, options);
}

TEST(Program, WrongUsageIsExitTwoOnStandardError) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{},
                                             {"frobnicate"},
                                             {"manifest"},
                                             {"manifest", "digest"},
                                             {"completion", "fish"},
                                             {"manifest", "digest", "x", "--json", "--jsonl"},
                                             {"manifest", "digest", "x", "--now", "yesterday"}}) {
    const Outcome outcome = kernelindex(words);
    EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
    EXPECT_THAT(outcome.out, IsEmpty());
    EXPECT_THAT(outcome.err, StartsWith("kernelindex: error: "));
  }
}

TEST(Program, AFixedClockMustBeAnInstantInTheEnvironmentToo) {
  const Outcome outcome =
      kernelindex({"completion", "bash"}, {.environment = {{"KERNELINDEX_NOW", "noon"}}});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("$KERNELINDEX_NOW"));
}

TEST(Program, HelpOfEveryVerbNamesItsOptionsAndExamples) {
  EXPECT_THAT(kernelindex({"--help"}).out, HasSubstr("Exit status"));
  for (const tools::Verb* verb : tools::all_verbs()) {
    std::vector<std::string> words;
    const std::string name(verb->name);
    const auto space = name.find(' ');
    words.push_back(name.substr(0, space));
    if (space != std::string::npos) words.push_back(name.substr(space + 1));
    words.push_back("--help");
    const Outcome outcome = kernelindex(words);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("kernelindex " + name));
    for (const tools::OptionSpec& option : verb->options) {
      EXPECT_FALSE(option.help.empty()) << name << " " << option.name;
      EXPECT_THAT(outcome.out, HasSubstr(std::string(option.name)));
    }
    EXPECT_FALSE(verb->summary.empty() || verb->summary.ends_with('.')) << name;
    EXPECT_FALSE(verb->examples.empty()) << name;
    EXPECT_THAT(outcome.out, Not(HasSubstr("\x1b")));  // no terminal, no colour
  }
}

TEST(Program, AFullDiskBehindStandardOutputIsNoSuccess) {
  const Outcome outcome = run_program(
      {"/bin/sh", "-c", std::string(KERNELINDEX_PROGRAM) + " completion bash > /dev/full"});
  EXPECT_EQ(outcome.exit_code, 6);
  EXPECT_THAT(outcome.err, HasSubstr("standard output"));
}

TEST(Program, TheVersionIsOneLine) {
  const Outcome outcome = kernelindex({"--version"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out, "kernelindex " KERNELINDEX_VERSION "\n");
}

}  // namespace
}  // namespace kernelindex::test
