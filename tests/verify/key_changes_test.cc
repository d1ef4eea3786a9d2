// SPDX-License-Identifier: Apache-2.0
// What follows when keys come and go: levels, the same by every way of deriving them, and the
// handing over between log keys.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ledger/attest.h"
#include "ledger/key_rotation.h"
#include "ledger/query.h"
#include "ledger/role_keys.h"
#include "tests/verify/ledger_fixture.h"

namespace kernelindex::test {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

class KeyChanges : public testing::Test {
 protected:
  const Digest& subject() const { return fixture_.records().run.identity; }
  std::uint64_t size() const { return ledger_->read().head().size; }
  Result<Attested> root_says(const Digest& about, const Predicate& said) {
    return attest(*ledger_, {about, said}, fixture_key(Role::root));
  }
  std::string code(const Result<Attested>& result) {
    return result ? "recorded" : result.error().code;
  }
  Digest id(Role role) const { return fixture_key(role).public_key().id(); }
  Level level(std::optional<std::uint64_t> as_of = {}) const {
    ReadPolicy policy;
    policy.as_of = as_of;
    return view_run(ledger_->read(), subject(), policy).value().evidence.level;
  }
  // The levels as the log stood at each size from `first` on.
  std::vector<Level> levels_from(std::uint64_t first) const {
    std::vector<Level> out;
    for (std::uint64_t at = first; at <= size(); ++at) out.push_back(level(at));
    return out;
  }
  void reopen() {
    ledger_.reset();
    ledger_ = fixture_.open();
  }
  void expect_sound() {
    ledger_.reset();
    EXPECT_THAT(fixture_.audit().faults, IsEmpty());
    ledger_ = fixture_.open();
  }
  Predicate revocation(std::optional<std::uint64_t> void_from) const {
    return KeyChange{Revocation{"stolen", void_from}};
  }

  LedgerFixture fixture_;
  std::unique_ptr<Ledger> ledger_ = fixture_.open();
};

TEST_F(KeyChanges, ARevocationAloneLeavesWhatWasSignedBefore) {
  const Level before = level();
  ASSERT_NE(before, Level::none);
  ASSERT_TRUE(root_says(id(Role::importer), revocation({})));
  EXPECT_EQ(level(), before);
  EXPECT_EQ(ledger_->append({"toy", "1"}).error().code, "KEY_NOT_ENROLLED");
  expect_sound();
}

TEST_F(KeyChanges, AfterACompromiseLevelsFollowByEveryWayOfDerivingThem) {
  const Level before = level();
  const std::uint64_t first = size();
  ASSERT_TRUE(root_says(id(Role::importer), revocation(7)));
  EXPECT_EQ(level(), Level::none);
  const std::vector<Level> expected = {before, Level::none};
  EXPECT_EQ(levels_from(first), expected) << "as the log stood";
  reopen();
  EXPECT_EQ(levels_from(first), expected);
  ASSERT_TRUE(ledger_->reindex());
  EXPECT_EQ(level(), Level::none);
  EXPECT_EQ(levels_from(first), expected);
  expect_sound();
}

// Said in one step or in two, from the log alone it comes to the same.
TEST_F(KeyChanges, ACompromiseToldInTwoStepsIsTheSameAsInOne) {
  const Level before = level();
  const std::uint64_t first = size();
  ASSERT_TRUE(root_says(id(Role::importer), revocation({})));
  ASSERT_TRUE(root_says(id(Role::importer), revocation(size())));
  EXPECT_EQ(level(), before) << "nothing was signed that late";
  ASSERT_TRUE(root_says(id(Role::importer), revocation(7)));
  EXPECT_EQ(level(), Level::none);
  EXPECT_EQ(code(root_says(id(Role::importer), revocation(7))), "ALREADY_REVOKED");
  EXPECT_EQ(code(root_says(id(Role::importer), revocation(8))), "ALREADY_REVOKED");
  const std::vector<Level> expected = {before, before, before, Level::none};
  EXPECT_EQ(levels_from(first), expected);
  reopen();
  EXPECT_EQ(levels_from(first), expected);
  ASSERT_TRUE(ledger_->reindex());
  EXPECT_EQ(levels_from(first), expected);
  expect_sound();
  LedgerFixture one_step;
  const std::unique_ptr<Ledger> other = one_step.open();
  ASSERT_TRUE(attest(*other, {id(Role::importer), revocation(7)}, fixture_key(Role::root)));
  EXPECT_EQ(view_run(other->read(), subject()).value().evidence.level, level());
}

TEST_F(KeyChanges, ARetractionByAStolenKeyIsVoid) {
  ASSERT_TRUE(attest(*ledger_, {subject(), Retraction{"mine now"}}, fixture_key(Role::maintainer)));
  const std::uint64_t stolen = size() - 1;
  EXPECT_FALSE(view_run(ledger_->read(), subject()).value().eligible());
  ASSERT_TRUE(root_says(id(Role::maintainer), revocation(stolen)));
  EXPECT_TRUE(view_run(ledger_->read(), subject()).value().eligible());
  ReadPolicy earlier;
  earlier.as_of = stolen + 1;
  EXPECT_FALSE(view_run(ledger_->read(), subject(), earlier).value().eligible());
  expect_sound();
}

TEST_F(KeyChanges, ThereIsOneRoot) {
  KeyEnrolment second;
  second.public_key = SigningKey::generate().public_key();
  second.role = Role::root;
  second.owner = "tester";
  EXPECT_EQ(code(root_says(second.public_key.id(), KeyChange{second})), "ROOT_ENROLLED");
  EXPECT_EQ(code(root_says(id(Role::root), revocation({}))), "ROOT_REVOKED");
  expect_sound();
}

TEST_F(KeyChanges, TheLastLogKeyIsNotRevokedAlone) {
  const TreeHead before = ledger_->read().head();
  EXPECT_EQ(code(root_says(id(Role::log), revocation({}))), "LAST_LOG_KEY");
  EXPECT_EQ(ledger_->read().head(), before);
}

TEST_F(KeyChanges, ALogKeyWhoseFileIsNotHereIsNotPutInCharge) {
  KeyEnrolment elsewhere;
  elsewhere.public_key = SigningKey::generate().public_key();
  elsewhere.role = Role::log;
  elsewhere.owner = "tester";
  ASSERT_TRUE(root_says(elsewhere.public_key.id(), KeyChange{elsewhere}));
  const TreeHead before = ledger_->read().head();
  EXPECT_EQ(code(root_says(id(Role::log), revocation({}))), "KEY_NOT_ENROLLED");
  reopen();
  EXPECT_EQ(ledger_->read().head(), before) << "nothing was written";
  expect_sound();
}

TEST_F(KeyChanges, TheFirstCheckpointOfANewLogKeyBearsBothLinesAndTheNextOne) {
  ASSERT_TRUE(ledger_->checkpoint());
  const Result<Rotation> rotated =
      rotate_key(*ledger_, {Role::log, "yearly", {}, {}}, fixture_key(Role::root));
  ASSERT_TRUE(rotated) << rotated.error().text();
  EXPECT_EQ(rotated->kept, replaced_key_path(ledger_->options().keys, Role::log,
                                             fixture_key(Role::log).public_key()));
  const SignedCheckpoint first = ledger_->checkpoint().value();
  EXPECT_EQ(first.checkpoint.head, ledger_->read().head());
  EXPECT_THAT(first.signatures, SizeIs(2));
  for (const PublicKey& key : {rotated->old_key, rotated->new_key}) {
    const std::vector known = {log_verifier_key("example.org/tests", key)};
    EXPECT_TRUE(verify_checkpoint(first, known).ok());
  }
  ASSERT_TRUE(attest(*ledger_, {subject(), Dispute{"too fast"}}, fixture_key(Role::maintainer)));
  EXPECT_THAT(ledger_->checkpoint().value().signatures, SizeIs(1));
  expect_sound();
}

TEST_F(KeyChanges, ARotationThatIsRefusedLeavesNoFile) {
  const auto files = role_key_files(ledger_->options().keys, Role::maintainer);
  const Result<Rotation> refused =
      rotate_key(*ledger_, {Role::maintainer, "why", {}, {}}, fixture_key(Role::contributor));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "WRONG_ROLE");
  EXPECT_EQ(role_key_files(ledger_->options().keys, Role::maintainer), files);
}

}  // namespace
}  // namespace kernelindex::test
