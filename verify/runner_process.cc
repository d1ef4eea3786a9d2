// SPDX-License-Identifier: Apache-2.0
#include "verify/runner_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "schema/measurement_terms.h"
#include "schema/runner_channel.h"

namespace kernelindex {
namespace {

constexpr int kChannel = 3;  // the descriptor of the runner's end

std::unexpected<Error> system_fault(std::string code, std::string place, std::string message,
                                    std::string remedy = {}) {
  return fail(ErrorKind::system, std::move(code), std::move(place), std::move(message),
              std::move(remedy));
}

// The process with our end of the channel. Ends the whole process group when it goes.
class RunnerProcess {
 public:
  RunnerProcess() = default;
  RunnerProcess(const RunnerProcess&) = delete;
  RunnerProcess& operator=(const RunnerProcess&) = delete;
  ~RunnerProcess() {
    if (channel_ >= 0) ::close(channel_);
    if (process_ > 0) {
      kill_all();
      ::waitpid(process_, nullptr, 0);
    }
  }

  Status start(const RunnerCommand& command);
  int channel() const { return channel_; }
  // Whatever waits on the channel goes on, and finds its end.
  void end() const {
    ::shutdown(channel_, SHUT_RDWR);
    kill_all();
  }

 private:
  // The group, and the process, which may have left it.
  void kill_all() const {
    ::kill(-process_, SIGKILL);
    ::kill(process_, SIGKILL);
  }

  int channel_ = -1;
  pid_t process_ = -1;
};

// Ends the process at the deadline, whatever this side is waiting for: a runner that takes nothing,
// or gives a byte now and then, must not hold us.
class Watchdog {
 public:
  Watchdog(const RunnerProcess& process, std::chrono::steady_clock::time_point deadline)
      : thread_([this, &process, deadline](const std::stop_token& stop) {
          std::unique_lock lock(mutex_);
          if (!ended_.wait_until(lock, stop, deadline, [] { return false; }) &&
              !stop.stop_requested()) {
            process.end();
          }
        }) {}

 private:
  std::mutex mutex_;
  std::condition_variable_any ended_;
  std::jthread thread_;  // last: it ends before what it uses
};

// What the child is started with: its end of the channel as descriptor 3, a process group of its
// own, no blocked signals. Everything else of ours is closed on exec.
class SpawnSettings {
 public:
  explicit SpawnSettings(int end) {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawn_file_actions_adddup2(&actions_, end, kChannel);
    ::posix_spawn_file_actions_addclosefrom_np(&actions_, kChannel + 1);
    ::posix_spawnattr_init(&attributes_);
    sigset_t none;
    ::sigemptyset(&none);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    sigset_t defaults;
    ::sigemptyset(&defaults);
    ::sigaddset(&defaults, SIGPIPE);
    ::posix_spawnattr_setsigdefault(&attributes_, &defaults);
    ::posix_spawnattr_setpgroup(&attributes_, 0);
    ::posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
  ~SpawnSettings() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }

  const posix_spawn_file_actions_t* actions() const { return &actions_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

Status RunnerProcess::start(const RunnerCommand& command) {
  std::array<int, 2> ends{-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return system_fault("NO_RUNNER", "socketpair", std::strerror(errno));
  }
  channel_ = ends[0];
  // dup2() of a descriptor onto itself would leave it to be closed on exec.
  int end = ends[1];
  if (end == kChannel) {
    end = ::fcntl(ends[1], F_DUPFD_CLOEXEC, kChannel + 1);
    ::close(ends[1]);
  }
  std::vector<std::string> words = {command.program.string(), command.mode, "--channel",
                                    std::to_string(kChannel)};
  if (command.simulate) words.emplace_back("--simulate");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const SpawnSettings settings(end);
  const int error = ::posix_spawn(&process_, words[0].c_str(), settings.actions(),
                                  settings.attributes(), argv.data(), environ);
  ::close(end);
  if (error == 0) return {};
  process_ = -1;
  return system_fault("NO_RUNNER", command.program.string(),
                      "the runner cannot be started: " + std::string(std::strerror(error)),
                      "give its path with --runner-program");
}

// What the runner says goes into an error of ours: one line of it.
std::string one_line(std::string text) {
  constexpr std::size_t kMost = 500;
  text.resize(std::min(text.size(), kMost));
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  return text;
}

class Conversation {
 public:
  Conversation(int channel, std::chrono::steady_clock::time_point deadline,
               const RunnerListener& listener)
      : channel_(channel), deadline_(deadline), listener_(listener) {}

  Result<std::string> run(std::string_view work) {
    if (Status sent = send_runner_message(channel_, RunnerMessageKind::job, work); !sent) {
      return ended(sent.error());
    }
    if (Status sent = send_runner_message(channel_, RunnerMessageKind::begin, {}); !sent) {
      return ended(sent.error());
    }
    for (;;) {
      Result<RunnerMessage> message = next();
      if (!message) return fail(message.error());
      if (message->kind == RunnerMessageKind::result) return std::move(message->body);
      if (Status status = take(*message); !status) return fail(status.error());
    }
  }

 private:
  Result<RunnerMessage> next() {
    Result<RunnerMessage> message = receive_runner_message(channel_);
    if (!message) return ended(message.error());
    bytes_ += message->body.size();
    if (bytes_ > kRunnerOutputBytes) {
      return fail(ErrorKind::invalid, "RUNNER_TOO_MUCH", "runner",
                  "the runner sent more than " + std::to_string(kRunnerOutputBytes) + " bytes",
                  "use a runner of this version");
    }
    return message;
  }

  Status take(const RunnerMessage& message) {
    switch (message.kind) {
      case RunnerMessageKind::progress:
        if (listener_.progress) listener_.progress(message.body);
        return {};
      case RunnerMessageKind::samples:
        return keep(message.body);
      case RunnerMessageKind::artifact: {
        const Result<NamedBody> named = decode_named_body(message.body);
        if (!named) return fail(named.error());
        return keep(named->bytes);
      }
      case RunnerMessageKind::failed: {
        const Result<NamedBody> told = decode_named_body(message.body);
        if (!told) return fail(told.error());
        const bool code = is_reason_code(told->name);
        return system_fault(code ? told->name : "RUNNER_FAILED", "runner", one_line(told->bytes));
      }
      default:
        return fail(ErrorKind::invalid, "BAD_RUNNER_MESSAGE", "runner",
                    "the runner sent a message that only its caller may send");
    }
  }

  Status keep(std::string_view bytes) {
    if (++artifacts_ > kRunnerArtifacts) {
      return fail(ErrorKind::invalid, "RUNNER_TOO_MUCH", "runner",
                  "the runner sent more than " + std::to_string(kRunnerArtifacts) + " artifacts",
                  "use a runner of this version");
    }
    return listener_.artifact(bytes);
  }

  std::unexpected<Error> timeout() const {
    return system_fault("RUNNER_TIMEOUT", "runner",
                        "the runner was not done in the time that the job allows",
                        "its last words on standard error tell how far it was");
  }
  std::unexpected<Error> ended(const Error& error) const {
    // What breaks off at the deadline was cut by us.
    if (std::chrono::steady_clock::now() >= deadline_) return timeout();
    if (error.kind == ErrorKind::invalid) return fail(error);
    return system_fault("RUNNER_ENDED", "runner",
                        "the runner ended without a result: " + error.message,
                        "what it printed tells why; `kernelindex-runner doctor` looks the machine "
                        "over");
  }

  int channel_;
  std::chrono::steady_clock::time_point deadline_;
  const RunnerListener& listener_;
  std::uint64_t bytes_ = 0;
  std::size_t artifacts_ = 0;
};

}  // namespace

Result<std::string> run_runner(const RunnerCommand& command, std::string_view work,
                               const RunnerListener& listener) {
  RunnerProcess process;
  if (Status status = process.start(command); !status) return fail(status.error());
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(command.seconds);
  const Watchdog watchdog(process, deadline);
  return Conversation(process.channel(), deadline, listener).run(work);
}

}  // namespace kernelindex
