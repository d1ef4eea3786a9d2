// SPDX-License-Identifier: Apache-2.0
// Filters of system calls, written out: a forbidden call ends the process with SIGSYS, which the
// parent sees and calls a violation. x86-64 and AArch64.
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace kernelindex::runner {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#endif
constexpr std::uint32_t kX32Bit = 0x40000000;  // the other ABI of x86-64, with numbers of its own

constexpr auto kNumber = static_cast<std::uint32_t>(offsetof(seccomp_data, nr));
constexpr auto kArch = static_cast<std::uint32_t>(offsetof(seccomp_data, arch));
constexpr auto kFirstArgument = static_cast<std::uint32_t>(offsetof(seccomp_data, args));

using Program = std::vector<sock_filter>;

sock_filter load(std::uint32_t offset) { return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset); }
sock_filter give(std::uint32_t action) { return BPF_STMT(BPF_RET | BPF_K, action); }

// Runs the next `skipped` instructions only when the loaded word is `value`.
sock_filter unless_equal(std::uint32_t value, std::uint8_t skipped) {
  return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skipped);
}

Program begin() {
  Program program;
  program.push_back(load(kArch));
  program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0));
  program.push_back(give(SECCOMP_RET_KILL_PROCESS));
  program.push_back(load(kNumber));
#if defined(__x86_64__)
  program.push_back(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, kX32Bit, 0, 1));
  program.push_back(give(SECCOMP_RET_KILL_PROCESS));
#endif
  return program;
}

void on_call(Program& program, long number, std::uint32_t action) {
  program.push_back(unless_equal(static_cast<std::uint32_t>(number), 1));
  program.push_back(give(action));
}

bool install(Program program) {
  program.push_back(give(SECCOMP_RET_ALLOW));
  sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter) == 0;
}

}  // namespace

bool install_base_filter() {
  Program program = begin();
  for (const long number : {SYS_ptrace,
                            SYS_process_vm_readv,
                            SYS_process_vm_writev,
                            SYS_pidfd_getfd,
                            SYS_perf_event_open,
                            SYS_bpf,
                            SYS_add_key,
                            SYS_request_key,
                            SYS_keyctl,
                            SYS_userfaultfd,
                            SYS_mount,
                            SYS_umount2,
                            SYS_pivot_root,
                            SYS_chroot,
                            SYS_setns,
                            SYS_unshare,
                            SYS_open_by_handle_at,
                            SYS_kexec_load,
                            SYS_init_module,
                            SYS_finit_module,
                            SYS_delete_module,
                            SYS_reboot,
                            SYS_swapon,
                            SYS_swapoff,
                            SYS_acct,
                            SYS_settimeofday,
                            SYS_clock_settime,
                            SYS_io_uring_setup,
                            SYS_move_mount,
                            SYS_open_tree,
                            SYS_fsopen}) {
    on_call(program, number, SECCOMP_RET_KILL_PROCESS);
  }
  // Sockets of this machine alone: no AF_INET, AF_INET6, AF_PACKET, AF_VSOCK, AF_NETLINK.
  program.push_back(unless_equal(SYS_socket, 4));
  program.push_back(load(kFirstArgument));
  program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, 1, 0));
  program.push_back(give(SECCOMP_RET_KILL_PROCESS));
  program.push_back(give(SECCOMP_RET_ALLOW));
  return install(std::move(program));
}

bool install_no_process_filter() {
  Program program = begin();
  on_call(program, SYS_execve, SECCOMP_RET_KILL_PROCESS);
  on_call(program, SYS_execveat, SECCOMP_RET_KILL_PROCESS);
#if defined(SYS_fork)
  on_call(program, SYS_fork, SECCOMP_RET_KILL_PROCESS);
  on_call(program, SYS_vfork, SECCOMP_RET_KILL_PROCESS);
#endif
  // Its flags lie in memory, where a filter cannot look; glibc falls back to clone.
  on_call(program, SYS_clone3, SECCOMP_RET_ERRNO | ENOSYS);
  program.push_back(unless_equal(SYS_clone, 4));
  program.push_back(load(kFirstArgument));
  program.push_back(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0));
  program.push_back(give(SECCOMP_RET_KILL_PROCESS));
  program.push_back(give(SECCOMP_RET_ALLOW));
  return install(std::move(program));
}

}  // namespace kernelindex::runner
