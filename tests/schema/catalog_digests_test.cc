// SPDX-License-Identifier: Apache-2.0
// Every digest and key that the forerunner stored for its 40,795 rows, computed again. The numbers
// are those of DESIGN section 12.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "schema/canonical_json.h"
#include "schema/catalog.h"
#include "schema/comparison_key.h"
#include "schema/json_reader.h"
#include "schema/manifest.h"
#include "support/corpus.h"

namespace kernelindex {
namespace {

// The column that holds the identity digest of a row's manifest; projects have none.
const std::map<std::string_view, std::string_view> kDigestColumn = {
    {"operations", "semanticDigest"},
    {"workloads", "workloadDigest"},
    {"implementations", "implementationDigest"},
    {"benchmark_runs", "runDigest"},
    {"model_revisions", "modelDigest"},
    {"serving_stack_revisions", "stackDigest"},
    {"serving_configurations", "configurationDigest"},
    {"serving_workloads", "workloadDigest"},
    {"serving_runs", "runDigest"},
    {"projects", ""}};

// A run waits for its workload, which may come later.
struct StoredRun {
  BenchmarkRunFacts facts;
  std::string correctness_key;
  std::string comparison_key;
};
struct StoredServingRun {
  ServingRunFacts facts;
  std::string cohort_key;
  std::string protocol_key;
};

// The catalog read once for all tests of this file.
struct Catalog {
  std::map<std::string, std::size_t> rows;
  std::map<ManifestKind, std::set<Digest>> identities;
  std::set<Digest> documents;
  std::vector<std::string> faults;  // what did not come out, with both values
  std::vector<StoredRun> runs;
  std::vector<StoredServingRun> serving_runs;
  std::unordered_map<Digest, WorkloadFacts> workloads;
  std::unordered_map<Digest, ModelFacts> models;
  std::unordered_map<Digest, ServingWorkloadFacts> serving_workloads;

  void expect(std::string_view what, std::string_view expected, std::string_view found) {
    if (expected != found) {
      faults.push_back(std::string(what) + ": expected " + std::string(expected) + ", found " +
                       std::string(found));
    }
  }

  Manifest manifest(const json::Value& document, json::Arena& arena, std::string_view line) {
    const Result<Manifest> made = make_manifest(document, arena);
    if (!made) {
      faults.push_back(made.error().text());
      return {};
    }
    // The bytes as they stand in the file must give the same manifest as the parsed value.
    const Result<Manifest> read =
        read_manifest(line.substr(document.begin(), document.end() - document.begin()));
    expect("read_manifest", made->document.text(), read ? read->document.text() : "an error");
    expect("identity body", made->identity.text(), sha256(identity_body(*made)).text());
    identities[made->kind].insert(made->identity);
    documents.insert(made->document);
    return *made;
  }

  void add_benchmark_run(const json::Value& row, json::Arena& arena, std::string_view line) {
    const json::Value& all = *row.find("manifest");
    const Manifest run = manifest(*all.find("run"), arena, line);
    const Manifest protocol = manifest(*all.find("protocol"), arena, line);
    const Manifest environment = manifest(*all.find("environment"), arena, line);
    const auto& facts = std::get<BenchmarkRunFacts>(run.facts);
    expect("runDigest", row.text("runDigest"), run.identity.text());
    expect("protocolKey", row.text("protocolKey"), protocol.identity.text());
    expect("environmentKey", row.text("environmentKey"), environment.identity.text());
    expect("protocolDigest", facts.protocol.text(), protocol.identity.text());
    expect("environmentDigest", facts.environment.text(), environment.identity.text());
    expect("status", row.text("status"), facts.status);
    expect("observedAt", row.text("observedAt"), format_utc_millis(facts.observed_at));
    const auto& hardware = std::get<EnvironmentFacts>(environment.facts);
    expect("hardwareModel", row.text("hardwareModel"), hardware.product);
    expect("hardwareVendor", row.text("hardwareVendor"), hardware.vendor);
    expect("hardwareArchitecture", row.text("hardwareArchitecture"), hardware.architecture);
    const PrimaryMeasurement primary = facts.primary.value_or(PrimaryMeasurement{});
    expect("primaryMetric", row.text("primaryMetric"), facts.primary ? primary.metric : "none");
    expect("primaryUnit", row.text("primaryUnit"), primary.unit);
    expect("primaryStatistic", row.text("primaryStatistic"), primary.statistic);
    expect("primaryValue", json::canonical(*row.find("primaryValue")),
           primary.value ? json::canonical(json::Value(*primary.value)) : "null");
    expect("sampleCount", json::canonical(*row.find("sampleCount")),
           primary.sample_count ? std::to_string(*primary.sample_count) : "null");
    const bool evidence = !facts.raw_samples.empty() || !facts.logs.empty();
    expect("hasRawEvidence", json::canonical(*row.find("hasRawEvidence")),
           evidence ? "true" : "false");
    runs.push_back(
        {facts, std::string(row.text("correctnessKey")), std::string(row.text("comparisonKey"))});
  }

  void add(std::string_view table, const json::Value& row, std::string_view line) {
    ++rows[std::string(table)];
    const auto column = kDigestColumn.find(table);
    if (column == kDigestColumn.end()) return;
    json::Arena arena;
    if (table == "benchmark_runs") return add_benchmark_run(row, arena, line);
    const Manifest made = manifest(*row.find("manifest"), arena, line);
    if (!column->second.empty()) {
      expect(column->second, row.text(column->second), made.identity.text());
    }
    if (table == "workloads") workloads[made.identity] = std::get<WorkloadFacts>(made.facts);
    if (table == "model_revisions") models[made.identity] = std::get<ModelFacts>(made.facts);
    if (table == "serving_workloads") {
      serving_workloads[made.identity] = std::get<ServingWorkloadFacts>(made.facts);
    }
    if (table == "implementations") {
      const auto& facts = std::get<ImplementationFacts>(made.facts);
      expect("language", row.text("language"), facts.language);
      expect("sourceRevision", row.text("sourceRevision"), facts.revision);
    }
    if (table == "serving_runs") {
      const auto& facts = std::get<ServingRunFacts>(made.facts);
      expect("metricSetKey", row.text("metricSetKey"), facts.metric_set_key);
      expect("qualityPolicy", row.text("qualityPolicy"), facts.quality_policy);
      expect("acceleratorModel", row.text("acceleratorModel"), facts.accelerator);
      serving_runs.push_back(
          {facts, std::string(row.text("cohortKey")), std::string(row.text("protocolKey"))});
    }
  }

  void derive_keys() {
    for (const StoredRun& run : runs) {
      const WorkloadFacts& workload = workloads.at(run.facts.workload);
      expect("correctnessKey", run.correctness_key, workload.correctness_key.text());
      expect("comparisonKey", run.comparison_key, comparison_key(run.facts, workload).text());
    }
    for (const StoredServingRun& run : serving_runs) {
      const ServingWorkloadFacts& workload = serving_workloads.at(run.facts.workload);
      expect("cohortKey", run.cohort_key,
             cohort_key(run.facts, workload, models.at(run.facts.model).tokenizer).text());
    }
  }

  static const Catalog& read() {
    static const Catalog catalog = [] {
      Catalog all;
      test::for_each_catalog_row([&](std::string_view table, const json::Value& row,
                                     std::string_view line) { all.add(table, row, line); });
      all.derive_keys();
      return all;
    }();
    return catalog;
  }
};

TEST(CatalogDigests, EveryManifestDigestAndKeyOfTheCatalogIsReproduced) {
  KERNELINDEX_REQUIRE_CORPUS();
  const Catalog& catalog = Catalog::read();
  EXPECT_EQ(catalog.faults.size(), 0u);
  for (std::size_t i = 0; i < std::min<std::size_t>(catalog.faults.size(), 20); ++i) {
    ADD_FAILURE() << catalog.faults[i];
  }
  EXPECT_EQ(catalog.rows.at("operations"), 449u);
  EXPECT_EQ(catalog.rows.at("workloads"), 5627u);
  EXPECT_EQ(catalog.rows.at("implementations"), 4250u);
  EXPECT_EQ(catalog.runs.size(), 7857u);
  EXPECT_EQ(catalog.serving_runs.size(), 722u);
}

TEST(CatalogDigests, DistinctIdentitiesPerKindAreThoseThatWerePublished) {
  KERNELINDEX_REQUIRE_CORPUS();
  const std::map<ManifestKind, std::size_t> expected = {
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
  for (const auto& [kind, identities] : Catalog::read().identities) {
    EXPECT_EQ(identities.size(), expected.at(kind)) << kind_name(kind);
    total += identities.size();
  }
  EXPECT_EQ(total, 19'765u);
  EXPECT_EQ(Catalog::read().documents.size(), total) << "an identity has two documents";
}

TEST(CatalogDigests, PassedRunsFallIntoThePublishedNumberOfComparisonGroups) {
  KERNELINDEX_REQUIRE_CORPUS();
  std::set<std::string> groups;
  std::size_t passed = 0;
  for (const StoredRun& run : Catalog::read().runs) {
    if (run.facts.status != "passed") continue;
    ++passed;
    groups.insert(run.comparison_key);
  }
  EXPECT_EQ(passed, 7771u);
  EXPECT_EQ(groups.size(), 1828u);
}

// The two published run pages that the project began with: run, protocol and environment as shown.
TEST(CatalogDigests, TheRunsOfTwoPublishedPagesHaveTheirPublishedDigestsAndKeys) {
  KERNELINDEX_REQUIRE_CORPUS();
  struct Page {
    std::string_view file, run, key;
  };
  for (const Page& page :
       {Page{"seeds/000_04cbf04ce6fdbf4e.txt",
             "sha256:fa2cdd25d5d22ec080b8e6fcabbd2acc51a3c2ab3bcff1cfc9a5be97cdd4e0dc",
             "sha256:caec9f00e44cade99c754c1692c5cff4493a56cefcc08fb31c52fb4034cfe49f"},
        Page{"seeds/003_e47748f48de31362.txt",
             "sha256:bcac4b197aba0543b89e933a31d55a844b179082f6006b1233cddff3d8b17d60",
             "sha256:9c30d4100296278b7b0e4fe9a112a531f6186c0c92ce9a72f257bb0793f2bf11"}}) {
    const std::string text = test::read_file(test::corpus_path(page.file));
    const std::size_t begin = text.find("\n{\n") + 1;
    const std::string_view manifests =
        std::string_view(text).substr(begin, text.find("\n}\n", begin) + 2 - begin);
    json::Arena arena;
    const Result<json::Value> parts = json::parse(manifests, arena);
    ASSERT_TRUE(parts.has_value()) << parts.error().text();
    const Manifest run = make_manifest(*parts->find("run"), arena).value();
    const Manifest protocol = make_manifest(*parts->find("protocol"), arena).value();
    const Manifest environment = make_manifest(*parts->find("environment"), arena).value();
    const auto& facts = std::get<BenchmarkRunFacts>(run.facts);
    EXPECT_EQ(run.identity.text(), page.run);
    EXPECT_EQ(protocol.identity, facts.protocol);
    EXPECT_EQ(environment.identity, facts.environment);
    const WorkloadFacts& workload = Catalog::read().workloads.at(facts.workload);
    EXPECT_EQ(comparison_key(facts, workload).text(), page.key);
  }
}

}  // namespace
}  // namespace kernelindex
