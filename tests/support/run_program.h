// SPDX-License-Identifier: Apache-2.0
// Runs a program as a user would, and gives back all that it said.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace kernelindex::test {

struct Outcome {
  int exit_code = -1;  // 128 + signal when a signal ended it, as a shell says it
  std::string out;
  std::string err;
};

struct RunOptions {
  std::map<std::string, std::string> environment =
      {};                     // added to ours; an empty value removes the name
  std::string input = {};     // standard input, closed afterwards
  std::string folder = {};    // working folder; empty for ours
  int timeout_seconds = 120;  // then it is killed and exit_code is 137
};

// argv[0] is looked up in PATH unless it has a slash. Throws std::runtime_error when the program
// cannot be started at all. Callable from one thread at a time.
Outcome run_program(const std::vector<std::string>& argv, const RunOptions& options = {});

}  // namespace kernelindex::test
