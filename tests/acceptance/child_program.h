// SPDX-License-Identifier: Apache-2.0
// A program that runs beside the test, to be watched and killed.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

namespace kernelindex::test {

class ChildProgram {
 public:
  // Its output goes nowhere. Throws std::runtime_error when it cannot be started.
  ChildProgram(const std::vector<std::string>& argv,
               const std::map<std::string, std::string>& environment);
  // Kills it when it still runs.
  ~ChildProgram();
  ChildProgram(const ChildProgram&) = delete;
  ChildProgram& operator=(const ChildProgram&) = delete;

  bool running();
  // SIGKILL: the program has no say in it.
  void kill();
  // Exit status, or 128 + signal.
  int wait();

 private:
  pid_t process_ = -1;
  int outcome_ = -1;
};

}  // namespace kernelindex::test
