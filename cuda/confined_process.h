// SPDX-License-Identifier: Apache-2.0
// A process in a sandbox: started, listened to, and ended with all that it started.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cuda/child_frames.h"
#include "cuda/sandbox.h"
#include "schema/result.h"

namespace kernelindex::runner {

struct ConfinedPlan {
  std::vector<std::string> command;                // command[0] is a path
  std::map<std::string, std::string> environment;  // all of it
  SandboxPlan sandbox;
  std::int64_t log_bytes = std::int64_t{16} << 20;  // kept; the rest is counted
  bool with_channel = true;  // descriptor 3 is the child's end; its session id is sent to it first
  // Opened in the child as descriptors 4, 5, ...; taken over from the caller no matter what.
  std::vector<int> more_descriptors = {};
};

// Where a child finds its end of the channel.
inline constexpr int kChannelDescriptor = 3;

struct ConfinedEnd {
  bool timed_out = false;        // the wall clock ended it
  bool out_of_memory = false;    // its cgroup did
  std::optional<int> exit_code;  // absent when a signal ended it
  int signal = 0;
  bool forbidden_call() const;  // SIGSYS: the filter
};

class ConfinedProcess {
 public:
  // Error NO_CHILD (kind system).
  static Result<std::unique_ptr<ConfinedProcess>> start(const ConfinedPlan& plan);
  ConfinedProcess(const ConfinedProcess&) = delete;
  ConfinedProcess& operator=(const ConfinedProcess&) = delete;
  ~ConfinedProcess();  // kills the tree

  using Clock = std::chrono::steady_clock;

  // Sends a request and waits for the judged answer. `gone` when the child ended or the deadline
  // passed; then wait() tells which.
  ChildChannel::Judged request(FrameKind kind, std::string_view payload,
                               Clock::time_point deadline);
  // Waits for the end, and kills the tree at the deadline. Idempotent.
  ConfinedEnd wait(Clock::time_point deadline);
  // Ends the tree now.
  void kill_tree();

  const SandboxFacts& facts() const { return facts_; }
  const std::string& log() const { return log_; }
  std::int64_t log_original_bytes() const { return log_original_bytes_; }
  // Packets after the last one that was asked for count as forged, too.
  std::int64_t forgeries() const { return channel_ ? channel_->forgeries() : 0; }
  std::int64_t packets() const { return channel_ ? channel_->packets() : 0; }
  pid_t inner() const { return inner_; }
  // Threads of the child now; 0 when it cannot be told.
  std::uint32_t threads() const;

 private:
  ConfinedProcess() = default;
  bool pump(Clock::time_point deadline, bool stop_at_packet);
  void take_log();

  std::unique_ptr<LimitGroup> group_;
  std::optional<ChildChannel> channel_;
  SandboxFacts facts_;
  pid_t outer_ = -1;  // holds the namespaces; its child is the program
  pid_t inner_ = -1;  // the program, by our own numbers
  int log_descriptor_ = -1;
  std::string log_;
  std::int64_t log_original_bytes_ = 0;
  std::int64_t log_limit_ = 0;
  std::optional<ConfinedEnd> end_;
};

// A folder of its own under $TMPDIR or /tmp, mode 0700, of `nobody` when we are root; removed with
// all in it. Error NO_DIRECTORY (kind system).
class PrivateDirectory {
 public:
  static Result<PrivateDirectory> make();
  PrivateDirectory(PrivateDirectory&& other) noexcept;
  PrivateDirectory& operator=(PrivateDirectory&&) = delete;
  ~PrivateDirectory();
  const std::filesystem::path& path() const { return path_; }
  // Writes a file in it that the confined process can read. Requires: a safe relative path.
  Status write(std::string_view name, std::string_view bytes) const;

 private:
  PrivateDirectory() = default;
  std::filesystem::path path_;
};

}  // namespace kernelindex::runner
