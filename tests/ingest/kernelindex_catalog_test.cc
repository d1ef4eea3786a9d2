// SPDX-License-Identifier: Apache-2.0
#include "ingest/kernelindex_catalog.h"

#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "ingest/sol_execbench.h"
#include "schema/byte_source.h"
#include "tests/ingest/collecting_sink.h"
#include "tests/support/corpus.h"

namespace kernelindex {
namespace {

using ingest::Draft;
using ingest::Finding;
using ingest::FindingClass;
using test::CollectingSink;

constexpr std::string_view kCatalog = "data/kernelindex-catalog-2026-08-16-0022af0b.jsonl.zst";

CollectingSink import(std::string_view bytes, unsigned threads = 0) {
  CollectingSink sink;
  MemorySource source(bytes);
  const Status done =
      ingest::import_kernelindex_catalog(source, "catalog.jsonl", {.threads = threads}, sink);
  EXPECT_TRUE(done) << done.error().text();
  return sink;
}

class PublishedCatalog : public testing::Test {
 protected:
  // The import is the same for each test; only reading it costs.
  static void SetUpTestSuite() {
    if (test::have_corpus()) sink_ = new CollectingSink(import(bytes()));
  }
  static void TearDownTestSuite() {
    delete sink_;
    sink_ = nullptr;
  }
  void SetUp() override { KERNELINDEX_REQUIRE_CORPUS(); }
  static std::string bytes() { return test::read_file(test::corpus_path(kCatalog)); }

  static CollectingSink* sink_;
};
CollectingSink* PublishedCatalog::sink_ = nullptr;

TEST_F(PublishedCatalog, HasTheKnownNumberOfIdentitiesOfEachKind) {
  const std::pair<ManifestKind, std::size_t> kExpected[] = {
      {ManifestKind::software_project, 615},
      {ManifestKind::operation_spec, 449},
      {ManifestKind::workload_case, 5371},
      {ManifestKind::workload_suite, 256},
      {ManifestKind::implementation_revision, 4250},
      {ManifestKind::benchmark_run, 7857},
      {ManifestKind::benchmark_protocol, 6},
      {ManifestKind::execution_environment, 15},
      {ManifestKind::model_revision, 6},
      {ManifestKind::serving_stack_revision, 71},
      {ManifestKind::serving_configuration, 130},
      {ManifestKind::serving_workload, 17},
      {ManifestKind::serving_run, 722}};
  std::size_t total = 0;
  for (const auto& [kind, count] : kExpected) {
    EXPECT_EQ(sink_->identities_of(kind), count) << kind_name(kind);
    EXPECT_EQ(sink_->claims_of(kind), count) << kind_name(kind);
    total += count;
  }
  EXPECT_EQ(total, 19765u);
  EXPECT_EQ(sink_->drafts.size(), total);
}

TEST_F(PublishedCatalog, NothingInItDisagrees) {
  EXPECT_TRUE(sink_->all_findings.empty()) << sink_->said().substr(0, 3000);
  EXPECT_TRUE(sink_->skips.empty());
  EXPECT_EQ(sink_->count("record_events_confirmed"), 2948u);
  EXPECT_EQ(sink_->count("measurements_confirmed"), 13853u);
  EXPECT_EQ(sink_->count("serving_measurements_confirmed"), 722u);
  EXPECT_EQ(sink_->count("artifacts_named"), 3074u);
}

TEST_F(PublishedCatalog, ClaimsNameTheirSourceAndTheCatalogThatWasRead) {
  std::map<std::string, std::size_t> runs;
  for (const Draft& draft : sink_->drafts) {
    EXPECT_EQ(draft.via, "kernelindex");
    EXPECT_NE(draft.source, "kernelindex") << draft.manifest.name;
    const auto* run = std::get_if<BenchmarkRunFacts>(&draft.manifest.facts);
    if (run == nullptr) continue;
    EXPECT_EQ(draft.source, run->source_native->source);
    ++runs[draft.source];
  }
  const std::map<std::string, std::size_t> expected = {
      {"flashinfer-bench", 1937}, {"gpumode-kernelbot", 5215}, {"sol-execbench", 705}};
  EXPECT_EQ(runs, expected);
}

TEST_F(PublishedCatalog, WhatAClaimRefersToComesBeforeIt) {
  std::set<Digest> known;
  for (const Draft& draft : sink_->drafts) {
    for (const Reference& reference : draft.manifest.references) {
      const bool is_file =
          reference.field.ends_with(".digest") || reference.field.ends_with("contentDigest");
      EXPECT_TRUE(is_file || known.contains(reference.digest)) << reference.field;
    }
    EXPECT_TRUE(!draft.facts.project || known.contains(*draft.facts.project));
    known.insert(draft.manifest.identity);
  }
}

TEST_F(PublishedCatalog, RowIdsAndUpstreamIdsStandBesideEachOther) {
  const Draft* run = sink_->find(ManifestKind::benchmark_run, "sol-execbench:submission/15866");
  ASSERT_NE(run, nullptr);
  EXPECT_EQ(run->manifest.identity.text(),
            "sha256:fa2cdd25d5d22ec080b8e6fcabbd2acc51a3c2ab3bcff1cfc9a5be97cdd4e0dc");
  EXPECT_EQ(run->external_ids[0], "kernelindex:01a0032e-f7d2-749e-bb30-df1bba93405f");
  EXPECT_EQ(run->facts.published_at.substr(0, 10), "2026-08-15");

  const std::string name = "079_ImageNet_83.6_ssm_output_projection_gate_multiply_backward";
  EXPECT_NE(sink_->find(ManifestKind::operation_spec, "sol-execbench:" + name), nullptr);
  EXPECT_NE(sink_->find(ManifestKind::workload_suite, "sol-execbench:" + name + "/suite"), nullptr);
  EXPECT_NE(sink_->find(ManifestKind::implementation_revision, "sol-execbench:submission/15866"),
            nullptr);
  EXPECT_NE(sink_->find(ManifestKind::operation_spec, "gpumode-kernelbot:modal_nvfp4_dual_gemm"),
            nullptr);
  EXPECT_NE(sink_->find(ManifestKind::workload_case,
                        "gpumode-kernelbot:amd-fp8-mm/k7168-m1024-n1536-seed8135"),
            nullptr);
  EXPECT_NE(
      sink_->find(ManifestKind::benchmark_run, "gpumode-kernelbot:submission/18667/benchmark/1"),
      nullptr);
  EXPECT_NE(sink_->find(ManifestKind::serving_run,
                        "mlperf-inference:v5.1/5.1-0001/llama2-70b-99/Interactive"),
            nullptr);
  std::set<std::string> cases;
  for (const Draft& draft : sink_->drafts) {
    if (draft.manifest.kind != ManifestKind::workload_case) continue;
    if (draft.source == "sol-execbench" && draft.external_ids.size() > 1) {
      cases.insert(draft.external_ids[1]);
    }
  }
  EXPECT_GT(cases.size(), 3000u);
}

TEST_F(PublishedCatalog, FactsComeFromTheTablesAround) {
  const Draft* operation =
      sink_->find(ManifestKind::operation_spec, "gpumode-kernelbot:nvfp4_dual_gemm");
  ASSERT_NE(operation, nullptr);
  EXPECT_EQ(operation->facts.slug, "gpumode-nvfp4-dual-gemm");
  EXPECT_EQ(operation->facts.aliases.size(), 2u);
  EXPECT_FALSE(operation->facts.tags.empty());
  std::size_t with_source = 0;
  std::size_t with_log = 0;
  for (const Draft& draft : sink_->drafts) {
    if (draft.facts.artifacts.empty()) continue;
    const NamedArtifact& artifact = draft.facts.artifacts[0];
    EXPECT_TRUE(artifact.size.has_value());
    EXPECT_FALSE(artifact.media_type.empty());
    with_source += artifact.role == "source" ? 1 : 0;
    with_log += artifact.role == "log" ? 1 : 0;
  }
  EXPECT_EQ(with_source, 3545u);
  EXPECT_EQ(with_log, 175u);
}

TEST_F(PublishedCatalog, TheDumpGivesTheSameDocuments) {
  const test::SourceFiles files = test::SourceFiles::of_folder(test::corpus_path("data/sol-dump"));
  CollectingSink dump;
  const std::vector<ingest::SourceFile> view = files.view();
  ASSERT_TRUE(
      ingest::import_sol_execbench(view, {.top = 3, .tags = {}, .kernels = {}, .stack = {}}, dump));
  std::map<Digest, Digest> documents;
  std::map<Digest, std::vector<std::string>> ids;
  for (const Draft& draft : sink_->drafts) {
    documents[draft.manifest.identity] = draft.manifest.document;
    ids[draft.manifest.document] = draft.external_ids;
  }
  std::size_t projects = 0;
  for (const Draft& draft : dump.drafts) {
    if (draft.manifest.kind == ManifestKind::software_project) {
      projects += documents.contains(draft.manifest.identity) ? 0 : 1;
      continue;
    }
    EXPECT_EQ(documents[draft.manifest.identity], draft.manifest.document) << draft.manifest.name;
    // An upstream id that the catalog lets us recover is the one that the source gave.
    const std::vector<std::string>& found = ids[draft.manifest.document];
    EXPECT_TRUE(found.size() < 2 || found[1] == draft.external_ids[0]) << found[1];
  }
  EXPECT_EQ(projects, 29u) << "projects differ by `kind`, which this export lacks";
}

TEST_F(PublishedCatalog, ThreadsDoNotChangeWhatComesOrInWhichOrder) {
  const CollectingSink one = import(bytes(), 1);
  ASSERT_EQ(one.drafts.size(), sink_->drafts.size());
  for (std::size_t i = 0; i < one.drafts.size(); ++i) {
    ASSERT_EQ(one.drafts[i].manifest.document, sink_->drafts[i].manifest.document);
    ASSERT_EQ(one.drafts[i].item, sink_->drafts[i].item);
    ASSERT_EQ(one.drafts[i].external_ids, sink_->drafts[i].external_ids);
  }
}

}  // namespace
}  // namespace kernelindex
