// SPDX-License-Identifier: Apache-2.0
// A bundle is judged as its ledger judges, and says what it rests on.
#include "verify/bundle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ledger/query.h"
#include "schema/json_reader.h"
#include "tests/verify/bundle_fixture.h"

namespace kernelindex::test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

class BundleTest : public testing::Test {
 protected:
  void expect_as_in_the_ledger(const Digest& run) {
    const BundleVerdict verdict = bundles_.verify(bundles_.bundle(run));
    EXPECT_EQ(first_false(verdict), "true");
    const std::unique_ptr<Ledger> ledger = bundles_.ledger().open();
    const Result<RunView> view = view_run(ledger->read(), run, {});
    ASSERT_TRUE(view);
    EXPECT_EQ(verdict.level, view->evidence.level);
    EXPECT_EQ(verdict.reasons, view->evidence.reasons);
    EXPECT_EQ(verdict.comparison_key, view->row.group);
    EXPECT_EQ(verdict.subject, run);
    EXPECT_EQ(verdict.as_of, ledger->read().head());
    EXPECT_EQ(verdict.complete_to, ledger->read().head().size);
  }

  BundleFixture bundles_;
};

TEST_F(BundleTest, LevelReasonsAndComparisonKeyAreThoseOfTheLedger) {
  expect_as_in_the_ledger(bundles_.records().run.identity);
  expect_as_in_the_ledger(bundles_.records().replaced_run.identity);
  expect_as_in_the_ledger(bundles_.records().serving_run.identity);
}

TEST_F(BundleTest, AReproducibleRunTravelsWithTheEntriesOfItsBytes) {
  {
    const std::unique_ptr<Ledger> ledger = bundles_.ledger().open();
    const std::unique_ptr<Appender> import = std::move(*ledger->append({"board", "2", "{}"}));
    const std::string bytes = "the dump of another day\n";
    const std::string log = "1.0 1.1 1.0\n";
    MemorySource source(bytes);
    ASSERT_TRUE(import->snapshot({"board", "later.json", "", "supplied"}, "text/plain", source));
    ASSERT_TRUE(import->artifact(log, "text/plain"));
    ManifestEntry claim;
    claim.source = "board";
    claim.external_ids = {"board:submission/3"};
    claim.snapshot = sha256(bytes);
    claim.facts.artifacts = {{"log", sha256(log), "run.log", {}, {}, {}}};
    ASSERT_TRUE(import->claim(claim, bundles_.records().run));
    ASSERT_TRUE(import->finish(std::nullopt));
  }
  expect_as_in_the_ledger(bundles_.run());
  const std::string bundle = bundles_.bundle();
  EXPECT_EQ(bundles_.verify(bundle).level, Level::reproducible);
  // Without the proofs of its bytes there is no such level.
  const std::string poorer = bundles_.edit(bundle, [&](Bundle& edited) {
    std::erase_if(edited.entries, [](const BundleEntry& entry) {
      return std::holds_alternative<ArtifactEntry>(decode_entry(entry.leaf)->body);
    });
    bundles_.remake(edited);
  });
  EXPECT_EQ(bundles_.verify(poorer).level, Level::reported);
}

TEST_F(BundleTest, TheVerdictSaysWhoClaimedTheRunAndFromWhichBytes) {
  EXPECT_THAT(
      line(bundles_.verify(bundles_.bundle()), "imports").detail,
      HasSubstr("the run by board at entry 16 from dump.json, supplied as a file; the run by "
                "mirror at entry 24 from https://example.org/runs, fetched"));
}

TEST_F(BundleTest, TheSameLedgerAndKeysGiveTheSameBytes) {
  EXPECT_EQ(bundles_.bundle(), bundles_.bundle());
}

TEST_F(BundleTest, AnotherPinnedLedgerIsRefusedAtEntryZero) {
  VerifyOptions options = bundles_.pinned();
  options.ledger_id = sha256("another ledger");
  EXPECT_EQ(first_false(bundles_.verify(bundles_.bundle(), options)), "founding OTHER_LEDGER");
}

TEST_F(BundleTest, TheLogKeyIsAnAnchorThatSaysItIsWeaker) {
  VerifyOptions options;
  options.log_key = log_verifier_key("example.org/tests", fixture_key(Role::log).public_key());
  const BundleVerdict verdict = bundles_.verify(bundles_.bundle(), options);
  EXPECT_TRUE(verdict.ok());
  EXPECT_EQ(line(verdict, "founding").code, "WEAKER_ANCHOR");

  options.log_key = log_verifier_key("example.org/tests", fixture_key(Role::importer).public_key());
  EXPECT_EQ(first_false(bundles_.verify(bundles_.bundle(), options)), "checkpoint OTHER_LOG_KEY");
}

TEST_F(BundleTest, AnotherRunThanAskedForIsRefused) {
  VerifyOptions options = bundles_.pinned();
  options.subject = bundles_.records().replaced_run.identity;
  EXPECT_EQ(first_false(bundles_.verify(bundles_.bundle(), options)), "subject OTHER_SUBJECT");
}

TEST_F(BundleTest, WithoutAStatusTheCurrencyIsUnknown) {
  const std::string bundle = bundles_.bundle(bundles_.run(), false);
  const BundleVerdict verdict = bundles_.verify(bundle);
  EXPECT_FALSE(verdict.ok());
  EXPECT_EQ(first_false(verdict), "status CURRENCY_UNKNOWN");
  EXPECT_THAT(line(verdict, "status").detail, HasSubstr("currency unknown"));
  EXPECT_EQ(verdict.complete_to, std::nullopt);
  VerifyOptions options = bundles_.pinned();
  options.allow_unknown_currency = true;
  EXPECT_TRUE(bundles_.verify(bundle, options).ok());
}

TEST_F(BundleTest, ARetractionIsFoundAndMakesTheEvidenceFalse) {
  const Attested retraction =
      bundles_.say(bundles_.run(), Retraction{"measured with the wrong clock"}, Role::maintainer);
  const BundleVerdict verdict = bundles_.verify(bundles_.bundle());
  EXPECT_EQ(first_false(verdict), "standing RETRACTED");
  EXPECT_THAT(line(verdict, "standing").detail, HasSubstr("measured with the wrong clock"));
  EXPECT_THAT(verdict.reasons, Contains(LevelReason::retracted));
  // Taken back, it stands no more.
  bundles_.say(retraction.id, Retraction{"the clock was right"}, Role::maintainer);
  EXPECT_TRUE(bundles_.verify(bundles_.bundle()).ok());
}

TEST_F(BundleTest, ARetractedImportLeavesNoLevel) {
  const std::unique_ptr<Ledger> ledger = bundles_.ledger().open();
  const Digest import = ledger->read().state().imports.front().id;
  const std::uint64_t claim = ledger->read().subject(bundles_.run())->value().claims[0].index;
  ASSERT_NE(ledger->read().covering_import(claim, ledger->read().head().size), nullptr);
  ASSERT_TRUE(
      attest(*ledger, {import, Retraction{"a spoilt dump"}}, fixture_key(Role::maintainer)));
  const SigningKey key = fixture_key(Role::status);
  const Result<std::string> bundle =
      make_bundle(ledger->read(), bundles_.run(), *ledger->checkpoint(), &key);
  ASSERT_TRUE(bundle) << bundle.error().text();
  const BundleVerdict verdict = bundles_.verify(*bundle);
  EXPECT_EQ(first_false(verdict), "level NO_LEVEL");
  EXPECT_THAT(verdict.reasons, Contains(LevelReason::import_retracted));
}

TEST_F(BundleTest, AnOpenDisputeIsNamedAndChangesNoLevel) {
  bundles_.say(bundles_.run(), Dispute{"other inputs"}, Role::maintainer);
  const BundleVerdict verdict = bundles_.verify(bundles_.bundle());
  EXPECT_TRUE(verdict.ok());
  EXPECT_EQ(line(verdict, "standing").code, "DISPUTED");
}

TEST_F(BundleTest, AWithdrawalByItsOwnSourceIsFound) {
  bundles_.say(bundles_.run(),
               Withdrawal{"board", "submission/2", "disqualified", "used the answers",
                          sha256(bundles_.records().snapshot)},
               Role::importer);
  EXPECT_EQ(first_false(bundles_.verify(bundles_.bundle())), "standing WITHDRAWN");
}

TEST_F(BundleTest, AWithheldDocumentNeedsTheStatementThatWithholdsIt) {
  const Digest document = bundles_.records().environment.document;
  ASSERT_TRUE(withhold(*bundles_.ledger().open(), document, "a licence", fixture_key(Role::root)));
  const std::string bundle = bundles_.bundle();
  EXPECT_THAT(bundle, Not(HasSubstr("\\\"kind\\\":\\\"ExecutionEnvironment\\\",\\\"metadata")));
  EXPECT_EQ(first_false(bundles_.verify(bundle)), "true");
}

TEST_F(BundleTest, AWithheldSnapshotLeavesNoLevel) {
  ASSERT_TRUE(withhold(*bundles_.ledger().open(), sha256(bundles_.records().snapshot), "a licence",
                       fixture_key(Role::root)));
  const BundleVerdict verdict = bundles_.verify(bundles_.bundle());
  EXPECT_THAT(verdict.reasons, Contains(LevelReason::snapshot_not_held));
  EXPECT_EQ(first_false(verdict), "level NO_LEVEL");
}

TEST_F(BundleTest, AnOldCheckpointGivesTheEvidenceAsOfItsSize) {
  const SignedCheckpoint before = bundles_.checkpoint();
  bundles_.say(bundles_.run(), Retraction{"later"}, Role::maintainer);
  const std::unique_ptr<Ledger> ledger = bundles_.ledger().open();
  const SigningKey key = fixture_key(Role::status);
  const Result<std::string> bundle = make_bundle(ledger->read(), bundles_.run(), before, &key);
  ASSERT_TRUE(bundle) << bundle.error().text();
  const BundleVerdict verdict = bundles_.verify(*bundle);
  EXPECT_TRUE(verdict.ok());
  EXPECT_EQ(verdict.as_of, before.checkpoint.head);
}

TEST_F(BundleTest, SizeAndAgeAreJudgedWhenTheReaderAsks) {
  VerifyOptions options = bundles_.pinned();
  const std::uint64_t size = bundles_.ledger().head().size;
  options.expect_at_least = size;
  EXPECT_TRUE(bundles_.verify(bundles_.bundle(), options).ok());
  options.expect_at_least = size + 1;
  EXPECT_EQ(first_false(bundles_.verify(bundles_.bundle(), options)), "size TOO_SMALL");
  options.expect_at_least.reset();
  options.max_age = 60;
  EXPECT_EQ(first_false(bundles_.verify(bundles_.bundle(), options)), "age AGE_UNKNOWN");
}

TEST_F(BundleTest, OnlyAWitnessQuorumExcludesASplitViewAndSaysWhen) {
  constexpr std::uint64_t kSeen = 1'767'225'600;
  const SigningKey witness = *SigningKey::from_seed(sha256("a witness").raw());
  const VerifierKey key{"witness.example", NoteAlgorithm::cosignature, witness.public_key()};
  SignedCheckpoint checkpoint = bundles_.checkpoint();
  const std::string alone = bundles_.bundle();
  EXPECT_EQ(line(bundles_.verify(alone), "witnesses").code, "SPLIT_VIEW_NOT_EXCLUDED");

  checkpoint.signatures.push_back(
      cosign_note(checkpoint.checkpoint.text(), key.name, kSeen, witness));
  const std::string cosigned =
      bundles_.edit(alone, [&](Bundle& bundle) { bundle.checkpoint = checkpoint.format(); });
  VerifyOptions options = bundles_.pinned();
  options.witness_policy = *WitnessPolicy::parse("witness w " + key.text() + "\nquorum w\n");
  EXPECT_EQ(first_false(bundles_.verify(alone, options)), "witnesses QUORUM_NOT_MET");
  EXPECT_EQ(bundles_.verify(alone, options).level, bundles_.verify(alone).level);
  BundleVerdict verdict = bundles_.verify(cosigned, options);
  EXPECT_TRUE(verdict.ok());
  EXPECT_EQ(verdict.witnessed_at, kSeen);

  options.max_age = 60;
  options.now = static_cast<UtcMicros>(kSeen + 60) * 1'000'000;
  EXPECT_TRUE(bundles_.verify(cosigned, options).ok());
  options.now += 1'000'000;
  EXPECT_EQ(first_false(bundles_.verify(cosigned, options)), "age TOO_OLD");
}

TEST_F(BundleTest, TheVerdictInJsonHasTheMembersOfTheDesign) {
  const BundleVerdict verdict = bundles_.verify(bundles_.bundle());
  json::Arena arena;
  const Result<json::Value> value = json::parse(verdict.json(), arena);
  ASSERT_TRUE(value);
  EXPECT_TRUE(value->find("ok")->boolean());
  EXPECT_EQ(value->text("subject"), bundles_.run().text());
  EXPECT_EQ(value->text("level"), level_name(verdict.level));
  EXPECT_EQ(value->text("trust"), "none");
  EXPECT_EQ(value->find({"completeTo", "size"})->number(),
            static_cast<double>(bundles_.ledger().head().size));
  EXPECT_TRUE(value->find({"completeTo", "witnessedAt"})->is_null());
  EXPECT_EQ(value->find("verdicts")->array().size(), verdict.checks.size());
}

TEST_F(BundleTest, WhatIsNoRunHasNoBundle) {
  const std::unique_ptr<Ledger> ledger = bundles_.ledger().open();
  const SignedCheckpoint checkpoint = *ledger->checkpoint();
  const auto code = [&](const Digest& subject) {
    const Result<std::string> bundle = make_bundle(ledger->read(), subject, checkpoint, nullptr);
    return bundle ? "made" : bundle.error().code;
  };
  EXPECT_EQ(code(bundles_.records().workload.identity), "NOT_A_RUN");
  EXPECT_EQ(code(sha256("nothing")), "NO_SUCH_MANIFEST");
}

TEST_F(BundleTest, OnlyAnEnrolledStatusKeySignsAStatus) {
  const std::unique_ptr<Ledger> ledger = bundles_.ledger().open();
  const SignedCheckpoint checkpoint = *ledger->checkpoint();
  const SigningKey importer = fixture_key(Role::importer);
  const SigningKey stranger = *SigningKey::from_seed(sha256("a stranger").raw());
  EXPECT_EQ(make_bundle(ledger->read(), bundles_.run(), checkpoint, &importer).error().code,
            "WRONG_ROLE");
  EXPECT_EQ(make_bundle(ledger->read(), bundles_.run(), checkpoint, &stranger).error().code,
            "KEY_NOT_ENROLLED");
}

}  // namespace
}  // namespace kernelindex::test
