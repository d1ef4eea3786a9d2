// SPDX-License-Identifier: Apache-2.0
// What every predicate has in common: nothing is guessed, nothing is overlooked, and one meaning
// has one spelling.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

#include "ledger/predicate_mutations.h"
#include "ledger/predicate_samples.h"
#include "ledger/predicates.h"

namespace kernelindex {
namespace {

using test::Mutation;

// Members whose own members are any: names there are data.
bool is_free_form(const std::string& path) {
  return path.starts_with("predicate.options") || path == "predicate.counts" ||
         path.starts_with("predicate.counts.");
}

std::vector<Attestation> samples() {
  std::vector<Attestation> all = test::full_samples();
  for (Attestation& sample : test::least_samples()) all.push_back(std::move(sample));
  return all;
}

TEST(PredicateStrictness, TheSamplesHoldEveryPredicate) {
  std::array<bool, std::variant_size_v<Predicate>> seen{};
  for (const Attestation& sample : samples()) seen[sample.predicate.index()] = true;
  EXPECT_TRUE(std::ranges::all_of(seen, std::identity()));
}

TEST(PredicateStrictness, AMemberThatIsMissingIsNamed) {
  const auto places = [](const Attestation& sample) {
    std::vector<std::string> out;
    for (const Mutation& mutation : test::mutations_of(sample)) {
      if (mutation.kind != Mutation::Kind::missing || is_free_form(mutation.path)) continue;
      const Result<Attestation> read = parse_attestation(mutation.payload);
      if (read) {
        out.push_back(mutation.path);
      } else if (!mutation.path.starts_with("predicate.heads.") &&
                 read.error().code != "MISSING_MEMBER") {
        // The member that tells the shapes of key/v1 apart: without it another is missing.
        ADD_FAILURE() << mutation.path << ": " << read.error().text();
      } else if (read.error().code == "MISSING_MEMBER" && read.error().place != mutation.path) {
        EXPECT_TRUE(mutation.path == "predicate.approve" || mutation.path == "predicate.revoke")
            << mutation.path << ": " << read.error().text();
      }
    }
    return out;
  };
  // What may be left out, of the samples that have everything; of the others: nothing more.
  std::vector<std::string> optional;
  for (const Attestation& sample : test::full_samples()) {
    for (std::string& path : places(sample)) {
      optional.push_back(std::string(predicate_type(sample.predicate).name) + " " + path);
    }
  }
  std::ranges::sort(optional);
  std::string heads[] = {"status/v1 predicate.heads." + sha256("key").text(),
                         "status/v1 predicate.heads." + sha256("run").text()};
  std::ranges::sort(heads);
  EXPECT_EQ(
      optional,
      (std::vector<std::string>{
          "controlled-run/v1 predicate.samples", "import/v1 predicate.report",
          "key/v1 predicate.hardware", "key/v1 predicate.protocols", "key/v1 predicate.reason",
          "key/v1 predicate.reason", "key/v1 predicate.revoke.voidFrom",
          "measurement-job/v1 predicate.device.architecture",
          "measurement-job/v1 predicate.device.memoryBytes",
          "measurement-job/v1 predicate.device.migProfile", "note/v1 predicate.environment",
          "note/v1 predicate.evidenceUrl", "note/v1 predicate.observedNs", heads[0], heads[1]}));
  for (const Attestation& sample : test::least_samples()) {
    if (std::holds_alternative<StatusStatement>(sample.predicate)) continue;
    EXPECT_EQ(places(sample), std::vector<std::string>()) << predicate_type(sample.predicate).name;
  }
}

TEST(PredicateStrictness, AMemberThatIsUnknownIsRefusedAtEveryDepth) {
  for (const Attestation& sample : samples()) {
    for (const Mutation& mutation : test::mutations_of(sample)) {
      if (mutation.kind != Mutation::Kind::unknown || is_free_form(mutation.path)) continue;
      const Result<Attestation> read = parse_attestation(mutation.payload);
      ASSERT_FALSE(read.has_value()) << mutation.path;
      if (mutation.path == "predicate.heads") {
        EXPECT_EQ(read.error().code, "BAD_DIGEST");
        continue;
      }
      EXPECT_EQ(read.error().code, "UNKNOWN_MEMBER") << read.error().text();
      EXPECT_EQ(read.error().place, mutation.path + ".unheardOf");
    }
  }
}

TEST(PredicateStrictness, AValueOfAnotherTypeIsRefusedWhereItStands) {
  std::size_t count = 0;
  for (const Attestation& sample : samples()) {
    for (const Mutation& mutation : test::mutations_of(sample)) {
      if (mutation.kind != Mutation::Kind::type) continue;
      if (mutation.path.starts_with("predicate.options.")) continue;
      const Result<Attestation> read = parse_attestation(mutation.payload);
      ASSERT_FALSE(read.has_value()) << mutation.path << " " << mutation.predicate;
      ++count;
      if (mutation.path == "predicate") {
        EXPECT_EQ(read.error().code, "BAD_STATEMENT");
        continue;
      }
      EXPECT_TRUE(read.error().code == "BAD_MEMBER" || read.error().code == "BAD_DIGEST" ||
                  read.error().code == "UNSUPPORTED_FORMAT")
          << read.error().text();
      // Items of lists of texts are named by their list.
      const std::string& place = read.error().place;
      EXPECT_TRUE(mutation.path == place ||
                  (mutation.path.starts_with(place) && mutation.path[place.size()] == '['))
          << mutation.path << " is not " << read.error().text();
    }
  }
  EXPECT_GT(count, 500u);
}

TEST(PredicateStrictness, TextsAndNumbersHaveBoundsEverywhere) {
  for (const Attestation& sample : samples()) {
    for (const Mutation& mutation : test::mutations_of(sample)) {
      if (mutation.kind != Mutation::Kind::number && mutation.kind != Mutation::Kind::text) {
        continue;
      }
      if (mutation.path.starts_with("predicate.options.")) continue;
      const Result<Attestation> read = parse_attestation(mutation.payload);
      if (mutation.kind == Mutation::Kind::number) {
        ASSERT_FALSE(read.has_value()) << mutation.path << " " << mutation.predicate;
      }
      if (!read) {
        EXPECT_TRUE(mutation.path.starts_with(read.error().place)) << read.error().text();
        continue;
      }
      // A text may end in a newline where there are paragraphs.
      const bool paragraphs = mutation.path.ends_with("reason") || mutation.path.ends_with("text");
      EXPECT_TRUE(paragraphs || !mutation.predicate.contains("\\n\""))
          << mutation.path << " " << mutation.predicate;
      EXPECT_LT(mutation.payload.size(), 9000u) << mutation.path;
    }
  }
}

TEST(PredicateStrictness, ListsThatMeanASetHaveOneOrder) {
  std::vector<std::string> ordered;
  for (const Attestation& sample : test::full_samples()) {
    for (const Mutation& mutation : test::mutations_of(sample)) {
      if (mutation.kind != Mutation::Kind::repeated && mutation.kind != Mutation::Kind::reversed) {
        continue;
      }
      const Result<Attestation> read = parse_attestation(mutation.payload);
      if (read) {
        ordered.push_back(test::name_of(mutation));
      } else if (read.error().code != "SUBJECT_MISMATCH") {
        EXPECT_EQ(read.error().code, "BAD_MEMBER") << read.error().text();
        EXPECT_EQ(read.error().place, mutation.path);
      }
    }
  }
  // Snapshots stand in the order of reading, sessions in that of measuring.
  EXPECT_EQ(ordered,
            (std::vector<std::string>{"repeated predicate.snapshots", "repeated predicate.sessions",
                                      "reversed predicate.sessions"}));
}

TEST(PredicateStrictness, WhatIsWrittenIsReadBackAsItWas) {
  std::mt19937_64 random(20261130);
  for (int round = 0; round < 300; ++round) {
    for (std::size_t row = 0; row < predicate_types().size(); ++row) {
      const Attestation attestation = test::random_attestation(row, random);
      const Result<std::string> payload = attestation.encode();
      ASSERT_TRUE(payload.has_value())
          << predicate_types()[row].name << ": " << payload.error().text();
      const Result<Attestation> read = parse_attestation(*payload);
      ASSERT_TRUE(read.has_value());
      EXPECT_EQ(*read, attestation);
      EXPECT_EQ(read->encode().value(), *payload);
    }
  }
}

// Whatever a reader lets through, it would write the same.
TEST(PredicateStrictness, WhatIsReadIsWrittenAsItWas) {
  std::mt19937_64 random(5);
  std::size_t accepted = 0;
  for (std::size_t row = 0; row < predicate_types().size(); ++row) {
    for (int round = 0; round < 10; ++round) {
      for (const Mutation& mutation : test::mutations_of(test::random_attestation(row, random))) {
        const Result<Attestation> read = parse_attestation(mutation.payload);
        if (!read) continue;
        ++accepted;
        EXPECT_EQ(read->encode().value(), mutation.payload) << test::name_of(mutation);
      }
    }
  }
  EXPECT_GT(accepted, 100u);
}

}  // namespace
}  // namespace kernelindex
