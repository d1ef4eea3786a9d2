// SPDX-License-Identifier: Apache-2.0
#include "ledger/witness_state_file.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "ledger/failing_steps.h"
#include "ledger/small_log.h"
#include "support/corpus.h"
#include "support/temp_dir.h"

namespace kernelindex {
namespace {

using test::FailingSteps;
using test::SmallLog;

class WitnessStateFileTest : public testing::Test {
 protected:
  WitnessStateFile open(FileSteps& steps = system_file_steps()) {
    return WitnessStateFile::open(folder_ / "state", witness_.verifier(), steps).value();
  }
  Result<WitnessResponse> ask(WitnessState& state, std::uint64_t from, std::uint64_t to) {
    Proof proof;
    if (from > 0 && from < to) proof = log_.consistency(from, to);
    const std::vector keys = {log_.vkey()};
    return add_checkpoint(AddCheckpoint{from, proof, log_.checkpoint(to)}.encode(), state, keys,
                          witness_, 1000);
  }
  std::uint64_t stored() {
    const std::optional<WitnessRecord> record = open().latest(log_.origin()).value();
    return record ? record->checkpoint.checkpoint.head.size : 0;
  }

  test::TempDir folder_;
  const SmallLog log_{40};
  const SigningKey key_ = test::seeded('w');
  const WitnessIdentity witness_{"example.com/witness", key_};
};

TEST_F(WitnessStateFileTest, RemembersAcrossProcesses) {
  {
    WitnessStateFile state = open();
    EXPECT_FALSE(state.latest(log_.origin()).value().has_value());
    EXPECT_EQ(ask(state, 0, 10).value().status, 200u);
  }
  WitnessStateFile state = open();
  const WitnessRecord record = *state.latest(log_.origin()).value();
  EXPECT_EQ(record.checkpoint.checkpoint.head, log_.head(10));
  EXPECT_EQ(record.time, 1000u);
  EXPECT_EQ(ask(state, 0, 20).value().body, "10\n");
  EXPECT_EQ(ask(state, 10, 20).value().status, 200u);
}

// What a witness publishes: <hex SHA-256 of the origin>, a checkpoint with the log's line and ours.
TEST_F(WitnessStateFileTest, TheFileIsTheCheckpointToPublish) {
  WitnessStateFile state = open();
  ASSERT_EQ(ask(state, 0, 10).value().status, 200u);
  const std::filesystem::path path = folder_ / "state" / sha256(log_.origin()).hex();
  EXPECT_EQ(state.file_of(log_.origin()), path);
  const SignedCheckpoint kept = parse_checkpoint(test::read_file(path)).value();
  const std::vector logs = {log_.vkey()}, witnesses = {witness_.verifier()};
  const CheckpointVerdict verdict = verify_checkpoint(kept, logs, witnesses);
  EXPECT_TRUE(verdict.ok());
  EXPECT_EQ(verdict.cosignatures.size(), 1u);
}

TEST_F(WitnessStateFileTest, EveryDamagedByteIsAnErrorAndNeverANewLog) {
  WitnessStateFile state = open();
  ASSERT_EQ(ask(state, 0, 10).value().status, 200u);
  const std::filesystem::path path = state.file_of(log_.origin());
  const std::string whole = test::read_file(path);
  std::size_t harmless = 0;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string bytes = whole;
    bytes[i] ^= 1;
    test::write_file(path, bytes);
    const Result<std::optional<WitnessRecord>> read = state.latest(log_.origin());
    if (read) {  // the line of the log is not what we trust here
      ASSERT_TRUE(read->has_value());
      EXPECT_EQ((**read).checkpoint.checkpoint.head, log_.head(10));
      ++harmless;
      continue;
    }
    EXPECT_EQ(read.error().code, "STATE_DAMAGED") << i;
    EXPECT_EQ(read.error().kind, ErrorKind::corrupt);
    EXPECT_FALSE(ask(state, 0, 20).has_value()) << "nothing is signed over a damaged memory";
  }
  EXPECT_LT(harmless, whole.size() / 2);
  test::write_file(path, "");
  EXPECT_EQ(state.latest(log_.origin()).error().code, "STATE_DAMAGED");
  test::write_file(path, std::string(limits::kNoteBytes + 1, 'x'));
  EXPECT_EQ(state.latest(log_.origin()).error().code, "STATE_DAMAGED");
  // The checkpoint of another log under this name, and one that another witness cosigned.
  WitnessStateFile other(open());
  const SmallLog second(10, "example.org/second");
  const std::vector keys = {second.vkey()};
  ASSERT_EQ(add_checkpoint(AddCheckpoint{0, {}, second.checkpoint(10)}.encode(), other, keys,
                           witness_, 1000)
                .value()
                .status,
            200u);
  std::filesystem::copy_file(state.file_of("example.org/second"), path,
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_EQ(state.latest(log_.origin()).error().code, "STATE_DAMAGED");
  test::write_file(path, log_.checkpoint(10).format());
  EXPECT_EQ(state.latest(log_.origin()).error().code, "STATE_DAMAGED");
}

// At each step of replacing the file, the memory is the old or the new one, and nothing was signed
// that it does not hold.
TEST_F(WitnessStateFileTest, AFailedStepLeavesTheOldOrTheNew) {
  for (const FailingSteps::Fault fault :
       {FailingSteps::Fault::nothing_done, FailingSteps::Fault::half_written,
        FailingSteps::Fault::unsynced}) {
    for (std::size_t at = 0; at < 5; ++at) {
      std::filesystem::remove_all(folder_ / "state");
      WitnessStateFile good = open();
      ASSERT_EQ(ask(good, 0, 10).value().status, 200u);
      FailingSteps steps(at, fault);
      Result<WitnessStateFile> state =
          WitnessStateFile::open(folder_ / "state", witness_.verifier(), steps);
      if (!state) {
        EXPECT_EQ(at, 0u);
        continue;
      }
      const Result<WitnessResponse> response = ask(*state, 10, 20);
      EXPECT_EQ(response.has_value(), at >= 4) << "make, write, rename, sync";
      const std::uint64_t size = stored();
      EXPECT_EQ(size, at >= 3 ? 20u : 10u) << at;
      EXPECT_EQ(ask(good, size, 30).value().status, 200u) << "it goes on from there";
    }
  }
}

// PITFALLS 34: 10 -> 20 and 10 -> 30 at once. Whatever the order, 30 is never followed by 20.
TEST_F(WitnessStateFileTest, RequestsThatCrossNeverRollItBack) {
  for (int round = 0; round < 50; ++round) {
    std::filesystem::remove_all(folder_ / "state");
    WitnessStateFile state = open();
    ASSERT_EQ(ask(state, 0, 10).value().status, 200u);
    WitnessResponse to_20, to_30;
    std::thread first([&] { to_20 = ask(state, 10, 20).value(); });
    std::thread second([&] { to_30 = ask(state, 10, 30).value(); });
    first.join();
    second.join();
    ASSERT_EQ((to_20.status == 200) + (to_30.status == 200), 1) << "one of them";
    const WitnessResponse& refused = to_20.status == 200 ? to_30 : to_20;
    EXPECT_EQ(refused.status, 409u);
    EXPECT_EQ(refused.body, to_20.status == 200 ? "20\n" : "30\n");
    EXPECT_EQ(stored(), to_20.status == 200 ? 20u : 30u);
  }
}

TEST_F(WitnessStateFileTest, NorDoProcessesThatCross) {
  for (int round = 0; round < 20; ++round) {
    std::filesystem::remove_all(folder_ / "state");
    WitnessStateFile state = open();
    ASSERT_EQ(ask(state, 0, 10).value().status, 200u);
    std::vector<pid_t> children;
    for (const std::uint64_t to : {20u, 30u, 40u}) {
      const pid_t child = ::fork();
      ASSERT_GE(child, 0);
      if (child == 0) {
        WitnessStateFile own = open();
        const Result<WitnessResponse> response = ask(own, 10, to);
        ::_exit(response && response->status == 200 ? 0 : 1);
      }
      children.push_back(child);
    }
    int signed_count = 0;
    for (const pid_t child : children) {
      int status = 0;
      ASSERT_EQ(::waitpid(child, &status, 0), child);
      signed_count += WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 1 : 0;
    }
    EXPECT_EQ(signed_count, 1);
  }
}

TEST_F(WitnessStateFileTest, AdvanceComparesBeforeItKeeps) {
  WitnessStateFile state = open();
  const SignedCheckpoint ten = log_.checkpoint(10);
  WitnessRecord record{ten, 5};
  record.checkpoint.signatures.push_back(
      cosign_note(ten.checkpoint.text(), witness_.name, 5, key_));
  EXPECT_FALSE(state.advance(log_.origin(), log_.head(9), record).value());
  EXPECT_FALSE(state.latest(log_.origin()).value().has_value());
  EXPECT_TRUE(state.advance(log_.origin(), std::nullopt, record).value());
  EXPECT_FALSE(state.advance(log_.origin(), std::nullopt, record).value());
  EXPECT_FALSE(state.advance(log_.origin(), log_.head(9), record).value());
  EXPECT_TRUE(state.advance(log_.origin(), log_.head(10), record).value());
}

TEST_F(WitnessStateFileTest, AFolderThatCannotBeMadeIsAnError) {
  test::write_file(folder_ / "file", "x");
  const Result<WitnessStateFile> state =
      WitnessStateFile::open(folder_ / "file", witness_.verifier());
  ASSERT_FALSE(state.has_value());
  EXPECT_EQ(state.error().kind, ErrorKind::system);
}

}  // namespace
}  // namespace kernelindex
