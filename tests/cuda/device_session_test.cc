// SPDX-License-Identifier: Apache-2.0
// The steps of a timed sample on a device of host memory: each cheat shows, and an honest call
// shows nothing. HACKS sections B and C; PROTOCOL sections 3.4 and 8.
#include "cuda/device_session.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>

#include "tests/cuda/fake_device.h"

namespace kernelindex::runner {
namespace {

using test::FakeDevice;

constexpr std::size_t kBytes = 128 * 1024;
constexpr std::size_t kFlush = 4096;

class Session : public ::testing::Test {
 protected:
  Session() : driver_(test::fake_driver(device_)), session_(driver_) {
    for (std::size_t i = 0; i < kBytes; ++i) input_ += static_cast<char>(i * 31 + 7);
    const std::size_t in[] = {kBytes};
    const std::size_t out[] = {kBytes};
    EXPECT_TRUE(session_.prepare(in, out, kBytes, kFlush));
  }
  unsigned char* bytes(CudaPointer at) { return device_.at(at, 1); }
  SamplePlan plan(std::uint64_t number) const {
    return {{number % 3, (number + 1) % 3},
            {256 * number, 512 * number},
            number % 256,
            number,
            SamplePlan::Flush::write,
            false};
  }
  // out = in + 1, in 50 us.
  int honest(CallBuffers& buffers) {
    for (std::size_t i = 0; i < kBytes; ++i) {
      bytes(buffers.outputs[0])[i] = static_cast<unsigned char>(bytes(buffers.inputs[0])[i] + 1);
    }
    device_.clock_ms += 0.05F;
    return 0;
  }
  SampleReport run(std::uint64_t number, const SubmissionCall& call) {
    const std::string inputs[] = {input_};
    return session_.run(plan(number), inputs, outputs_, call);
  }
  SampleReport run_honest(std::uint64_t number) {
    return run(number, [this](CallBuffers& buffers) { return honest(buffers); });
  }
  bool correct() const {
    for (std::size_t i = 0; i < kBytes; ++i) {
      if (static_cast<unsigned char>(outputs_[0][i]) !=
          static_cast<unsigned char>(static_cast<unsigned char>(input_[i]) + 1)) {
        return false;
      }
    }
    return true;
  }

  FakeDevice device_;
  CudaDriver driver_;
  DeviceSession session_;
  std::string input_;
  std::vector<std::string> outputs_;
};

TEST_F(Session, AnHonestCallIsTimedAndShowsNothing) {
  for (std::uint64_t number = 0; number < 5; ++number) {
    const SampleReport report = run_honest(number);
    EXPECT_NEAR(static_cast<double>(report.window_ns), 50'000, 50);
    EXPECT_NEAR(static_cast<double>(report.late_ns), 2'000, 50);
    EXPECT_EQ(report.cuda_error, 0);
    EXPECT_FALSE(report.guards_broken || report.inputs_changed || report.output_aliases ||
                 report.l2_limit_changed);
    EXPECT_TRUE(correct());
  }
}

TEST_F(Session, AddressesMoveFromSampleToSample) {
  std::set<CudaPointer> seen;
  for (std::uint64_t number = 0; number < 6; ++number) {
    run(number, [&](CallBuffers& buffers) {
      EXPECT_EQ(buffers.inputs[0] % kAlignment, 0u);
      EXPECT_EQ(buffers.outputs[0] % kAlignment, 0u);
      seen.insert(buffers.inputs[0]);
      return honest(buffers);
    });
  }
  EXPECT_EQ(seen.size(), 6u);
}

// HACKS row 14: what is read before the window is not the input.
TEST_F(Session, WorkDoneEarlySeesWrongLines) {
  std::string early;
  driver_.reset_persisting_l2 = [] { return 0; };
  CudaPointer live = 0;
  run(1, [&](CallBuffers& buffers) {
    live = buffers.inputs[0];
    return honest(buffers);
  });
  // The same window again; the eager one reads while the flush runs.
  static FakeDevice* device = nullptr;
  static CudaPointer watched = 0;
  static std::string* stolen = nullptr;
  device = &device_;
  watched = live;
  stolen = &early;
  driver_.reset_persisting_l2 = [] {
    stolen->assign(reinterpret_cast<const char*>(device->at(watched, kBytes)), kBytes);
    return 0;
  };
  run_honest(1);
  EXPECT_NE(early, input_);
  EXPECT_TRUE(correct());
}

// HACKS rows 16 and 25: nothing is written.
TEST_F(Session, AnOutputThatNobodyWroteIsPoison) {
  run_honest(1);
  for (const std::uint64_t number : {1u, 2u}) {
    run(number, [](CallBuffers&) { return 0; });
    EXPECT_FALSE(correct());
    for (const char byte : outputs_[0]) ASSERT_EQ(byte, number == 1 ? '\xff' : '\x3b');
  }
}

TEST_F(Session, AWriteOutsideIsFoundOnEitherSide) {
  for (const std::ptrdiff_t where : {std::ptrdiff_t{-1}, static_cast<std::ptrdiff_t>(kBytes)}) {
    const SampleReport report = run(2, [&](CallBuffers& buffers) {
      bytes(buffers.outputs[0])[where] ^= 1;
      return honest(buffers);
    });
    EXPECT_TRUE(report.guards_broken) << where;
  }
  EXPECT_TRUE(run(3, [&](CallBuffers& buffers) {
                bytes(buffers.workspace)[kBytes + 100] ^= 1;
                return honest(buffers);
              }).guards_broken);
  EXPECT_FALSE(run_honest(4).guards_broken);
}

// HACKS row 26.
TEST_F(Session, AChangedInputIsFound) {
  EXPECT_TRUE(run(1, [&](CallBuffers& buffers) {
                const int result = honest(buffers);
                bytes(buffers.inputs[0])[5] ^= 1;
                return result;
              }).inputs_changed);
}

TEST_F(Session, AResultThatIsTheInputIsFound) {
  EXPECT_TRUE(run(1, [](CallBuffers& buffers) {
                buffers.outputs[0] = buffers.inputs[0];
                return 0;
              }).output_aliases);
}

TEST_F(Session, AResultInMemoryThatTheRunnerGaveIsTaken) {
  const SampleReport report = run(1, [&](CallBuffers& buffers) {
    buffers.outputs[0] = session_.give(kBytes);
    return honest(buffers);
  });
  EXPECT_FALSE(report.output_aliases);
  EXPECT_TRUE(correct());
}

// HACKS row 30.
TEST_F(Session, ARaisedPersistingLimitIsFoundAndTakenBack) {
  EXPECT_TRUE(run(1, [&](CallBuffers& buffers) {
                driver_.set_limit(kLimitPersistingL2, 1 << 20);
                return honest(buffers);
              }).l2_limit_changed);
  EXPECT_FALSE(run_honest(2).l2_limit_changed);
}

// HACKS row 3: work after the window is not in the outputs, and the gap behind it grows.
TEST_F(Session, WorkAfterTheWindowIsNotInTheOutputs) {
  CudaPointer where = 0;
  run(1, [&](CallBuffers& buffers) {
    where = buffers.outputs[0];
    return 0;
  });
  bytes(where)[0] = 1;
  EXPECT_FALSE(correct());
}

TEST_F(Session, TheFlushWritesANewValueEachTime) {
  run_honest(1);
  run_honest(2);
  ASSERT_EQ(device_.flushes.size(), 2u);
  EXPECT_NE(device_.flushes[0], device_.flushes[1]);
  EXPECT_NE(device_.flushes[0], 0u);
}

// HACKS row 25: an error is never swallowed.
TEST_F(Session, ADeviceErrorIsReported) {
  EXPECT_EQ(run(1,
                [&](CallBuffers&) {
                  device_.fail_with = 700;
                  return 0;
                })
                .cuda_error,
            700);
}

TEST_F(Session, TheResultOfTheCallIsReported) {
  EXPECT_EQ(run(1, [](CallBuffers&) { return -7; }).call_result, -7);
}

TEST_F(Session, WindowsOfNothingAreTimed) { EXPECT_EQ(session_.empty_window().window_ns, 0u); }

TEST_F(Session, AnEmptyWindowShowsWhatIsQueuedBehindEachWindow) {
  EXPECT_NEAR(static_cast<double>(session_.empty_window().late_ns), 2'000, 50);
}

TEST_F(Session, WithoutItsKernelsNothingIsHeldBackOrReadInSilence) {
  SamplePlan reading = plan(1);
  reading.flush = SamplePlan::Flush::read;
  SamplePlan blocking = plan(1);
  blocking.blocking = true;
  const std::string inputs[] = {input_};
  for (const SamplePlan& wanted : {reading, blocking}) {
    const SampleReport report = session_.run(
        wanted, inputs, outputs_, [this](CallBuffers& buffers) { return honest(buffers); });
    EXPECT_EQ(report.cuda_error, kCudaNotFound);
  }
}

class SessionWithKernels : public ::testing::Test {
 protected:
  SessionWithKernels() : driver_(test::fake_driver(device_)), session_(driver_) {
    EXPECT_TRUE(session_.use(load_runner_kernels(driver_, "image").value()));
    const std::size_t in[] = {kSmall};
    const std::size_t out[] = {kSmall};
    EXPECT_TRUE(session_.prepare(in, out, 0, kFlush));
    device_.flushes.clear();
  }
  SampleReport run(const SamplePlan& plan, const SubmissionCall& call) {
    const std::string inputs[] = {std::string(kSmall, 'a')};
    return session_.run(plan, inputs, outputs_, call);
  }
  // out = in, in 5 us.
  int copy(CallBuffers& buffers) {
    device_.clock_ms += 0.005F;
    return driver_.copy_on_device(buffers.outputs[0], buffers.inputs[0], kSmall);
  }
  SubmissionCall copying() {
    return [this](CallBuffers& buffers) { return copy(buffers); };
  }
  static SamplePlan blocked() {
    SamplePlan plan;
    plan.blocking = true;
    return plan;
  }

  static constexpr std::size_t kSmall = 1024;
  FakeDevice device_;
  CudaDriver driver_;
  DeviceSession session_;
  std::vector<std::string> outputs_;
};

TEST_F(SessionWithKernels, TheReadingFlushWritesNothing) {
  SamplePlan plan;
  plan.flush = SamplePlan::Flush::read;
  EXPECT_EQ(run(plan, copying()).cuda_error, 0);
  EXPECT_EQ(device_.launches, std::vector<std::string>{"ki_read_all"});
  EXPECT_TRUE(device_.flushes.empty());
}

TEST_F(SessionWithKernels, TheQueueIsHeldBackUntilTheWindowIsInIt) {
  std::vector<std::string> before;
  bool held = false;
  const SampleReport report = run(blocked(), [&](CallBuffers& buffers) {
    before = device_.launches;
    std::uint32_t released = 1;
    std::memcpy(&released, device_.held, sizeof released);
    held = released == 0;
    return copy(buffers);
  });
  EXPECT_EQ(before, std::vector<std::string>{"ki_hold_back"});
  EXPECT_TRUE(held);
  EXPECT_FALSE(report.held_too_long);
  EXPECT_EQ(report.cuda_error, 0);
}

TEST_F(SessionWithKernels, ACallThatWaitsForTheDeviceIsHeldTooLong) {
  const SubmissionCall waiting = [this](CallBuffers& buffers) {
    copy(buffers);
    return driver_.context_synchronize();
  };
  EXPECT_TRUE(run(blocked(), waiting).held_too_long);
  EXPECT_FALSE(run({}, waiting).held_too_long);
  EXPECT_FALSE(run(blocked(), copying()).held_too_long);
}

TEST_F(SessionWithKernels, CallsTakeSlotsInTurnAndLeaveTheirResultsThere) {
  ASSERT_TRUE(session_.make_slots(3));
  for (std::size_t slot = 0; slot < 3; ++slot) {
    const std::string inputs[] = {std::string(kSmall, static_cast<char>('a' + slot))};
    EXPECT_EQ(session_.fill_slot(slot, inputs).cuda_error, 0);
  }
  std::set<CudaPointer> seen;
  const SampleReport report = session_.run_slots(7, [&](CallBuffers& buffers) {
    seen.insert(buffers.inputs[0]);
    return copy(buffers);
  });
  EXPECT_EQ(report.cuda_error, 0);
  EXPECT_EQ(seen.size(), 3u);
  for (std::size_t slot = 0; slot < 3; ++slot) {
    session_.read_slot(slot, outputs_);
    EXPECT_EQ(outputs_[0], std::string(kSmall, static_cast<char>('a' + slot)));
  }
}

TEST_F(SessionWithKernels, ASlotThatNobodyWroteIsPoison) {
  ASSERT_TRUE(session_.make_slots(2));
  const std::string inputs[] = {std::string(kSmall, 'a')};
  session_.fill_slot(0, inputs);
  session_.fill_slot(1, inputs);
  session_.run_slots(1, copying());
  session_.read_slot(1, outputs_);
  EXPECT_EQ(outputs_[0], std::string(kSmall, '\xff'));
  session_.fill_slot(0, inputs);  // takes the earlier result away
  session_.read_slot(0, outputs_);
  EXPECT_EQ(outputs_[0], std::string(kSmall, '\xff'));
}

TEST_F(SessionWithKernels, MemoryOfACallStaysUntilItsSlotIsUsedAgain) {
  ASSERT_TRUE(session_.make_slots(2));
  const std::string inputs[] = {std::string(kSmall, 'z')};
  session_.fill_slot(0, inputs);
  session_.fill_slot(1, inputs);
  const std::size_t before = device_.memory.size();
  session_.run_slots(6, [&](CallBuffers& buffers) {
    buffers.outputs[0] = session_.give(kSmall);
    return copy(buffers);
  });
  EXPECT_EQ(device_.memory.size(), before + 2);
  EXPECT_EQ(session_.asked(), std::vector<std::size_t>{kSmall});
  session_.read_slot(1, outputs_);
  EXPECT_EQ(outputs_[0], std::string(kSmall, 'z'));
  ASSERT_TRUE(session_.make_slots(0));
}

TEST_F(SessionWithKernels, ACallThatFailsEndsTheBatch) {
  ASSERT_TRUE(session_.make_slots(1));
  int calls = 0;
  const SampleReport report =
      session_.run_slots(5, [&](CallBuffers&) { return ++calls == 2 ? 9 : 0; });
  EXPECT_EQ(report.call_result, 9);
  EXPECT_EQ(calls, 2);
}

TEST_F(SessionWithKernels, SlotsNeedTheirMemory) {
  device_.room = 3 * kSmall;
  const Status made = session_.make_slots(2);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, "DEVICE_MEMORY");
}

TEST(SessionMemory, RunningOutIsAnErrorOfItsOwn) {
  FakeDevice device;
  device.room = 1 << 20;
  const CudaDriver driver = test::fake_driver(device);
  DeviceSession session(driver);
  const std::size_t sizes[] = {std::size_t{1} << 20};
  const Status prepared = session.prepare(sizes, sizes, 0, kFlush);
  ASSERT_FALSE(prepared);
  EXPECT_EQ(prepared.error().code, "DEVICE_MEMORY");
}

TEST(SessionTimes, AreRoundedHalfToEven) {
  EXPECT_EQ(to_nanoseconds(0.001F), 1000u);
  EXPECT_EQ(to_nanoseconds(2.5e-6F), 2u);
  EXPECT_EQ(to_nanoseconds(3.5e-6F), 4u);
}

}  // namespace
}  // namespace kernelindex::runner
