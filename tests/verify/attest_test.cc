// SPDX-License-Identifier: Apache-2.0
// What may be recorded about what a ledger holds, and what follows from it.
#include "ledger/attest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "ledger/attestation_rules.h"
#include "ledger/key_layout.h"
#include "ledger/query.h"
#include "tests/verify/audit_matchers.h"
#include "tests/verify/ledger_fixture.h"

namespace kernelindex::test {
namespace {

using testing::Contains;
using testing::Not;

class Attesting : public testing::Test {
 protected:
  Attesting() : ledger_(fixture_.open()) {}

  Result<Attested> say(const Digest& subject, const Predicate& predicate, Role role) {
    return attest(*ledger_, {subject, predicate}, fixture_key(role));
  }
  std::string code(const Result<Attested>& result) {
    return result ? "recorded" : result.error().code;
  }
  RunView run(const Digest& identity) {
    Result<RunView> view = view_run(ledger_->read(), identity);
    EXPECT_TRUE(view) << view.error().message;
    return std::move(*view);
  }
  const Digest& subject() const { return fixture_.records().run.identity; }
  // An envelope of a statement that is right in everything but what the test changes.
  Envelope envelope(const Attestation& said, const SigningKey& key) const {
    return sign_envelope(said.encode().value(), key).value();
  }
  Attestation note(Role role) const {
    return {subject(),
            Binding{fixture_.ledger_id(), fixture_key(role).public_key().id(), fixture_.head()},
            CommunityNote{CommunityNote::Type::reproduced, "the same here", {}, {}, {}}};
  }
  void expect_sound() {
    ledger_.reset();
    const AuditReport report = fixture_.audit();
    EXPECT_THAT(report.faults, testing::IsEmpty());
  }

  LedgerFixture fixture_;
  std::unique_ptr<Ledger> ledger_;
};

TEST_F(Attesting, ARetractedRunKeepsItsHistoryAndLosesItsRank) {
  const RunView before = run(subject());
  ASSERT_TRUE(before.eligible());
  const std::uint64_t size = ledger_->read().head().size;
  ASSERT_TRUE(say(subject(), Retraction{"a mistake"}, Role::maintainer));
  const RunView after = run(subject());
  EXPECT_FALSE(after.eligible());
  EXPECT_THAT(after.reasons, Contains("RETRACTED"));
  EXPECT_EQ(after.evidence.level, before.evidence.level);
  ReadPolicy earlier;
  earlier.as_of = size;
  EXPECT_TRUE(view_run(ledger_->read(), subject(), earlier)->eligible());
  expect_sound();
}

TEST_F(Attesting, ARetractionCanItselfBeRetracted) {
  const Result<Attested> retraction = say(subject(), Retraction{"a mistake"}, Role::maintainer);
  ASSERT_TRUE(retraction);
  ASSERT_TRUE(say(retraction->id, Retraction{"it was none"}, Role::maintainer));
  EXPECT_TRUE(run(subject()).eligible());
  const Result<Provenance> story = provenance(ledger_->read(), subject());
  ASSERT_TRUE(story);
  ASSERT_EQ(story->chain.size(), 1u);
  EXPECT_FALSE(story->chain[0].counts);
  EXPECT_EQ(story->chain[0].reason, "RETRACTED");
  expect_sound();
}

TEST_F(Attesting, NotesNeverChangeALevelOrARank) {
  const RunView before = run(subject());
  for (const auto type : {CommunityNote::Type::reproduced, CommunityNote::Type::could_not_reproduce,
                          CommunityNote::Type::regression_observed}) {
    ASSERT_TRUE(say(subject(), CommunityNote{type, "seen", {}, 1, {}}, Role::contributor));
  }
  const RunView after = run(subject());
  EXPECT_EQ(after.evidence.level, before.evidence.level);
  EXPECT_EQ(after.rank, before.rank);
  expect_sound();
}

TEST_F(Attesting, ASupersessionHidesOnlyWhileItsSuccessorIsEligible) {
  const Digest& successor = fixture_.records().replaced_run.identity;
  ASSERT_TRUE(say(subject(), Supersession{"measured again", successor}, Role::maintainer));
  const bool stands = run(successor).eligible();
  EXPECT_EQ(run(subject()).superseded, stands);
  ASSERT_TRUE(say(successor, Retraction{"wrong"}, Role::maintainer));
  EXPECT_FALSE(run(subject()).superseded);
  EXPECT_TRUE(run(subject()).eligible());
  expect_sound();
}

TEST_F(Attesting, ASupersedingCycleIsRefused) {
  const Digest& other = fixture_.records().replaced_run.identity;
  ASSERT_TRUE(say(subject(), Supersession{"one", other}, Role::maintainer));
  EXPECT_EQ(code(say(other, Supersession{"two", subject()}, Role::maintainer)),
            "SUPERSESSION_CYCLE");
}

TEST_F(Attesting, ASuccessorIsOfTheSameKind) {
  EXPECT_EQ(code(say(subject(), Supersession{"odd", fixture_.records().workload.identity},
                     Role::maintainer)),
            "KIND_DIFFERS");
}

TEST_F(Attesting, AWithdrawalCountsForTheSourceWhoseNumberItIs) {
  const RunView before = run(subject());
  const std::string source(before.row.source);
  Withdrawal withdrawal{"another-source", "x/1", "disqualified", "cheated", Digest()};
  ASSERT_TRUE(say(subject(), withdrawal, Role::importer));
  EXPECT_FALSE(run(subject()).withdrawn);
  withdrawal.source = source;
  ASSERT_TRUE(say(subject(), withdrawal, Role::importer));
  EXPECT_THAT(run(subject()).reasons, Contains("WITHDRAWN_BY_SOURCE"));
}

TEST_F(Attesting, RefusesASubjectThatTheLogDoesNotHold) {
  EXPECT_EQ(code(say(sha256("nothing"), Retraction{"why"}, Role::maintainer)), "NO_SUCH_SUBJECT");
}

TEST_F(Attesting, OnlyTheRootSpeaksOfKeys) {
  const Digest log_key = fixture_key(Role::log).public_key().id();
  EXPECT_EQ(code(say(log_key, Retraction{"why"}, Role::maintainer)), "SUBJECT_IS_KEY");
}

// The row of a run that is claimed in several batches of one import is read back as it was written,
// not as it was before.
TEST_F(Attesting, ClaimsOfOneRunInSeveralBatchesAreAllKept) {
  const Manifest& run = fixture_.records().run;
  const std::size_t before = (*ledger_->read().subject(run.identity))->claims.size();
  {
    Result<std::unique_ptr<Appender>> appender = ledger_->append({"batches", "1", "{}"});
    ASSERT_TRUE(appender);
    MemorySource bytes("the bytes of this import\n");
    const Result<Recorded> snapshot =
        (*appender)->snapshot({"board", "late.json", "", "supplied"}, "application/json", bytes);
    ASSERT_TRUE(snapshot);
    for (int claim = 0; claim < 3; ++claim) {
      ManifestEntry entry;
      entry.source = "board";
      entry.external_ids = {"board:late/" + std::to_string(claim)};
      entry.snapshot = snapshot->content;
      ASSERT_TRUE((*appender)->claim(entry, run));
      // Batches are cut by position, so that the next claim is another batch's.
      for (std::size_t i = 0; i < limits::kBatchEntries; ++i) {
        ASSERT_TRUE((*appender)->artifact(fixture_.records().source, "text/plain"));
      }
    }
    ASSERT_TRUE((*appender)->finish(std::nullopt));
  }
  EXPECT_EQ((*ledger_->read().subject(run.identity))->claims.size(), before + 3);
  expect_sound();
}

TEST_F(Attesting, RefusesASignerOfAnotherRole) {
  EXPECT_EQ(code(say(subject(), Retraction{"why"}, Role::contributor)), "WRONG_ROLE");
}

TEST_F(Attesting, RefusesAKeyThatIsNotEnrolled) {
  EXPECT_EQ(code(attest(*ledger_, {subject(), Retraction{"why"}}, SigningKey::generate())),
            "KEY_NOT_ENROLLED");
}

TEST_F(Attesting, RefusesAnEnvelopeForAnotherLedger) {
  Attestation said = note(Role::contributor);
  said.binding.ledger = sha256("another ledger");
  const Envelope other = envelope(said, fixture_key(Role::contributor));
  EXPECT_EQ(code(attest_envelope(*ledger_, other.encode())), "WRONG_LEDGER");
}

TEST_F(Attesting, RefusesAnEnvelopeWhoseSignerSawAnotherTree) {
  Attestation said = note(Role::contributor);
  said.binding.seen->root = sha256("a fork");
  EXPECT_EQ(
      code(attest_envelope(*ledger_, envelope(said, fixture_key(Role::contributor)).encode())),
      "FORK_SEEN");
  said = note(Role::contributor);
  said.binding.seen->size += 1;
  EXPECT_EQ(
      code(attest_envelope(*ledger_, envelope(said, fixture_key(Role::contributor)).encode())),
      "FORK_SEEN");
}

TEST_F(Attesting, RefusesASignatureByAnotherKeyThanTheOneNamed) {
  const Envelope forged = envelope(note(Role::contributor), fixture_key(Role::maintainer));
  EXPECT_EQ(code(attest_envelope(*ledger_, forged.encode())), "INVALID_SIGNATURE");
}

TEST_F(Attesting, RecordsAnEnvelopeOnceInWhateverForm) {
  const Envelope made = envelope(note(Role::contributor), fixture_key(Role::contributor));
  const Result<Attested> first = attest_envelope(*ledger_, made.encode());
  ASSERT_TRUE(first) << first.error().message;
  // The same in URL-safe base64, with a member that is not signed.
  std::string other = made.encode();
  for (std::string text : {to_base64(made.payload), to_base64(made.signature)}) {
    const std::size_t at = other.find(text);
    ASSERT_NE(at, std::string::npos);
    std::ranges::replace(text, '+', '-');
    std::ranges::replace(text, '/', '_');
    other.replace(at, text.size(), text);
  }
  other.insert(1, R"("unsigned":1,)");
  const Result<Attested> again = attest_envelope(*ledger_, other);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(again->existing);
  EXPECT_EQ(again->id, first->id);
  EXPECT_EQ(again->index, first->index);
  expect_sound();
}

TEST_F(Attesting, TheSameNoteByTwoKeysIsTwoAttestations) {
  const Result<Attested> one =
      say(subject(), CommunityNote{CommunityNote::Type::reproduced, "yes", {}, {}, {}},
          Role::contributor);
  ASSERT_TRUE(one);
  const SigningKey second = SigningKey::generate();
  KeyEnrolment enrolment;
  enrolment.public_key = second.public_key();
  enrolment.role = Role::contributor;
  enrolment.owner = "somebody";
  ASSERT_TRUE(
      attest(*ledger_, {second.public_key().id(), KeyChange{enrolment}}, fixture_key(Role::root)));
  const Result<Attested> two = attest(
      *ledger_, {subject(), CommunityNote{CommunityNote::Type::reproduced, "yes", {}, {}, {}}},
      second);
  ASSERT_TRUE(two) << two.error().message;
  EXPECT_NE(one->id, two->id);
  expect_sound();
}

TEST_F(Attesting, StatementsOfImportsFoundingsAndStatusAreNotRecordedByHand) {
  StatusStatement status;
  status.size = fixture_.head().size;
  status.root = fixture_.head().root;
  status.heads[subject()] = 1;
  EXPECT_EQ(code(say(subject(), status, Role::status)), "NOT_RECORDED");
}

TEST_F(Attesting, ARevokedKeySaysNothingMore) {
  const Digest contributor = fixture_key(Role::contributor).public_key().id();
  ASSERT_TRUE(say(contributor, KeyChange{Revocation{"left", {}}}, Role::root));
  EXPECT_EQ(code(say(subject(), CommunityNote{CommunityNote::Type::reproduced, "x", {}, {}, {}},
                     Role::contributor)),
            "KEY_REVOKED");
  expect_sound();
}

TEST_F(Attesting, ACompromisedImporterVoidsWhatItClaimed) {
  ASSERT_EQ(run(subject()).evidence.level >= Level::reported, true);
  const Digest importer = fixture_key(Role::importer).public_key().id();
  ASSERT_TRUE(say(importer, KeyChange{Revocation{"stolen", 0}}, Role::root));
  EXPECT_EQ(run(subject()).evidence.level, Level::none);
  // The same from a replay.
  ledger_.reset();
  ledger_ = fixture_.open();
  EXPECT_EQ(run(subject()).evidence.level, Level::none);
  ASSERT_TRUE(ledger_->reindex());
  EXPECT_EQ(run(subject()).evidence.level, Level::none);
}

TEST_F(Attesting, AContributorHasSoManyNotesADay) {
  const Result<Attestation> founding = read_attestation(ledger_->read(), 0);
  const auto cap = std::get<LedgerFounding>(founding->predicate).notes_per_day;
  std::vector<Saying> sayings;
  for (std::int64_t i = 0; i < cap; ++i) {
    sayings.push_back(
        {subject(),
         CommunityNote{
             CommunityNote::Type::environment_note, "note " + std::to_string(i), {}, {}, {}}});
  }
  ASSERT_TRUE(attest(*ledger_, sayings, fixture_key(Role::contributor)));
  EXPECT_EQ(
      code(say(subject(), CommunityNote{CommunityNote::Type::reproduced, "one more", {}, {}, {}},
               Role::contributor)),
      "NOTES_CAP");
  expect_sound();
}

TEST_F(Attesting, EightThreadsAreAllRecorded) {
  constexpr int kThreads = 8;
  std::vector<std::thread> threads;
  std::vector<std::string> codes(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      codes[static_cast<std::size_t>(i)] =
          code(say(subject(), Dispute{"doubt " + std::to_string(i)}, Role::maintainer));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& one : codes) EXPECT_EQ(one, "recorded");
  const std::shared_ptr<const Judgements> judgements =
      ledger_->read().judgements(ledger_->read().head().size);
  ASSERT_NE(judgements->find(subject()), nullptr);
  EXPECT_EQ(judgements->find(subject())->disputes.size(), 8u);
  expect_sound();
}

TEST_F(Attesting, ADisputeIsOpenUntilItIsDismissed) {
  const Result<Attested> dispute = say(subject(), Dispute{"too fast"}, Role::maintainer);
  ASSERT_TRUE(dispute);
  EXPECT_THAT(run(subject()).evidence.reasons, Contains(LevelReason::disputed));
  EXPECT_TRUE(run(subject()).eligible());
  EXPECT_EQ(code(say(fixture_.records().workload.identity,
                     DisputeResolution{dispute->id, DisputeResolution::Outcome::dismissed, "no"},
                     Role::maintainer)),
            "NO_SUCH_DISPUTE");
  ASSERT_TRUE(say(subject(),
                  DisputeResolution{dispute->id, DisputeResolution::Outcome::dismissed, "no"},
                  Role::maintainer));
  EXPECT_THAT(run(subject()).evidence.reasons, Not(Contains(LevelReason::disputed)));
}

TEST_F(Attesting, AWholeImportIsTakenBack) {
  const std::uint64_t claim = run(subject()).row.index;
  const Result<std::vector<ImportRange>> statements = whole_import(ledger_->read(), claim);
  ASSERT_TRUE(statements);
  std::vector<Saying> sayings;
  for (const ImportRange& one : *statements) sayings.push_back({one.id, Retraction{"bad file"}});
  ASSERT_TRUE(attest(*ledger_, sayings, fixture_key(Role::maintainer)));
  const RunView after = run(subject());
  EXPECT_EQ(after.evidence.level, Level::none);
  EXPECT_THAT(after.evidence.reasons, Contains(LevelReason::import_retracted));
  expect_sound();
}

TEST_F(Attesting, AStatementOfAnUnknownTypeLeavesItsSubjectWithoutALevel) {
  const SigningKey key = fixture_key(Role::maintainer);
  const Envelope future = [&] {
    std::string payload =
        Attestation{subject(),
                    Binding{fixture_.ledger_id(), key.public_key().id(), fixture_.head()},
                    Retraction{"why"}}
            .encode()
            .value();
    payload.replace(payload.find("retraction/v1"), 13, "retraction/v9");
    return normalised(sign_envelope(payload, key).value(), key.public_key());
  }();
  {
    Result<std::unique_ptr<Appender>> appender = ledger_->append_attestations();
    ASSERT_TRUE(appender);
    ASSERT_TRUE((*appender)->attestation(future, subject(),
                                         std::string(kPredicateBase) + "retraction/v9",
                                         key.public_key().id(), nullptr));
    ASSERT_TRUE((*appender)->finish(std::nullopt));
  }
  EXPECT_EQ(run(subject()).evidence.level, Level::none);
  EXPECT_THAT(run(subject()).reasons, Contains("CANNOT_JUDGE"));
  ledger_.reset();
  ledger_ = fixture_.open();
  EXPECT_THAT(run(subject()).reasons, Contains("CANNOT_JUDGE"));
}

TEST_F(Attesting, WithheldBytesAreGoneAndEveryViewStillWorks) {
  const Digest document = fixture_.records().run.document;
  const Digest snapshot = sha256(fixture_.records().snapshot);
  for (const Digest& object : {document, snapshot}) {
    const Result<Attested> said = withhold(*ledger_, object, "licence", fixture_key(Role::root));
    ASSERT_TRUE(said) << said.error().message;
    EXPECT_FALSE(*ledger_->read().object_kept(object));
    EXPECT_TRUE(*ledger_->read().object_withheld(object));
  }
  const Result<ShownManifest> shown = show_manifest(ledger_->read(), subject());
  ASSERT_TRUE(shown) << shown.error().message;
  EXPECT_TRUE(shown->bytes.empty());
  const Result<Provenance> story = provenance(ledger_->read(), subject());
  ASSERT_TRUE(story) << story.error().message;
  EXPECT_FALSE(story->claims.front().snapshot_kept);
  expect_sound();
}

TEST_F(Attesting, AWithheldNoteLeavesItsEntryAndNothingElse) {
  const Result<Attested> note =
      say(subject(), CommunityNote{CommunityNote::Type::reproduced, "my address is", {}, {}, {}},
          Role::contributor);
  ASSERT_TRUE(note);
  const RunView before = run(subject());
  const Digest envelope = ledger_->read().entry(note->index)->content.digest;
  ASSERT_TRUE(withhold(*ledger_, envelope, "a person asked", fixture_key(Role::root)));
  EXPECT_EQ(run(subject()).evidence.level, before.evidence.level);
  EXPECT_EQ(run(subject()).rank, before.rank);
  const Result<Provenance> story = provenance(ledger_->read(), subject());
  ASSERT_TRUE(story) << story.error().message;
  EXPECT_EQ(story->chain.front().reason, "WITHHELD");
  expect_sound();
}

TEST_F(Attesting, AWithheldCorrectionLeavesItsSubjectWithoutALevel) {
  const Result<Attested> dispute = say(subject(), Dispute{"a name"}, Role::maintainer);
  ASSERT_TRUE(dispute);
  const Digest envelope = ledger_->read().entry(dispute->index)->content.digest;
  ASSERT_TRUE(withhold(*ledger_, envelope, "a person asked", fixture_key(Role::root)));
  EXPECT_EQ(run(subject()).evidence.level, Level::none);
  EXPECT_THAT(run(subject()).reasons, Contains("CANNOT_JUDGE"));
  expect_sound();
}

TEST_F(Attesting, WhatTheLogNeedsIsNotWithheld) {
  const Result<Entry> founding = ledger_->read().entry(0);
  EXPECT_EQ(code(withhold(*ledger_, founding->content.digest, "no", fixture_key(Role::root))),
            "NEEDED_BY_LOG");
  EXPECT_EQ(code(withhold(*ledger_, sha256("nothing"), "no", fixture_key(Role::root))), "NOT_HELD");
}

}  // namespace
}  // namespace kernelindex::test
