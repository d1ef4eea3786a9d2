// SPDX-License-Identifier: Apache-2.0
#include "cuda/confined_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

namespace kernelindex::runner {
namespace {

constexpr uid_t kNobody = 65534;
constexpr int kFirstMoreDescriptor = kChannelDescriptor + 1;
constexpr auto kAfterKill = std::chrono::seconds(10);

std::unexpected<Error> no_child(const char* what) {
  return fail(
      ErrorKind::system, "NO_CHILD", {},
      std::string("a confined process cannot be started: ") + what + ": " + std::strerror(errno));
}

// What the program's process says of itself before it becomes the program.
struct Report {
  SandboxFacts facts;
  int exec_error = 0;
};

void write_report(int descriptor, const Report& report) {
  const ssize_t ignored = ::write(descriptor, &report, sizeof report);
  (void)ignored;
}

// Moves a descriptor to where the program expects it, open across exec.
void place(int from, int to) {
  if (from == to) {
    ::fcntl(to, F_SETFD, 0);
  } else {
    ::dup2(from, to);
  }
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

// In the program's process. `report` lies above all descriptors that the program gets.
[[noreturn]] void become_program(const ConfinedPlan& plan, Report report, int report_descriptor,
                                 int log, int channel, const std::vector<int>& more) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::setpgid(0, 0);
  const int nothing = ::open("/dev/null", O_RDONLY);
  // Above everything first, so that placing one cannot close another.
  const int base = kFirstMoreDescriptor + static_cast<int>(more.size()) + 1;
  const int high_log = ::fcntl(log, F_DUPFD, base + 32);
  const int high_channel = channel < 0 ? -1 : ::fcntl(channel, F_DUPFD, base + 32);
  std::vector<int> high_more;
  for (const int descriptor : more) high_more.push_back(::fcntl(descriptor, F_DUPFD, base + 32));
  const int high_report = ::fcntl(report_descriptor, F_DUPFD_CLOEXEC, base + 32);
  place(nothing, 0);
  place(high_log, 1);
  place(high_log, 2);
  if (high_channel >= 0) {
    place(high_channel, kChannelDescriptor);
  } else {
    ::close(kChannelDescriptor);
  }
  for (std::size_t i = 0; i < high_more.size(); ++i) {
    place(high_more[i], kFirstMoreDescriptor + static_cast<int>(i));
  }
  const int report_at = base - 1;
  ::dup3(high_report, report_at, O_CLOEXEC);
  if (::chdir(plan.sandbox.directory.c_str()) != 0) ::_exit(126);
  std::vector<std::string> command = plan.command;
  std::vector<std::string> environment;
  for (const auto& [name, value] : plan.environment) environment.push_back(name + "=" + value);
  std::vector<char*> argv = pointers(command);
  std::vector<char*> envp = pointers(environment);
  confine(plan.sandbox, report.facts, base);
  write_report(report_at, report);
  ::execve(argv[0], argv.data(), envp.data());
  report.exec_error = errno;
  write_report(report_at, report);
  ::_exit(127);
}

// Ends as the program ended, so that whoever waits for this process sees it.
[[noreturn]] void end_like(pid_t program) {
  int status = 0;
  while (::waitpid(program, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) {
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    ::signal(WTERMSIG(status), SIG_DFL);
    ::raise(WTERMSIG(status));
  }
  ::_exit(WEXITSTATUS(status));
}

std::string read_text(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

pid_t only_child_of(pid_t process) {
  const std::string number = std::to_string(process);
  const std::string children = read_text("/proc/" + number + "/task/" + number + "/children");
  return children.empty() ? -1 : static_cast<pid_t>(std::strtol(children.c_str(), nullptr, 10));
}

int milliseconds_to(ConfinedProcess::Clock::time_point deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
      deadline - ConfinedProcess::Clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count() + 1, 0, 1000));
}

}  // namespace

bool ConfinedEnd::forbidden_call() const { return signal == SIGSYS; }

Result<std::unique_ptr<ConfinedProcess>> ConfinedProcess::start(const ConfinedPlan& plan) {
  std::array<int, 2> log{-1, -1};
  std::array<int, 2> report{-1, -1};
  std::array<int, 2> go{-1, -1};
  std::array<int, 2> channel{-1, -1};
  const auto close_more = [&plan] {
    for (const int descriptor : plan.more_descriptors) ::close(descriptor);
  };
  if (::pipe2(log.data(), O_CLOEXEC) != 0 || ::pipe2(report.data(), O_CLOEXEC) != 0 ||
      ::pipe2(go.data(), O_CLOEXEC) != 0 ||
      (plan.with_channel &&
       ::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, channel.data()) != 0)) {
    close_more();
    return no_child("descriptors");
  }
  std::unique_ptr<ConfinedProcess> process(new ConfinedProcess());
  process->group_ =
      std::make_unique<LimitGroup>(plan.sandbox.memory_bytes, plan.sandbox.processes + 2);
  process->log_limit_ = plan.log_bytes;

  process->outer_ = ::fork();
  if (process->outer_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    char ready = 0;
    // Until the parent has put this process into its cgroup.
    if (::read(go[0], &ready, 1) != 1) ::_exit(126);
    Report facts;
    facts.facts.memory_cap = (ready & 1) != 0 ? SandboxFacts::Cap::cgroup : SandboxFacts::Cap::none;
    facts.facts.process_cap =
        (ready & 2) != 0 ? SandboxFacts::Cap::cgroup : SandboxFacts::Cap::none;
    enter_namespaces(plan.sandbox, facts.facts);
    const pid_t program = ::fork();
    if (program == 0) {
      become_program(plan, facts, report[1], log[1], channel[1], plan.more_descriptors);
    }
    if (program < 0) ::_exit(126);
    for (const int end :
         {log[0], log[1], report[0], report[1], go[0], go[1], channel[0], channel[1]}) {
      if (end >= 0) ::close(end);
    }
    close_more();
    end_like(program);
  }
  close_more();
  ::close(log[1]);
  ::close(report[1]);
  ::close(go[0]);
  if (channel[1] >= 0) ::close(channel[1]);
  process->log_descriptor_ = log[0];
  if (channel[0] >= 0) process->channel_.emplace(channel[0], new_session());
  if (process->outer_ < 0) {
    ::close(report[0]);
    ::close(go[1]);
    return no_child("fork");
  }
  const bool in_group = process->group_->add(process->outer_);
  char ready = 4;
  if (in_group && process->group_->caps_memory()) ready |= 1;
  if (in_group && process->group_->caps_processes()) ready |= 2;
  ssize_t ignored = ::write(go[1], &ready, 1);
  (void)ignored;
  ::close(go[1]);
  Report said;
  const ssize_t got = ::read(report[0], &said, sizeof said);
  Report failed;
  const bool exec_failed = ::read(report[0], &failed, sizeof failed) == sizeof failed;
  ::close(report[0]);
  if (got != sizeof said || exec_failed) {
    errno = exec_failed ? failed.exec_error : ECHILD;
    process->kill_tree();
    return no_child(exec_failed ? plan.command[0].c_str() : "it ended before it began");
  }
  process->facts_ = said.facts;
  process->inner_ = only_child_of(process->outer_);
  ::fcntl(process->log_descriptor_, F_SETFL, O_NONBLOCK);
  return process;
}

ConfinedProcess::~ConfinedProcess() {
  if (!end_) {
    kill_tree();
    wait(Clock::now() + kAfterKill);
  }
  if (log_descriptor_ >= 0) ::close(log_descriptor_);
}

void ConfinedProcess::take_log() {
  std::array<char, 65536> block;
  for (int round = 0; round < 64; ++round) {  // a child that never stops writing must not hold us
    const ssize_t got = ::read(log_descriptor_, block.data(), block.size());
    if (got <= 0) return;
    log_original_bytes_ += got;
    const auto room = static_cast<std::size_t>(
        std::max<std::int64_t>(log_limit_ - static_cast<std::int64_t>(log_.size()), 0));
    log_.append(block.data(), std::min(static_cast<std::size_t>(got), room));
  }
}

// Takes the log until a packet lies ready (true) or the deadline has passed or the channel is gone.
bool ConfinedProcess::pump(Clock::time_point deadline, bool stop_at_packet) {
  while (Clock::now() < deadline) {
    std::array<pollfd, 2> polled{pollfd{log_descriptor_, POLLIN, 0}, pollfd{-1, POLLIN, 0}};
    if (stop_at_packet && channel_) polled[1].fd = channel_->descriptor();
    if (::poll(polled.data(), polled.size(), milliseconds_to(deadline)) < 0 && errno != EINTR) {
      return false;
    }
    if ((polled[0].revents & POLLIN) != 0) take_log();
    if (polled[1].revents != 0) return true;
    if ((polled[0].revents & (POLLHUP | POLLIN)) == POLLHUP) {
      if (!stop_at_packet) return false;
      polled[0].fd = -1;
      return ::poll(&polled[1], 1, milliseconds_to(deadline)) > 0;
    }
  }
  return false;
}

ChildChannel::Judged ConfinedProcess::request(FrameKind kind, std::string_view payload,
                                              Clock::time_point deadline) {
  using Judged = ChildChannel::Judged;
  if (!channel_) return {Judged::What::gone, "there is no channel"};
  // What lies there unasked was said before the question.
  for (Judged early = channel_->take(); early.what != Judged::What::nothing_yet;
       early = channel_->take()) {
    if (early.what == Judged::What::gone) return early;
    if (early.what == Judged::What::forgery) return early;
  }
  if (!channel_->ask(kind, payload)) return {Judged::What::gone, "it takes no requests"};
  while (pump(deadline, true)) {
    Judged judged = channel_->take();
    if (judged.what != Judged::What::nothing_yet) return judged;
  }
  return {Judged::What::gone, "no answer in time"};
}

ConfinedEnd ConfinedProcess::wait(Clock::time_point deadline) {
  if (end_) return *end_;
  ConfinedEnd end;
  int status = 0;
  const auto ended = [this, &status] { return ::waitpid(outer_, &status, WNOHANG) == outer_; };
  bool done = ended();
  while (!done && Clock::now() < deadline) {
    pump(std::min(deadline, Clock::now() + std::chrono::milliseconds(20)), false);
    done = ended();
    if (!done) ::usleep(1000);
  }
  if (!done) {
    end.timed_out = true;
    kill_tree();
    const auto last = Clock::now() + kAfterKill;
    while (!(done = ended()) && Clock::now() < last) ::usleep(1000);
  }
  if (group_) group_->kill_all();  // whatever it left behind
  take_log();
  if (channel_) {  // what was said and never asked for still counts
    for (auto left = channel_->take(); left.what == ChildChannel::Judged::What::forgery ||
                                       left.what == ChildChannel::Judged::What::answer;
         left = channel_->take()) {
    }
  }
  end.out_of_memory = group_ && group_->ran_out_of_memory();
  if (done && WIFEXITED(status)) end.exit_code = WEXITSTATUS(status);
  if (done && WIFSIGNALED(status)) end.signal = WTERMSIG(status);
  end_ = end;
  return end;
}

void ConfinedProcess::kill_tree() {
  if (end_ || outer_ <= 0) return;
  // The first process of a PID namespace takes all others with it.
  if (inner_ > 0) {
    ::kill(-inner_, SIGKILL);
    ::kill(inner_, SIGKILL);
  }
  if (group_) group_->kill_all();
  if (inner_ <= 0) ::kill(outer_, SIGKILL);
}

std::uint32_t ConfinedProcess::threads() const {
  if (inner_ <= 0) return 0;
  std::error_code error;
  std::uint32_t count = 0;
  for (std::filesystem::directory_iterator it("/proc/" + std::to_string(inner_) + "/task", error),
       last;
       !error && it != last; it.increment(error)) {
    ++count;
  }
  return count;
}

// ---- Private directories
// ----------------------------------------------------------------------------

Result<PrivateDirectory> PrivateDirectory::make() {
  const char* base = std::getenv("TMPDIR");
  std::string pattern =
      std::string(base != nullptr && *base == '/' ? base : "/tmp") + "/kernelindex-runner-XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) {
    return fail(ErrorKind::system, "NO_DIRECTORY", pattern,
                std::string("a directory cannot be made: ") + std::strerror(errno));
  }
  PrivateDirectory directory;
  directory.path_ = pattern;
  if (::geteuid() == 0 && ::chown(pattern.c_str(), kNobody, kNobody) != 0) {
    return fail(ErrorKind::system, "NO_DIRECTORY", pattern,
                std::string("a directory cannot be given away: ") + std::strerror(errno));
  }
  return directory;
}

PrivateDirectory::PrivateDirectory(PrivateDirectory&& other) noexcept
    : path_(std::exchange(other.path_, {})) {}

PrivateDirectory::~PrivateDirectory() {
  if (path_.empty()) return;
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

Status PrivateDirectory::write(std::string_view name, std::string_view bytes) const {
  const std::filesystem::path file = path_ / name;
  std::error_code error;
  std::filesystem::create_directories(file.parent_path(), error);
  const int out = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
  if (out < 0) {
    return fail(ErrorKind::system, "NO_DIRECTORY", file.string(),
                std::string("a file cannot be written: ") + std::strerror(errno));
  }
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t wrote = ::write(out, bytes.data() + done, bytes.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) break;
    done += static_cast<std::size_t>(wrote);
  }
  ::close(out);
  if (done == bytes.size()) return {};
  return fail(ErrorKind::system, "NO_DIRECTORY", file.string(), "a file cannot be written whole");
}

}  // namespace kernelindex::runner
