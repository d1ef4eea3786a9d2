// SPDX-License-Identifier: Apache-2.0
#include "ledger/evidence_policy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "ledger/evidence_text.h"

namespace kernelindex {
namespace {

using Verdict = ControlledAttempt::Verdict;

constexpr std::uint32_t kAllHeld = kSourceNamed | kSourceHeld | kEvidenceNamed | kEvidenceHeld;

EvidenceFacts reported() {
  EvidenceFacts facts;
  facts.claims = {{.own_source = true, .covered = true, .snapshot_kept = true}};
  return facts;
}

ControlledAttempt attempt(Verdict verdict, const std::string& owner, const std::string& device) {
  ControlledAttempt out{verdict, owner, sha256(device), sha256(owner + device), true, {}, {}};
  out.host = sha256("host of " + device);
  out.boot = sha256("boot of " + device);
  out.median_ns = 100'000;
  return out;
}

bool has(const Evidence& evidence, LevelReason reason) {
  return std::ranges::find(evidence.reasons, reason) != evidence.reasons.end();
}

TEST(EvidencePolicy, AClaimOfAnotherSourceReportsNothing) {
  EvidenceFacts facts = reported();
  facts.claims[0].own_source = false;
  EXPECT_EQ(evidence_v1(facts).level, Level::none);
  EXPECT_TRUE(has(evidence_v1(facts), LevelReason::no_source_claim));
}

TEST(EvidencePolicy, ARetractedImportReportsNothing) {
  EvidenceFacts facts = reported();
  facts.claims[0].import_retracted = true;
  EXPECT_EQ(evidence_v1(facts).level, Level::none);
  EXPECT_TRUE(has(evidence_v1(facts), LevelReason::import_retracted));
}

TEST(EvidencePolicy, BytesInTheLogMakeItReproducible) {
  EvidenceFacts facts = reported();
  facts.flags = kAllHeld;
  EXPECT_EQ(evidence_v1(facts).level, Level::reproducible);
  facts.flags &= ~static_cast<std::uint32_t>(kEvidenceHeld);
  EXPECT_EQ(evidence_v1(facts).level, Level::reported);
  EXPECT_TRUE(has(evidence_v1(facts), LevelReason::bytes_not_held));
}

TEST(EvidencePolicy, ConfirmingAttemptsMustOutnumberTheOthers) {
  EvidenceFacts facts = reported();
  facts.attempts = {attempt(Verdict::confirms, "a", "gpu 1")};
  EXPECT_EQ(evidence_v1(facts).level, Level::verified);
  for (const Verdict against : {Verdict::differs, Verdict::not_reproduced, Verdict::unanswered}) {
    EvidenceFacts even = facts;
    even.attempts.push_back(attempt(against, "a", "gpu 1"));
    EXPECT_EQ(evidence_v1(even).level, Level::reported);
    EXPECT_TRUE(has(evidence_v1(even), LevelReason::not_confirmed));
  }
  for (const Verdict neither : {Verdict::inconclusive, Verdict::not_comparable}) {
    EvidenceFacts more = facts;
    more.attempts.push_back(attempt(neither, "a", "gpu 1"));
    EXPECT_EQ(evidence_v1(more).level, Level::verified);
  }
}

TEST(EvidencePolicy, TwoOwnersOnDifferentDevicesReplicate) {
  EvidenceFacts facts = reported();
  facts.attempts = {attempt(Verdict::confirms, "a", "gpu 1"),
                    attempt(Verdict::confirms, "b", "gpu 2")};
  EXPECT_EQ(evidence_v1(facts).level, Level::replicated);
  facts.attempts[1].device = facts.attempts[0].device;
  EXPECT_EQ(evidence_v1(facts).level, Level::verified);
  EXPECT_TRUE(has(evidence_v1(facts), LevelReason::same_device));
  facts.attempts[1] = attempt(Verdict::confirms, "b", "gpu 2");
  facts.attempts[1].samples = facts.attempts[0].samples;
  EXPECT_EQ(evidence_v1(facts).level, Level::verified);
  // Exactly 3 % apart is alike, and with noise their sum.
  facts.attempts[1] = attempt(Verdict::confirms, "b", "gpu 2");
  facts.attempts[1].median_ns = 103'000;
  EXPECT_EQ(evidence_v1(facts).level, Level::replicated);
  facts.attempts[1].median_ns = 103'001;
  EXPECT_TRUE(has(evidence_v1(facts), LevelReason::medians_differ));
  facts.attempts[0].noise_ppm = 20'010;
  facts.attempts[1].noise_ppm = 10'000;
  EXPECT_EQ(evidence_v1(facts).level, Level::replicated);
  for (Digest ControlledAttempt::*same : {&ControlledAttempt::host, &ControlledAttempt::boot}) {
    EvidenceFacts one = facts;
    one.attempts[1].*same = one.attempts[0].*same;
    EXPECT_EQ(evidence_v1(one).level, Level::verified);
    EXPECT_TRUE(has(evidence_v1(one), LevelReason::same_host));
  }
  // An owner who does not reach verified alone is no second owner.
  facts.attempts = {
      attempt(Verdict::confirms, "a", "gpu 1"), attempt(Verdict::confirms, "a", "gpu 3"),
      attempt(Verdict::confirms, "b", "gpu 2"), attempt(Verdict::differs, "b", "gpu 2")};
  EXPECT_EQ(evidence_v1(facts).level, Level::verified);
  EXPECT_TRUE(has(evidence_v1(facts), LevelReason::one_owner));
}

TEST(EvidencePolicy, SourceThatNoDigestCoversConfirmsNothing) {
  EvidenceFacts facts = reported();
  facts.attempts = {attempt(Verdict::confirms, "a", "gpu 1")};
  facts.attempts[0].source_covered = false;
  EXPECT_EQ(evidence_v1(facts).level, Level::reported);
  EXPECT_TRUE(has(evidence_v1(facts), LevelReason::source_partial));
}

TEST(EvidencePolicy, AControlledRunCountsThroughItsAcceptanceAlone) {
  EvidenceFacts facts = reported();
  facts.controlled = true;
  EXPECT_EQ(evidence_v1(facts).level, Level::none);
  EXPECT_TRUE(has(evidence_v1(facts), LevelReason::not_accepted));
  facts.accepted = true;
  EXPECT_EQ(evidence_v1(facts).level, Level::verified);
}

TEST(EvidencePolicy, WhatCannotBeJudgedHasNoLevel) {
  EvidenceFacts facts = reported();
  facts.flags = kAllHeld;
  facts.attempts = {attempt(Verdict::confirms, "a", "gpu 1")};
  facts.cannot_judge = true;
  EXPECT_EQ(evidence_v1(facts).level, Level::none);
}

EvidenceFacts random_facts(std::mt19937_64& random) {
  EvidenceFacts facts;
  facts.serving = random() % 8 == 0;
  const auto coin = [&] { return random() % 2 == 0; };
  for (std::size_t i = 0; i < random() % 4; ++i) {
    facts.claims.push_back({coin(), coin(), random() % 4 == 0, coin()});
  }
  facts.flags = static_cast<std::uint32_t>(random() % 2 == 0 ? random() & 0x3fff : kAllHeld);
  for (std::size_t i = 0; i < random() % 6; ++i) {
    facts.attempts.push_back(attempt(static_cast<Verdict>(random() % 6), coin() ? "a" : "b",
                                     coin() ? "gpu 1" : "gpu 2"));
    facts.attempts.back().source_covered = random() % 4 != 0;
  }
  return facts;
}

TEST(EvidencePolicy, OnlyControlledAttemptsRiseAboveReproducible) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 20'000; ++round) {
    EvidenceFacts facts = random_facts(random);
    facts.attempts.clear();
    EXPECT_LE(evidence_v1(facts).level, Level::reproducible);
  }
}

TEST(EvidencePolicy, WhatPeopleSayNeverChangesALevel) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 20'000; ++round) {
    EvidenceFacts facts = random_facts(random);
    const Level before = evidence_v1(facts).level;
    facts.disputed = true;
    facts.retracted = random() % 2 == 0;
    EXPECT_EQ(evidence_v1(facts).level, before);
  }
}

TEST(EvidencePolicy, AConfirmingAttemptNeverLowersALevel) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 20'000; ++round) {
    EvidenceFacts facts = random_facts(random);
    const Level before = evidence_v1(facts).level;
    facts.attempts.push_back(attempt(Verdict::confirms, random() % 2 == 0 ? "a" : "b", "gpu 3"));
    EXPECT_GE(evidence_v1(facts).level, before);
  }
}

TEST(EvidencePolicy, AnAttemptThatFailedNeverRaisesALevel) {
  std::mt19937_64 random(4);
  constexpr std::array kAgainst = {Verdict::differs, Verdict::not_reproduced, Verdict::unanswered};
  for (int round = 0; round < 20'000; ++round) {
    EvidenceFacts facts = random_facts(random);
    const Level before = evidence_v1(facts).level;
    facts.attempts.push_back(
        attempt(kAgainst[random() % 3], random() % 2 == 0 ? "a" : "b", "gpu 3"));
    EXPECT_LE(evidence_v1(facts).level, before);
  }
}

TEST(EvidencePolicy, TheOrderOfAttemptsDoesNotMatter) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 5'000; ++round) {
    EvidenceFacts facts = random_facts(random);
    const Evidence before = evidence_v1(facts);
    std::ranges::shuffle(facts.attempts, random);
    std::ranges::shuffle(facts.claims, random);
    EXPECT_EQ(evidence_v1(facts).level, before.level);
    EXPECT_EQ(evidence_v1(facts).reasons, before.reasons);
  }
}

TEST(EvidencePolicy, EveryReasonHasACodeAndASentence) {
  for (int i = 0; i <= static_cast<int>(LevelReason::operator_ran_it); ++i) {
    const auto reason = static_cast<LevelReason>(i);
    EXPECT_FALSE(reason_name(reason).empty());
    EXPECT_FALSE(reason_text(reason).means.empty()) << reason_name(reason);
  }
}

}  // namespace
}  // namespace kernelindex
