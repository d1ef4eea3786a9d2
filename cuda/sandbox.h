// SPDX-License-Identifier: Apache-2.0
// What holds a builder or a child in: namespaces, no new privileges, Landlock, seccomp, rlimits, a
// cgroup. What the kernel does not give is said in SandboxFacts and judged by policy. PROTOCOL
// section 1.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "schema/measurement_result.h"

namespace kernelindex::runner {

struct SandboxPlan {
  std::filesystem::path directory;              // its own: may be written
  std::vector<std::filesystem::path> readable;  // files and folders to read and execute
  std::vector<std::filesystem::path> writable;  // devices
  std::int64_t memory_bytes = 0;                // 0: no cap
  std::int64_t processes = 64;
  std::int64_t file_bytes = std::int64_t{256} << 20;
  // Address space is capped where no cgroup can cap memory; CUDA reserves far too much of it.
  bool cap_address_space = true;
};

// In the confined process, between fork and exec, in this order. Each function gives what it
// achieved; none fails.
//
// New mount, network, IPC and PID namespaces, and a user namespace; as root the process first
// becomes `nobody` so that files of root stay closed to it. The PID namespace begins with the next
// fork.
void enter_namespaces(const SandboxPlan& plan, SandboxFacts& facts);
// rlimits, no_new_privs, Landlock, seccomp of what nobody inside may ever call. Keeps only the
// descriptors below `first_closed`.
void confine(const SandboxPlan& plan, SandboxFacts& facts, int first_closed);

// What a process that has loaded its artifact gives up before any of its code runs: starting
// processes and programs. Threads stay possible. Returns whether the filter is in place.
bool forbid_new_processes();

// The Landlock ABI of the kernel; 0 when there is none.
int landlock_abi();

// A cgroup with limits, where the machine lets us make one (v2, or v1 memory and pids).
class LimitGroup {
 public:
  LimitGroup(std::int64_t memory_bytes, std::int64_t processes);
  LimitGroup(const LimitGroup&) = delete;
  LimitGroup& operator=(const LimitGroup&) = delete;
  ~LimitGroup();

  bool caps_memory() const { return caps_memory_; }
  bool caps_processes() const { return caps_processes_; }
  // Puts a process in. False when the kernel refused.
  bool add(pid_t process) const;
  // Whether the kernel killed somebody in it for memory.
  bool ran_out_of_memory() const;
  // Kills what is in it, as far as the kernel can.
  void kill_all() const;

 private:
  std::vector<std::filesystem::path> folders_;
  bool caps_memory_ = false;
  bool caps_processes_ = false;
};

// Where a process cannot be: a path for the readable list when it is there.
std::vector<std::filesystem::path> system_folders();

}  // namespace kernelindex::runner
