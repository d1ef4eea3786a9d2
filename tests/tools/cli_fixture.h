// SPDX-License-Identifier: Apache-2.0
// A ledger in a temporary folder, and the built program to speak to it.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "schema/digest.h"
#include "schema/json_reader.h"
#include "tests/support/corpus.h"
#include "tests/support/run_program.h"
#include "tests/support/temp_dir.h"

namespace kernelindex::test {

class Cli : public ::testing::Test {
 protected:
  // Runs `kernelindex` with a fixed clock and a state folder of the test's own.
  Outcome run(std::vector<std::string> words, std::string input = {}) {
    words.insert(words.begin(), KERNELINDEX_PROGRAM);
    RunOptions options;
    options.environment = {{"KERNELINDEX_LEDGER", (folder_ / "ledger").string()},
                           {"KERNELINDEX_NOW", "2026-11-30T12:00:00Z"},
                           {"XDG_STATE_HOME", (folder_ / "state").string()}};
    options.input = std::move(input);
    options.folder = folder_.path().string();
    return run_program(words, options);
  }
  // The same, and it must succeed; standard output.
  std::string ok(std::vector<std::string> words) {
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.out;
  }
  // One JSON document that a command prints; valid until the next call.
  json::Value document(std::vector<std::string> words) {
    words.push_back("--json");
    text_ = ok(std::move(words));
    arena_.reset();
    const Result<json::Value> value =
        json::parse(text_, arena_, {.bytes = limits::kSourceJsonBytes});
    EXPECT_TRUE(value) << text_;
    return value ? *value : json::Value();
  }
  void found_ledger() { ok({"init", "--quiet"}); }
  void import_sample() {
    found_ledger();
    ok({"import", "sol-execbench", (source_root() / "tools/sample").string()});
  }

  TempDir folder_;

 private:
  std::string text_;
  json::Arena arena_;
};

}  // namespace kernelindex::test
