// SPDX-License-Identifier: Apache-2.0
// Completion and the manual page, as the shells and man see them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/corpus.h"
#include "tests/support/run_program.h"
#include "tests/support/temp_dir.h"
#include "tools/help.h"
#include "tools/verb.h"

namespace kernelindex::test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

bool have_program(const std::string& name) {
  return run_program({"/bin/sh", "-c", "command -v " + name + " || true; echo"}).out != "\n";
}

// What bash offers for the last of the words.
std::vector<std::string> offered(const std::vector<std::string>& words,
                                 std::span<const tools::Verb* const> verbs = tools::all_verbs()) {
  const TempDir folder;
  write_file(folder / "completion", tools::bash_completion(verbs));
  std::string array;
  for (const std::string& word : words) array += "'" + word + "' ";
  const Outcome outcome = run_program(
      {"bash", "-c",
       "compopt() { :; }; source " + (folder / "completion").string() +
           "\nCOMP_WORDS=(kernelindex " + array + ")\nCOMP_CWORD=" + std::to_string(words.size()) +
           "\n_kernelindex\nprintf '%s\\n' \"${COMPREPLY[@]}\""});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, IsEmpty());
  std::istringstream lines(outcome.out);
  std::vector<std::string> offers;
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty()) offers.push_back(line);
  }
  return offers;
}

TEST(Completion, BashOffersEveryVerb) {
  const std::vector<std::string> offers = offered({""});
  for (const tools::Verb* verb : tools::all_verbs()) {
    EXPECT_THAT(offers, Contains(std::string(verb->name.substr(0, verb->name.find(' ')))));
  }
}

TEST(Completion, BashOffersEveryOptionOfEveryVerb) {
  for (const tools::Verb* verb : tools::all_verbs()) {
    std::vector<std::string> words{"--json", "--ledger", "d"};
    std::istringstream names{std::string(verb->name)};
    for (std::string name; names >> name;) words.push_back(name);
    words.push_back("-");
    const std::vector<std::string> offers = offered(words);
    for (const tools::OptionSpec& option : verb->options) {
      if (option.positional()) continue;
      EXPECT_THAT(offers, Contains(std::string(option.name)));
    }
    EXPECT_THAT(offers, Contains("--ledger"));
  }
}

TEST(Completion, BashOffersSecondWordsChoicesAndNothingForeign) {
  EXPECT_THAT(offered({"manifest", "d"}), ElementsAre("digest"));
  EXPECT_THAT(offered({"completion", ""}), ElementsAre("bash", "zsh", "man"));
  EXPECT_THAT(offered({"manifest", "digest", "--id"}), IsEmpty());
}

// A first word that is a verb and leads to others.
constexpr tools::OptionSpec kFileOptions[] = {{.name = "--policy", .value = "FILE", .help = "h"},
                                              {.name = "FILE", .help = "h", .required = true}};
constexpr tools::OptionSpec kDirOptions[] = {{.name = "--tiles-only", .help = "h"},
                                             {.name = "DIR", .help = "h", .required = true}};
constexpr tools::Verb kVerify{.name = "verify", .summary = "s", .options = kFileOptions};
constexpr tools::Verb kVerifyTiles{.name = "verify tiles", .summary = "s", .options = kDirOptions};
constexpr const tools::Verb* kShared[] = {&kVerify, &kVerifyTiles};

TEST(Completion, AVerbThatLeadsToOthersOffersThemAndItsOwn) {
  EXPECT_THAT(offered({"v"}, kShared), ElementsAre("verify"));
  EXPECT_THAT(offered({"verify", ""}, kShared), ElementsAre("tiles"));
  EXPECT_THAT(offered({"verify", "-"}, kShared), Contains("--policy"));
  EXPECT_THAT(offered({"verify", "file", "-"}, kShared), Contains("--policy"));
  EXPECT_THAT(offered({"verify", "tiles", "-"}, kShared),
              AllOf(Contains("--tiles-only"), Not(Contains("--policy"))));
  if (!have_program("zsh")) GTEST_SKIP() << "no zsh here";
  const TempDir folder;
  write_file(folder / "_kernelindex", tools::zsh_completion(kShared));
  const Outcome outcome = run_program({"zsh", "-n", (folder / "_kernelindex").string()});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
}

TEST(Completion, ZshScriptParsesAndNamesEveryVerb) {
  const std::string script = tools::zsh_completion(tools::all_verbs());
  for (const tools::Verb* verb : tools::all_verbs()) {
    EXPECT_THAT(script, HasSubstr("'" + std::string(verb->name) + "') _arguments"));
  }
  if (!have_program("zsh")) GTEST_SKIP() << "no zsh here";
  const TempDir folder;
  write_file(folder / "_kernelindex", script);
  const Outcome outcome = run_program({"zsh", "-n", (folder / "_kernelindex").string()});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
}

TEST(ManualPage, NamesEveryVerbAndOptionAndFormatsWithoutWarnings) {
  const std::string page = tools::manual_page(tools::all_verbs());
  const TempDir folder;
  write_file(folder / "kernelindex.1", page);
  if (!have_program("groff")) GTEST_SKIP() << "no groff here";
  const Outcome outcome = run_program({"groff", "-man", "-ww", "-Tutf8", "-P-cbou", "-rLL=200n",
                                       (folder / "kernelindex.1").string()});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.err, IsEmpty());
  for (const tools::Verb* verb : tools::all_verbs()) {
    EXPECT_THAT(outcome.out, HasSubstr(std::string(verb->summary)));
    for (const tools::OptionSpec& option : verb->options) {
      EXPECT_THAT(outcome.out, HasSubstr(std::string(option.name)));
    }
  }
  EXPECT_THAT(outcome.out, Not(HasSubstr("\\-")));
}

}  // namespace
}  // namespace kernelindex::test
