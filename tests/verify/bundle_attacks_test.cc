// SPDX-License-Identifier: Apache-2.0
// What an insider or a thief could hand out: right proofs for things that are not so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "ledger/statement.h"
#include "tests/verify/bundle_fixture.h"
#include "verify/status_check.h"

namespace kernelindex::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class BundleAttacks : public testing::Test {
 protected:
  // Without the entries that the condition picks, and with right proofs for the rest.
  std::string without(std::string_view bundle,
                      const std::function<bool(const Entry&)>& leave_out) const {
    return bundles_.edit(bundle, [&](Bundle& edited) {
      std::erase_if(edited.entries,
                    [&](const BundleEntry& entry) { return leave_out(*decode_entry(entry.leaf)); });
      bundles_.remake(edited);
    });
  }
  static bool is_retraction(const Entry& entry) {
    const auto* body = std::get_if<AttestationEntry>(&entry.body);
    return body != nullptr && body->predicate_type.ends_with("/retraction/v1");
  }
  static bool is_about(const Entry& entry, const Digest& subject) {
    return entry.subject() != nullptr && *entry.subject() == subject;
  }
  // A bundle that hides a retraction: the status is made to match.
  std::string lying_bundle() {
    retraction_ = bundles_.say(bundles_.run(), Retraction{"a mistake"}, Role::maintainer).index;
    const Digest maintainer = fixture_key(Role::maintainer).public_key().id();
    const std::uint64_t claim = last_claim();
    return bundles_.edit(bundles_.bundle(), [&](Bundle& bundle) {
      StatusStatement says = BundleFixture::status_of(bundle);
      says.heads.erase(maintainer);
      says.heads.at(bundles_.run()) = claim;
      bundle.status = bundles_.status(bundles_.run(), says, fixture_key(Role::status));
      std::erase_if(bundle.entries, [&](const BundleEntry& entry) {
        const Entry decoded = *decode_entry(entry.leaf);
        return is_retraction(decoded) || is_about(decoded, maintainer);
      });
      bundles_.remake(bundle);
    });
  }
  // The index of the last claim of the run.
  std::uint64_t last_claim() const {
    const std::unique_ptr<Ledger> ledger = bundles_.ledger().open();
    return ledger->read().subject(bundles_.run())->value().claims.back().index;
  }
  // Records an envelope about the run as an insider could.
  void forge(const std::string& predicate_type, const Digest& signer, const Envelope& envelope) {
    Entry entry;
    entry.content.media_type = kEnvelopeMediaType;
    entry.body = AttestationEntry{bundles_.run(), last_claim(), predicate_type, signer.hex()};
    bundles_.ledger().forge(entry, envelope.encode());
    bundles_.ledger().seal();
  }
  // As many notes about the run, a hundred a day.
  void say_notes(int days) {
    for (int day = 0; day < days; ++day) {
      ++today_;
      std::vector<Saying> sayings;
      for (int i = 0; i < 100; ++i) {
        const std::string text = "me too, " + std::to_string(today_ * 100 + i);
        sayings.push_back(
            {bundles_.run(), CommunityNote{CommunityNote::Type::reproduced, text, {}, {}, {}}});
      }
      LedgerOptions options = bundles_.ledger().options();
      options.clock = fixed_clock(kFixtureTime + today_ * UtcMicros{86'400'000'000});
      const std::unique_ptr<Ledger> ledger = std::move(*Ledger::open(options));
      const Result<std::vector<Attested>> said =
          attest(*ledger, sayings, fixture_key(Role::contributor));
      ASSERT_TRUE(said) << said.error().text();
    }
  }

  BundleFixture bundles_;
  std::uint64_t retraction_ = 0;
  int today_ = 0;
};

// ---- the log ----

TEST_F(BundleAttacks, AThiefWithTheLogKeyAndARootOfHisOwnFailsAtEntryZero) {
  const TempDir place;
  LedgerOptions options;
  options.directory = place / "ledger";
  options.state = place / "state";
  options.clock = fixed_clock(kFixtureTime);
  std::filesystem::create_directories(options.directory / "keys");
  ASSERT_TRUE(create_key_file(key_file_path(options.directory / "keys", Role::log),
                              {Role::log, "tester", fixture_key(Role::log)}, {}));
  FoundingOptions founding;
  founding.origin = "example.org/tests";
  founding.owner = "tester";
  const std::unique_ptr<Ledger> ledger = std::move(*Ledger::create(options, founding));
  {
    const std::unique_ptr<Appender> import = std::move(*ledger->append({"board", "1", "{}"}));
    const std::string bytes = "numbers of his own\n";
    MemorySource source(bytes);
    ASSERT_TRUE(import->snapshot({"board", "dump.json", "", "supplied"}, "text/plain", source));
    const SmallRecords& records = bundles_.records();
    for (const Manifest* manifest : {&records.operation, &records.workload, &records.protocol,
                                     &records.environment, &records.implementation, &records.run}) {
      ManifestEntry claim;
      claim.source = "board";
      claim.snapshot = sha256(bytes);
      ASSERT_TRUE(import->claim(claim, *manifest));
    }
    ASSERT_TRUE(import->finish(std::nullopt));
  }
  const Result<KeyFile> status = read_role_key(options.directory / "keys", Role::status, {});
  ASSERT_TRUE(status);
  const Result<std::string> bundle =
      make_bundle(ledger->read(), bundles_.run(), *ledger->checkpoint(), &status->key);
  ASSERT_TRUE(bundle) << bundle.error().text();
  EXPECT_EQ(first_false(bundles_.verify(*bundle)), "founding OTHER_LEDGER");
  // The weaker anchor cannot tell, and says that it is the weaker one.
  VerifyOptions by_key;
  by_key.log_key = log_verifier_key("example.org/tests", fixture_key(Role::log).public_key());
  const BundleVerdict verdict = bundles_.verify(*bundle, by_key);
  EXPECT_TRUE(verdict.ok());
  EXPECT_EQ(line(verdict, "founding").code, "WEAKER_ANCHOR");
}

TEST_F(BundleAttacks, ProofsOfOneSizeDoNotGoWithTheCheckpointOfAnother) {
  const std::string before = bundles_.bundle();
  bundles_.say(bundles_.records().workload.identity,
               CommunityNote{CommunityNote::Type::reproduced, "seen", {}, {}, {}},
               Role::contributor);
  const SignedCheckpoint later = bundles_.checkpoint();
  const std::string mixed =
      bundles_.edit(before, [&](Bundle& bundle) { bundle.checkpoint = later.format(); });
  EXPECT_THAT(first_false(bundles_.verify(mixed)), HasSubstr("inclusion"));
}

TEST_F(BundleAttacks, ACheckpointOfAnotherKeyOrOriginIsRefused) {
  const Checkpoint signed_text = bundles_.checkpoint().checkpoint;
  const SigningKey stranger = *SigningKey::from_seed(sha256("a stranger").raw());
  const SigningKey log = fixture_key(Role::log);
  const auto with = [&](Checkpoint text, const SigningKey& key) {
    const std::array keys = {&key};
    const std::string bytes = bundles_.edit(bundles_.bundle(), [&](Bundle& bundle) {
      bundle.checkpoint = sign_checkpoint(text, keys).format();
    });
    return first_false(bundles_.verify(bytes));
  };
  EXPECT_EQ(with(signed_text, stranger), "checkpoint NOT_SIGNED");
  Checkpoint other = signed_text;
  other.origin = "example.org/other";
  EXPECT_EQ(with(other, log), "checkpoint ORIGIN_MISMATCH");
  Checkpoint forked = signed_text;
  forked.head.root = sha256("another tree");
  EXPECT_EQ(with(forked, log), "inclusion ROOT_MISMATCH");
}

TEST_F(BundleAttacks, ALogKeyMustBeValidAtTheSizeOfTheCheckpoint) {
  const SigningKey old_key = fixture_key(Role::log);
  const SigningKey new_key = *SigningKey::from_seed(sha256("the next log key").raw());
  const Digest old_id = old_key.public_key().id();
  bundles_.say(new_key.public_key().id(),
               KeyChange{KeyEnrolment{new_key.public_key(), Role::log, "tester", {}, {}, {}}},
               Role::root);
  bundles_.ledger().forge_statement(
      {old_id, bundles_.ledger().binding(Role::root), KeyChange{Revocation{"replaced", {}}}},
      fixture_key(Role::root));
  const std::unique_ptr<Ledger> ledger = bundles_.ledger().open();
  ASSERT_TRUE(ledger->reindex());
  const Checkpoint text{ledger->format().origin, ledger->read().head()};
  const SigningKey status = fixture_key(Role::status);
  const auto signed_by = [&](const std::vector<const SigningKey*>& keys) {
    return sign_checkpoint(text, keys);
  };
  const auto made = [&](const SignedCheckpoint& checkpoint) {
    return make_bundle(ledger->read(), bundles_.run(), checkpoint, &status);
  };
  EXPECT_EQ(made(signed_by({&old_key})).error().code, "NO_LOG_SIGNATURE");
  const Result<std::string> by_new = made(signed_by({&new_key}));
  const Result<std::string> by_both = made(signed_by({&old_key, &new_key}));
  ASSERT_TRUE(by_new) << by_new.error().text();
  ASSERT_TRUE(by_both) << by_both.error().text();
  EXPECT_EQ(first_false(bundles_.verify(*by_new)), "true");
  EXPECT_EQ(first_false(bundles_.verify(*by_both)), "true");
  const std::string by_old = bundles_.edit(
      *by_both, [&](Bundle& bundle) { bundle.checkpoint = signed_by({&old_key}).format(); });
  EXPECT_EQ(first_false(bundles_.verify(by_old)), "checkpoint NOT_SIGNED");
}

TEST_F(BundleAttacks, AClaimThatNoImporterSignedIsRefused) {
  // The insider's claim stands in the log, in a range that no statement covers.
  ManifestEntry claim;
  claim.kind = ManifestKind::benchmark_run;
  claim.subject = bundles_.run();
  claim.source = "board";
  claim.snapshot = sha256(bundles_.records().snapshot);
  claim.previous = last_claim();
  Entry entry;
  entry.content.media_type = kManifestMediaType;
  entry.body = claim;
  bundles_.ledger().forge(entry, bundles_.records().run.bytes);
  bundles_.ledger().seal();
  const std::unique_ptr<Ledger> ledger = bundles_.ledger().open();
  const Result<std::string> bundle =
      make_bundle(ledger->read(), bundles_.run(), *ledger->checkpoint(), nullptr);
  ASSERT_FALSE(bundle);
  EXPECT_EQ(bundle.error().code, "NOT_COVERED");
}

// ---- statements ----

TEST_F(BundleAttacks, AnAttestationByARevokedKeyBreaksItsArrow) {
  const Digest maintainer = fixture_key(Role::maintainer).public_key().id();
  bundles_.say(maintainer, KeyChange{Revocation{"left", std::nullopt}}, Role::root);
  bundles_.ledger().forge_statement(
      {bundles_.run(), bundles_.ledger().binding(Role::maintainer), Retraction{"back-dated"}},
      fixture_key(Role::maintainer));
  bundles_.ledger().seal();
  EXPECT_EQ(first_false(bundles_.verify(bundles_.bundle())), "attestations KEY_REVOKED");
}

TEST_F(BundleAttacks, AnAttestationByAKeyOfTheWrongRoleBreaksItsArrow) {
  bundles_.ledger().forge_statement(
      {bundles_.run(), bundles_.ledger().binding(Role::importer), Retraction{"not mine to say"}},
      fixture_key(Role::importer));
  bundles_.ledger().seal();
  EXPECT_EQ(first_false(bundles_.verify(bundles_.bundle())), "attestations WRONG_ROLE");
}

TEST_F(BundleAttacks, AFalseSignatureBreaksItsArrow) {
  const Attestation said{bundles_.run(), bundles_.ledger().binding(Role::maintainer),
                         Retraction{"forged"}};
  Envelope envelope = *sign_envelope(*said.encode(), fixture_key(Role::contributor));
  envelope.key_id = said.binding.signer.hex();
  forge(predicate_type(said.predicate).uri(), said.binding.signer, envelope);
  EXPECT_EQ(first_false(bundles_.verify(bundles_.bundle())), "attestations INVALID_SIGNATURE");
}

TEST_F(BundleAttacks, AnEntryThatRepeatsItsStatementWronglyBreaksItsArrow) {
  const Attestation said{bundles_.records().workload.identity,
                         bundles_.ledger().binding(Role::maintainer), Retraction{"of another"}};
  const SigningKey key = fixture_key(Role::maintainer);
  forge(predicate_type(said.predicate).uri(), said.binding.signer,
        normalised(*sign_envelope(*said.encode(), key), key.public_key()));
  EXPECT_EQ(first_false(bundles_.verify(bundles_.bundle())), "objects STATEMENT_MISMATCH");
}

TEST_F(BundleAttacks, WhatAVoidKeySaidDoesNotCountAndBreaksNothing) {
  bundles_.say(bundles_.run(), Retraction{"by the thief of a key"}, Role::maintainer);
  const Digest maintainer = fixture_key(Role::maintainer).public_key().id();
  bundles_.say(maintainer, KeyChange{Revocation{"stolen", 0}}, Role::root);
  EXPECT_EQ(first_false(bundles_.verify(bundles_.bundle())), "true");
}

TEST_F(BundleAttacks, AnAttestationForAnotherLedgerOrAForkBreaksItsArrow) {
  Binding binding = bundles_.ledger().binding(Role::maintainer);
  binding.seen->root = sha256("a fork");
  bundles_.ledger().forge_statement({bundles_.run(), binding, Retraction{"seen elsewhere"}},
                                    fixture_key(Role::maintainer));
  bundles_.ledger().seal();
  EXPECT_EQ(first_false(bundles_.verify(bundles_.bundle())), "seen FORK_SEEN");

  BundleFixture others;
  binding = others.ledger().binding(Role::maintainer);
  binding.ledger = sha256("another ledger");
  others.ledger().forge_statement({others.run(), binding, Retraction{"signed elsewhere"}},
                                  fixture_key(Role::maintainer));
  others.ledger().seal();
  EXPECT_EQ(first_false(others.verify(others.bundle())), "attestations WRONG_LEDGER");
}

TEST_F(BundleAttacks, AnUnknownPredicateAboutTheRunCannotBeJudged) {
  const SigningKey key = fixture_key(Role::maintainer);
  const Binding binding = bundles_.ledger().binding(Role::maintainer);
  json::Arena arena;
  const json::Value predicate =
      json::ObjectBuilder(arena)
          .add("ledger", arena.string(binding.ledger->text()))
          .add("signer", arena.string(binding.signer.hex()))
          .add("seen", json::ObjectBuilder(arena)
                           .add("size", json::Value(static_cast<double>(binding.seen->size)))
                           .add("root", arena.string(binding.seen->root.text()))
                           .finish())
          .finish();
  const std::string type = std::string(kPredicateBase) + "blessing/v1";
  const Envelope envelope = normalised(
      *sign_envelope(Statement{bundles_.run(), type, predicate}.encode(), key), key.public_key());
  forge(type, binding.signer, envelope);
  const BundleVerdict verdict = bundles_.verify(bundles_.bundle());
  EXPECT_EQ(first_false(verdict), "standing CANNOT_JUDGE");
  EXPECT_EQ(verdict.level, Level::none);
}

// ---- the status ----

TEST_F(BundleAttacks, LeavingARetractionOutShows) {
  const std::string before = bundles_.bundle();
  bundles_.say(bundles_.run(), Retraction{"a mistake"}, Role::maintainer);
  const std::string honest = bundles_.bundle();
  EXPECT_EQ(first_false(bundles_.verify(without(honest, is_retraction))), "heads HEAD_DIFFERS");
  // One in the middle of a chain shows without any status.
  bundles_.say(bundles_.run(), Dispute{"and another thing"}, Role::maintainer);
  VerifyOptions options = bundles_.pinned();
  options.allow_unknown_currency = true;
  EXPECT_EQ(first_false(bundles_.verify(
                without(bundles_.bundle(bundles_.run(), false), is_retraction), options)),
            "chains CHAIN_BROKEN");
  // The status of another size, from before, does not go with it.
  const std::string stale = bundles_.edit(honest, [&](Bundle& bundle) {
    bundle.status = parse_bundle(before)->status;
    bundles_.remake(bundle);
  });
  EXPECT_EQ(first_false(bundles_.verify(stale)), "status STATUS_OF_ANOTHER_TREE");
}

TEST_F(BundleAttacks, AStatusIsSignedByAStatusKeyForThisRun) {
  const std::string bundle = bundles_.bundle();
  const StatusStatement says = BundleFixture::status_of(*parse_bundle(bundle));
  const auto with = [&](const Digest& run, const SigningKey& key) {
    return first_false(bundles_.verify(bundles_.edit(bundle, [&](Bundle& edited) {
      edited.status = bundles_.status(run, says, key);
      bundles_.remake(edited);
    })));
  };
  EXPECT_EQ(with(bundles_.run(), fixture_key(Role::importer)), "status WRONG_ROLE");
  EXPECT_EQ(with(bundles_.run(), *SigningKey::from_seed(sha256("a stranger").raw())),
            "status KEY_NOT_ENROLLED");
  EXPECT_EQ(with(bundles_.records().replaced_run.identity, fixture_key(Role::status)),
            "status OTHER_SUBJECT");
}

TEST_F(BundleAttacks, OneInclusionProofDisprovesALyingStatus) {
  const std::string lie = lying_bundle();
  // Nothing in the file can show it.
  EXPECT_EQ(first_false(bundles_.verify(lie)), "true");
  const std::unique_ptr<Ledger> ledger = bundles_.ledger().open();
  const Result<Envelope> status = read_status(lie);
  ASSERT_TRUE(status) << status.error().text();
  const Result<StatusReport> report = check_status(ledger->read(), *status);
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_FALSE(report->ok());
  const auto about_run = std::ranges::find(report->lies, bundles_.run(), &StatusLie::subject);
  ASSERT_NE(about_run, report->lies.end());
  EXPECT_EQ(about_run->index, retraction_);
  EXPECT_EQ(about_run->actual, retraction_);
  EXPECT_TRUE(verify_inclusion(leaf_hash(about_run->leaf), about_run->index, report->stated,
                               about_run->proof)
                  .ok());
  EXPECT_EQ(*decode_entry(about_run->leaf)->subject(), bundles_.run());
}

TEST_F(BundleAttacks, AnHonestStatusStaysTrueWhenTheLogGrows) {
  const std::string bundle = bundles_.bundle();
  bundles_.say(bundles_.run(), Retraction{"later"}, Role::maintainer);
  const std::unique_ptr<Ledger> ledger = bundles_.ledger().open();
  const Result<StatusReport> report = check_status(ledger->read(), *read_status(bundle));
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->ok());
  EXPECT_THAT(report->lies, IsEmpty());
}

TEST_F(BundleAttacks, AStatusOfAForkOrByAnotherKeyIsNoStatusOfThisLedger) {
  const StatusStatement says = BundleFixture::status_of(*parse_bundle(bundles_.bundle()));
  const std::unique_ptr<Ledger> ledger = bundles_.ledger().open();
  const auto code = [&](const StatusStatement& statement, const SigningKey& key) {
    return check_status(ledger->read(),
                        *parse_envelope(bundles_.status(bundles_.run(), statement, key)))
        ->code;
  };
  StatusStatement forked = says;
  forked.root = sha256("a fork");
  EXPECT_EQ(code(forked, fixture_key(Role::status)), "OTHER_TREE");
  StatusStatement later = says;
  later.size += 1;
  EXPECT_EQ(code(later, fixture_key(Role::status)), "OTHER_TREE");
  EXPECT_EQ(code(says, fixture_key(Role::importer)), "WRONG_ROLE");
  EXPECT_EQ(code(says, *SigningKey::from_seed(sha256("a stranger").raw())), "KEY_NOT_ENROLLED");
}

// ---- the crowd ----

TEST_F(BundleAttacks, TenThousandNotesAroundARetractionDoNotBuryIt) {
  // The same without the crowd.
  BundleFixture quiet;
  quiet.say(quiet.run(), Retraction{"a mistake"}, Role::maintainer);
  const std::size_t before = quiet.bundle().size();

  say_notes(50);
  bundles_.say(bundles_.run(), Retraction{"a mistake"}, Role::maintainer);
  say_notes(50);
  const std::string bundle = bundles_.bundle();
  const BundleVerdict verdict = bundles_.verify(bundle);
  EXPECT_EQ(first_false(verdict), "standing RETRACTED");
  EXPECT_THAT(line(verdict, "heads").detail, HasSubstr("10000 notes"));
  EXPECT_LE(bundle.size(), before + 2048);
}

}  // namespace
}  // namespace kernelindex::test
