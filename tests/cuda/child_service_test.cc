// SPDX-License-Identifier: Apache-2.0
// The children of the real program in the real sandbox, as far as they come without a device: what
// they are asked out of order they refuse, and they end when they are told to.
#include "cuda/child_service.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>

#include "cuda/confined_process.h"
#include "cuda/measuring_child.h"

namespace kernelindex::runner {
namespace {

using What = ChildChannel::Judged::What;

class RunnerChild : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    ConfinedPlan plan;
    plan.command = {KERNELINDEX_RUNNER, GetParam()};
    plan.environment = {{"LANG", "C"}};
    plan.sandbox.directory = directory_.path();
    plan.sandbox.readable = system_folders();
    plan.sandbox.readable.push_back(std::filesystem::path(KERNELINDEX_RUNNER).parent_path());
    plan.sandbox.writable = {"/dev"};
    plan.sandbox.cap_address_space = false;
    auto started = ConfinedProcess::start(plan);
    ASSERT_TRUE(started) << started.error().text();
    process_ = std::move(*started);
  }
  ChildChannel::Judged ask(FrameKind kind, std::string_view payload = {}) {
    return process_->request(kind, payload, deadline_);
  }
  static bool there_is_a_driver() { return load_driver().usable(); }

  PrivateDirectory directory_ = PrivateDirectory::make().value();
  ConfinedProcess::Clock::time_point deadline_ =
      ConfinedProcess::Clock::now() + std::chrono::seconds(60);
  std::unique_ptr<ConfinedProcess> process_;
};

TEST_P(RunnerChild, RefusesWhatIsOutOfOrderAndEndsWhenTold) {
  for (const FrameKind kind : {FrameKind::load, FrameKind::sample}) {
    const auto judged = ask(kind);
    EXPECT_EQ(judged.what, What::failure);
    EXPECT_EQ(judged.payload, "BAD_REQUEST order");
  }
  EXPECT_EQ(ask(FrameKind::finish).what, What::answer);
  EXPECT_EQ(process_->wait(deadline_).exit_code, 0);
  EXPECT_EQ(process_->forgeries(), 0);
}

TEST_P(RunnerChild, SaysThatThereIsNoDevice) {
  if (there_is_a_driver()) GTEST_SKIP() << "SKIPPED: there is a driver here";
  ChildLoad load;
  const auto judged = ask(FrameKind::open, encode_load(load));
  EXPECT_EQ(judged.what, What::failure);
  EXPECT_TRUE(judged.payload.starts_with("NO_DEVICE")) << judged.payload;
  EXPECT_EQ(ask(FrameKind::load).payload, "BAD_REQUEST order");
}

INSTANTIATE_TEST_SUITE_P(Modes, RunnerChild, ::testing::Values("role-child", "role-sentinels"));

}  // namespace
}  // namespace kernelindex::runner
