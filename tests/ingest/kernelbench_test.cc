// SPDX-License-Identifier: Apache-2.0
#include "ingest/kernelbench.h"

#include <gtest/gtest.h>

#include "tests/ingest/collecting_sink.h"
#include "tests/support/corpus.h"

namespace kernelindex {
namespace {

using ingest::FindingClass;
using test::CollectingSink;
using test::SourceFiles;

constexpr std::string_view kTimings = R"({"level1": {
  "1_Square_matrix_multiplication_.py": {"mean": 2.66, "std": 0.0199, "min": 2.65, "max": 2.86,
    "num_trials": 100, "hardware": "NVIDIA H100 80GB HBM3", "device": "cuda:0"},
  "2_Broken.py": null,
  "3_Odd.py": {"mean": -1, "hardware": "NVIDIA H100"}}})";
constexpr std::string_view kOperation = R"({"apiVersion": "kernelindex.dev/v1alpha1",
  "kind": "OperationSpec", "metadata": {"name": "kernelbench-level1-1-square-matrix-multiplication"},
  "spec": {"family": "gemm", "axes": {"n": {"role": "constant", "type": "integer", "value": 2048}},
    "inputs": [{"name": "a", "tensor": {"shape": ["n", "n"], "dtype": "fp32"}}],
    "outputs": [{"name": "c", "tensor": {"shape": ["n", "n"], "dtype": "fp32"}}],
    "semantics": {"mutation": "none", "determinism": "unspecified"}}})";
constexpr std::string_view kSuite = R"(apiVersion: kernelindex.dev/v1alpha1
kind: WorkloadSuite
metadata: {name: kernelbench-level1-1-square-matrix-multiplication-suite}
spec:
  operationSpecDigest: DIGEST
  cases: [{externalId: "1", axes: {n: 2048}}]
  correctness: {comparator: allclose}
  aggregation: {metric: latency, statistic: mean}
)";

CollectingSink import(const SourceFiles& files, std::string_view observed_at = {}) {
  CollectingSink sink;
  const Status done =
      ingest::import_kernelbench(files.recorded(), {std::string(observed_at)}, sink);
  EXPECT_TRUE(done) << done.error().text();
  return sink;
}

SourceFiles with_manifests() {
  SourceFiles files;
  std::string suite(kSuite);
  test::replace_once(suite, "DIGEST", read_manifest(kOperation).value().identity.text());
  files.add("timing/H100/baseline_time_torch.json", std::string(kTimings));
  files.add("operation.json", std::string(kOperation)).add("suite.yaml", suite);
  return files;
}

TEST(Kernelbench, WithoutOperationsEachResultIsListedAndNothingIsRecorded) {
  SourceFiles files;
  files.add("timing/H100/baseline_time_torch.json", std::string(kTimings));
  const CollectingSink sink = import(files);
  EXPECT_TRUE(sink.drafts.empty());
  ASSERT_EQ(sink.findings(FindingClass::review).size(), 1u) << sink.said();
  const ingest::Finding& fact = *sink.findings(FindingClass::review)[0];
  EXPECT_EQ(fact.code, "NO_OPERATION");
  EXPECT_EQ(fact.item, "/level1/1_Square_matrix_multiplication_.py");
  EXPECT_NE(fact.reason.find("\"mean\":2.66"), std::string::npos);
  EXPECT_EQ(sink.skipped_count("no_operation"), 1u);
  EXPECT_EQ(sink.skipped_count("failed"), 1u);
  ASSERT_EQ(sink.findings(FindingClass::quarantined).size(), 1u);
  EXPECT_EQ(sink.findings(FindingClass::quarantined)[0]->item, "/level1/3_Odd.py");
  EXPECT_EQ(sink.accounted_items(), 3u);
  EXPECT_EQ(sink.files, std::vector<std::size_t>{0}) << "the file is kept";
}

TEST(Kernelbench, WithOperationAndTimeAResultIsARun) {
  const SourceFiles files = with_manifests();
  const CollectingSink sink = import(files, "2026-01-02T03:04:05Z");
  EXPECT_EQ(sink.selected_count, 1u) << sink.said();
  const ingest::Draft* run = sink.find(
      ManifestKind::benchmark_run, "kernelbench:H100/torch/level1/1_Square_matrix_multiplication_");
  ASSERT_NE(run, nullptr);
  EXPECT_EQ(run->facts.marks, std::vector<std::string>{"observed_at_by_operator"});
  const auto& facts = std::get<BenchmarkRunFacts>(run->manifest.facts);
  EXPECT_EQ(facts.primary->key(), "latency:mean:ns");
  EXPECT_EQ(facts.primary->value, 2660000);
  EXPECT_EQ(facts.primary->sample_count, 100);
  EXPECT_EQ(sink.drafts[0].source, "local") << "the operator's manifests are the operator's";
  EXPECT_EQ(sink.early_claims, 0u);
}

TEST(Kernelbench, WithoutATimeResultsAreListed) {
  const SourceFiles files = with_manifests();
  const CollectingSink sink = import(files);
  EXPECT_EQ(sink.selected_count, 0u);
  EXPECT_EQ(sink.skipped_count("no_time"), 1u);
  CollectingSink other;
  const Status refused = ingest::import_kernelbench(files.recorded(), {"yesterday"}, other);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "BAD_OPTIONS");
}

TEST(Kernelbench, EveryResultOfTheRepositoryIsAccountedFor) {
  KERNELINDEX_REQUIRE_CORPUS();
  const SourceFiles files =
      SourceFiles::of_folder(test::corpus_path("data/sources/kernelbench/scalingintelligence"));
  const CollectingSink sink = import(files);
  EXPECT_TRUE(sink.drafts.empty());
  EXPECT_TRUE(sink.findings(FindingClass::quarantined).empty()) << sink.said().substr(0, 2000);
  EXPECT_TRUE(sink.findings(FindingClass::drift).empty()) << sink.said().substr(0, 2000);
  EXPECT_EQ(sink.skipped_count("no_operation") + 1, sink.findings(FindingClass::review).size())
      << "one more: the README";
}

}  // namespace
}  // namespace kernelindex
