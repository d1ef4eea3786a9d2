// SPDX-License-Identifier: Apache-2.0
#include "ingest/sol_execbench.h"

#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "schema/comparison_key.h"
#include "schema/json_reader.h"
#include "tests/ingest/collecting_sink.h"
#include "tests/support/corpus.h"

namespace kernelindex {
namespace {

using ingest::Draft;
using ingest::FindingClass;
using ingest::SolExecbenchOptions;
using test::CollectingSink;
using test::SourceFiles;

CollectingSink import(const SourceFiles& files, const SolExecbenchOptions& options = {}) {
  CollectingSink sink;
  const std::vector<ingest::SourceFile> view = files.view();
  const Status done = ingest::import_sol_execbench(view, options, sink);
  EXPECT_TRUE(done) << done.error().text();
  return sink;
}

class Corpus : public testing::Test {
 protected:
  void SetUp() override {
    KERNELINDEX_REQUIRE_CORPUS();
    files_ = SourceFiles::of_folder(test::corpus_path("data/sol-dump"));
  }
  SourceFiles files_;
};

// What one kind of line of expected.jsonl says: digests by external id.
using Expected = std::map<std::string, std::set<std::string>>;

Expected expected_of(std::string_view kind) {
  std::istringstream lines(test::read_file(test::corpus_path("data/sol-dump/expected.jsonl")));
  Expected expected;
  std::string line;
  while (std::getline(lines, line)) {
    json::Arena arena;
    const json::Value row = json::parse(line, arena).value();
    if (row.text("kind") == kind) {
      expected[std::string(row.text("externalId"))].emplace(row.text("digest"));
    }
  }
  return expected;
}

// The same of the drafts. Cases are keyed without their definition there.
Expected found_of(const CollectingSink& sink, ManifestKind kind) {
  Expected found;
  for (const Draft& draft : sink.drafts) {
    if (draft.manifest.kind != kind) continue;
    std::string id = draft.external_ids.empty() ? "" : draft.external_ids[0].substr(14);
    if (kind == ManifestKind::workload_case) id = id.substr(id.rfind('/') + 1);
    found[id].insert(draft.manifest.identity.text());
  }
  return found;
}

using SolDumpTop3 = Corpus;

TEST_F(SolDumpTop3, EveryDigestIsTheExpectedOne) {
  const CollectingSink sink = import(files_, {.top = 3, .tags = {}, .kernels = {}, .stack = {}});
  EXPECT_EQ(sink.identities_of(ManifestKind::operation_spec), 235u);
  EXPECT_EQ(sink.identities_of(ManifestKind::workload_case), 3924u);
  EXPECT_EQ(sink.identities_of(ManifestKind::workload_suite), 235u);
  EXPECT_EQ(sink.identities_of(ManifestKind::implementation_revision), 705u);
  EXPECT_EQ(sink.identities_of(ManifestKind::benchmark_run), 705u);
  EXPECT_EQ(sink.claims_of(ManifestKind::benchmark_protocol), 2u);
  EXPECT_EQ(sink.claims_of(ManifestKind::execution_environment), 2u);
  EXPECT_EQ(sink.claims_of(ManifestKind::software_project), 29u);
  EXPECT_EQ(found_of(sink, ManifestKind::operation_spec), expected_of("operation"));
  EXPECT_EQ(found_of(sink, ManifestKind::workload_case), expected_of("case"));
  EXPECT_EQ(found_of(sink, ManifestKind::workload_suite), expected_of("suite"));
  EXPECT_EQ(found_of(sink, ManifestKind::implementation_revision), expected_of("implementation"));
  EXPECT_EQ(found_of(sink, ManifestKind::benchmark_run), expected_of("run"));
  EXPECT_EQ(found_of(sink, ManifestKind::benchmark_protocol), expected_of("protocol"));
  EXPECT_EQ(found_of(sink, ManifestKind::execution_environment), expected_of("environment"));
}

TEST_F(SolDumpTop3, EveryComparisonKeyIsTheExpectedOne) {
  const CollectingSink sink = import(files_, {.top = 3, .tags = {}, .kernels = {}, .stack = {}});
  std::map<Digest, WorkloadFacts> workloads;
  std::map<std::string, std::string> keys;
  for (const Draft& draft : sink.drafts) {
    if (draft.manifest.kind == ManifestKind::workload_suite) {
      workloads[draft.manifest.identity] = std::get<WorkloadFacts>(draft.manifest.facts);
    } else if (draft.manifest.kind == ManifestKind::benchmark_run) {
      const auto& run = std::get<BenchmarkRunFacts>(draft.manifest.facts);
      ASSERT_TRUE(workloads.contains(run.workload)) << "a suite comes before its runs";
      keys[draft.manifest.identity.text()] = comparison_key(run, workloads[run.workload]).text();
    }
  }
  std::istringstream lines(test::read_file(test::corpus_path("data/sol-dump/expected.jsonl")));
  std::string line;
  std::size_t compared = 0;
  while (std::getline(lines, line)) {
    json::Arena arena;
    const json::Value row = json::parse(line, arena).value();
    if (row.text("kind") != "run") continue;
    EXPECT_EQ(keys[std::string(row.text("digest"))], row.text("comparisonKey"));
    ++compared;
  }
  EXPECT_EQ(compared, 705u);
}

using SolDump = Corpus;

TEST_F(SolDump, WithoutTopEveryCompleteAndCorrectSubmissionComes) {
  const CollectingSink sink = import(files_);
  EXPECT_EQ(sink.selected_count, 705u);
  EXPECT_EQ(sink.claims_of(ManifestKind::benchmark_run), 705u);
  EXPECT_EQ(sink.counts.at("LICENSE_MISSING"), 705u);
  EXPECT_EQ(sink.skipped_count("case_repeated"), 33u);
  EXPECT_TRUE(sink.findings(FindingClass::quarantined).empty()) << sink.said();
  EXPECT_TRUE(sink.findings(FindingClass::drift).empty()) << sink.said();
  // expected.jsonl beside the dump is none of it.
  ASSERT_EQ(sink.findings(FindingClass::review).size(), 1u) << sink.said();
  EXPECT_EQ(sink.findings(FindingClass::review)[0]->code, "UNKNOWN_FILE");
  EXPECT_EQ(sink.files.size(), 471u);
  EXPECT_EQ(sink.early_claims, 0u);
}

TEST_F(SolDump, WhatAClaimRefersToComesBeforeIt) {
  const CollectingSink sink = import(files_);
  std::set<Digest> known;
  std::set<std::tuple<Digest, std::vector<std::string>>> claims;
  for (const Draft& draft : sink.drafts) {
    for (const Reference& reference : draft.manifest.references) {
      EXPECT_TRUE(known.contains(reference.digest)) << draft.manifest.name << reference.field;
    }
    EXPECT_TRUE(!draft.facts.project || known.contains(*draft.facts.project));
    known.insert(draft.manifest.identity);
    EXPECT_TRUE(claims.emplace(draft.manifest.document, draft.external_ids).second)
        << "the same claim twice: " << draft.manifest.name;
  }
}

TEST_F(SolDump, TheOrderOfFilesDoesNotMatterNorDoTheirNames) {
  SourceFiles renamed;
  std::vector<ingest::SourceFile> view = files_.view();
  std::size_t number = 0;
  for (auto file = view.rbegin(); file != view.rend(); ++file) {
    renamed.add("saved-" + std::to_string(number++), std::string(file->bytes));
  }
  const CollectingSink a = import(files_);
  const CollectingSink b = import(renamed);
  ASSERT_EQ(a.drafts.size(), b.drafts.size());
  for (std::size_t i = 0; i < a.drafts.size(); ++i) {
    EXPECT_EQ(a.drafts[i].manifest.document, b.drafts[i].manifest.document);
    EXPECT_EQ(a.drafts[i].item, b.drafts[i].item);
  }
}

TEST_F(SolDump, FiltersChooseKernelsAndStacks) {
  const std::string kernel = "017_moe_expert_swiglu_with_down_projection_backward";
  const CollectingSink one =
      import(files_, {.top = {}, .tags = {}, .kernels = {kernel}, .stack = {}});
  EXPECT_EQ(one.claims_of(ManifestKind::operation_spec), 1u);
  EXPECT_EQ(one.claims_of(ManifestKind::benchmark_run), 3u);
  EXPECT_EQ(one.skipped_count("kernel_filtered"), 234u);
  EXPECT_EQ(one.skipped_count("filtered"), 702u);
  EXPECT_EQ(one.files.size(), 3u);

  const CollectingSink tagged =
      import(files_, {.top = {}, .tags = {"moe"}, .kernels = {kernel}, .stack = "v1.0"});
  EXPECT_EQ(tagged.claims_of(ManifestKind::operation_spec), 1u);
  EXPECT_EQ(tagged.claims_of(ManifestKind::benchmark_run), 0u);
  EXPECT_EQ(tagged.skipped_count("filtered"), 705u);

  const CollectingSink none =
      import(files_, {.top = {}, .tags = {}, .kernels = {"no_such"}, .stack = {}});
  ASSERT_EQ(none.findings(FindingClass::quarantined).size(), 1u);
  EXPECT_EQ(none.findings(FindingClass::quarantined)[0]->code, "KERNEL_NOT_FOUND");
}

}  // namespace
}  // namespace kernelindex
