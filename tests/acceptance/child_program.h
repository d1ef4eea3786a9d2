// SPDX-License-Identifier: Apache-2.0
// A program that runs beside the test, to be watched, heard and killed.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

namespace kernelindex::test {

class ChildProgram {
 public:
  // Its output goes nowhere but to error_line(). Throws std::runtime_error when it cannot be
  // started.
  ChildProgram(const std::vector<std::string>& argv,
               const std::map<std::string, std::string>& environment);
  // Kills it when it still runs.
  ~ChildProgram();
  ChildProgram(const ChildProgram&) = delete;
  ChildProgram& operator=(const ChildProgram&) = delete;

  bool running();
  // The next line that it says on standard error, without its end; empty when it says no more.
  // Waits for it.
  std::string error_line();
  // SIGKILL: the program has no say in it.
  void kill();
  void send(int signal);
  // Exit status, or 128 + signal.
  int wait();

 private:
  pid_t process_ = -1;
  int errors_ = -1;   // where its standard error comes out
  std::string said_;  // of it, not yet asked for
  int outcome_ = -1;
};

}  // namespace kernelindex::test
