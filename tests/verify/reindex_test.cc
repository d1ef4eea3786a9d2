// SPDX-License-Identifier: Apache-2.0
// Derived data can go and come back: the same keys and values, byte for byte, as recording made.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "ledger/attest.h"
#include "ledger/key_layout.h"
#include "tests/verify/audit_matchers.h"
#include "tests/verify/ledger_fixture.h"

namespace kernelindex::test {
namespace {

using ::testing::IsEmpty;

TEST(Reindex, GivesWhatRecordingGave) {
  LedgerFixture ledger;
  const LedgerFixture::Pairs recorded = ledger.all(Space::derived);
  const LedgerFixture::Pairs evidence = ledger.all(Space::evidence);
  ledger.erase_all(Space::derived);
  ASSERT_THAT(ledger.all(Space::derived), IsEmpty());
  ASSERT_TRUE(ledger.open()->reindex().has_value());
  EXPECT_EQ(ledger.all(Space::derived), recorded);
  EXPECT_EQ(ledger.all(Space::evidence), evidence);
}

TEST(Reindex, OfAnIntactLedgerChangesNothing) {
  LedgerFixture ledger;
  const LedgerFixture::Pairs recorded = ledger.all(Space::derived);
  ASSERT_TRUE(ledger.open()->reindex().has_value());
  EXPECT_EQ(ledger.all(Space::derived), recorded);
}

TEST(Reindex, ALedgerWithoutDerivedDataOpensAndSaysSo) {
  LedgerFixture ledger;
  ledger.erase_all(Space::derived);
  const TreeHead head = ledger.head();
  const std::unique_ptr<Ledger> open = ledger.open();
  ASSERT_TRUE(open->derived_fault().has_value());
  EXPECT_EQ(open->derived_fault()->code, "DERIVED_STALE");
  EXPECT_EQ(open->read().head(), head);
}

TEST(Reindex, AfterItTheLedgerRecordsOn) {
  LedgerFixture ledger;
  ledger.erase_all(Space::derived);
  const std::unique_ptr<Ledger> open = ledger.open();
  ASSERT_TRUE(open->reindex().has_value());
  ASSERT_FALSE(open->derived_fault().has_value());
  Result<std::unique_ptr<Appender>> appender = open->append({"board", "1", "{}"});
  ASSERT_TRUE(appender.has_value()) << appender.error().text();
  const std::string bytes = "another file\n";
  MemorySource source(bytes);
  ASSERT_TRUE((*appender)
                  ->snapshot({"board", "other.json", "", "supplied"}, "application/json", source)
                  .has_value());
  ManifestEntry claim;
  claim.source = "board";
  claim.snapshot = sha256(bytes);
  ASSERT_TRUE((*appender)->claim(claim, ledger.records().run).has_value());
  ASSERT_TRUE((*appender)->finish(std::nullopt).has_value());
  EXPECT_THAT(fault_texts(audit(*open)), IsEmpty());
}

// ---- A database that cannot be opened ----

void remove_files(const LedgerFixture& ledger, std::string_view beginning) {
  for (const auto& file : std::filesystem::directory_iterator(ledger.directory() / "db")) {
    if (file.path().filename().string().starts_with(beginning)) {
      std::filesystem::remove(file.path());
    }
  }
}

TEST(Repair, WithoutCurrentOrManifestEveryRecordComesBack) {
  for (const Shape shape : {Shape::plain, Shape::large_object, Shape::killed}) {
    LedgerFixture ledger(shape);
    const LedgerFixture::Pairs evidence = ledger.all(Space::evidence);
    const LedgerFixture::Pairs derived = ledger.all(Space::derived);
    remove_files(ledger, "CURRENT");
    remove_files(ledger, "MANIFEST");
    ASSERT_FALSE(Ledger::open(ledger.options()));
    {
      const Result<std::unique_ptr<Ledger>> repaired = Ledger::repair(ledger.options());
      ASSERT_TRUE(repaired) << repaired.error().text();
      EXPECT_FALSE((*repaired)->read_only_reason());
    }
    EXPECT_EQ(ledger.all(Space::evidence), evidence);
    EXPECT_EQ(ledger.all(Space::derived), derived);
    EXPECT_THAT(ledger.audit().faults, IsEmpty());
  }
}

TEST(Repair, WithheldBytesDoNotComeBack) {
  LedgerFixture ledger;
  const Digest withheld = sha256(ledger.records().source);
  {
    const std::unique_ptr<Ledger> open = ledger.open();
    ASSERT_TRUE(withhold(*open, withheld, "a licence", fixture_key(Role::root)));
  }
  remove_files(ledger, "CURRENT");
  remove_files(ledger, "MANIFEST");
  const Result<std::unique_ptr<Ledger>> repaired = Ledger::repair(ledger.options());
  ASSERT_TRUE(repaired) << repaired.error().text();
  EXPECT_FALSE((*repaired)->read().object(withheld).value().has_value());
}

TEST(Repair, WhatIsLostLeavesTheLedgerReadOnly) {
  LedgerFixture ledger(Shape::killed);
  for (const auto& file : std::filesystem::directory_iterator(ledger.directory() / "db")) {
    if (file.path().extension() != ".log" || file.file_size() == 0) continue;
    std::filesystem::resize_file(file.path(), file.file_size() / 2);
  }
  remove_files(ledger, "CURRENT");
  remove_files(ledger, "MANIFEST");
  const Result<std::unique_ptr<Ledger>> repaired = Ledger::repair(ledger.options());
  if (repaired) {
    ASSERT_TRUE((*repaired)->read_only_reason());
    EXPECT_EQ((*repaired)->read_only_reason()->code, "RECORDS_LOST");
  } else {
    EXPECT_NE(repaired.error().code, "");
  }
}

TEST(Repair, OfNothingIsRefused) {
  LedgerFixture ledger;
  LedgerOptions nowhere = ledger.options();
  nowhere.directory = ledger.directory() / "nowhere";
  const Result<std::unique_ptr<Ledger>> repaired = Ledger::repair(nowhere);
  ASSERT_FALSE(repaired);
  EXPECT_EQ(repaired.error().code, "NO_LEDGER");
}

}  // namespace
}  // namespace kernelindex::test
