// SPDX-License-Identifier: Apache-2.0
#include "tests/acceptance/child_program.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <stdexcept>

namespace kernelindex::test {
namespace {

int outcome_of(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

ChildProgram::ChildProgram(const std::vector<std::string>& argv,
                           const std::map<std::string, std::string>& environment) {
  std::vector<char*> arguments;
  for (const std::string& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  process_ = ::fork();
  if (process_ < 0) throw std::runtime_error("cannot fork");
  if (process_ > 0) return;
  for (const auto& [name, value] : environment) ::setenv(name.c_str(), value.c_str(), 1);
  const int nowhere = ::open("/dev/null", O_RDWR);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nowhere, stream);
  ::execv(arguments[0], arguments.data());
  ::_exit(127);
}

ChildProgram::~ChildProgram() {
  kill();
  wait();
}

bool ChildProgram::running() {
  if (process_ < 0) return false;
  int status = 0;
  if (::waitpid(process_, &status, WNOHANG) == 0) return true;
  outcome_ = outcome_of(status);
  process_ = -1;
  return false;
}

void ChildProgram::kill() {
  if (process_ >= 0) ::kill(process_, SIGKILL);
}

int ChildProgram::wait() {
  if (process_ < 0) return outcome_;
  int status = 0;
  while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  process_ = -1;
  outcome_ = outcome_of(status);
  return outcome_;
}

}  // namespace kernelindex::test
