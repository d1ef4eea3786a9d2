// SPDX-License-Identifier: Apache-2.0
// Ledgers that released versions wrote are opened by every later one. data/golden-v1 was written by
// make_golden_ledger with fixed keys and a fixed clock; its private keys are those of the tests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ledger/key_layout.h"
#include "tests/support/corpus.h"
#include "tests/verify/audit_matchers.h"
#include "tests/verify/ledger_fixture.h"

namespace kernelindex::test {
namespace {

using ::testing::IsEmpty;

constexpr std::string_view kRoot =
    "sha256:eba1a494d7917318c6085b67faa67762afdba0c83278cec95591fa08bbed8a7a";
constexpr std::uint64_t kSize = 26;

std::filesystem::path golden() { return source_root() / "tests/verify/data/golden-v1"; }

// Derived data may be of another layout: `reindex` makes it anew, and then all is clean.
TEST(GoldenLedger, OfVersion1AuditsClean) {
  const LedgerFixture ledger(golden());
  const AuditReport report = ledger.audit();
  EXPECT_TRUE(report.derived_only()) << testing::PrintToString(fault_texts(report));
  EXPECT_EQ(report.size, kSize);
  EXPECT_EQ(report.root.text(), kRoot);
  ASSERT_TRUE(ledger.open()->reindex().has_value());
  EXPECT_THAT(fault_texts(ledger.audit()), IsEmpty());
}

TEST(GoldenLedger, OfVersion1IsReadWithoutWriting) {
  const LedgerFixture ledger(golden());
  LedgerOptions options = ledger.options();
  options.read_only = true;
  const Result<std::unique_ptr<Ledger>> open = Ledger::open(options);
  ASSERT_TRUE(open.has_value()) << open.error().text();
  EXPECT_FALSE((*open)->read_only_reason().has_value());
  EXPECT_EQ((*open)->format().origin, "example.org/tests");
  const Reader reader = (*open)->read();
  EXPECT_EQ(reader.head().size, kSize);
  EXPECT_EQ(reader.head().root.text(), kRoot);
  for (std::uint64_t index = 0; index < kSize; ++index) {
    EXPECT_TRUE(reader.entry(index).has_value()) << index;
  }
  const SmallRecords records;
  const Result<std::optional<std::string>> run = reader.object(records.run.document);
  ASSERT_TRUE(run.has_value() && run->has_value());
  EXPECT_EQ(**run, records.run.bytes);
}

// The writer of today makes the same log from the same input, keys and clock.
TEST(GoldenLedger, OfVersion1IsWhatTheWriterMakes) {
  const LedgerFixture written;
  const LedgerFixture kept(golden());
  EXPECT_EQ(written.head(), kept.head());
  EXPECT_EQ(written.all(Space::evidence), kept.all(Space::evidence));
  EXPECT_EQ(read_file(written.directory() / "checkpoint"),
            read_file(kept.directory() / "checkpoint"));
}

TEST(GoldenLedger, OfVersion1IsRecordedInAgain) {
  LedgerFixture ledger(golden());
  for (const auto& key : std::filesystem::directory_iterator(ledger.directory() / "keys")) {
    // Version control keeps no modes.
    std::filesystem::permissions(key.path(), std::filesystem::perms::owner_read);
  }
  const std::unique_ptr<Ledger> open = ledger.open();
  ASSERT_TRUE(open->reindex().has_value());
  Result<std::unique_ptr<Appender>> appender = open->append({"board", "1", "{}"});
  ASSERT_TRUE(appender.has_value()) << appender.error().text();
  const std::string bytes = "a newer file\n";
  MemorySource source(bytes);
  ASSERT_TRUE((*appender)
                  ->snapshot({"board", "newer.json", "", "supplied"}, "application/json", source)
                  .has_value());
  ManifestEntry claim;
  claim.source = "board";
  claim.snapshot = sha256(bytes);
  ASSERT_TRUE((*appender)->claim(claim, ledger.records().run).has_value());
  const Status finished = (*appender)->finish(std::nullopt);
  ASSERT_TRUE(finished.has_value()) << finished.error().text();
  EXPECT_GT(open->read().head().size, kSize);
  EXPECT_THAT(fault_texts(audit(*open)), IsEmpty());
}

}  // namespace
}  // namespace kernelindex::test
