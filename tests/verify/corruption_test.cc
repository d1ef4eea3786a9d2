// SPDX-License-Identifier: Apache-2.0
// Damage to what lies on the disk, one kind at a time: each is found, and the fault says where.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <stdexcept>

#include "ledger/key_layout.h"
#include "ledger/stored_object.h"
#include "tests/support/corpus.h"
#include "tests/verify/audit_matchers.h"
#include "tests/verify/ledger_fixture.h"

namespace kernelindex::test {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

// The write-ahead log. Requires: there is one.
std::filesystem::path log_file(const LedgerFixture& ledger) {
  std::filesystem::path largest;
  for (const auto& file : std::filesystem::directory_iterator(ledger.directory() / "db")) {
    if (file.path().extension() != ".log") continue;
    if (largest.empty() || file.file_size() > std::filesystem::file_size(largest)) {
      largest = file.path();
    }
  }
  return largest;
}

// Damages a copy of a clean ledger and shows it to the audit.
class Corruption : public testing::Test {
 protected:
  // The entry that claims a manifest first.
  std::uint64_t claim_of(const Manifest& manifest) {
    const std::string row = ledger.get(Space::derived, key_layout::subject(manifest.identity));
    return decode_subject_row(row)->claims.front().index;
  }
  std::string path(std::string_view name) { return (ledger.directory() / name).string(); }
  void append(const std::string& file, std::string_view bytes) {
    std::ofstream(file, std::ios::binary | std::ios::app) << bytes;
  }

  LedgerFixture ledger{Shape::large_object};
};

// ---- the log ----

TEST_F(Corruption, AnEditedLeafGivesAnotherHashAndAnotherRoot) {
  ledger.edit(Space::evidence, key_layout::leaf(10),
              [](std::string& leaf) { leaf[leaf.find("\"source\":\"board\"") + 10] = 'c'; });
  EXPECT_THAT(ledger.audit(), HasFaults({{"TILE_MISMATCH", 10}, {"ROOT_MISMATCH", {}}}));
}

TEST_F(Corruption, ALeafThatIsNoEntryIsNamed) {
  ledger.put(Space::evidence, key_layout::leaf(10), "{}");
  EXPECT_THAT(ledger.audit(), HasFaults({{"UNKNOWN_ENTRY", 10}, {"TILE_MISMATCH", 10}}));
}

TEST_F(Corruption, ALostLeafIsNamed) {
  ledger.erase(Space::evidence, key_layout::leaf(10));
  EXPECT_THAT(ledger.audit(), HasFaults({{"MISSING_ENTRY", 10}}));
}

TEST_F(Corruption, LostLeavesAtTheEndAreNamed) {
  const std::uint64_t size = ledger.head().size;
  ledger.erase(Space::evidence, key_layout::leaf(size - 1));
  ledger.erase(Space::evidence, key_layout::leaf(size - 2));
  EXPECT_THAT(ledger.audit(), HasFaults({{"MISSING_ENTRY", size - 2}}));
}

TEST_F(Corruption, ALeafBeyondTheHeadIsNamed) {
  const std::uint64_t size = ledger.head().size;
  ledger.put(Space::evidence, key_layout::leaf(size + 3), "{}");
  EXPECT_THAT(ledger.audit(), OnlyFault("EXTRA_ENTRY", size + 3));
}

TEST_F(Corruption, AnEditedTileNamesTheEntry) {
  ledger.edit(Space::evidence, key_layout::tile(0, 0),
              [](std::string& tile) { tile[32 * 7] = static_cast<char>(tile[32 * 7] ^ 1); });
  EXPECT_THAT(ledger.audit(), OnlyFault("TILE_MISMATCH", 7));
}

TEST_F(Corruption, ALostTileIsNamed) {
  ledger.erase(Space::evidence, key_layout::tile(0, 0));
  EXPECT_THAT(ledger.audit(), OnlyFault("MISSING_TILE"));
}

TEST_F(Corruption, ATileOfNoTreeIsNamed) {
  ledger.put(Space::evidence, key_layout::tile(1, 0), std::string(32, 'x'));
  EXPECT_THAT(ledger.audit(), OnlyFault("EXTRA_TILE"));
}

TEST_F(Corruption, ATileThatIsTooLongIsNamed) {
  ledger.edit(Space::evidence, key_layout::tile(0, 0),
              [](std::string& tile) { tile += std::string(32, 'x'); });
  EXPECT_THAT(ledger.audit(), OnlyFault("TILE_MISMATCH"));
}

TEST_F(Corruption, AHeadWithAnotherRootIsNamed) {
  TreeHead head = ledger.head();
  head.root = sha256("another");
  ledger.put(Space::evidence, key_layout::head(), encode_head(head));
  EXPECT_THAT(ledger.audit(), OnlyFault("ROOT_MISMATCH"));
}

TEST_F(Corruption, AHeadOfASmallerSizeSaysFromWhereRecordsAreLost) {
  TreeHead head = ledger.head();
  head.size -= 2;
  ledger.put(Space::evidence, key_layout::head(), encode_head(head));
  EXPECT_THAT(ledger.audit(), HasFaults({{"RECORDS_LOST", head.size}, {"EXTRA_ENTRY", head.size}}));
}

TEST_F(Corruption, AHeadThatCannotBeReadIsNamed) {
  ledger.put(Space::evidence, key_layout::head(), "{}");
  EXPECT_THAT(ledger.audit(), OnlyFault("DAMAGED_HEAD"));
}

TEST_F(Corruption, ALostHeadIsNamed) {
  ledger.erase(Space::evidence, key_layout::head());
  EXPECT_THAT(ledger.audit(), OnlyFault("MISSING_RECORD"));
}

TEST_F(Corruption, AFormatOfAnotherOriginIsNamed) {
  ledger.edit(Space::evidence, key_layout::format(), [](std::string& format) {
    format.replace(format.find("example.org"), 7, "exemple");
  });
  EXPECT_THAT(ledger.audit(), OnlyFault("FORMAT_MISMATCH"));
}

TEST_F(Corruption, AFormatThatIsUnknownIsNamed) {
  ledger.edit(Space::evidence, key_layout::format(), [](std::string& format) {
    format.replace(format.find("\"tileHeight\":8"), 14, "\"tileHeight\":9");
  });
  // The third mark lies under the ledger id, which is not known then.
  EXPECT_THAT(ledger.audit(), OnlyFault("UNKNOWN_FORMAT"));
}

// ---- objects ----

TEST_F(Corruption, AnEditedDocumentNamesTheEntryAndBothDigests) {
  const Manifest& run = ledger.records().replaced_run;
  ledger.edit(Space::evidence, key_layout::object(run.document), [](std::string& value) {
    value.replace(value.find("\"median\":2000"), 13, "\"median\":2001");
  });
  const AuditReport report = ledger.audit();
  ASSERT_THAT(report, OnlyFault("DAMAGED_OBJECT", claim_of(run)));
  EXPECT_EQ(report.faults[0].expected, run.document.text());
  EXPECT_NE(report.faults[0].found, run.document.text());
  EXPECT_EQ(report.faults[0].digest, run.document);
}

TEST_F(Corruption, ALostDocumentNamesTheEntry) {
  const Manifest& operation = ledger.records().operation;
  ledger.erase(Space::evidence, key_layout::object(operation.document));
  EXPECT_THAT(ledger.audit(), HasFaults({{"MISSING_OBJECT", claim_of(operation)}}));
}

TEST_F(Corruption, AnObjectOfAnUnknownFormIsNamed) {
  const Manifest& model = ledger.records().model;
  ledger.put(Space::evidence, key_layout::object(model.document), "q");
  EXPECT_THAT(ledger.audit(), HasFaults({{"DAMAGED_OBJECT", claim_of(model)}}));
}

TEST_F(Corruption, AnEditedSnapshotIsNamed) {
  const Digest snapshot = sha256(ledger.records().snapshot);
  ledger.edit(Space::evidence, key_layout::object(snapshot),
              [](std::string& value) { value[5] ^= 1; });
  EXPECT_THAT(codes(ledger.audit()), Contains(ExpectedFault{"DAMAGED_OBJECT", 7}));
}

TEST_F(Corruption, AnEditedReportIsNamed) {
  const Digest report = sha256("{\"report\":\"of the first import\"}");
  ledger.edit(Space::evidence, key_layout::object(report),
              [](std::string& value) { value[5] ^= 1; });
  const AuditReport found = ledger.audit();
  ASSERT_FALSE(found.faults.empty());
  EXPECT_EQ(found.faults[0].code, "DAMAGED_OBJECT");
  EXPECT_EQ(found.faults[0].digest, report);
  EXPECT_TRUE(found.faults[0].index.has_value());
}

TEST_F(Corruption, AnObjectThatNothingNamesIsNamed) {
  ledger.put(Space::evidence, key_layout::object(sha256("stray")), stored_object::whole("stray"));
  const AuditReport report = ledger.audit();
  ASSERT_THAT(report, OnlyFault("ORPHAN_OBJECT"));
  EXPECT_EQ(report.faults[0].digest, sha256("stray"));
}

TEST_F(Corruption, AnEditedPieceOfALargeObjectIsNamed) {
  const Digest large = sha256(ledger.records().large);
  ledger.edit(Space::evidence, key_layout::chunk(large, 0),
              [](std::string& chunk) { chunk[1000] ^= 1; });
  const AuditReport report = ledger.audit();
  EXPECT_THAT(report, OnlyFault("DAMAGED_OBJECT", 9));
  EXPECT_EQ(report.faults[0].expected, large.text());
}

TEST_F(Corruption, ALostPieceOfALargeObjectIsNamed) {
  const Digest large = sha256(ledger.records().large);
  ledger.erase(Space::evidence, key_layout::chunk(large, 1));
  EXPECT_THAT(ledger.audit(), OnlyFault("DAMAGED_OBJECT", 9));
}

TEST_F(Corruption, AllPiecesOfALargeObjectLostAreNamed) {
  const Digest large = sha256(ledger.records().large);
  ledger.erase(Space::evidence, key_layout::chunk(large, 0));
  ledger.erase(Space::evidence, key_layout::chunk(large, 1));
  EXPECT_THAT(ledger.audit(), OnlyFault("DAMAGED_OBJECT", 9));
}

TEST_F(Corruption, APieceTooManyIsNamed) {
  const Digest large = sha256(ledger.records().large);
  ledger.put(Space::evidence, key_layout::chunk(large, 2), "more");
  EXPECT_THAT(ledger.audit(), OnlyFault("DAMAGED_OBJECT", 9));
}

TEST_F(Corruption, PiecesThatAreCutElsewhereAreNamed) {
  const Digest large = sha256(ledger.records().large);
  std::string first = ledger.get(Space::evidence, key_layout::chunk(large, 0));
  const std::string second = ledger.get(Space::evidence, key_layout::chunk(large, 1));
  ledger.put(Space::evidence, key_layout::chunk(large, 1), first.back() + second);
  first.pop_back();
  ledger.put(Space::evidence, key_layout::chunk(large, 0), first);
  EXPECT_THAT(ledger.audit(), OnlyFault("DAMAGED_OBJECT", 9));
}

TEST_F(Corruption, ASizeThatALargeObjectDoesNotHaveIsNamed) {
  const Digest large = sha256(ledger.records().large);
  ledger.put(Space::evidence, key_layout::object(large), stored_object::chunked(17));
  EXPECT_THAT(codes(ledger.audit()), Contains(ExpectedFault{"DAMAGED_OBJECT", 9}));
}

TEST_F(Corruption, PiecesOfNothingAreNamed) {
  ledger.put(Space::evidence, key_layout::chunk(sha256("nothing"), 0), "piece");
  EXPECT_THAT(ledger.audit(), OnlyFault("ORPHAN_CHUNKS"));
}

// A killed writer leaves them; the next one that opens the ledger for writing collects them.
TEST_F(Corruption, PiecesThatWaitForTheirBatchAreNoFault) {
  LedgerFixture::Pairs before = ledger.all(Space::evidence);
  ledger.put(Space::evidence, key_layout::chunk(sha256("pending"), 0), "piece");
  ledger.put(Space::evidence, key_layout::unnamed(sha256("pending")), "");
  EXPECT_THAT(fault_texts(ledger.audit()), IsEmpty());
  ledger.open();
  EXPECT_EQ(ledger.all(Space::evidence), before);
}

TEST_F(Corruption, APieceOfAKeptObjectThatIsMarkedForCollectionIsNamed) {
  ledger.put(Space::evidence, key_layout::unnamed(sha256(ledger.records().large)), "");
  EXPECT_THAT(ledger.audit(), OnlyFault("MARKED_UNNAMED"));
}

TEST_F(Corruption, BytesThatAreGoneWithoutAStatementAreNamed) {
  const Digest source = sha256(ledger.records().source);
  ledger.put(Space::evidence, key_layout::object(source), stored_object::withheld());
  EXPECT_THAT(codes(ledger.audit()), Contains(ExpectedFault{"WITHHELD_WITHOUT_STATEMENT", {}}));
}

TEST_F(Corruption, KeysOfNoTableAreNamed) {
  ledger.put(Space::evidence, "?", "");
  EXPECT_THAT(ledger.audit(), OnlyFault("UNKNOWN_KEY"));
}

TEST_F(Corruption, KeysOfAnotherLengthAreNamed) {
  for (const std::string key : {"e1", "t1", "o1", "u1"}) {
    ledger.put(Space::evidence, key, "");
    EXPECT_THAT(codes(ledger.audit()), Contains(ExpectedFault{"UNKNOWN_KEY", {}})) << key;
    ledger.erase(Space::evidence, key);
  }
}

// ---- statements ----

TEST_F(Corruption, AnEditedEnvelopeIsNamed) {
  const Entry entry = *ledger.open()->read().entry(2);
  ledger.edit(Space::evidence, key_layout::object(entry.content.digest),
              [](std::string& value) { value[40] ^= 1; });
  EXPECT_THAT(codes(ledger.audit()), Contains(ExpectedFault{"DAMAGED_OBJECT", 2}));
}

// ---- derived data ----

// Another text: a bit flipped at the end, or one byte where there is none.
std::string spoilt(std::string text) {
  if (text.empty()) return "x";
  text.back() = static_cast<char>(text.back() ^ 0x40);
  return text;
}

class EveryDerivedTable : public Corruption, public testing::WithParamInterface<char> {
 protected:
  // The keys of the table.
  LedgerFixture::Pairs pairs() const {
    LedgerFixture::Pairs pairs = ledger.scan(Space::derived, std::string(1, GetParam()));
    if (pairs.empty()) throw std::runtime_error("the small ledger has no such table");
    return pairs;
  }
  void expect_derived_fault(const std::string& code) {
    const AuditReport report = ledger.audit();
    ASSERT_FALSE(report.faults.empty());
    for (const Fault& fault : report.faults) {
      EXPECT_EQ(fault.code, code) << fault_text(fault);
      EXPECT_TRUE(fault.derived);
    }
    EXPECT_TRUE(report.derived_only());
    ledger.open()->reindex().value();
    EXPECT_THAT(fault_texts(ledger.audit()), IsEmpty());
  }
};

TEST_P(EveryDerivedTable, ALostKeyIsNamedAndComesBack) {
  ledger.erase(Space::derived, pairs().front().first);
  expect_derived_fault("DERIVED_MISSING");
}

TEST_P(EveryDerivedTable, AChangedValueIsNamedAndComesBack) {
  ledger.edit(Space::derived, pairs().back().first,
              [](std::string& value) { value = spoilt(value); });
  expect_derived_fault("DERIVED_DIFFERS");
}

TEST_P(EveryDerivedTable, AKeyTooManyIsNamedAndGoes) {
  std::string key = pairs().front().first;
  key = key.size() > 1 ? spoilt(key) : key + "x";
  ledger.put(Space::derived, key, "");
  expect_derived_fault("DERIVED_EXTRA");
}

INSTANTIATE_TEST_SUITE_P(Tables, EveryDerivedTable,
                         testing::ValuesIn(std::string("adgijklmnpqrswxyz")),
                         [](const auto& table) { return std::string(1, table.param); });

TEST_F(Corruption, AnUnknownTableOfDerivedDataIsNamedAndGoes) {
  ledger.put(Space::derived, "?", "");
  const AuditReport report = ledger.audit();
  EXPECT_THAT(report, OnlyFault("UNKNOWN_KEY"));
  EXPECT_TRUE(report.derived_only());
  ledger.open()->reindex().value();
  EXPECT_THAT(fault_texts(ledger.audit()), IsEmpty());
}

TEST_F(Corruption, AllDerivedDataLostIsOneKindOfFault) {
  ledger.erase_all(Space::derived);
  const AuditReport report = ledger.audit();
  ASSERT_FALSE(report.ok());
  EXPECT_TRUE(report.derived_only());
  for (const Fault& fault : report.faults) EXPECT_EQ(fault.code, "DERIVED_MISSING");
}

// ---- files beside the database ----

TEST_F(Corruption, ALostCheckpointIsNamed) {
  std::filesystem::remove(path("checkpoint"));
  EXPECT_THAT(ledger.audit(), OnlyFault("NO_CHECKPOINT"));
}

TEST_F(Corruption, ACheckpointThatIsNoneIsNamed) {
  write_file(path("checkpoint"), "nothing");
  EXPECT_THAT(ledger.audit(), OnlyFault("BAD_CHECKPOINT"));
}

TEST_F(Corruption, ACheckpointOfAnotherKeyIsNamed) {
  const SigningKey other = fixture_key(Role::runner);
  const std::array<const SigningKey*, 1> keys = {&other};
  write_file(path("checkpoint"),
             sign_checkpoint({"example.org/tests", ledger.head()}, keys).format());
  EXPECT_THAT(ledger.audit(), OnlyFault("NOT_SIGNED"));
}

TEST_F(Corruption, ACheckpointOfAnotherOriginIsNamed) {
  const SigningKey key = fixture_key(Role::log);
  const std::array<const SigningKey*, 1> keys = {&key};
  write_file(path("checkpoint"),
             sign_checkpoint({"example.org/other", ledger.head()}, keys).format());
  EXPECT_THAT(ledger.audit(), OnlyFault("OTHER_ORIGIN"));
}

TEST_F(Corruption, AMarkOfAnotherTreeSaysFork) {
  const SigningKey key = fixture_key(Role::log);
  const std::array<const SigningKey*, 1> keys = {&key};
  write_file(path("keys/log.key.released"),
             sign_checkpoint({"example.org/tests", {12, sha256("other")}}, keys).format());
  EXPECT_THAT(ledger.audit(), OnlyFault("FORKED"));
}

TEST_F(Corruption, AMarkOfALargerTreeSaysFromWhereRecordsAreLost) {
  const std::uint64_t size = ledger.head().size;
  const SigningKey key = fixture_key(Role::log);
  const std::array<const SigningKey*, 1> keys = {&key};
  write_file(path("keys/log.key.released"),
             sign_checkpoint({"example.org/tests", {size + 5, sha256("later")}}, keys).format());
  EXPECT_THAT(ledger.audit(), OnlyFault("RECORDS_LOST", size));
}

TEST_F(Corruption, AnOldMarkIsNoFault) {
  write_file(path("keys/log.key.released"), read_file(path("checkpoint")));
  EXPECT_THAT(fault_texts(ledger.audit()), IsEmpty());
}

TEST_F(Corruption, AKeyFileOfAnotherKeyIsNamed) {
  std::filesystem::remove(path("keys/importer.key"));
  create_key_file(path("keys/importer.key"), {Role::importer, "tester", fixture_key(Role::runner)},
                  {})
      .value();
  EXPECT_THAT(ledger.audit(), OnlyFault("KEY_NOT_ENROLLED"));
}

TEST_F(Corruption, AKeyFileOfAnotherRoleOrOwnerIsNamed) {
  std::filesystem::remove(path("keys/importer.key"));
  create_key_file(path("keys/importer.key"),
                  {Role::importer, "somebody", fixture_key(Role::importer)}, {})
      .value();
  EXPECT_THAT(ledger.audit(), OnlyFault("KEY_FILE_MISMATCH"));
  std::filesystem::rename(path("keys/importer.key"), path("keys/controller.key"));
  EXPECT_THAT(codes(ledger.audit()), Contains(ExpectedFault{"KEY_FILE_MISMATCH", {}}));
}

TEST_F(Corruption, AKeyFileThatIsNoneIsNamed) {
  append(path("keys/log.key"), "more\n");
  EXPECT_THAT(ledger.audit(), OnlyFault("BAD_KEY_FILE"));
}

TEST_F(Corruption, AnEncryptedKeyFileShowsWhoseItIs) {
  std::filesystem::remove(path("keys/importer.key"));
  create_key_file(path("keys/importer.key"),
                  {Role::importer, "tester", fixture_key(Role::importer)}, "secret", {1, 8192})
      .value();
  EXPECT_THAT(fault_texts(ledger.audit()), IsEmpty());
  LedgerOptions options = ledger.options();
  options.passphrase = "wrong";
  EXPECT_THAT(codes(*audit_directory(options)), Contains(ExpectedFault{"WRONG_PASSPHRASE", {}}));
}

TEST_F(Corruption, KeysThatAreMovedAwayAreNoFault) {
  std::filesystem::remove_all(path("keys"));
  EXPECT_THAT(fault_texts(ledger.audit()), IsEmpty());
}

// ---- files of the database ----

TEST_F(Corruption, ALostManifestFileIsNamedAndNothingCrashes) {
  for (const auto& file : std::filesystem::directory_iterator(path("db"))) {
    if (file.path().filename().string().starts_with("MANIFEST")) {
      std::filesystem::remove(file.path());
    }
  }
  EXPECT_THAT(fault_texts(ledger.audit()), Not(IsEmpty()));
}

TEST_F(Corruption, ALostCurrentFileIsNamedAndNothingCrashes) {
  std::filesystem::remove(path("db/CURRENT"));
  EXPECT_THAT(ledger.audit(), OnlyFault("DAMAGED_STORE"));
}

TEST(CorruptionAfterAKill, TheWriteAheadLogIsReadAndNothingIsMissing) {
  const LedgerFixture ledger(Shape::killed);
  EXPECT_THAT(fault_texts(ledger.audit()), IsEmpty());
}

TEST(CorruptionAfterAKill, ALostWriteAheadLogIsNamedAndNothingCrashes) {
  const LedgerFixture ledger(Shape::killed);
  std::filesystem::remove(log_file(ledger));
  EXPECT_THAT(fault_texts(ledger.audit()), Not(IsEmpty()));
}

TEST(CorruptionAfterAKill, ATornWriteAheadLogSaysFromWhereRecordsAreLost) {
  LedgerFixture ledger(Shape::killed);
  const std::filesystem::path file = log_file(ledger);
  // Within the second import; the first one ends before it.
  ledger.truncate(file, std::filesystem::file_size(file) - 100);
  const AuditReport report = ledger.audit();
  EXPECT_EQ(report.size, 23u);
  EXPECT_THAT(codes(report), Each(ExpectedFault{"RECORDS_LOST", 23}));
  EXPECT_THAT(report.faults, SizeIs(3));  // the three marks
}

TEST(CorruptionAfterAKill, AHoleInTheWriteAheadLogSaysFromWhereRecordsAreLost) {
  LedgerFixture ledger(Shape::killed);
  const std::filesystem::path file = log_file(ledger);
  ledger.flip_bit(file, std::filesystem::file_size(file) / 2);
  const AuditReport report = ledger.audit();
  EXPECT_THAT(codes(report), Contains(ExpectedFault{"RECORDS_LOST", report.size}));
}

TEST_F(Corruption, LostTableFilesAreNamedAndNothingCrashes) {
  ledger.flush();
  for (const auto& file : std::filesystem::directory_iterator(path("db"))) {
    if (file.path().extension() == ".sst") std::filesystem::remove(file.path());
  }
  EXPECT_THAT(fault_texts(ledger.audit()), Not(IsEmpty()));
}

}  // namespace
}  // namespace kernelindex::test
