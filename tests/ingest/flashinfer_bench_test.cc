// SPDX-License-Identifier: Apache-2.0
#include "ingest/flashinfer_bench.h"

#include <gtest/gtest.h>

#include "tests/ingest/known_digests.h"
#include "tests/support/corpus.h"

namespace kernelindex {
namespace {

using ingest::Finding;
using ingest::FindingClass;
using test::CollectingSink;
using test::replace_once;
using test::SourceFiles;

constexpr std::string_view kRevision = "da915083d4c7c5e61aa3005e3d17ae488e0fc71c";
constexpr std::string_view kDefinition = "definitions/rmsnorm/fused_add_rmsnorm_h2048.json";
constexpr std::string_view kSolution =
    "solutions/baseline/rmsnorm/fused_add_rmsnorm_h2048/flashinfer_wrapper_74a870.json";
constexpr std::string_view kModelSolution =
    "solutions/claude-opus-4-1-20250805/rmsnorm/fused_add_rmsnorm_h2048/"
    "claude-opus-4-1_triton_c9eea2.json";
constexpr std::string_view kTraces = "traces/baseline/rmsnorm/fused_add_rmsnorm_h2048.jsonl";
constexpr std::string_view kModelTraces =
    "traces/claude-opus-4-1-20250805/rmsnorm/fused_add_rmsnorm_h2048.jsonl";

// The fixture, its files where the data set has them.
class FlashinferBench : public testing::Test {
 protected:
  void SetUp() override {
    KERNELINDEX_REQUIRE_CORPUS();
    add("definition.json", kDefinition);
    add("solution.json", kSolution);
    add("llm-solution.json", kModelSolution);
    add("trace.jsonl", kTraces);
    add("llm-trace.jsonl", kModelTraces);
  }
  void add(std::string_view fixture, std::string_view locator) {
    const auto folder = test::corpus_path("data/sources/flashinfer/kernelindex-fixtures/dataset");
    files_.add(std::string(locator), test::read_file(folder / fixture));
  }
  CollectingSink import() {
    CollectingSink sink;
    const Status done = ingest::import_flashinfer_bench(files_.recorded(), options_, sink);
    EXPECT_TRUE(done) << done.error().text();
    return sink;
  }
  const Finding* only_quarantined(const CollectingSink& sink) {
    const auto found = sink.findings(FindingClass::quarantined);
    EXPECT_EQ(found.size(), 1u) << sink.said();
    static const Finding none;
    return found.empty() ? &none : found[0];
  }
  std::string& traces() { return files_.bytes_of(kTraces); }

  SourceFiles files_;
  ingest::FlashinferBenchOptions options_{std::string(kRevision)};
};

TEST_F(FlashinferBench, TheRevisionIsThatOfInfoUnlessAnotherIsGiven) {
  const std::size_t with_option = import().drafts.size();
  add("info.json", "info.json");
  options_.revision.clear();
  const CollectingSink sink = import();
  EXPECT_TRUE(sink.all_findings.empty()) << sink.said();
  EXPECT_EQ(sink.drafts.size(), with_option);
  EXPECT_NE(sink.find(ManifestKind::implementation_revision,
                      "flashinfer-bench:" + std::string(kSolution)),
            nullptr);
  options_.revision = std::string(40, 'a');
  const CollectingSink other = import();
  ASSERT_EQ(other.findings(FindingClass::review).size(), 1u) << other.said();
  EXPECT_EQ(other.findings(FindingClass::review)[0]->code, "REVISION_DIFFERS");
  options_.revision.clear();
  replace_once(files_.bytes_of("info.json"), std::string(kRevision), "main");
  EXPECT_FALSE(import().findings(FindingClass::quarantined).empty());
}

TEST_F(FlashinferBench, TheFixtureGivesTheDocumentsOfTheCatalog) {
  const CollectingSink sink = import();
  EXPECT_TRUE(sink.findings(FindingClass::quarantined).empty()) << sink.said();
  EXPECT_TRUE(sink.findings(FindingClass::drift).empty()) << sink.said();
  EXPECT_EQ(sink.claims_of(ManifestKind::operation_spec), 1u);
  EXPECT_EQ(sink.claims_of(ManifestKind::workload_case), 3u);
  EXPECT_EQ(sink.claims_of(ManifestKind::implementation_revision), 2u);
  EXPECT_EQ(sink.claims_of(ManifestKind::benchmark_run), 5u);
  EXPECT_EQ(sink.early_claims, 0u);
  const auto keys = test::keys_of_runs(sink);
  std::size_t in_catalog = 0;
  for (const ingest::Draft& draft : sink.drafts) {
    const auto known = test::catalog_objects().find(draft.manifest.identity.text());
    if (known == test::catalog_objects().end()) continue;
    ++in_catalog;
    EXPECT_EQ(draft.manifest.document.text(), known->second.document) << draft.manifest.bytes;
    if (draft.manifest.kind == ManifestKind::benchmark_run) {
      EXPECT_EQ(keys.at(draft.manifest.identity.text()), known->second.key);
    }
  }
  // Operation, three cases, the baseline's implementation, protocol, environment, three runs. What
  // a model wrote was not imported then, and projects had no `kind`.
  EXPECT_EQ(in_catalog, 10u);
}

TEST_F(FlashinferBench, ThePinnedDigestsComeOut) {
  const CollectingSink sink = import();
  const auto protocols = test::found_digests(sink, ManifestKind::benchmark_protocol);
  EXPECT_TRUE(protocols.at("").contains(
      "sha256:7d44d206ad086b4bece35ce31f6531ebb11f07e0d9dcfb74c75be86d3ec02095"));
  const ingest::Draft* solution = sink.find(ManifestKind::implementation_revision,
                                            "flashinfer-bench:" + std::string(kSolution));
  ASSERT_NE(solution, nullptr);
  EXPECT_EQ(solution->manifest.identity.text(),
            "sha256:79278567a15eac7d7c781ebcfa7d8e307243a6e86e9efe02f3bf209e944419b2");
  EXPECT_EQ(solution->facts.slug, "flashinfer-flashinfer-wrapper-74a870");
}

TEST_F(FlashinferBench, SourcesAreArtifactsThatTheirClaimNames) {
  const CollectingSink sink = import();
  ASSERT_EQ(sink.artifacts.size(), 2u);
  const ingest::Draft* solution = sink.find(ManifestKind::implementation_revision,
                                            "flashinfer-bench:" + std::string(kSolution));
  ASSERT_NE(solution, nullptr);
  ASSERT_EQ(solution->facts.artifacts.size(), 1u);
  EXPECT_EQ(solution->facts.artifacts[0].role, "source");
  EXPECT_EQ(solution->facts.artifacts[0].path, "main.py");
  EXPECT_EQ(solution->facts.artifacts[0].digest, sha256(sink.artifacts[0].bytes));
  EXPECT_EQ(sink.artifacts[0].media_type, "text/x-python");
}

TEST_F(FlashinferBench, ALogIsAnArtifactAndEvidence) {
  replace_once(traces(), R"("timestamp":"2025-10-21T13:37:42.930971","log":"")",
               R"("timestamp":"2025-10-21T13:37:42.930971","log":"warm-up done\n")");
  const CollectingSink sink = import();
  ASSERT_EQ(sink.artifacts.size(), 3u);
  const ingest::ArtifactDraft& log = sink.artifacts[2];
  EXPECT_EQ(log.bytes, "warm-up done\n");
  EXPECT_EQ(log.media_type, "text/plain");
  for (const ingest::Draft& draft : sink.drafts) {
    if (draft.facts.artifacts.empty() || draft.facts.artifacts[0].role != "log") continue;
    const auto& run = std::get<BenchmarkRunFacts>(draft.manifest.facts);
    EXPECT_EQ(run.logs, std::vector{sha256(log.bytes)});
    EXPECT_NE(draft.manifest.bytes.find("kernelindex:artifact/" + sha256(log.bytes).text()),
              std::string::npos);
    return;
  }
  FAIL() << "no run names the log";
}

TEST_F(FlashinferBench, WhatAModelWroteIsLabelled) {
  const CollectingSink sink = import();
  const ingest::Draft* solution = sink.find(ManifestKind::implementation_revision,
                                            "flashinfer-bench:" + std::string(kModelSolution));
  ASSERT_NE(solution, nullptr);
  EXPECT_NE(solution->manifest.bytes.find(
                R"("labels":{"author":"claude-opus-4-1-20250805","role":"llm-generated"})"),
            std::string::npos);
}

TEST_F(FlashinferBench, WithoutARevisionSolutionsAndTheirTracesAreSetAside) {
  options_.revision.clear();
  const CollectingSink sink = import();
  ASSERT_EQ(sink.findings(FindingClass::quarantined).size(), 2u) << sink.said();
  EXPECT_EQ(sink.findings(FindingClass::quarantined)[0]->code, "NO_PINNED_COMMIT");
  EXPECT_EQ(sink.skipped_count("solution_quarantined"), 5u);
  EXPECT_EQ(sink.claims_of(ManifestKind::benchmark_run), 0u);
  options_.revision = "main";
  CollectingSink other;
  const Status refused = ingest::import_flashinfer_bench(files_.recorded(), options_, other);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "BAD_OPTIONS");
}

TEST_F(FlashinferBench, ABadLineIsSetAsideAndTheOthersCome) {
  const std::string whole = traces();
  const auto quarantined_by = [&](std::string_view from, std::string_view to) {
    traces() = whole;
    replace_once(traces(), from, to);
    const CollectingSink sink = import();
    EXPECT_EQ(sink.claims_of(ManifestKind::benchmark_run), 4u) << to;
    const Finding* finding = only_quarantined(sink);
    EXPECT_EQ(finding->locator, kTraces);
    return finding->item + " " + finding->code;
  };
  EXPECT_EQ(quarantined_by("\"latency_ms\":0.00789143200663493,", ""), "3 BAD_SHAPE");
  EXPECT_EQ(quarantined_by("0.00789143200663493", "0"), "3 BAD_SHAPE");
  EXPECT_EQ(quarantined_by("2025-10-21T13:37:45.157580", "2025-02-30T13:37:45"), "3 BAD_TIME");
  EXPECT_EQ(quarantined_by("0.005681818351149559", "\"many\""), "3 BAD_SHAPE");
  EXPECT_EQ(quarantined_by("{\"batch_size\":34}", "{\"batch_size\":34.5}"), "3 BAD_SHAPE");
  EXPECT_EQ(quarantined_by("{\"batch_size\":34}", "{\"batch_size\":9007199254740993}"),
            "3 UNSAFE_INTEGER");
  EXPECT_EQ(quarantined_by("{\"batch_size\":34}", "{\"batch_size\":34,\"batch_size\":35}"),
            "3 DUPLICATE_KEY");
  EXPECT_EQ(quarantined_by("{\"batch_size\":34}", "{\"seq\":34}"), "3 UNBOUND_AXIS");
}

TEST_F(FlashinferBench, NotANumberErrorsAreLeftOut) {
  replace_once(traces(), "0.005681818351149559", "\"Infinity\"");
  replace_once(traces(), "0.015625", "\"nan\"");
  const CollectingSink sink = import();
  EXPECT_EQ(sink.claims_of(ManifestKind::benchmark_run), 5u) << sink.said();
  EXPECT_NE(sink.drafts.back().manifest.bytes.find("\"correctness\":{\"comparator\""),
            std::string::npos);
}

TEST_F(FlashinferBench, UnknownMembersAtAnyDepthAreSaidOnce) {
  std::string& text = traces();
  std::size_t at = 0;
  while ((at = text.find("\"extra\":null", at)) != std::string::npos) {
    text.insert(at, "\"colour\":1,");
    at += 20;
  }
  replace_once(files_.bytes_of(kSolution), "\"entry_point\"", "\"mood\": 1, \"entry_point\"");
  const CollectingSink sink = import();
  ASSERT_EQ(sink.findings(FindingClass::drift).size(), 2u) << sink.said();
  EXPECT_EQ(sink.findings(FindingClass::drift)[0]->reason,
            "solution.spec: unknown upstream field 'mood'");
  EXPECT_EQ(sink.findings(FindingClass::drift)[1]->reason,
            "trace.correctness: unknown upstream field 'colour'");
}

TEST_F(FlashinferBench, LinesWithoutAnEvaluationListWorkloads) {
  files_.add(
      "workloads/rmsnorm/fused_add_rmsnorm_h2048.jsonl",
      R"({"definition":"fused_add_rmsnorm_h2048","solution":null,"workload":{"axes":{"batch_size":9},"inputs":{},"uuid":"nine"},"evaluation":null}
{"definition":"fused_add_rmsnorm_h2048","solution":"","workload":{"axes":{"batch_size":10},"inputs":{},"uuid":"ten"},"evaluation":{}}
{"definition":"fused_add_rmsnorm_h2048","solution":"x","workload":{"axes":{"batch_size":11},"inputs":{},"uuid":"eleven"}}
)");
  const CollectingSink sink = import();
  EXPECT_EQ(sink.claims_of(ManifestKind::workload_case), 5u);
  EXPECT_EQ(sink.skipped_count("workload_listed"), 2u);
  EXPECT_EQ(only_quarantined(sink)->code, "NO_EVALUATION");
}

TEST_F(FlashinferBench, ATraceOfAnUnknownSolutionIsForReview) {
  constexpr std::string_view kName = "flashinfer_wrapper_74a870";
  for (std::size_t at; (at = traces().find(kName)) != std::string::npos;) {
    traces().replace(at, kName.size(), "another");
  }
  const CollectingSink sink = import();
  ASSERT_EQ(sink.findings(FindingClass::review).size(), 1u) << sink.said();
  EXPECT_EQ(sink.findings(FindingClass::review)[0]->code, "NO_SOLUTION");
  EXPECT_EQ(sink.skipped_count("solution_unknown"), 3u);
}

TEST_F(FlashinferBench, WhatIsNoPartIsListed) {
  files_.add("README.md", "# A data set").add("sizes.json", "{\"a\": 1}");
  const CollectingSink sink = import();
  ASSERT_EQ(sink.findings(FindingClass::review).size(), 2u) << sink.said();
  EXPECT_EQ(sink.findings(FindingClass::review)[0]->code, "UNKNOWN_FILE");
}

TEST_F(FlashinferBench, EveryLineIsChosenOrSkippedOrSetAside) {
  const std::string whole = traces();
  for (std::size_t at = 1; at < whole.size(); at += 7) {  // at 0 it is no JSON: UNKNOWN_FILE
    traces() = whole;
    traces()[at] = whole[at] == '"' ? 'x' : '"';
    const CollectingSink sink = import();
    // Two solutions and five lines; a changed newline glues two lines to one.
    const std::size_t lines = whole[at] == '\n' ? 6 : 7;
    EXPECT_EQ(sink.accounted_items(), lines) << at << "\n" << sink.said();
  }
}

}  // namespace
}  // namespace kernelindex
