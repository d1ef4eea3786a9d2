// SPDX-License-Identifier: Apache-2.0
// The shipped JSON Schemas against our own readers, by a validator that is not ours.
#include "ledger/predicate_schemas.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <sstream>

#include "ledger/predicate_mutations.h"
#include "ledger/predicate_samples.h"
#include "schema/json_reader.h"
#include "support/corpus.h"
#include "support/run_program.h"
#include "support/temp_dir.h"

namespace kernelindex {
namespace {

using test::Mutation;

struct Case {
  std::string name;
  std::string schema;  // file
  std::string predicate;
  bool read = false;  // our reader takes it
};

std::string schema_of(const Attestation& attestation) {
  return predicate_schema_file(predicate_type(attestation.predicate));
}

std::vector<Case> sound_cases() {
  std::vector<Case> cases;
  std::vector<Attestation> all = test::full_samples();
  for (Attestation& sample : test::least_samples()) all.push_back(std::move(sample));
  std::mt19937_64 random(11);
  for (std::size_t row = 0; row < predicate_types().size(); ++row) {
    for (int round = 0; round < 25; ++round) all.push_back(test::random_attestation(row, random));
  }
  for (const Attestation& sample : all) {
    cases.push_back(
        {"sound", schema_of(sample), test::predicate_of(sample.encode().value()), true});
  }
  return cases;
}

// What JSON Schema cannot say: the order of lists, and what stands in two members.
bool is_beyond_schemas(const Mutation& mutation) {
  return mutation.kind == Mutation::Kind::reversed ||
         test::name_of(mutation) == "repeated predicate.sources";
}

std::vector<Case> spoilt_cases() {
  std::vector<Case> cases;
  std::vector<Attestation> all = test::full_samples();
  for (Attestation& sample : test::least_samples()) all.push_back(std::move(sample));
  for (const Attestation& sample : all) {
    for (Mutation& mutation : test::mutations_of(sample)) {
      const Result<Attestation> read = parse_attestation(mutation.payload);
      // The subject is no part of the predicate, nor is what a member must be to agree with it.
      const bool judged = read || read.error().place != "subject[0]";
      if (!judged || (!read && is_beyond_schemas(mutation))) continue;
      cases.push_back({test::name_of(mutation), schema_of(sample), std::move(mutation.predicate),
                       read.has_value()});
    }
  }
  return cases;
}

// The validator's answer to each case; empty when it is not installed.
std::vector<std::string> answers(const std::vector<Case>& cases) {
  const test::TempDir folder;
  for (const PredicateType& type : predicate_types()) {
    test::write_file(folder.path() / predicate_schema_file(type), predicate_json_schema(type));
  }
  test::RunOptions options;
  for (const Case& one : cases) {
    options.input += R"({"schema":")" + one.schema + R"(","document":)" + one.predicate + "}\n";
  }
  const std::string script = (test::source_root() / "tests/support/validate_json.py").string();
  // env says 127 when there is no Python at all.
  const test::Outcome outcome =
      test::run_program({"env", "python3", script, folder.path().string()}, options);
  std::vector<std::string> lines;
  if (outcome.exit_code == 77 || outcome.exit_code == 127) return lines;
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  std::istringstream out(outcome.out);
  for (std::string line; std::getline(out, line);) lines.push_back(line);
  EXPECT_EQ(lines.size(), cases.size());
  return lines;
}

void expect_agreement(const std::vector<Case>& cases) {
  const std::vector<std::string> lines = answers(cases);
  if (lines.empty()) {
    GTEST_SKIP()
        << "NO VALIDATOR: python3-jsonschema is not installed, so this test proves nothing";
  }
  ASSERT_EQ(lines.size(), cases.size());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    EXPECT_EQ(lines[i] == "valid", cases[i].read)
        << cases[i].schema << ": " << cases[i].name << ": " << lines[i] << "\n"
        << cases[i].predicate;
  }
}

TEST(PredicateSchemas, WhatOurReadersTakeIsValid) { expect_agreement(sound_cases()); }

TEST(PredicateSchemas, WhatOurReadersRefuseIsInvalid) {
  const std::vector<Case> cases = spoilt_cases();
  EXPECT_GT(std::ranges::count(cases, false, &Case::read), 1000);
  expect_agreement(cases);
}

TEST(PredicateSchemas, EachSaysWhatItIs) {
  for (const PredicateType& type : predicate_types()) {
    json::Arena arena;
    const std::string text = predicate_json_schema(type);
    const json::Value schema = json::parse(text, arena).value();
    EXPECT_EQ(schema.text("$schema"), "https://json-schema.org/draft/2020-12/schema");
    EXPECT_EQ(schema.text("$id"),
              "https://kernelindex.dev/schemas/predicates/" + predicate_schema_file(type));
    EXPECT_EQ(schema.text("title"), type.name);
    EXPECT_TRUE(schema.text("description").contains(role_name(type.signers[0])));
  }
  EXPECT_EQ(predicate_schema_file(*find_predicate_type(std::string(kPredicateBase) + "note/v1")),
            "note-v1.schema.json");
}

// One description, two uses: what our readers take also passes our own walk along the shape.
TEST(PredicateSchemas, TheShapeAloneTakesWhatOurReadersTake) {
  for (const Case& one : sound_cases()) {
    json::Arena arena;
    const json::Value value = json::parse(one.predicate, arena).value();
    for (const PredicateType& type : predicate_types()) {
      if (predicate_schema_file(type) != one.schema) continue;
      std::vector<schema::Fault> faults;
      schema::check(predicate_shape(type), value, arena, faults);
      EXPECT_TRUE(faults.empty()) << one.predicate << "\n" << faults[0].error.text();
    }
  }
}

}  // namespace
}  // namespace kernelindex
