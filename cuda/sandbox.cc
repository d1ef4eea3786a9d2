// SPDX-License-Identifier: Apache-2.0
#include "cuda/sandbox.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/landlock.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

namespace kernelindex::runner {
namespace {

constexpr uid_t kNobody = 65534;

bool write_text(const std::filesystem::path& path, const std::string& text) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool done = ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  ::close(file);
  return done;
}

std::string read_text(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Who we are stays who we are inside: nobody gains by this map.
bool enter_user_namespace(uid_t user, gid_t group) {
  if (::unshare(CLONE_NEWUSER) != 0) return false;
  write_text("/proc/self/setgroups", "deny");
  return write_text("/proc/self/uid_map",
                    std::to_string(user) + " " + std::to_string(user) + " 1\n") &&
         write_text("/proc/self/gid_map",
                    std::to_string(group) + " " + std::to_string(group) + " 1\n");
}

void enter_others(SandboxFacts& facts) {
  facts.mount_namespace = ::unshare(CLONE_NEWNS) == 0;
  if (facts.mount_namespace) ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
  facts.network_namespace = ::unshare(CLONE_NEWNET) == 0;
  facts.ipc_namespace = ::unshare(CLONE_NEWIPC) == 0;
  facts.pid_namespace = ::unshare(CLONE_NEWPID) == 0;
}

void limit(int resource, std::int64_t value) {
  const rlimit bound{static_cast<rlim_t>(value), static_cast<rlim_t>(value)};
  ::setrlimit(static_cast<__rlimit_resource>(resource), &bound);
}

// ---- Landlock, by system call: glibc has no wrappers
// ---------------------------------------------

#ifndef LANDLOCK_ACCESS_FS_REFER
#define LANDLOCK_ACCESS_FS_REFER (1ULL << 13)
#endif
constexpr std::uint64_t kTruncate = 1ULL << 14;     // ABI 3
constexpr std::uint64_t kIoctlDevice = 1ULL << 15;  // ABI 5
constexpr std::uint64_t kNetwork = 3;               // ABI 4: bind and connect of TCP
constexpr std::uint64_t kScopes = 3;                // ABI 6: abstract sockets, signals

constexpr std::uint64_t kRead =
    LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr std::uint64_t kAllOfAbi1 = (1ULL << 13) - 1;

// The kernel's struct as of ABI 6; older kernels take a prefix.
struct RulesetAttributes {
  std::uint64_t files = 0;
  std::uint64_t network = 0;
  std::uint64_t scopes = 0;
};

std::uint64_t file_rights(int abi) {
  std::uint64_t rights = kAllOfAbi1;
  if (abi >= 2) rights |= LANDLOCK_ACCESS_FS_REFER;
  if (abi >= 3) rights |= kTruncate;
  if (abi >= 5) rights |= kIoctlDevice;
  return rights;
}

void allow_path(int ruleset, const std::filesystem::path& path, std::uint64_t rights) {
  const int handle = ::open(path.c_str(), O_PATH | O_CLOEXEC);
  if (handle < 0) return;
  struct stat info {};
  if (::fstat(handle, &info) == 0 && !S_ISDIR(info.st_mode)) {
    // Rights of folders are refused for files.
    rights &= LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE |
              LANDLOCK_ACCESS_FS_WRITE_FILE | kTruncate | kIoctlDevice;
  }
  landlock_path_beneath_attr rule{rights, handle};
  ::syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
  ::close(handle);
}

bool apply_landlock(const SandboxPlan& plan, int abi) {
  RulesetAttributes attributes{file_rights(abi), abi >= 4 ? kNetwork : 0, abi >= 6 ? kScopes : 0};
  const std::size_t size = abi >= 6 ? 24 : abi >= 4 ? 16 : 8;
  const auto ruleset =
      static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attributes, size, 0));
  if (ruleset < 0) return false;
  for (const auto& path : plan.readable) allow_path(ruleset, path, kRead);
  for (const auto& path : plan.writable) {
    allow_path(ruleset, path,
               file_rights(abi) & (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE |
                                   LANDLOCK_ACCESS_FS_READ_DIR | kIoctlDevice));
  }
  allow_path(ruleset, plan.directory, file_rights(abi));
  const bool applied = ::syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
  ::close(ruleset);
  return applied;
}

void limit_resources(const SandboxPlan& plan, SandboxFacts& facts) {
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_FSIZE, plan.file_bytes);
  limit(RLIMIT_NOFILE, 1024);
  limit(RLIMIT_MSGQUEUE, 0);
  limit(RLIMIT_NPROC, plan.processes);
  if (facts.process_cap == SandboxFacts::Cap::none) facts.process_cap = SandboxFacts::Cap::rlimit;
  if (plan.memory_bytes > 0 && plan.cap_address_space &&
      facts.memory_cap == SandboxFacts::Cap::none) {
    limit(RLIMIT_AS, plan.memory_bytes);
    facts.memory_cap = SandboxFacts::Cap::rlimit;
  }
}

}  // namespace

// seccomp_filter.cc
bool install_base_filter();
bool install_no_process_filter();

int landlock_abi() {
  const long abi =
      ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  return abi < 0 ? 0 : static_cast<int>(abi);
}

void enter_namespaces(const SandboxPlan& plan, SandboxFacts& facts) {
  facts.private_directory = !plan.directory.empty();
  if (::geteuid() == 0) {
    enter_others(facts);
    // Root inside would still own the files of root outside.
    const bool dropped = ::setgroups(0, nullptr) == 0 &&
                         ::setresgid(kNobody, kNobody, kNobody) == 0 &&
                         ::setresuid(kNobody, kNobody, kNobody) == 0;
    if (!dropped) ::_exit(126);
    // Changing ids makes a process undumpable, and its files in /proc root's.
    ::prctl(PR_SET_DUMPABLE, 1);
    facts.user_namespace = enter_user_namespace(kNobody, kNobody);
  } else {
    const uid_t user = ::geteuid();
    const gid_t group = ::getegid();
    facts.user_namespace = enter_user_namespace(user, group);
    enter_others(facts);
  }
}

void confine(const SandboxPlan& plan, SandboxFacts& facts, int first_closed) {
  ::syscall(SYS_close_range, static_cast<unsigned>(first_closed), ~0U, 0);
  limit_resources(plan, facts);
  facts.no_new_privileges = ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
  const int abi = landlock_abi();
  facts.landlock_abi = abi > 0 && apply_landlock(plan, abi) ? abi : 0;
  facts.seccomp = install_base_filter();
}

bool forbid_new_processes() { return install_no_process_filter(); }

std::vector<std::filesystem::path> system_folders() {
  return {"/usr",           "/lib",  "/lib64", "/bin", "/etc/ld.so.cache", "/etc/alternatives",
          "/etc/localtime", "/proc", "/sys",   "/opt"};
}

// ---- cgroups
// -------------------------------------------------------------------------------------

LimitGroup::LimitGroup(std::int64_t memory_bytes, std::int64_t processes) {
  static int number = 0;
  const std::string name =
      "kernelindex-" + std::to_string(::getpid()) + "-" + std::to_string(number++);
  const std::filesystem::path root = "/sys/fs/cgroup";
  const auto make = [this, &name](const std::filesystem::path& parent) {
    const std::filesystem::path folder = parent / name;
    if (::mkdir(folder.c_str(), 0755) != 0) return std::filesystem::path();
    folders_.push_back(folder);
    return folder;
  };
  std::error_code ignored;
  if (std::filesystem::exists(root / "cgroup.controllers", ignored)) {
    write_text(root / "cgroup.subtree_control", "+memory +pids");
    const std::filesystem::path folder = make(root);
    if (folder.empty()) return;
    caps_memory_ =
        memory_bytes > 0 && write_text(folder / "memory.max", std::to_string(memory_bytes));
    if (caps_memory_) write_text(folder / "memory.swap.max", "0");
    caps_processes_ = write_text(folder / "pids.max", std::to_string(processes));
    return;
  }
  if (memory_bytes > 0) {
    const std::filesystem::path folder = make(root / "memory");
    caps_memory_ = !folder.empty() &&
                   write_text(folder / "memory.limit_in_bytes", std::to_string(memory_bytes));
    if (caps_memory_) {
      write_text(folder / "memory.memsw.limit_in_bytes", std::to_string(memory_bytes));
    }
  }
  const std::filesystem::path folder = make(root / "pids");
  caps_processes_ = !folder.empty() && write_text(folder / "pids.max", std::to_string(processes));
}

LimitGroup::~LimitGroup() {
  for (const auto& folder : folders_) {
    for (int attempt = 0; attempt < 50 && ::rmdir(folder.c_str()) != 0 && errno == EBUSY;
         ++attempt) {
      ::usleep(10'000);
    }
  }
}

bool LimitGroup::add(pid_t process) const {
  bool added = !folders_.empty();
  for (const auto& folder : folders_) {
    added = write_text(folder / "cgroup.procs", std::to_string(process)) && added;
  }
  return added;
}

bool LimitGroup::ran_out_of_memory() const {
  for (const auto& folder : folders_) {
    for (const char* file : {"memory.events", "memory.oom_control"}) {
      std::istringstream lines(read_text(folder / file));
      std::string key;
      std::int64_t count = 0;
      while (lines >> key >> count) {
        if (key == "oom_kill" && count > 0) return true;
      }
    }
  }
  return false;
}

void LimitGroup::kill_all() const {
  for (const auto& folder : folders_) {
    if (write_text(folder / "cgroup.kill", "1")) continue;
    std::istringstream lines(read_text(folder / "cgroup.procs"));
    pid_t process = 0;
    while (lines >> process) ::kill(process, SIGKILL);
  }
}

}  // namespace kernelindex::runner
