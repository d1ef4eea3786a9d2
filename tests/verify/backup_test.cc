// SPDX-License-Identifier: Apache-2.0
// Backups: whole, without keys, taken while others write, and never the beginning of a fork.
#include "ledger/backup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

#include "ledger/attest.h"
#include "tests/support/corpus.h"
#include "tests/verify/ledger_fixture.h"

namespace kernelindex::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;

class Backups : public testing::Test {
 protected:
  BackupInfo take(const std::string& name = "backup") {
    const Result<BackupInfo> info = backup(*ledger_, folder_ / name);
    if (!info) throw std::runtime_error(info.error().text());
    return *info;
  }
  // A place where nothing was before: no key, no mark.
  LedgerOptions elsewhere(const std::string& name = "restored") const {
    LedgerOptions options;
    options.directory = folder_ / name;
    options.state = folder_ / (name + "-state");
    options.clock = fixed_clock(kFixtureTime);
    return options;
  }
  std::string code(const Result<Restored>& restored) {
    return restored ? "restored" : restored.error().code;
  }
  void note() {
    const CommunityNote said{CommunityNote::Type::reproduced, "the same here", {}, {}, {}};
    const Result<Attested> recorded =
        attest(*ledger_, {fixture_.records().run.identity, said}, fixture_key(Role::contributor));
    ASSERT_TRUE(recorded) << recorded.error().text();
  }
  void retract() {
    const Result<Attested> recorded =
        attest(*ledger_, {fixture_.records().run.identity, Retraction{"again"}},
               fixture_key(Role::maintainer));
    ASSERT_TRUE(recorded) << recorded.error().text();
  }
  static std::vector<BackupFile> sorted_by_size(std::vector<BackupFile> files) {
    std::ranges::sort(files, {}, &BackupFile::size);
    return files;
  }

  LedgerFixture fixture_{Shape::large_object};
  std::unique_ptr<Ledger> ledger_ = fixture_.open();
  TempDir folder_;
};

TEST_F(Backups, ARestoredCopyIsTheSameLogAndSound) {
  const BackupInfo info = take();
  EXPECT_EQ(info.head, fixture_.head());
  EXPECT_EQ(info.ledger_id, ledger_->format().ledger_id);
  EXPECT_EQ(info.origin, "example.org/tests");
  EXPECT_EQ(read_backup_info(folder_ / "backup").value(), info);
  const Result<Restored> restored = restore(folder_ / "backup", elsewhere());
  ASSERT_TRUE(restored) << restored.error().text();
  EXPECT_FALSE(restored->read_only);
  EXPECT_EQ(restored->info, info);
  const Result<AuditReport> report = audit_directory(elsewhere(), {});
  ASSERT_TRUE(report);
  EXPECT_THAT(report->faults, IsEmpty());
  EXPECT_EQ(report->root, info.head.root);
}

TEST_F(Backups, ACopyTakenByAReaderBesideTheWriterIsTheSame) {
  LedgerOptions reading = fixture_.options();
  reading.read_only = true;
  const std::unique_ptr<Ledger> reader = Ledger::open(reading).value();
  const Result<BackupInfo> info = backup(*reader, folder_ / "backup");
  ASSERT_TRUE(info) << info.error().text();
  EXPECT_EQ(info->head, fixture_.head());
  ASSERT_TRUE(restore(folder_ / "backup", elsewhere()));
  EXPECT_THAT(audit_directory(elsewhere(), {})->faults, IsEmpty());
}

TEST_F(Backups, NoFileOfItIsSharedWithTheLedger) {
  for (const BackupFile& file : take().files) {
    EXPECT_EQ(fs::hard_link_count(folder_ / "backup" / file.path), 1u) << file.path;
  }
}

TEST_F(Backups, HoldNoPrivateKey) {
  take();
  std::size_t files = 0;
  for (const auto& item : fs::recursive_directory_iterator(folder_ / "backup")) {
    if (!item.is_regular_file()) continue;
    ++files;
    EXPECT_NE(item.path().extension(), ".key");
    const std::string bytes = read_file(item.path());
    for (const Role role : kRoles) {
      const SecretBytes seed = fixture_key(role).seed();
      EXPECT_EQ(bytes.find(seed.view()), std::string::npos) << item.path();
      EXPECT_EQ(bytes.find(to_base64(seed.view())), std::string::npos) << item.path();
    }
  }
  EXPECT_GT(files, 3u);
}

// PITFALLS 6: a checkpoint taken under load missed a log file, or copied it half-written.
TEST_F(Backups, TakenWhileThreadsAppendAreSoundEachTime) {
  std::atomic<bool> stop = false;
  std::atomic<int> written = 0;
  std::vector<std::thread> writers;
  for (int thread = 0; thread < 4; ++thread) {
    writers.emplace_back([&, thread] {
      for (int i = 0; !stop; ++i) {
        Result<std::unique_ptr<Appender>> appender = ledger_->append_attestations();
        ASSERT_TRUE(appender) << appender.error().text();
        const std::string bytes = "thread " + std::to_string(thread) + " number " +
                                  std::to_string(i) + std::string(3000, 'x');
        ASSERT_TRUE((*appender)->artifact(bytes, "text/plain"));
        ASSERT_TRUE((*appender)->finish(std::nullopt));
        ++written;
      }
    });
  }
  constexpr int kRounds = 25;
  for (int round = 0; round < kRounds; ++round) {
    const std::string name = std::to_string(round);
    const std::uint64_t before = ledger_->read().head().size;
    const BackupInfo info = take(name);
    EXPECT_GE(info.head.size, before);
    const Result<Restored> restored = restore(folder_ / name, elsewhere("r" + name));
    ASSERT_TRUE(restored) << restored.error().text();
    EXPECT_FALSE(restored->read_only);
    const Result<AuditReport> report = audit_directory(elsewhere("r" + name), {});
    ASSERT_TRUE(report);
    ASSERT_THAT(report->faults, IsEmpty()) << round;
    fs::remove_all(folder_ / name);
    fs::remove_all(folder_ / ("r" + name));
  }
  stop = true;
  for (std::thread& writer : writers) writer.join();
  EXPECT_GT(written, kRounds);
}

TEST_F(Backups, AreRefusedWhereSomethingLies) {
  take();
  const Result<BackupInfo> again = backup(*ledger_, folder_ / "backup");
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, "BACKUP_EXISTS");
  EXPECT_TRUE(read_backup_info(folder_ / "backup"));
}

TEST_F(Backups, CanBeReadWhereTheyLieAndAreNeverWritten) {
  const BackupInfo info = take();
  LedgerOptions there = elsewhere("backup");
  const Result<std::unique_ptr<Ledger>> writer = Ledger::open(there);
  ASSERT_FALSE(writer);
  EXPECT_EQ(writer.error().code, "IS_BACKUP");
  EXPECT_EQ(writer.error().kind, ErrorKind::refused);
  there.read_only = true;
  const Result<std::unique_ptr<Ledger>> reader = Ledger::open(there);
  ASSERT_TRUE(reader) << reader.error().text();
  EXPECT_EQ((*reader)->read().head(), info.head);
  EXPECT_EQ(code(restore(folder_ / "backup", elsewhere())), "restored");
}

TEST_F(Backups, AreNotRestoredOverALedger) {
  take();
  const std::string before = read_file(fixture_.directory() / "db/CURRENT");
  const Result<Restored> over = restore(folder_ / "backup", fixture_.options());
  ASSERT_FALSE(over);
  EXPECT_EQ(over.error().code, "LEDGER_EXISTS");
  EXPECT_EQ(over.error().kind, ErrorKind::refused);
  EXPECT_EQ(read_file(fixture_.directory() / "db/CURRENT"), before);
}

TEST_F(Backups, AChangedFileIsNamedAndNothingIsRestored) {
  for (const BackupFile& file : take().files) {
    const fs::path path = folder_ / "backup" / file.path;
    const std::string good = read_file(path);
    if (good.empty()) continue;
    for (const std::size_t at : {std::size_t{0}, good.size() / 2, good.size() - 1}) {
      std::string changed = good;
      changed[at] = static_cast<char>(changed[at] ^ 4);
      write_file(path, changed);
      const Result<Restored> restored = restore(folder_ / "backup", elsewhere());
      ASSERT_FALSE(restored) << file.path;
      EXPECT_EQ(restored.error().code, "DAMAGED_BACKUP");
      EXPECT_EQ(restored.error().kind, ErrorKind::corrupt);
      EXPECT_THAT(restored.error().text(), HasSubstr(file.path));
      EXPECT_NE(restored.error().remedy, "");
      EXPECT_FALSE(fs::exists(folder_ / "restored" / "db"));
    }
    write_file(path, good.substr(0, good.size() - 1));
    EXPECT_EQ(code(restore(folder_ / "backup", elsewhere())), "DAMAGED_BACKUP") << file.path;
    fs::remove(path);
    EXPECT_EQ(code(restore(folder_ / "backup", elsewhere())), "DAMAGED_BACKUP") << file.path;
    write_file(path, good);
  }
  EXPECT_EQ(code(restore(folder_ / "backup", elsewhere())), "restored");
}

TEST_F(Backups, OneThatWasCutOffIsNone) {
  take();
  fs::remove(folder_ / "backup" / "backup.json");
  const Result<Restored> restored = restore(folder_ / "backup", elsewhere());
  ASSERT_FALSE(restored);
  EXPECT_EQ(restored.error().code, "NO_BACKUP");
  EXPECT_EQ(restored.error().kind, ErrorKind::not_found);
}

TEST_F(Backups, ARestoreThatWasCutOffCanBeRunAgain) {
  take();
  fs::create_directories(folder_ / "restored" / "db.restoring");
  write_file(folder_ / "restored" / "db.restoring" / "CURRENT", "half");
  EXPECT_EQ(code(restore(folder_ / "backup", elsewhere())), "restored");
  EXPECT_FALSE(fs::exists(folder_ / "restored" / "db.restoring"));
}

// PITFALLS 14: restoring an old backup and signing again forks the log for ever.
TEST_F(Backups, BelowAReleasedCheckpointALedgerOnlyReads) {
  const BackupInfo info = take();
  for (int i = 0; i < 20; ++i) note();
  const SignedCheckpoint released = ledger_->checkpoint().value();
  ASSERT_EQ(released.checkpoint.head.size, info.head.size + 20);
  ledger_.reset();
  // The database is lost; keys and marks are not.
  fs::remove_all(fixture_.directory() / "db");
  const Result<Restored> restored = restore(folder_ / "backup", fixture_.options());
  ASSERT_TRUE(restored) << restored.error().text();
  ASSERT_TRUE(restored->read_only);
  EXPECT_EQ(restored->read_only->code, "RECORDS_LOST");
  EXPECT_EQ(restored->read_only->size, info.head.size);
  EXPECT_EQ(restored->read_only->released, info.head.size + 20);
  ledger_ = fixture_.open();
  EXPECT_EQ(ledger_->read().head(), info.head);
  const auto expect_refused = [](const Error& error) {
    EXPECT_EQ(error.code, "READ_ONLY");
    EXPECT_EQ(error.kind, ErrorKind::refused);
    EXPECT_THAT(error.message, HasSubstr("records are lost"));
    EXPECT_THAT(error.remedy, HasSubstr("kernelindex restore"));
    EXPECT_THAT(error.remedy, HasSubstr("import kernelindex-ledger"));
  };
  expect_refused(ledger_->append_attestations().error());
  expect_refused(ledger_->append({"toy", "1"}).error());
  expect_refused(ledger_->checkpoint().error());
  // Any one of the marks is enough.
  ledger_.reset();
  for (const fs::path& mark :
       MarkPlaces{fixture_.directory(), fixture_.directory() / "keys", fixture_.options().state}
           .files(info.ledger_id)) {
    ASSERT_TRUE(fs::exists(mark)) << mark;
    EXPECT_EQ(read_file(mark), released.format());
    EXPECT_TRUE(fixture_.open()->read_only_reason());
    fs::remove(mark);
  }
}

TEST_F(Backups, OfTheNewestStateGoOnWhereTheyStopped) {
  const BackupInfo info = take();
  ledger_.reset();
  fs::remove_all(fixture_.directory() / "db");
  const Result<Restored> restored = restore(folder_ / "backup", fixture_.options());
  ASSERT_TRUE(restored);
  EXPECT_FALSE(restored->read_only);
  ledger_ = fixture_.open();
  retract();
  EXPECT_EQ(ledger_->read().head().size, info.head.size + 1);
  ledger_.reset();
  EXPECT_THAT(fixture_.audit().faults, IsEmpty());
}

class BackupInfos : public testing::Test {
 protected:
  static BackupInfo sample() {
    return {sha256("ledger"),
            "example.org/tests",
            {7, sha256("root")},
            kFixtureTime,
            {{"checkpoint", 200, sha256("c")}, {"db/000012.sst", 4096, sha256("s")}}};
  }
  static std::string with_path(const std::string& path) {
    std::string text = encode_backup_info(sample());
    return text.replace(text.find("db/000012.sst"), 13, path);
  }
  static bool refused(const std::string& text) {
    const Result<BackupInfo> info = decode_backup_info(text);
    return !info && info.error().code == "BAD_BACKUP" && info.error().kind == ErrorKind::invalid;
  }
};

TEST_F(BackupInfos, ReadBackAsTheyWereWritten) {
  EXPECT_EQ(decode_backup_info(encode_backup_info(sample())).value(), sample());
}

TEST_F(BackupInfos, NameNoFileOutsideTheBackup) {
  for (const std::string path : {"../keys/root.key", "db/../../x", "/etc/passwd", "db/", "db/..",
                                 "db/.", "db/a/b", "db/a b", "keys/root.key", "db/\\u0000"}) {
    EXPECT_TRUE(refused(with_path(path))) << path;
  }
  EXPECT_TRUE(refused(with_path("db/" + std::string(256, 'x'))));
  EXPECT_FALSE(refused(with_path("db/" + std::string(255, 'x'))));
}

TEST_F(BackupInfos, AreStrict) {
  const std::string good = encode_backup_info(sample());
  EXPECT_TRUE(refused(good + "\n"));
  EXPECT_TRUE(refused("{}"));
  EXPECT_TRUE(refused(good.substr(0, good.size() - 1)));
  EXPECT_TRUE(refused(with_path("checkpoint")));  // twice
  std::string newer = good;
  EXPECT_TRUE(refused(newer.replace(newer.find("\"v\":1"), 5, "\"v\":2")));
  std::string more = good;
  EXPECT_TRUE(refused(more.insert(1, "\"extra\":1,")));
  BackupInfo many = sample();
  many.files.clear();
  for (std::size_t i = 0; i <= kBackupFiles; ++i) {
    many.files.push_back({"db/" + std::to_string(1'000'000 + i), 1, Digest()});
  }
  EXPECT_TRUE(refused(encode_backup_info(many)));
}

}  // namespace
}  // namespace kernelindex::test
