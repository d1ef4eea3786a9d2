// SPDX-License-Identifier: Apache-2.0
// A clean ledger audits clean; what an insider could write into the log is found and named.
#include "verify/audit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ledger/key_layout.h"
#include "schema/json_reader.h"
#include "tests/support/corpus.h"
#include "tests/verify/audit_matchers.h"
#include "tests/verify/ledger_fixture.h"

namespace kernelindex::test {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(Audit, ACleanLedgerHasNoFault) {
  const LedgerFixture ledger;
  const AuditReport report = ledger.audit();
  EXPECT_THAT(fault_texts(report), IsEmpty());
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report.size, ledger.head().size);
  EXPECT_EQ(report.root, ledger.head().root);
  EXPECT_EQ(report.checked.leaves, report.size);
  EXPECT_EQ(report.checked.identities, 14u);
  EXPECT_EQ(report.checked.comparison_keys, 3u);
  // Seven keys, two imports, three marks of the checkpoint.
  EXPECT_EQ(report.checked.signatures, 12u);
  EXPECT_EQ(report.checked.rows, ledger.all(Space::derived).size());
}

TEST(Audit, LargeObjectsAreHashedPieceByPiece) {
  const LedgerFixture ledger(Shape::large_object);
  ASSERT_THAT(ledger.scan(Space::evidence, "c"), SizeIs(2));
  EXPECT_THAT(fault_texts(ledger.audit()), IsEmpty());
}

TEST(Audit, EveryTableOfDerivedDataIsInTheSmallLedger) {
  const LedgerFixture ledger;
  std::string letters;
  for (const auto& [key, value] : ledger.all(Space::derived)) {
    if (letters.empty() || letters.back() != key[0]) letters += key[0];
  }
  EXPECT_EQ(letters, "adgijklmnpqrswxyz");
}

TEST(Audit, AnOpenLedgerCanBeAudited) {
  const LedgerFixture fixture;
  const std::unique_ptr<Ledger> ledger = fixture.open();
  EXPECT_THAT(fault_texts(audit(*ledger)), IsEmpty());
}

TEST(Audit, OneThreadFindsTheSame) {
  LedgerFixture ledger;
  ledger.erase(Space::derived, key_layout::subject(ledger.records().run.identity));
  AuditOptions one;
  one.threads = 1;
  AuditOptions eight;
  eight.threads = 8;
  EXPECT_EQ(ledger.audit(one).json(), ledger.audit(eight).json());
}

TEST(Audit, ProgressGoesFromNothingToAll) {
  const LedgerFixture ledger;
  std::uint64_t last = 0;
  std::uint64_t total = 0;
  AuditOptions options;
  options.progress = [&](std::uint64_t done, std::uint64_t all) {
    EXPECT_GE(all, done);
    last = std::max(last, done);
    total = all;
  };
  EXPECT_TRUE(ledger.audit(options).ok());
  EXPECT_EQ(last, total);
  EXPECT_EQ(total, 3 * ledger.head().size);
}

TEST(Audit, WhereNothingIsThereIsNoLedger) {
  const TempDir empty;
  LedgerOptions options;
  options.directory = empty.path();
  const Result<AuditReport> report = audit_directory(options);
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().code, "NO_LEDGER");
}

TEST(Audit, AnotherOriginThanExpectedIsRefused) {
  const LedgerFixture ledger;
  LedgerOptions options = ledger.options();
  options.expect_origin = "example.org/other";
  const Result<AuditReport> report = audit_directory(options);
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().code, "ORIGIN_DIFFERS");
}

TEST(Audit, TheReportIsJsonWithClosedMembers) {
  LedgerFixture ledger;
  ledger.erase(Space::evidence, key_layout::object(ledger.records().run.document));
  json::Arena arena;
  const Result<json::Value> report = json::parse(ledger.audit().json(), arena);
  ASSERT_TRUE(report.has_value()) << report.error().text();
  EXPECT_FALSE(report->find("ok")->boolean());
  EXPECT_EQ(report->find("size")->number(), static_cast<double>(ledger.head().size));
  const json::Value& fault = report->find("faults")->array().front();
  EXPECT_EQ(fault.text("code"), "MISSING_OBJECT");
  EXPECT_EQ(fault.text("digest"), ledger.records().run.document.text());
  EXPECT_TRUE(fault.find("index")->is_number());
}

TEST(Audit, ManyFaultsAreCountedBeyondTheFirst) {
  LedgerFixture ledger;
  for (const auto& [key, value] : ledger.scan(Space::derived, "x")) {
    ledger.erase(Space::derived, key);
  }
  AuditOptions options;
  options.faults_max = 3;
  const AuditReport report = ledger.audit(options);
  EXPECT_THAT(report.faults, SizeIs(3));
  EXPECT_GT(report.faults_left_out, 3u);
  EXPECT_FALSE(report.ok());
}

// ---- an insider's records ----

// The next statement of an importer over all that no statement covers yet.
Attestation import_of(const LedgerFixture& ledger, std::uint64_t first, std::uint64_t end) {
  CompactRange range;
  for (std::uint64_t index = first; index < end; ++index) {
    range.append(leaf_hash(ledger.get(Space::evidence, key_layout::leaf(index))));
  }
  ImportStatement import;
  import.first = first;
  import.end = end;
  import.leaves = range.root();
  import.parser = "board";
  import.parser_version = "1";
  import.snapshots = {sha256(ledger.records().snapshot)};
  return {import.snapshots.back(), ledger.binding(Role::importer), import};
}

Entry claim_of(const LedgerFixture& ledger, const Manifest& manifest) {
  ManifestEntry claim;
  claim.kind = manifest.kind;
  claim.subject = manifest.identity;
  claim.source = "board";
  claim.snapshot = sha256(ledger.records().snapshot);
  claim.item = "/forged";
  Entry entry;
  entry.content.media_type = kManifestMediaType;
  entry.body = claim;
  return entry;
}

Manifest new_project() {
  return make_document(ManifestKind::software_project, "new", R"({"name":"New"})");
}

KeyChange enrolment(Role role, const SigningKey& key) {
  KeyEnrolment enrolment;
  enrolment.public_key = key.public_key();
  enrolment.role = role;
  enrolment.owner = "tester";
  return {enrolment};
}

TEST(AuditOfForgeries, AForgerWhoDoesAllRightLeavesNoFault) {
  LedgerFixture ledger;
  const std::uint64_t index = ledger.forge(claim_of(ledger, new_project()), new_project().bytes);
  ledger.forge_statement(import_of(ledger, index, index + 1), fixture_key(Role::importer));
  ledger.seal();
  EXPECT_THAT(fault_texts(ledger.audit()), IsEmpty());
}

TEST(AuditOfForgeries, AClaimThatNothingCoversIsFound) {
  LedgerFixture ledger;
  const std::uint64_t index = ledger.forge(claim_of(ledger, new_project()), new_project().bytes);
  ledger.seal();
  EXPECT_THAT(ledger.audit(), OnlyFault("NOT_COVERED", index));
}

TEST(AuditOfForgeries, ARangeThatIsTooShortIsFound) {
  LedgerFixture ledger;
  const std::uint64_t index = ledger.forge(claim_of(ledger, new_project()), new_project().bytes);
  const Manifest other = make_document(ManifestKind::software_project, "x", R"({"name":"X"})");
  ledger.forge(claim_of(ledger, other), other.bytes);
  const std::uint64_t statement =
      ledger.forge_statement(import_of(ledger, index, index + 1), fixture_key(Role::importer));
  ledger.seal();
  EXPECT_THAT(ledger.audit(), Faults({{"NOT_COVERED", index + 1}, {"IMPORT_RANGE", statement}}));
}

TEST(AuditOfForgeries, ClaimsThatAreCoveredTwiceAreFound) {
  LedgerFixture ledger;
  const std::uint64_t index = ledger.forge(claim_of(ledger, new_project()), new_project().bytes);
  ledger.forge_statement(import_of(ledger, index, index + 1), fixture_key(Role::importer));
  ledger.forge_statement(import_of(ledger, index, index + 2), fixture_key(Role::importer));
  ledger.seal();
  EXPECT_THAT(ledger.audit(), OnlyFault("COVERED_TWICE", index));
}

TEST(AuditOfForgeries, AStatementOverOtherLeavesIsFound) {
  LedgerFixture ledger;
  const std::uint64_t index = ledger.forge(claim_of(ledger, new_project()), new_project().bytes);
  Attestation import = import_of(ledger, index, index + 1);
  std::get<ImportStatement>(import.predicate).leaves = sha256("other leaves");
  const std::uint64_t statement = ledger.forge_statement(import, fixture_key(Role::importer));
  ledger.seal();
  EXPECT_THAT(ledger.audit(), OnlyFault("IMPORT_LEAVES", statement));
}

TEST(AuditOfForgeries, CountsThatAreFalseAreFound) {
  LedgerFixture ledger;
  const std::uint64_t index = ledger.forge(claim_of(ledger, new_project()), new_project().bytes);
  Attestation import = import_of(ledger, index, index + 1);
  std::get<ImportStatement>(import.predicate).counts = {{"manifests", 17}};
  const std::uint64_t statement = ledger.forge_statement(import, fixture_key(Role::importer));
  ledger.seal();
  EXPECT_THAT(ledger.audit(), OnlyFault("IMPORT_COUNTS", statement));
}

TEST(AuditOfForgeries, AReportThatIsNotKeptIsFound) {
  LedgerFixture ledger;
  const std::uint64_t index = ledger.forge(claim_of(ledger, new_project()), new_project().bytes);
  Attestation import = import_of(ledger, index, index + 1);
  std::get<ImportStatement>(import.predicate).report = sha256("lost");
  const std::uint64_t statement = ledger.forge_statement(import, fixture_key(Role::importer));
  ledger.seal();
  EXPECT_THAT(ledger.audit(), OnlyFault("MISSING_OBJECT", statement));
}

TEST(AuditOfForgeries, ASnapshotThatWasNeverRecordedIsFound) {
  LedgerFixture ledger;
  Entry claim = claim_of(ledger, new_project());
  std::get<ManifestEntry>(claim.body).snapshot = sha256("never seen");
  const std::uint64_t index = ledger.forge(claim, new_project().bytes);
  const std::uint64_t statement =
      ledger.forge_statement(import_of(ledger, index, index + 1), fixture_key(Role::importer));
  static_cast<void>(statement);
  ledger.seal();
  EXPECT_THAT(ledger.audit(),
              Faults({{"SNAPSHOT_NOT_NAMED", index}, {"SNAPSHOT_NOT_RECORDED", index}}));
}

TEST(AuditOfForgeries, AnIdentityAndAKindThatTheDocumentDoesNotHaveAreFound) {
  LedgerFixture ledger;
  Entry claim = claim_of(ledger, new_project());
  std::get<ManifestEntry>(claim.body).subject = sha256("another");
  std::get<ManifestEntry>(claim.body).kind = ManifestKind::model_revision;
  const std::uint64_t index = ledger.forge(claim, new_project().bytes);
  ledger.forge_statement(import_of(ledger, index, index + 1), fixture_key(Role::importer));
  ledger.seal();
  EXPECT_THAT(ledger.audit(), HasFaults({{"IDENTITY_MISMATCH", index}, {"KIND_MISMATCH", index}}));
}

TEST(AuditOfForgeries, ADocumentThatIsNoManifestIsFound) {
  LedgerFixture ledger;
  const std::uint64_t index = ledger.forge(claim_of(ledger, new_project()), "{\"name\":\"New\"}");
  ledger.forge_statement(import_of(ledger, index, index + 1), fixture_key(Role::importer));
  EXPECT_THAT(ledger.audit(), HasFaults({{"INVALID_MANIFEST", index}}));
}

TEST(AuditOfForgeries, ADocumentThatIsNotCanonicalIsFound) {
  LedgerFixture ledger;
  std::string spaced = new_project().bytes;
  spaced.insert(spaced.size() - 1, " ");
  const std::uint64_t index = ledger.forge(claim_of(ledger, new_project()), spaced);
  ledger.forge_statement(import_of(ledger, index, index + 1), fixture_key(Role::importer));
  EXPECT_THAT(ledger.audit(), HasFaults({{"NOT_CANONICAL", index}}));
}

TEST(AuditOfForgeries, AWrongPreviousIsFound) {
  LedgerFixture ledger;
  const Manifest& run = ledger.records().run;
  Entry claim = claim_of(ledger, run);
  std::get<ManifestEntry>(claim.body).previous = 9;  // an earlier entry of something else
  const std::uint64_t index = ledger.forge(claim, run.bytes);
  ledger.forge_statement(import_of(ledger, index, index + 1), fixture_key(Role::importer));
  ledger.seal();
  EXPECT_THAT(ledger.audit(), OnlyFault("PREVIOUS_MISMATCH", index));
}

TEST(AuditOfForgeries, ARoleThatMayNotSayItIsFound) {
  LedgerFixture ledger;
  const std::uint64_t index = ledger.forge(claim_of(ledger, new_project()), new_project().bytes);
  Attestation import = import_of(ledger, index, index + 1);
  import.binding.signer = fixture_key(Role::contributor).public_key().id();
  const std::uint64_t statement = ledger.forge_statement(import, fixture_key(Role::contributor));
  ledger.seal();
  EXPECT_THAT(ledger.audit(), OnlyFault("ROLE_MAY_NOT_SIGN", statement));
}

TEST(AuditOfForgeries, AKeyThatWasNeverEnrolledIsFound) {
  LedgerFixture ledger;
  const std::uint64_t index = ledger.forge(claim_of(ledger, new_project()), new_project().bytes);
  Attestation import = import_of(ledger, index, index + 1);
  import.binding.signer = fixture_key(Role::runner).public_key().id();
  const std::uint64_t statement = ledger.forge_statement(import, fixture_key(Role::runner));
  ledger.seal();
  EXPECT_THAT(ledger.audit(), OnlyFault("KEY_NOT_ENROLLED", statement));
}

TEST(AuditOfForgeries, AKeyThatWasEnrolledLaterIsFound) {
  LedgerFixture ledger;
  const std::uint64_t index = ledger.forge(claim_of(ledger, new_project()), new_project().bytes);
  const SigningKey late = fixture_key(Role::runner);
  Attestation import = import_of(ledger, index, index + 1);
  import.binding.signer = late.public_key().id();
  const std::uint64_t statement = ledger.forge_statement(import, late);
  ledger.forge_statement(
      {late.public_key().id(), ledger.binding(Role::root), enrolment(Role::importer, late)},
      fixture_key(Role::root));
  ledger.seal();
  EXPECT_THAT(ledger.audit(), OnlyFault("KEY_NOT_ENROLLED", statement));
}

TEST(AuditOfForgeries, ARevokedKeyIsFound) {
  LedgerFixture ledger;
  const SigningKey importer = fixture_key(Role::importer);
  ledger.forge_statement({importer.public_key().id(), ledger.binding(Role::root),
                          KeyChange{Revocation{"lost", std::nullopt}}},
                         fixture_key(Role::root));
  const std::uint64_t index = ledger.forge(claim_of(ledger, new_project()), new_project().bytes);
  const std::uint64_t statement =
      ledger.forge_statement(import_of(ledger, index, index + 1), importer);
  ledger.seal();
  EXPECT_THAT(ledger.audit(), OnlyFault("KEY_REVOKED", statement));
}

// What the key signed before stays recorded as it was; only levels follow from the voiding.
TEST(AuditOfForgeries, ARevocationThatVoidsEarlierStatementsIsNoFault) {
  LedgerFixture ledger;
  ledger.forge_statement({fixture_key(Role::importer).public_key().id(), ledger.binding(Role::root),
                          KeyChange{Revocation{"stolen", 8}}},
                         fixture_key(Role::root));
  ledger.seal();
  EXPECT_THAT(fault_texts(ledger.audit()), IsEmpty());
}

TEST(AuditOfForgeries, OnlyTheRootEnrols) {
  LedgerFixture ledger;
  const SigningKey fresh = fixture_key(Role::runner);
  Attestation statement{fresh.public_key().id(), ledger.binding(Role::maintainer),
                        enrolment(Role::runner, fresh)};
  const std::uint64_t index = ledger.forge_statement(statement, fixture_key(Role::maintainer));
  ledger.seal();
  EXPECT_THAT(ledger.audit(), OnlyFault("ROLE_MAY_NOT_SIGN", index));
}

TEST(AuditOfForgeries, AKeyIsEnrolledOnce) {
  LedgerFixture ledger;
  const SigningKey importer = fixture_key(Role::importer);
  const std::uint64_t index = ledger.forge_statement(
      {importer.public_key().id(), ledger.binding(Role::root), enrolment(Role::runner, importer)},
      fixture_key(Role::root));
  EXPECT_THAT(ledger.audit(), HasFaults({{"ALREADY_ENROLLED", index}}));
}

TEST(AuditOfForgeries, AStatementForAnotherLedgerIsFound) {
  LedgerFixture ledger;
  const std::uint64_t index = ledger.forge(claim_of(ledger, new_project()), new_project().bytes);
  Attestation import = import_of(ledger, index, index + 1);
  import.binding.ledger = sha256("another ledger");
  const std::uint64_t statement = ledger.forge_statement(import, fixture_key(Role::importer));
  ledger.seal();
  EXPECT_THAT(ledger.audit(), OnlyFault("OTHER_LEDGER", statement));
}

TEST(AuditOfForgeries, ATreeThatTheLogNeverHadIsFound) {
  LedgerFixture ledger;
  const std::uint64_t index = ledger.forge(claim_of(ledger, new_project()), new_project().bytes);
  Attestation import = import_of(ledger, index, index + 1);
  import.binding.seen = TreeHead{5, sha256("another tree")};
  const std::uint64_t statement = ledger.forge_statement(import, fixture_key(Role::importer));
  ledger.seal();
  EXPECT_THAT(ledger.audit(), OnlyFault("FALSE_SEEN", statement));
}

TEST(AuditOfForgeries, ATreeOfTheFutureIsFound) {
  LedgerFixture ledger;
  const std::uint64_t index = ledger.forge(claim_of(ledger, new_project()), new_project().bytes);
  Attestation import = import_of(ledger, index, index + 1);
  import.binding.seen->size = index + 2;
  const std::uint64_t statement = ledger.forge_statement(import, fixture_key(Role::importer));
  ledger.seal();
  EXPECT_THAT(ledger.audit(), OnlyFault("SEEN_IN_FUTURE", statement));
}

TEST(AuditOfForgeries, ASignatureOfAnotherKeyIsFound) {
  LedgerFixture ledger;
  const std::uint64_t index = ledger.forge(claim_of(ledger, new_project()), new_project().bytes);
  const Attestation import = import_of(ledger, index, index + 1);
  // Signed by the contributor, in the name of the importer.
  Envelope envelope = *sign_envelope(*import.encode(), fixture_key(Role::contributor));
  envelope.key_id = import.binding.signer.hex();
  Entry entry;
  entry.content.media_type = kEnvelopeMediaType;
  entry.body = AttestationEntry{import.subject, std::nullopt,
                                predicate_type(import.predicate).uri(), envelope.key_id};
  const std::uint64_t statement = ledger.forge(entry, envelope.encode());
  ledger.seal();
  EXPECT_THAT(ledger.audit(), OnlyFault("INVALID_SIGNATURE", statement));
}

TEST(AuditOfForgeries, AnEntryThatRepeatsItsStatementWronglyIsFound) {
  LedgerFixture ledger;
  const std::uint64_t index = ledger.forge(claim_of(ledger, new_project()), new_project().bytes);
  const Attestation import = import_of(ledger, index, index + 1);
  const SigningKey key = fixture_key(Role::importer);
  const Envelope envelope = normalised(*sign_envelope(*import.encode(), key), key.public_key());
  Entry entry;
  entry.content.media_type = kEnvelopeMediaType;
  entry.body = AttestationEntry{sha256("another subject"), std::nullopt,
                                predicate_type(import.predicate).uri(), envelope.key_id};
  const std::uint64_t statement = ledger.forge(entry, envelope.encode());
  ledger.seal();
  EXPECT_THAT(ledger.audit(), OnlyFault("STATEMENT_MISMATCH", statement));
}

TEST(AuditOfForgeries, AnEnvelopeThatIsNotNormalisedIsFound) {
  LedgerFixture ledger;
  const std::uint64_t index = ledger.forge(claim_of(ledger, new_project()), new_project().bytes);
  const Attestation import = import_of(ledger, index, index + 1);
  const SigningKey key = fixture_key(Role::importer);
  const Envelope envelope = normalised(*sign_envelope(*import.encode(), key), key.public_key());
  Entry entry;
  entry.content.media_type = kEnvelopeMediaType;
  entry.body = AttestationEntry{import.subject, std::nullopt,
                                predicate_type(import.predicate).uri(), envelope.key_id};
  const std::uint64_t statement = ledger.forge(entry, envelope.encode() + "\n");
  EXPECT_THAT(ledger.audit(), HasFaults({{"NOT_NORMALISED", statement}}));
}

// ---- since ----

TEST(AuditSince, AContinuationOfAKeptCheckpointIsClean) {
  LedgerFixture ledger;
  AuditOptions options;
  options.since = *parse_checkpoint(read_file(ledger.directory() / "checkpoint"));
  const std::uint64_t index = ledger.forge(claim_of(ledger, new_project()), new_project().bytes);
  ledger.forge_statement(import_of(ledger, index, index + 1), fixture_key(Role::importer));
  ledger.seal();
  const AuditReport report = ledger.audit(options);
  EXPECT_THAT(fault_texts(report), IsEmpty());
  EXPECT_EQ(report.checked.leaves, ledger.head().size);
  EXPECT_EQ(report.checked.identities, 1u);
  EXPECT_EQ(report.checked.rows, 0u);
}

TEST(AuditSince, AnotherHistoryIsFound) {
  const LedgerFixture ledger;
  AuditOptions options;
  const SigningKey key = fixture_key(Role::log);
  const std::array<const SigningKey*, 1> keys = {&key};
  options.since = sign_checkpoint({"example.org/tests", {9, sha256("another root")}}, keys);
  EXPECT_THAT(ledger.audit(options), OnlyFault("FORKED"));
}

TEST(AuditSince, ACheckpointBeyondTheLogSaysFromWhereRecordsAreLost) {
  const LedgerFixture ledger;
  AuditOptions options;
  const SigningKey key = fixture_key(Role::log);
  const std::array<const SigningKey*, 1> keys = {&key};
  options.since = sign_checkpoint({"example.org/tests", {1000, sha256("later")}}, keys);
  EXPECT_THAT(ledger.audit(options), OnlyFault("RECORDS_LOST", ledger.head().size));
}

TEST(AuditSince, NewDamageIsFound) {
  LedgerFixture ledger;
  AuditOptions options;
  options.since = *parse_checkpoint(read_file(ledger.directory() / "checkpoint"));
  const std::uint64_t index = ledger.forge(claim_of(ledger, new_project()), new_project().bytes);
  ledger.forge_statement(import_of(ledger, index, index + 1), fixture_key(Role::importer));
  ledger.seal();
  ledger.erase(Space::evidence, key_layout::object(new_project().document));
  EXPECT_THAT(ledger.audit(options), OnlyFault("MISSING_OBJECT", index));
}

}  // namespace
}  // namespace kernelindex::test
