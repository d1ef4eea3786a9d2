// SPDX-License-Identifier: Apache-2.0
// Hostile programs in the real sandbox under the real parent, one test a hack. HACKS sections A and
// C; PROTOCOL section 13.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <string>

#include "cuda/child_frames.h"
#include "cuda/code_pages.h"
#include "cuda/confined_process.h"
#include "tests/support/temp_dir.h"

namespace kernelindex::runner {
namespace {

using ::testing::HasSubstr;
using What = ChildChannel::Judged::What;
using Clock = ConfinedProcess::Clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

class HostileProgram : public ::testing::Test {
 protected:
  // The program lies where only the readable list makes it visible.
  std::unique_ptr<ConfinedProcess> start(const std::string& act, const std::string& path = {}) {
    plan_.command = {KERNELINDEX_HOSTILE_PROGRAM, act, path};
    plan_.environment = {{"LANG", "C"}};
    plan_.sandbox.directory = directory_.path();
    plan_.sandbox.readable = system_folders();
    plan_.sandbox.readable.push_back(KERNELINDEX_HOSTILE_PROGRAM);
    plan_.sandbox.writable = {"/dev/null"};
    auto process = ConfinedProcess::start(plan_);
    EXPECT_TRUE(process) << process.error().text();
    return process ? std::move(*process) : nullptr;
  }
  // Runs to the end.
  ConfinedEnd run(const std::string& act, const std::string& path = {}) {
    process_ = start(act, path);
    return process_ ? process_->wait(Clock::now() + seconds(60)) : ConfinedEnd{};
  }
  What ask() { return process_->request(FrameKind::sample, "go", Clock::now() + seconds(20)).what; }

  // Asks it to end, past what it said unasked, and waits for the end.
  void finish() {
    for (int i = 0; i < 4; ++i) {
      const What what = process_->request(FrameKind::finish, "", Clock::now() + seconds(20)).what;
      if (what != What::forgery) break;
    }
    process_->wait(Clock::now() + seconds(20));
  }

  PrivateDirectory directory_ = PrivateDirectory::make().value();
  ConfinedPlan plan_;
  std::unique_ptr<ConfinedProcess> process_;
};

TEST_F(HostileProgram, AnHonestOneAnswersEachRequestOnce) {
  process_ = start("honest");
  EXPECT_EQ(ask(), What::answer);
  EXPECT_EQ(ask(), What::answer);
  EXPECT_EQ(process_->request(FrameKind::finish, "", Clock::now() + seconds(20)).what,
            What::answer);
  EXPECT_EQ(process_->wait(Clock::now() + seconds(20)).exit_code, 0);
  EXPECT_EQ(process_->forgeries(), 0);
}

// HACKS row 3: the parent reads the child's memory from outside, whatever the child says.
TEST_F(HostileProgram, AHookInCodeIsFoundFromOutside) {
  for (const auto& [act, changed] : {std::pair("honest", 0), std::pair("hook_code", 1)}) {
    process_ = start(act);
    EXPECT_EQ(ask(), What::answer);
    const auto before = read_timing_code(process_->inner(), KERNELINDEX_HOSTILE_PROGRAM);
    if (!before) GTEST_SKIP() << "SKIPPED: " << before.error().text();
    EXPECT_TRUE(before->contains(KERNELINDEX_HOSTILE_PROGRAM));
    for (const auto& [file, image] : *before) EXPECT_TRUE(image.as_in_file) << file;
    EXPECT_EQ(ask(), What::answer);
    const auto after = read_timing_code(process_->inner(), KERNELINDEX_HOSTILE_PROGRAM);
    ASSERT_TRUE(after) << after.error().text();
    EXPECT_EQ(changed_code(*before, *after), changed) << act;
    finish();
  }
}

TEST_F(HostileProgram, ForgedSessionIsChannelForgery) {
  process_ = start("forge_session");
  EXPECT_EQ(ask(), What::forgery);
  EXPECT_EQ(process_->forgeries(), 1);
}

TEST_F(HostileProgram, SecondAnswerIsChannelForgery) {
  process_ = start("answer_twice");
  EXPECT_EQ(ask(), What::answer);
  finish();
  EXPECT_GE(process_->forgeries(), 1);
}

TEST_F(HostileProgram, AnswerBeforeItsQuestionIsChannelForgery) {
  process_ = start("answer_ahead");
  EXPECT_EQ(ask(), What::answer);
  ask();
  finish();
  EXPECT_GE(process_->forgeries(), 1);
}

TEST_F(HostileProgram, NoiseAndLongPacketsAreChannelForgery) {
  for (const char* act : {"noise", "long_packet"}) {
    process_ = start(act);
    const What first = ask();
    finish();
    EXPECT_TRUE(first == What::forgery || process_->forgeries() >= 1) << act;
  }
}

TEST_F(HostileProgram, DescriptorsSentAlongAreChannelForgery) {
  process_ = start("send_descriptor");
  EXPECT_EQ(ask(), What::forgery);
}

TEST_F(HostileProgram, ScanOfAllDescriptorsIsChannelForgery) {
  process_ = start("scan_descriptors");
  const What first = ask();
  EXPECT_TRUE(first == What::forgery || first == What::answer);
  finish();
  EXPECT_GE(process_->forgeries(), 1);
}

TEST_F(HostileProgram, FindsNoDescriptorBesideItsOwn) {
  EXPECT_EQ(run("count_descriptors").exit_code, 0);
}

TEST_F(HostileProgram, StartingAProcessIsAForbiddenCall) {
  EXPECT_TRUE(run("start_process").forbidden_call());
}

TEST_F(HostileProgram, StartingAProgramIsAForbiddenCall) {
  EXPECT_TRUE(run("start_program").forbidden_call());
}

TEST_F(HostileProgram, TheNetworkIsAForbiddenCall) {
  EXPECT_TRUE(run("reach_network").forbidden_call());
}

TEST_F(HostileProgram, TracingTheParentIsAForbiddenCall) {
  EXPECT_TRUE(run("attach_to_parent").forbidden_call());
}

TEST_F(HostileProgram, CannotReadAKeyFileOfItsOwner) {
  const kernelindex::test::TempDir keys;
  const std::string key = (keys / "runner.key").string();
  std::ofstream(key) << "a secret\n";
  ::chmod(key.c_str(), 0600);
  ASSERT_EQ(run("read_file", key).exit_code, 1);
}

// Landlock alone: the modes of the file would let everybody read.
TEST_F(HostileProgram, CannotReadWhatIsOpenToAllOutsideOfItsFolders) {
  if (landlock_abi() == 0) GTEST_SKIP() << "SKIPPED: this kernel has no Landlock";
  const kernelindex::test::TempDir other;
  ::chmod(other.path().c_str(), 0755);
  const std::string file = (other / "open.txt").string();
  std::ofstream(file) << "for all\n";
  ::chmod(file.c_str(), 0644);
  EXPECT_EQ(run("read_file", file).exit_code, 1);
}

TEST_F(HostileProgram, CannotReadTheEnvironmentOfItsParent) {
  EXPECT_EQ(run("read_file", "/proc/" + std::to_string(::getpid()) + "/environ").exit_code, 1);
}

TEST_F(HostileProgram, CannotWriteOutsideOfItsDirectory) {
  const kernelindex::test::TempDir other;
  ::chmod(other.path().c_str(), 0777);
  const std::string file = (other / "written.txt").string();
  const ConfinedEnd end = run("write_file", file);
  if (landlock_abi() == 0) GTEST_SKIP() << "SKIPPED: this kernel has no Landlock";
  EXPECT_EQ(end.exit_code, 1);
  EXPECT_FALSE(std::filesystem::exists(file));
  EXPECT_EQ(run("write_file", (directory_.path() / "mine.txt").string()).exit_code, 0);
}

TEST_F(HostileProgram, CannotWriteItsOwnCodeThroughProc) {
  if (landlock_abi() == 0) GTEST_SKIP() << "SKIPPED: this kernel has no Landlock";
  EXPECT_EQ(run("write_own_memory").exit_code, 1);
}

TEST_F(HostileProgram, AnEndlessLoopIsEndedByTheWallClock) {
  process_ = start("loop_forever");
  const ConfinedEnd end = process_->wait(Clock::now() + milliseconds(300));
  EXPECT_TRUE(end.timed_out);
  EXPECT_EQ(end.signal, SIGKILL);
}

TEST_F(HostileProgram, AnEndlessLoopThatIsAskedIsGoneWhenTheTimeIsUp) {
  process_ = start("loop_forever");
  EXPECT_EQ(process_->request(FrameKind::sample, "go", Clock::now() + milliseconds(200)).what,
            What::gone);
}

TEST_F(HostileProgram, AMemoryBombIsStoppedAtItsCap) {
  plan_.sandbox.memory_bytes = std::int64_t{512} << 20;
  const ConfinedEnd end = run("eat_memory");
  EXPECT_NE(end.exit_code, 0);
  EXPECT_TRUE(end.out_of_memory || end.exit_code == 9);
  EXPECT_NE(process_->facts().memory_cap, SandboxFacts::Cap::none);
}

TEST_F(HostileProgram, AForkBombIsStoppedAtItsCap) {
  plan_.sandbox.processes = 32;
  const ConfinedEnd end = run("many_processes");
  EXPECT_EQ(end.exit_code, 9);
}

TEST_F(HostileProgram, ALogBombIsCutAndItsSizeIsKnown) {
  plan_.log_bytes = 1000;
  process_ = start("write_logs");
  EXPECT_EQ(ask(), What::answer);
  finish();
  EXPECT_EQ(process_->log().size(), 1000u);
  EXPECT_EQ(process_->log_original_bytes(), 64 * 65536);
}

TEST_F(HostileProgram, AnEarlyExitIsNoAnswer) {
  process_ = start("early_exit");
  EXPECT_EQ(ask(), What::gone);
  EXPECT_EQ(process_->wait(Clock::now() + seconds(20)).exit_code, 0);
}

// The first process of a PID namespace takes no SIGABRT, so abort() goes on to the next means.
TEST_F(HostileProgram, ACrashIsASignal) {
  const int signal = run("crash").signal;
  EXPECT_TRUE(signal == SIGABRT || signal == SIGSEGV || signal == SIGILL) << signal;
}

TEST_F(HostileProgram, NobodyOutlivesTheSandbox) {
  EXPECT_EQ(run("leave_daemon").exit_code, 0);
  const SandboxFacts& facts = process_->facts();
  if (!facts.pid_namespace && facts.process_cap != SandboxFacts::Cap::cgroup) {
    GTEST_SKIP() << "SKIPPED: neither PID namespaces nor cgroups here";
  }
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream in(entry.path() / "cmdline");
    std::string command;
    std::getline(in, command, '\0');
    std::string act;
    std::getline(in, act, '\0');
    EXPECT_FALSE(command == KERNELINDEX_HOSTILE_PROGRAM && act == "leave_daemon") << entry.path();
  }
}

TEST_F(HostileProgram, SeesTheEnvironmentThatItWasGivenAndNoOther) {
  run("environment");
  EXPECT_EQ(process_->log(), "LANG=C\n");
}

TEST_F(HostileProgram, WhatTheKernelGaveIsReported) {
  run("early_exit");
  const SandboxFacts& facts = process_->facts();
  EXPECT_TRUE(facts.no_new_privileges);
  EXPECT_TRUE(facts.private_directory);
  EXPECT_EQ(facts.landlock_abi, landlock_abi());
  EXPECT_TRUE(facts.seccomp);
  EXPECT_NE(facts.process_cap, SandboxFacts::Cap::none);
}

TEST(ChildFrames, ReadBackWhatTheyWereAndRefuseTheRest) {
  const ChildFrame frame{new_session(), 7, FrameKind::answer, "payload"};
  const std::string packet = encode_child_frame(frame);
  const auto read = decode_child_frame(packet);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->session, frame.session);
  EXPECT_EQ(read->request, 7u);
  EXPECT_EQ(read->payload, "payload");
  for (std::size_t cut = 0; cut < kFrameHeaderBytes; ++cut) {
    EXPECT_FALSE(decode_child_frame(std::string_view(packet).substr(0, cut)));
  }
  std::string wrong = packet;
  wrong[20] = 9;
  EXPECT_FALSE(decode_child_frame(wrong));
  wrong = packet;
  wrong[22] = 1;
  EXPECT_FALSE(decode_child_frame(wrong));
}

}  // namespace
}  // namespace kernelindex::runner
