// SPDX-License-Identifier: Apache-2.0
#include "ledger/judgements.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>

#include "ledger/entry.h"

namespace kernelindex {
namespace {

Digest digest_of(const std::string& text) { return sha256(text); }

// A key book with one key of each role, by fixed seeds.
class Keys {
 public:
  Keys() {
    const SigningKey root = make(Role::root);
    LedgerFounding founding{"example.org/log", "local", root.public_key(),
                            make(Role::log).public_key(), 100};
    EXPECT_TRUE(book_.apply(
        0,
        {root.public_key().id(), {std::nullopt, root.public_key().id(), std::nullopt}, founding}));
    std::uint64_t index = 1;
    for (const Role role : kRoles) {
      if (role == Role::root) continue;
      enrol(index++, role, role_name(role));
    }
  }

  static SigningKey make(Role role, std::string_view name = {}) {
    const Digest seed = sha256(std::string(role_name(role)) + std::string(name));
    return SigningKey::from_seed(seed.raw()).value();
  }
  Digest id(Role role) const { return make(role, role_name(role)).public_key().id(); }

  void enrol(std::uint64_t index, Role role, std::string_view name) {
    KeyEnrolment enrolment;
    enrolment.public_key = make(role, name).public_key();
    enrolment.role = role;
    enrolment.owner = "local";
    apply(index, enrolment.public_key.id(), KeyChange{enrolment});
  }
  void revoke(std::uint64_t index, Role role, std::optional<std::uint64_t> void_from) {
    apply(index, id(role), KeyChange{Revocation{"lost", void_from}});
  }
  const KeyBook& book() const { return book_; }

 private:
  void apply(std::uint64_t index, const Digest& subject, const KeyChange& change) {
    const Digest root = make(Role::root).public_key().id();
    const Status status =
        book_.apply(index, {subject, {Digest(), root, TreeHead{0, empty_root()}}, change});
    EXPECT_TRUE(status) << status.error().message;
  }

  KeyBook book_;
};

ChainFact fact(std::uint64_t index, ChainFact::Kind kind, const Digest& subject,
               const Digest& signer) {
  ChainFact out;
  out.index = index;
  out.kind = kind;
  out.id = digest_of("attestation " + std::to_string(index));
  out.subject = subject;
  out.signer = signer;
  return out;
}

TEST(Judgements, ARetractionTakesItsSubjectBack) {
  const Keys keys;
  const Digest run = digest_of("run");
  const std::vector<ChainFact> facts = {
      fact(20, ChainFact::Kind::retraction, run, keys.id(Role::maintainer))};
  EXPECT_TRUE(Judgements(facts, keys.book(), 21).retracted(run));
  EXPECT_FALSE(Judgements(facts, keys.book(), 20).retracted(run)) << "as of a size before it";
}

TEST(Judgements, ARetractedRetractionNoLongerCounts) {
  const Keys keys;
  const Digest run = digest_of("run");
  std::vector<ChainFact> facts = {
      fact(20, ChainFact::Kind::retraction, run, keys.id(Role::maintainer))};
  facts.push_back(fact(21, ChainFact::Kind::retraction, facts[0].id, keys.id(Role::maintainer)));
  EXPECT_FALSE(Judgements(facts, keys.book(), 22).retracted(run));
  facts.push_back(fact(22, ChainFact::Kind::retraction, facts[1].id, keys.id(Role::maintainer)));
  EXPECT_TRUE(Judgements(facts, keys.book(), 23).retracted(run));
}

TEST(Judgements, OnlyTheRoleThatMaySayItCounts) {
  const Keys keys;
  const Digest run = digest_of("run");
  for (const Role role : kRoles) {
    if (role == Role::root) continue;
    const std::vector<ChainFact> facts = {
        fact(20, ChainFact::Kind::retraction, run, keys.id(role))};
    EXPECT_EQ(Judgements(facts, keys.book(), 21).retracted(run), role == Role::maintainer)
        << role_name(role);
  }
}

TEST(Judgements, ACompromiseVoidsFromItsIndexOn) {
  Keys keys;
  const Digest early = digest_of("early");
  const Digest late = digest_of("late");
  const std::vector<ChainFact> facts = {
      fact(20, ChainFact::Kind::retraction, early, keys.id(Role::maintainer)),
      fact(25, ChainFact::Kind::retraction, late, keys.id(Role::maintainer))};
  keys.revoke(30, Role::maintainer, 25);
  const Judgements judgements(facts, keys.book(), 31);
  EXPECT_TRUE(judgements.retracted(early));
  EXPECT_FALSE(judgements.retracted(late));
}

TEST(Judgements, WhatIsUnknownLeavesItsSubjectAndWhatThatIsAboutInDoubt) {
  const Keys keys;
  const Digest run = digest_of("run");
  std::vector<ChainFact> facts = {
      fact(20, ChainFact::Kind::measurement, run, keys.id(Role::controller))};
  facts.push_back(fact(21, ChainFact::Kind::unknown, facts[0].id, keys.id(Role::contributor)));
  const Judgements judgements(facts, keys.book(), 22);
  ASSERT_NE(judgements.find(run), nullptr);
  EXPECT_TRUE(judgements.find(run)->cannot_judge);
  EXPECT_EQ(judgements.find(digest_of("another run")), nullptr);
}

TEST(Judgements, ADismissedDisputeIsNotOpen) {
  const Keys keys;
  const Digest run = digest_of("run");
  std::vector<ChainFact> facts = {
      fact(20, ChainFact::Kind::dispute, run, keys.id(Role::maintainer)),
      fact(21, ChainFact::Kind::dispute, run, keys.id(Role::maintainer))};
  ChainFact resolution =
      fact(22, ChainFact::Kind::dispute_resolution, run, keys.id(Role::maintainer));
  resolution.other = facts[0].id;
  resolution.text = "dismissed";
  facts.push_back(resolution);
  EXPECT_EQ(Judgements(facts, keys.book(), 23).find(run)->disputes, std::vector<std::uint64_t>{21});
}

// The definition itself, without the one pass from the end.
bool counts_by_definition(const std::vector<ChainFact>& facts, std::size_t position,
                          const KeyBook& keys) {
  const ChainFact& fact = facts[position];
  const KeyRecord* signer = keys.find(fact.signer);
  const Role needed = fact.kind == ChainFact::Kind::withdrawal ? Role::importer : Role::maintainer;
  if (signer == nullptr || signer->role != needed || !signer->valid_at(fact.index)) return false;
  for (std::size_t later = position + 1; later < facts.size(); ++later) {
    if (facts[later].kind == ChainFact::Kind::retraction && facts[later].subject == fact.id &&
        counts_by_definition(facts, later, keys)) {
      return false;
    }
  }
  return true;
}

std::vector<ChainFact> random_facts(std::mt19937_64& random, const Keys& keys) {
  constexpr std::array kKinds = {ChainFact::Kind::retraction, ChainFact::Kind::dispute,
                                 ChainFact::Kind::withdrawal, ChainFact::Kind::supersession};
  constexpr std::array kSigners = {Role::maintainer, Role::importer, Role::contributor};
  std::vector<ChainFact> facts;
  const std::size_t count = 1 + random() % 24;
  for (std::uint64_t index = 20; index < 20 + count; ++index) {
    // A subject that exists: one of three runs, or something said before.
    const bool about_another = !facts.empty() && random() % 2 == 0;
    const Digest subject = about_another ? facts[random() % facts.size()].id
                                         : digest_of("run " + std::to_string(random() % 3));
    facts.push_back(fact(index, kKinds[random() % kKinds.size()], subject,
                         keys.id(kSigners[random() % 3 == 0 ? random() % 3 : 0])));
  }
  return facts;
}

TEST(Judgements, AgreeWithTheDefinitionOnRandomChains) {
  std::mt19937_64 random(20261130);
  for (int round = 0; round < 500; ++round) {
    Keys keys;
    const std::vector<ChainFact> facts = random_facts(random, keys);
    if (random() % 2 == 0) keys.revoke(60, Role::maintainer, 20 + random() % 30);
    const Judgements judgements(facts, keys.book(), 100);
    for (std::size_t i = 0; i < facts.size(); ++i) {
      EXPECT_EQ(judgements.counts(facts[i].index), counts_by_definition(facts, i, keys.book()))
          << "round " << round << ", entry " << facts[i].index;
    }
  }
}

TEST(Judgements, DoNotDependOnWhereUnrelatedEntriesStand) {
  std::mt19937_64 random(7);
  const Keys keys;
  for (int round = 0; round < 200; ++round) {
    std::vector<ChainFact> ours;
    std::vector<ChainFact> others;
    for (ChainFact& one : random_facts(random, keys)) ours.push_back(std::move(one));
    for (std::uint64_t i = 0; i < 10; ++i) {
      others.push_back(fact(1000 + i, ChainFact::Kind::retraction,
                            digest_of("elsewhere " + std::to_string(i)),
                            keys.id(Role::maintainer)));
    }
    const Judgements alone(ours, keys.book(), 100);
    // Interleaved at random: each keeps its own order, indexes move.
    std::vector<ChainFact> mixed;
    for (std::size_t a = 0, b = 0; a < ours.size() || b < others.size();) {
      const bool take_ours = b == others.size() || (a < ours.size() && random() % 2 == 0);
      mixed.push_back(take_ours ? ours[a++] : others[b++]);
      mixed.back().index = 20 + mixed.size();
    }
    const Judgements together(mixed, keys.book(), 1000);
    for (int run = 0; run < 3; ++run) {
      const Digest subject = digest_of("run " + std::to_string(run));
      const SubjectJudgement* one = alone.find(subject);
      const SubjectJudgement* other = together.find(subject);
      ASSERT_EQ(one == nullptr, other == nullptr);
      if (one == nullptr) continue;
      EXPECT_EQ(one->retracted(), other->retracted());
      EXPECT_EQ(one->disputes.size(), other->disputes.size());
      EXPECT_EQ(one->withdrawals.size(), other->withdrawals.size());
      EXPECT_EQ(one->successors.size(), other->successors.size());
    }
  }
}

TEST(ChainFact, ReadsBackWhatIsStored) {
  ChainFact said = fact(7, ChainFact::Kind::withdrawal, digest_of("run"), digest_of("key"));
  said.text = "sol-execbench:submission/15866";
  const Result<ChainFact> back = decode_chain_fact(7, encode_chain_fact(said));
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, said);
  EXPECT_FALSE(decode_chain_fact(7, encode_chain_fact(said).substr(0, 100)));
  EXPECT_FALSE(decode_chain_fact(7, "X" + encode_chain_fact(said).substr(1)));
}

}  // namespace
}  // namespace kernelindex
