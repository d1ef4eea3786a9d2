// SPDX-License-Identifier: Apache-2.0
// One writer at a time, any number of readers, in this process and in others.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "ledger/query.h"
#include "tests/acceptance/answers.h"
#include "tests/acceptance/child_program.h"
#include "tests/acceptance/room.h"
#include "tests/support/corpus.h"

namespace kernelindex::test {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kKey =
    "sha256:caec9f00e44cade99c754c1692c5cff4493a56cefcc08fb31c52fb4034cfe49f";

void expect_second_writer_refused(const Room& room) {
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"import", "sol-execbench", sample_folder().string()}, {"reindex"}}) {
    const Outcome outcome = room.run(words);
    EXPECT_EQ(outcome.exit_code, 6) << words[0] << ": " << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("LOCK_HELD"));
    EXPECT_EQ(outcome.out, "");
  }
}

TEST(Locks, ASecondWriterIsRefusedAndReadersAreNot) {
  Room room;
  room.import_sample();
  ASSERT_TRUE(room.ledger().append({"test", "1"}));
  expect_second_writer_refused(room);
  for (const std::string verb : {"runs", "records", "status", "log"}) {
    const Outcome outcome = room.run({verb});
    EXPECT_EQ(outcome.exit_code, 0) << verb << ": " << outcome.err;
  }
  const Result<std::unique_ptr<Ledger>> second = Ledger::open(room.options());
  ASSERT_FALSE(second) << "in one process neither";
  EXPECT_EQ(second.error().code, "LOCK_HELD");
  room.close();
  EXPECT_EQ(room.run({"import", "sol-execbench", sample_folder().string()}).exit_code, 0);
}

// POSIX record locks go when any descriptor of the file is closed in the process.
TEST(Locks, ClosingAnotherDescriptorOfTheLockFileDoesNotLetAWriterIn) {
  Room room;
  room.import_sample();
  std::thread([&] {
    const int file = ::open((room.directory() / "db/LOCK").c_str(), O_RDWR);
    ASSERT_GE(file, 0);
    ::close(file);
  }).join();
  expect_second_writer_refused(room);
}

TEST(Locks, AReaderKeepsItsStateWhileAnotherProcessWrites) {
  KERNELINDEX_REQUIRE_CORPUS();
  Room room;
  room.import_sample();
  room.close();
  LedgerOptions options = room.options();
  options.read_only = true;
  const std::unique_ptr<Ledger> early = must(Ledger::open(options));
  const Reader reader = early->read();
  const auto telling = [&] {
    const History group = must(history(reader, must(Digest::parse(kKey))));
    std::string out = std::to_string(group.as_of.size) + group.as_of.root.text();
    for (const RunView& run : group.runs) out += run.digest.text() + std::to_string(*run.rank);
    for (std::uint64_t i = 0; i < reader.head().size; ++i) out += must(reader.leaf(i));
    return out;
  };
  const std::string first = telling();
  const auto derived = contents(reader.view(), Space::derived);

  ChildProgram writer(
      {KERNELINDEX_PROGRAM, "import", "kernelindex-catalog", catalog_file().string(), "--quiet"},
      room.environment());
  // Readers that come while it writes see some state after a whole batch; which one, they say.
  std::map<std::uint64_t, std::string> told;
  do {
    EXPECT_EQ(telling(), first);
    const Outcome outcome = room.run({"history", std::string(kKey), "--json"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const Document answer(outcome.out);
    const auto size = static_cast<std::uint64_t>(answer->find({"asOf", "size"})->number());
    const auto [known, fresh] = told.emplace(size, outcome.out);
    EXPECT_EQ(known->second, outcome.out);
  } while (writer.running());
  EXPECT_EQ(writer.wait(), 0);
  EXPECT_EQ(telling(), first);
  EXPECT_EQ(contents(reader.view(), Space::derived), derived);
  for (const auto& [size, answer] : told) {
    const Outcome then =
        room.run({"history", std::string(kKey), "--json", "--as-of", std::to_string(size)});
    EXPECT_EQ(then.out, answer) << "as of " << size;
  }
}

TEST(Locks, ReadersInThreadsSeeWholeBatchesWhileTheLedgerWrites) {
  KERNELINDEX_REQUIRE_CORPUS();
  Room room;
  room.import_sample();
  Ledger& ledger = room.ledger();
  std::atomic<bool> done = false;
  const auto read = [&] {
    std::uint64_t last = 0;
    do {
      const Reader reader = ledger.read();
      const TreeHead head = reader.head();
      EXPECT_GE(head.size, last);
      last = head.size;
      EXPECT_TRUE(reader.leaf(head.size - 1));
      EXPECT_FALSE(reader.leaf(head.size));
      EXPECT_EQ(must(reader.root_at(head.size)), head.root);
      const History group = must(history(reader, must(Digest::parse(kKey))));
      EXPECT_EQ(group.as_of.size, head.size);
      EXPECT_EQ(group.runs[0].rank, 1u);
      for (const RunView& run : group.runs) EXPECT_LT(run.row.last_index, head.size);
    } while (!done);
  };
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) readers.emplace_back(read);
  room.import_dump(3);
  done = true;
  for (std::thread& thread : readers) thread.join();
}

}  // namespace
}  // namespace kernelindex::test
