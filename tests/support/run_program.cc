// SPDX-License-Identifier: Apache-2.0
#include "tests/support/run_program.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <stdexcept>

namespace kernelindex::test {
namespace {

struct Pipe {
  int read_end = -1;
  int write_end = -1;
  Pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("cannot make a pipe");
    read_end = ends[0];
    write_end = ends[1];
  }
  ~Pipe() {
    close_end(read_end);
    close_end(write_end);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  static void close_end(int& end) {
    if (end >= 0) ::close(end);
    end = -1;
  }
};

[[noreturn]] void become(const std::vector<std::string>& argv, const RunOptions& options, int in,
                         int out, int err) {
  ::dup2(in, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(err, STDERR_FILENO);
  for (const auto& [name, value] : options.environment) {
    if (value.empty()) {
      ::unsetenv(name.c_str());
    } else {
      ::setenv(name.c_str(), value.c_str(), 1);
    }
  }
  if (!options.folder.empty() && ::chdir(options.folder.c_str()) != 0) ::_exit(127);
  std::vector<char*> arguments;
  for (const std::string& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
  ::_exit(127);
}

// Reads what is there; closes the end at the end of the stream.
void drain(int& end, std::string& text) {
  std::array<char, 65536> block;
  const ssize_t count = ::read(end, block.data(), block.size());
  if (count > 0) {
    text.append(block.data(), static_cast<std::size_t>(count));
  } else if (count == 0 || errno != EINTR) {
    Pipe::close_end(end);
  }
}

// Moves bytes both ways until the program closed both outputs, or time is up.
bool exchange(Pipe& in, Pipe& out, Pipe& err, const RunOptions& options, Outcome& outcome) {
  const auto deadline =
      std::chrono::steady_clock::now() + std::chrono::seconds(options.timeout_seconds);
  std::size_t written = 0;
  if (options.input.empty()) Pipe::close_end(in.write_end);
  while (out.read_end >= 0 || err.read_end >= 0) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    std::array<pollfd, 3> watched{pollfd{out.read_end, POLLIN, 0}, pollfd{err.read_end, POLLIN, 0},
                                  pollfd{in.write_end, POLLOUT, 0}};
    if (::poll(watched.data(), watched.size(), static_cast<int>(left.count())) < 0) continue;
    if (watched[0].revents != 0) drain(out.read_end, outcome.out);
    if (watched[1].revents != 0) drain(err.read_end, outcome.err);
    if (watched[2].revents != 0) {
      const ssize_t count =
          ::write(in.write_end, options.input.data() + written, options.input.size() - written);
      if (count > 0) written += static_cast<std::size_t>(count);
      if (written == options.input.size() || (count < 0 && errno != EINTR && errno != EAGAIN)) {
        Pipe::close_end(in.write_end);
      }
    }
  }
  return true;
}

}  // namespace

Outcome run_program(const std::vector<std::string>& argv, const RunOptions& options) {
  std::signal(SIGPIPE, SIG_IGN);  // a program that does not read its input is no fault of ours
  Pipe in;
  Pipe out;
  Pipe err;
  ::fcntl(in.write_end, F_SETFL, O_NONBLOCK);
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("cannot fork");
  if (child == 0) {
    std::signal(SIGPIPE, SIG_DFL);
    become(argv, options, in.read_end, out.write_end, err.write_end);
  }
  Pipe::close_end(in.read_end);
  Pipe::close_end(out.write_end);
  Pipe::close_end(err.write_end);

  Outcome outcome;
  const bool finished = exchange(in, out, err, options, outcome);
  if (!finished) ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (outcome.exit_code == 127 && outcome.out.empty() && outcome.err.empty()) {
    throw std::runtime_error("cannot start " + argv.at(0));
  }
  return outcome;
}

}  // namespace kernelindex::test
