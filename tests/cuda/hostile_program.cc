// SPDX-License-Identifier: Apache-2.0
// Programs that misbehave, one act each, run by the real parent in the real sandbox. Descriptor 3
// is the channel, as in every child. The act is argv[1]; exit 0 means that the act succeeded.
#include <arpa/inet.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "cuda/child_frames.h"
#include "cuda/confined_process.h"

namespace {

using namespace kernelindex::runner;

int answer_everything() {
  while (const auto request = receive_request(kChannelDescriptor)) {
    if (!send_answer(kChannelDescriptor, *request, FrameKind::answer, "ok")) return 1;
    if (request->kind == FrameKind::finish) return 0;
  }
  return 1;
}

// Puts a hook into the C library after the first request, as into a timer, and answers on.
int hook_code() {
  const auto request = receive_request(kChannelDescriptor);
  send_answer(kChannelDescriptor, *request, FrameKind::answer, "ok");
  const auto second = receive_request(kChannelDescriptor);
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  auto* at = reinterpret_cast<unsigned char*>(::dlsym(RTLD_DEFAULT, "getppid"));
  auto* begin = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(at) / page * page);
  if (::mprotect(begin, page, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) return 1;
  at[0] = 0xc3;
  send_answer(kChannelDescriptor, *second, FrameKind::answer, "ok");
  return answer_everything();
}

void send_raw(const std::string& packet) {
  ::send(kChannelDescriptor, packet.data(), packet.size(), MSG_NOSIGNAL);
}

// Answers with a session of its own choice, then honestly.
int forge_session() {
  auto request = receive_request(kChannelDescriptor);
  ChildFrame forged = *request;
  forged.session.fill('x');
  send_answer(kChannelDescriptor, forged, FrameKind::answer, "1 ns");
  send_answer(kChannelDescriptor, *request, FrameKind::answer, "ok");
  return answer_everything();
}

int answer_twice() {
  const auto request = receive_request(kChannelDescriptor);
  send_answer(kChannelDescriptor, *request, FrameKind::answer, "ok");
  send_answer(kChannelDescriptor, *request, FrameKind::answer, "1 ns");
  return answer_everything();
}

int answer_ahead() {
  auto request = receive_request(kChannelDescriptor);
  send_answer(kChannelDescriptor, *request, FrameKind::answer, "ok");
  ++request->request;  // the next one, before it is asked
  send_answer(kChannelDescriptor, *request, FrameKind::answer, "1 ns");
  return answer_everything();
}

// kernelbot's cheat-fd.py: a result on every descriptor there is.
int scan_descriptors() {
  for (int descriptor = 0; descriptor < 1024; ++descriptor) {
    const std::string forged = "{\"evaluation\":{\"status\":\"PASSED\"}}\n";
    const ssize_t ignored = ::write(descriptor, forged.data(), forged.size());
    (void)ignored;
  }
  return answer_everything();
}

// How many descriptors are open beside the three standard ones and the channel.
int count_descriptors() {
  int others = 0;
  for (int descriptor = 0; descriptor < 4096; ++descriptor) {
    if (descriptor > kChannelDescriptor && ::fcntl(descriptor, F_GETFD) >= 0) ++others;
  }
  return others;
}

int send_descriptor() {
  const auto request = receive_request(kChannelDescriptor);
  std::string packet =
      encode_child_frame({request->session, request->request, FrameKind::answer, "ok"});
  iovec part{packet.data(), packet.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))]{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  const int sent = 1;
  std::memcpy(CMSG_DATA(header), &sent, sizeof sent);
  ::sendmsg(kChannelDescriptor, &message, MSG_NOSIGNAL);
  return answer_everything();
}

int start_process() {
  if (!forbid_new_processes()) return 3;
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  return child > 0 ? 0 : 1;
}

int start_program() {
  if (!forbid_new_processes()) return 3;
  ::execl("/bin/true", "true", nullptr);
  return 1;
}

int reach_network() {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(80);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return ::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 ? 0 : 1;
}

int attach_to_parent() {
  return ::ptrace(PTRACE_ATTACH, ::getppid(), nullptr, nullptr) == 0 ? 0 : 1;
}

int read_file(const char* path) {
  std::ifstream in(path);
  std::string line;
  return std::getline(in, line) ? 0 : 1;
}

int write_file(const char* path) {
  std::ofstream out(path);
  out << "written";
  out.flush();
  return out ? 0 : 1;
}

int loop_forever() {
  while (::getpid() != 0) {
  }
  return 0;
}

int eat_memory() {
  std::vector<char*> blocks;
  for (int i = 0; i < 4096; ++i) {
    char* block = static_cast<char*>(std::malloc(16 << 20));
    if (block == nullptr) return 9;  // refused: the address space is capped
    std::memset(block, 1, 16 << 20);
    blocks.push_back(block);
  }
  return 0;
}

int write_logs() {
  const std::string block(1 << 16, 'x');
  for (int i = 0; i < 64; ++i) {
    if (::write(1, block.data(), block.size()) < 0) return 1;
  }
  return answer_everything();
}

int many_processes() {
  int started = 0;
  for (int i = 0; i < 500; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::sleep(60);
      ::_exit(0);
    }
    if (child < 0) return 9;
    ++started;
  }
  return started == 500 ? 0 : 1;
}

// Leaves a process behind, out of its group and its session.
int leave_daemon() {
  if (::fork() == 0) {
    ::setsid();
    if (::fork() == 0) ::sleep(300);
    ::_exit(0);
  }
  ::usleep(50'000);
  return 0;
}

int write_own_memory() {
  const int memory = ::open("/proc/self/mem", O_RDWR);
  return memory >= 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string act = argc > 1 ? argv[1] : "";
  const char* path = argc > 2 ? argv[2] : "";
  const std::map<std::string, std::function<int()>> acts = {
      {"honest", answer_everything},
      {"forge_session", forge_session},
      {"answer_twice", answer_twice},
      {"answer_ahead", answer_ahead},
      {"scan_descriptors", scan_descriptors},
      {"count_descriptors", count_descriptors},
      {"send_descriptor", send_descriptor},
      {"start_process", start_process},
      {"start_program", start_program},
      {"reach_network", reach_network},
      {"attach_to_parent", attach_to_parent},
      {"read_file", [path] { return read_file(path); }},
      {"write_file", [path] { return write_file(path); }},
      {"loop_forever", loop_forever},
      {"eat_memory", eat_memory},
      {"write_logs", write_logs},
      {"many_processes", many_processes},
      {"leave_daemon", leave_daemon},
      {"write_own_memory", write_own_memory},
      {"hook_code", hook_code},
      {"noise",
       [] {
         send_raw("not a frame");
         return answer_everything();
       }},
      {"long_packet",
       [] {
         send_raw(std::string(70'000, 'x'));
         return answer_everything();
       }},
      {"early_exit",
       [] {
         ::_exit(0);
         return 0;
       }},
      {"crash",
       [] {
         std::abort();
         return 0;
       }},
      {"environment",
       [] {
         for (char** at = environ; *at != nullptr; ++at) std::puts(*at);
         return 0;
       }},
  };
  const auto found = acts.find(act);
  return found == acts.end() ? 2 : found->second();
}
