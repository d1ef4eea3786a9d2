// SPDX-License-Identifier: Apache-2.0
// Derived data can go and come back: the same keys and values, byte for byte, as recording made.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace kernelindex::test
