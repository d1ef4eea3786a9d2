// SPDX-License-Identifier: Apache-2.0
#include "ingest/sol_local.h"

#include <gtest/gtest.h>

#include "ingest/sol_files.h"
#include "tests/ingest/known_digests.h"
#include "tests/support/corpus.h"

namespace kernelindex {
namespace {

using ingest::FindingClass;
using test::CollectingSink;
using test::DigestsById;
using test::SourceFiles;

constexpr std::string_view kFolder = "data/sources/sol-execbench/";

CollectingSink import(const SourceFiles& files, std::string_view commit) {
  CollectingSink sink;
  const Status done = ingest::import_sol_files(files.recorded(), {}, {std::string(commit)}, sink);
  EXPECT_TRUE(done) << done.error().text();
  return sink;
}

SourceFiles folder(std::string_view name) {
  return SourceFiles::of_folder(test::corpus_path(std::string(kFolder) + std::string(name)));
}

// Cases are keyed without their definition in expected*.jsonl.
DigestsById found_cases(const CollectingSink& sink) {
  DigestsById out;
  for (const auto& [id, digests] : test::found_digests(sink, ManifestKind::workload_case)) {
    out[id.substr(id.rfind('/') + 1)].insert(digests.begin(), digests.end());
  }
  return out;
}

void expect_all(const CollectingSink& sink, std::string_view expected) {
  const std::string path = std::string(kFolder) + std::string(expected);
  EXPECT_EQ(test::found_digests(sink, ManifestKind::operation_spec),
            test::expected_digests(path, "operation"));
  EXPECT_EQ(found_cases(sink), test::expected_digests(path, "case"));
  EXPECT_EQ(test::found_digests(sink, ManifestKind::implementation_revision),
            test::expected_digests(path, "implementation"));
  EXPECT_EQ(test::found_digests(sink, ManifestKind::benchmark_run),
            test::expected_digests(path, "run"));
}

TEST(SolLocal, TheExamplesOfTheRepositoryGiveTheExpectedDigests) {
  KERNELINDEX_REQUIRE_CORPUS();
  const CollectingSink sink =
      import(folder("nvidia-repo/examples"), "8d2237d2012cba81f64905b273b592653623abf9");
  EXPECT_TRUE(sink.findings(FindingClass::quarantined).empty()) << sink.said();
  expect_all(sink, "expected-nvidia-examples-samedir.jsonl");
  EXPECT_EQ(sink.early_claims, 0u);
  // Two solutions share a definition, which stands beside each with its list.
  EXPECT_EQ(sink.skipped_count("definition_repeated"), 2u);
}

TEST(SolLocal, TheFixtureWithTracesGivesTheExpectedDigests) {
  KERNELINDEX_REQUIRE_CORPUS();
  const CollectingSink sink =
      import(folder("kernelindex-fixtures/rmsnorm"), "a9fa0804c793d438e70850c33fe34426e66d53dd");
  EXPECT_TRUE(sink.findings(FindingClass::quarantined).empty()) << sink.said();
  expect_all(sink, "expected-rmsnorm-fixture.jsonl");
  EXPECT_EQ(sink.artifacts.size(), 3u) << "kernel.h, kernel.cu and main.cpp; the logs are empty";
}

TEST(SolLocal, WhatFlashinferAlsoHasIsTheSameObject) {
  KERNELINDEX_REQUIRE_CORPUS();
  const CollectingSink sink =
      import(folder("nvidia-repo/examples"), "8d2237d2012cba81f64905b273b592653623abf9");
  std::size_t shared = 0;
  for (const ingest::Draft& draft : sink.drafts) {
    shared += test::catalog_objects().contains(draft.manifest.identity.text()) ? 1u : 0u;
  }
  EXPECT_EQ(shared, 15u) << "rmsnorm_h4096 and its 14 cases";
}

TEST(SolLocal, WithoutACommitSolutionsAreSetAside) {
  KERNELINDEX_REQUIRE_CORPUS();
  const CollectingSink sink = import(folder("kernelindex-fixtures/rmsnorm"), "");
  ASSERT_EQ(sink.findings(FindingClass::quarantined).size(), 1u) << sink.said();
  EXPECT_EQ(sink.findings(FindingClass::quarantined)[0]->code, "NO_PINNED_COMMIT");
  EXPECT_EQ(sink.claims_of(ManifestKind::workload_case), 4u);
  EXPECT_EQ(sink.skipped_count("solution_quarantined"), 2u);
}

TEST(SolLocal, SolutionsWithoutADefinitionAreSetAside) {
  KERNELINDEX_REQUIRE_CORPUS();
  const CollectingSink sink =
      import(folder("nvidia-repo/tests"), "8d2237d2012cba81f64905b273b592653623abf9");
  for (const ingest::Finding* finding : sink.findings(FindingClass::quarantined)) {
    EXPECT_EQ(finding->code, "NO_DEFINITION") << sink.said();
  }
}

TEST(SolLocal, ADumpAndATreeTogetherGiveBoth) {
  KERNELINDEX_REQUIRE_CORPUS();
  SourceFiles files = SourceFiles::of_folder(test::source_root() / "tools/sample");
  const SourceFiles fixture = folder("kernelindex-fixtures/rmsnorm");
  for (const ingest::SourceFile& file : fixture.view()) {
    files.add("local/" + file.locator, std::string(file.bytes));
  }
  const CollectingSink sink = import(files, "a9fa0804c793d438e70850c33fe34426e66d53dd");
  EXPECT_EQ(sink.claims_of(ManifestKind::operation_spec), 3u) << sink.said();
  EXPECT_EQ(sink.claims_of(ManifestKind::benchmark_run), 9u);
  EXPECT_EQ(sink.early_claims, 0u);
}

TEST(SolLocal, TwoDefinitionsOfOneNameAreKeptApartByTheirFolders) {
  KERNELINDEX_REQUIRE_CORPUS();
  SourceFiles files;
  const SourceFiles fixture = folder("kernelindex-fixtures/rmsnorm");
  for (const ingest::SourceFile& file : fixture.view()) {
    files.add("a/" + file.locator, std::string(file.bytes));
    files.add("b/" + file.locator, std::string(file.bytes));
  }
  test::replace_once(files.bytes_of("b/definition.json"), "\"value\": 4096", "\"value\": 8192");
  const CollectingSink sink = import(files, "a9fa0804c793d438e70850c33fe34426e66d53dd");
  EXPECT_EQ(sink.identities_of(ManifestKind::operation_spec), 2u) << sink.said();
  EXPECT_EQ(sink.identities_of(ManifestKind::workload_case), 8u);
  EXPECT_EQ(sink.identities_of(ManifestKind::benchmark_run), 4u);
}

TEST(SolLocal, AListWithoutADefinitionIsSetAsideLineByLine) {
  SourceFiles files;
  files.add("a/workload.jsonl",
            "{\"axes\":{\"n\":1},\"uuid\":\"x\"}\n{\"axes\":{\"n\":2},\"uuid\":\"y\"}\n");
  const CollectingSink sink = import(files, "");
  ASSERT_EQ(sink.findings(FindingClass::quarantined).size(), 2u) << sink.said();
  EXPECT_EQ(sink.findings(FindingClass::quarantined)[1]->item, "2");
  EXPECT_EQ(sink.findings(FindingClass::quarantined)[1]->code, "NO_DEFINITION");
}

}  // namespace
}  // namespace kernelindex
