// SPDX-License-Identifier: Apache-2.0
#include "tests/acceptance/child_program.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <utility>

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
  std::array<int, 2> errors{};
  if (::pipe2(errors.data(), O_CLOEXEC) != 0) throw std::runtime_error("cannot make a pipe");
  errors_ = errors[0];
  process_ = ::fork();
  if (process_ < 0) throw std::runtime_error("cannot fork");
  if (process_ > 0) {
    ::close(errors[1]);
    return;
  }
  for (const auto& [name, value] : environment) ::setenv(name.c_str(), value.c_str(), 1);
  const int nowhere = ::open("/dev/null", O_RDWR);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO}) ::dup2(nowhere, stream);
  ::dup2(errors[1], STDERR_FILENO);
  ::execv(arguments[0], arguments.data());
  ::_exit(127);
}

ChildProgram::~ChildProgram() {
  kill();
  wait();
  ::close(errors_);
}

bool ChildProgram::running() {
  if (process_ < 0) return false;
  int status = 0;
  if (::waitpid(process_, &status, WNOHANG) == 0) return true;
  outcome_ = outcome_of(status);
  process_ = -1;
  return false;
}

std::string ChildProgram::error_line() {
  std::array<char, 1024> block;
  std::size_t end = 0;
  while ((end = said_.find('\n')) == std::string::npos) {
    const ssize_t count = ::read(errors_, block.data(), block.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return std::exchange(said_, {});
    said_.append(block.data(), static_cast<std::size_t>(count));
  }
  std::string line = said_.substr(0, end);
  said_.erase(0, end + 1);
  return line;
}

void ChildProgram::kill() { send(SIGKILL); }

void ChildProgram::send(int signal) {
  if (process_ >= 0) ::kill(process_, signal);
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
