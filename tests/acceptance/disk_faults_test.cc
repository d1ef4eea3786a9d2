// SPDX-License-Identifier: Apache-2.0
// A disk that fails at some write of an import: a typed error, no success that was not one, nothing
// half recorded, and with the disk well again the same end as if nothing had been.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ledger/appender.h"
#include "tests/acceptance/fault_file_system.h"
#include "tests/acceptance/room.h"
#include "tests/support/corpus.h"

namespace kernelindex::test {
namespace {

using ::testing::AnyOf;
using ::testing::Eq;

// Several batches, and no more of the dump than that takes.
ingest::ImportRequest some_of_the_dump() {
  ingest::ImportOptions options;
  options.top = 1;
  options.tags = {"Quant"};
  return import_request("sol-execbench", dump_folder(), options);
}

class DiskFaults : public ::testing::Test {
 protected:
  void SetUp() override { KERNELINDEX_REQUIRE_CORPUS(); }

  // The import on a healthy disk: what it comes to, and how much it writes.
  struct Healthy {
    Room founded;
    TreeHead head;
    std::uint64_t writes = 0;
    std::uint64_t syncs = 0;
    std::size_t commits = 0;
    Healthy() {
      founded.close();
      Room room = founded.copy();
      LedgerOptions options = room.options();
      const auto disk = std::make_shared<FaultFileSystem>();
      options.file_system = disk;
      const std::unique_ptr<Ledger> ledger = must(Ledger::open(options));
      disk->fail_at(UINT64_MAX, DiskFault::full);
      ingest::ImportRequest request = some_of_the_dump();
      request.progress = [&](std::uint64_t) { ++commits; };
      head = must(ingest::import_source(*ledger, request)).head;
      writes = disk->writes();
      syncs = disk->syncs();
    }
  };
  static Healthy& healthy() {
    static Healthy healthy;
    return healthy;
  }

  static void expect_survives(std::uint64_t number, DiskFault fault, DiskFiles files) {
    SCOPED_TRACE("write " + std::to_string(number) + ", fault " +
                 std::to_string(static_cast<int>(fault)));
    Room room = healthy().founded.copy();
    std::uint64_t reported = 0;
    {
      LedgerOptions options = room.options();
      const auto disk = std::make_shared<FaultFileSystem>();
      options.file_system = disk;
      const std::unique_ptr<Ledger> ledger = must(Ledger::open(options));
      reported = ledger->read().head().size;
      ingest::ImportRequest request = some_of_the_dump();
      request.progress = [&](std::uint64_t size) { reported = size; };
      disk->fail_at(number, fault, files);
      const Result<ingest::ImportReport> report = ingest::import_source(*ledger, request);
      if (!report) {
        expect_refuses(*ledger, report.error(), fault, *disk, reported);
      } else if (files == DiskFiles::log) {
        EXPECT_LE(fault == DiskFault::unsynced ? disk->syncs() : disk->writes(), number)
            << "a success on a disk that failed";
      }
    }
    // Whatever was reported is there; whatever is there, is whole.
    expect_sound(room);
    EXPECT_GE(room.head().size, reported) << "an index was reported and is not there";
    const ingest::ImportReport report =
        must(ingest::import_source(room.ledger(), some_of_the_dump()));
    EXPECT_EQ(report.head.size, healthy().head.size);
    EXPECT_EQ(report.head.root, healthy().head.root);
    room.close();
    expect_sound(room);
  }

  // Reading goes on, at the state of the last success; writing does not, whatever the disk does.
  static void expect_refuses(Ledger& ledger, const Error& error, DiskFault fault,
                             FaultFileSystem& disk, std::uint64_t reported) {
    const bool full = fault == DiskFault::full || fault == DiskFault::half_written;
    EXPECT_EQ(error.kind, ErrorKind::system) << error.text();
    EXPECT_EQ(error.code, full ? "DISK_FULL" : "IO") << error.text();
    const Reader reader = ledger.read();
    EXPECT_EQ(reader.head().size, reported);
    EXPECT_TRUE(reader.leaf(reported - 1));
    disk.heal();
    EXPECT_FALSE(ingest::import_source(ledger, some_of_the_dump()));
    EXPECT_EQ(ledger.read().head().size, reported);
  }

  // At the first write of the log, at the last, and here and there between.
  static void expect_survives_everywhere(DiskFault fault) {
    const std::uint64_t all = fault == DiskFault::unsynced ? healthy().syncs : healthy().writes;
    ASSERT_GE(healthy().commits, 2u);
    ASSERT_GE(all, 2u);
    for (const std::uint64_t number : std::set<std::uint64_t>{0, all / 3, 2 * all / 3, all - 1}) {
      expect_survives(number, fault, DiskFiles::log);
    }
    expect_survives(0, fault, DiskFiles::others);
  }
};

TEST_F(DiskFaults, AFullDisk) { expect_survives_everywhere(DiskFault::full); }
TEST_F(DiskFaults, AnErrorOfTheDevice) { expect_survives_everywhere(DiskFault::broken); }
TEST_F(DiskFaults, ADiskThatFillsUpInTheMiddleOfAWrite) {
  expect_survives_everywhere(DiskFault::half_written);
}
TEST_F(DiskFaults, AWriteThatReachesTheDiskAndFailsAllTheSame) {
  expect_survives_everywhere(DiskFault::indeterminate);
}
TEST_F(DiskFaults, AnErrorAtSyncing) { expect_survives_everywhere(DiskFault::unsynced); }

TEST_F(DiskFaults, FoundingOnAFullDiskLeavesNothingThatOpens) {
  TempDir folder;
  LedgerOptions options;
  options.directory = folder / "ledger";
  options.state = folder / "state";
  options.clock = fixed_clock(fixed_now());
  const auto disk = std::make_shared<FaultFileSystem>();
  options.file_system = disk;
  for (std::uint64_t number = 0; number < 40; ++number) {
    SCOPED_TRACE(number);
    std::filesystem::remove_all(options.directory);
    copy_keys(shared_keys(), options.directory / "keys");
    disk->fail_at(number / 2, DiskFault::full,
                  number % 2 == 0 ? DiskFiles::log : DiskFiles::others);
    const Result<std::unique_ptr<Ledger>> ledger = Ledger::create(options, {});
    if (ledger) continue;
    EXPECT_EQ(ledger.error().code, "DISK_FULL") << ledger.error().text();
    disk->heal();
    const Result<std::unique_ptr<Ledger>> opened = Ledger::open(options);
    if (opened) continue;  // the founding batch was written before the disk filled up
    EXPECT_THAT(opened.error().code, AnyOf("NO_LEDGER", "DAMAGED_STORE")) << opened.error().text();
  }
  disk->heal();
  std::filesystem::remove_all(options.directory);
  EXPECT_TRUE(Ledger::create(options, {}));
}

// Chunks of a large object go ahead of the batch that names them. When the batch never comes, the
// next opening collects them.
TEST(UnnamedChunks, AreCollectedAtTheNextOpening) {
  Room room;
  room.close();
  std::string bytes(5 * limits::kObjectChunkBytes + 7, 'x');
  {
    LedgerOptions options = room.options();
    const auto disk = std::make_shared<FaultFileSystem>();
    options.file_system = disk;
    const std::unique_ptr<Ledger> ledger = must(Ledger::open(options));
    const std::unique_ptr<Appender> appender = must(ledger->append({"test", "1"}));
    must(appender->artifact(bytes, "text/plain"));
    const auto ahead = contents(ledger->store().latest(), Space::evidence);
    EXPECT_EQ(std::ranges::count_if(ahead, [](const auto& p) { return p.first[0] == 'c'; }), 6);
    EXPECT_EQ(std::ranges::count_if(ahead, [](const auto& p) { return p.first[0] == 'u'; }), 1);
    disk->fail_at(0, DiskFault::full);
    EXPECT_EQ(appender->finish(std::nullopt).error().code, "DISK_FULL");
  }
  // Before anything collects them a reader is not disturbed by them.
  LedgerOptions reading = room.options();
  reading.read_only = true;
  EXPECT_TRUE(Ledger::open(reading));
  const auto after = contents(room.read().view(), Space::evidence);
  for (const auto& [key, value] : after) EXPECT_TRUE(key[0] != 'c' && key[0] != 'u');
  room.close();
  expect_sound(room);
  // And the same object can be recorded afterwards.
  const std::unique_ptr<Appender> appender = must(room.ledger().append({"test", "1"}));
  must(appender->artifact(bytes, "text/plain"));
  must(appender->finish(std::nullopt));
  EXPECT_EQ(must(room.read().object(sha256(bytes))), bytes);
}

}  // namespace
}  // namespace kernelindex::test
