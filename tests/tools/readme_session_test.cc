// SPDX-License-Identifier: Apache-2.0
// Runs the first session of the README, and that of the guide to verified numbers, as they stand
// there and compares what they print.
//
// In the block after the mark `<!-- session -->` a line that begins with "$ " is a command, the
// lines below it are its output. "..." stands for any number of lines, "…" inside a line for any
// text.
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/corpus.h"
#include "tests/support/run_program.h"
#include "tests/support/temp_dir.h"

namespace kernelindex::test {
namespace {

struct Step {
  std::string command;
  std::vector<std::string> expected;
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::vector<Step> read_session(const std::string& readme) {
  std::vector<Step> steps;
  const std::size_t mark = readme.find("<!-- session -->\n```console\n");
  if (mark == std::string::npos) return steps;
  const std::size_t begin = readme.find("$ ", mark);
  const std::size_t end = readme.find("\n```\n", begin);
  for (const std::string& line : lines_of(readme.substr(begin, end - begin))) {
    if (line.starts_with("$ ")) {
      steps.push_back({line.substr(2), {}});
    } else {
      steps.back().expected.push_back(line);
    }
  }
  return steps;
}

// Whether a line reads as expected; each "…" takes as little as it can.
bool line_matches(std::string_view line, std::string_view expected) {
  constexpr std::string_view kAny = "…";
  const std::size_t any = expected.find(kAny);
  if (any == std::string_view::npos) return line == expected;
  if (!line.starts_with(expected.substr(0, any))) return false;
  line.remove_prefix(any);
  expected.remove_prefix(any + kAny.size());
  for (std::size_t skip = 0; skip <= line.size(); ++skip) {
    if (line_matches(line.substr(skip), expected)) return true;
  }
  return false;
}

// The first expected line that does not follow, or empty.
std::string first_difference(const std::vector<std::string>& lines,
                             const std::vector<std::string>& expected) {
  std::size_t at = 0;
  bool gap = false;
  for (const std::string& want : expected) {
    if (want == "...") {
      gap = true;
      continue;
    }
    while (gap && at < lines.size() && !line_matches(lines[at], want)) ++at;
    if (at == lines.size() || !line_matches(lines[at], want)) return want;
    ++at;
    gap = false;
  }
  return gap || at == lines.size() ? "" : "(nothing, but there is) " + lines[at];
}

// Runs the session of a document in a fresh folder that has the folders of ours that it names.
void expect_session(const std::string& document, std::size_t least) {
  const std::vector<Step> steps = read_session(read_file(source_root() / document));
  ASSERT_GE(steps.size(), least) << "the session was not found";
  const TempDir folder;
  for (const char* name : {"docs", "tools"}) {
    std::filesystem::create_directory_symlink(source_root() / name, folder / name);
  }
  RunOptions options;
  options.folder = folder.path();
  options.environment = {{"KERNELINDEX_LEDGER", ""},
                         {"XDG_STATE_HOME", (folder / "state").string()},
                         {"PATH", std::string(KERNELINDEX_PROGRAM_DIR) + ":" +
                                      KERNELINDEX_RUNNER_DIR + ":/usr/bin:/bin"}};
  for (const Step& step : steps) {
    const Outcome outcome = run_program({"/bin/sh", "-c", step.command}, options);
    EXPECT_EQ(outcome.exit_code, 0) << "$ " << step.command << "\n" << outcome.err;
    EXPECT_EQ(first_difference(lines_of(outcome.out), step.expected), "")
        << "$ " << step.command << "\n"
        << outcome.out;
  }
}

TEST(ReadmeSession, PrintsWhatTheReadmeSays) { expect_session("README.md", 5); }

TEST(ReadmeSession, TheGuideToVerifiedNumbersPrintsWhatItSays) {
  expect_session("docs/verify-your-kernel.md", 10);
}

TEST(ReadmeSession, ADifferenceIsSeen) {
  EXPECT_EQ(first_difference({"a", "b"}, {"a", "b"}), "");
  EXPECT_EQ(first_difference({"a", "x1y", "c"}, {"a", "x…y", "..."}), "");
  EXPECT_EQ(first_difference({"a", "b"}, {"...", "c"}), "c");
  EXPECT_NE(first_difference({"a", "b"}, {"a"}), "");
  EXPECT_NE(first_difference({"a"}, {"a", "b"}), "");
  EXPECT_NE(first_difference({"x1z"}, {"x…y"}), "");
}

}  // namespace
}  // namespace kernelindex::test
