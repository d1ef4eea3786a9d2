// SPDX-License-Identifier: Apache-2.0
// The runner's program on the other end of a channel, as `rerun` starts it.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "schema/runner_channel.h"

namespace kernelindex::runner::test {

// The program, started as rerun starts it.
class Runner {
 public:
  // `cuda_home`: where compilers are looked for; none by default, the builder has tests of its own.
  explicit Runner(std::vector<std::string> words, const std::string& cuda_home = "/nonexistent") {
    std::array<int, 2> ends{-1, -1};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
    channel_ = ends[0];
    words.insert(words.begin(), KERNELINDEX_RUNNER);
    words.push_back("--channel");
    words.push_back("9");
    process_ = ::fork();
    if (process_ == 0) {
      ::dup2(ends[1], 9);
      ::setenv("CUDA_HOME", cuda_home.c_str(), 1);
      std::vector<char*> argv;
      for (std::string& word : words) argv.push_back(word.data());
      argv.push_back(nullptr);
      ::execv(argv[0], argv.data());
      ::_exit(127);
    }
    ::close(ends[1]);
  }
  ~Runner() {
    ::close(channel_);
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
  void say(RunnerMessageKind kind, std::string_view body) {
    EXPECT_TRUE(send_runner_message(channel_, kind, body));
  }
  // All messages until a result or a failure.
  std::map<RunnerMessageKind, std::vector<std::string>> listen() {
    std::map<RunnerMessageKind, std::vector<std::string>> heard;
    for (;;) {
      auto message = receive_runner_message(channel_);
      if (!message) break;
      const RunnerMessageKind kind = message->kind;
      heard[kind].push_back(std::move(message->body));
      if (kind == RunnerMessageKind::result || kind == RunnerMessageKind::failed) break;
    }
    return heard;
  }

 private:
  int channel_ = -1;
  pid_t process_ = -1;
};

}  // namespace kernelindex::runner::test
