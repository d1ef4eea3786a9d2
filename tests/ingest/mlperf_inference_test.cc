// SPDX-License-Identifier: Apache-2.0
#include "ingest/mlperf_inference.h"

#include <gtest/gtest.h>

#include <sstream>

#include "schema/json_reader.h"
#include "tests/ingest/known_digests.h"
#include "tests/support/corpus.h"

namespace kernelindex {
namespace {

using ingest::Finding;
using ingest::FindingClass;
using test::CollectingSink;
using test::SourceFiles;

constexpr std::string_view kFolder = "data/sources/mlperf/";
constexpr std::string_view kRound = "mlcommons-inference_results_v5.1/";
constexpr std::string_view kSlice = "kernelindex-fixtures/summary-v6.0-slice.json";

std::string read(std::string_view file) {
  return test::read_file(test::corpus_path(std::string(kFolder) + std::string(file)));
}

CollectingSink import(const SourceFiles& files) {
  CollectingSink sink;
  const Status done = ingest::import_mlperf_inference(files.recorded(), sink);
  EXPECT_TRUE(done) << done.error().text();
  return sink;
}

void replace_first(std::string& text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  ASSERT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
}

class MlperfRound : public testing::Test {
 protected:
  void SetUp() override {
    KERNELINDEX_REQUIRE_CORPUS();
    files_.add("summary_results.json", read(std::string(kRound) + "summary_results.json"));
  }
  SourceFiles files_;
};

std::set<std::string> all_of(const test::DigestsById& digests) {
  std::set<std::string> out;
  for (const auto& [id, of_id] : digests) out.insert(of_id.begin(), of_id.end());
  return out;
}

TEST_F(MlperfRound, EveryDigestIsTheExpectedOne) {
  const CollectingSink sink = import(files_);
  EXPECT_TRUE(sink.findings(FindingClass::quarantined).empty()) << sink.said();
  EXPECT_TRUE(sink.findings(FindingClass::drift).empty()) << sink.said();
  const std::string path = std::string(kFolder) + std::string(kRound) + "expected.jsonl";
  const std::pair<std::string_view, ManifestKind> kinds[] = {
      {"model", ManifestKind::model_revision},
      {"stack", ManifestKind::serving_stack_revision},
      {"configuration", ManifestKind::serving_configuration},
      {"workload", ManifestKind::serving_workload},
      {"run", ManifestKind::serving_run},
  };
  for (const auto& [kind, manifest_kind] : kinds) {
    EXPECT_EQ(all_of(test::found_digests(sink, manifest_kind)),
              all_of(test::expected_digests(path, kind)))
        << kind;
  }
  EXPECT_EQ(sink.claims_of(ManifestKind::serving_run), 362u);
  EXPECT_EQ(sink.accounted_items(), 1448u);
}

TEST_F(MlperfRound, EveryCohortKeyIsTheExpectedOne) {
  const CollectingSink sink = import(files_);
  const std::map<std::string, std::string> keys = test::keys_of_runs(sink);
  std::istringstream lines(read(std::string(kRound) + "expected.jsonl"));
  std::string line;
  std::size_t compared = 0;
  while (std::getline(lines, line)) {
    json::Arena arena;
    const json::Value row = json::parse(line, arena).value();
    if (row.text("kind") != "run") continue;
    EXPECT_EQ(keys.at(std::string(row.text("digest"))), row.text("cohortKey"));
    ++compared;
  }
  EXPECT_EQ(compared, 362u);
}

TEST_F(MlperfRound, EveryDocumentIsThatOfTheCatalog) {
  const CollectingSink sink = import(files_);
  const std::map<std::string, std::string> keys = test::keys_of_runs(sink);
  for (const ingest::Draft& draft : sink.drafts) {
    if (draft.manifest.kind == ManifestKind::software_project) continue;  // no `kind` then
    const std::string identity = draft.manifest.identity.text();
    const auto known = test::catalog_objects().find(identity);
    ASSERT_NE(known, test::catalog_objects().end()) << draft.manifest.bytes;
    EXPECT_EQ(draft.manifest.document.text(), known->second.document) << draft.manifest.bytes;
    if (draft.manifest.kind == ManifestKind::serving_run) {
      EXPECT_EQ(keys.at(identity), known->second.key);
    }
  }
}

TEST_F(MlperfRound, AResultIsNamedByItsSystemModelAndScenario) {
  const CollectingSink sink = import(files_);
  EXPECT_EQ(test::found_digests(sink, ManifestKind::serving_run).size(), 362u)
      << "no two results share an id";
  EXPECT_NE(sink.find(ManifestKind::serving_run,
                      "mlperf-inference:v5.1/5.1-0001/llama2-70b-99/Interactive"),
            nullptr);
}

class MlperfSlice : public testing::Test {
 protected:
  void SetUp() override {
    KERNELINDEX_REQUIRE_CORPUS();
    files_.add("slice.json", read(kSlice));
  }
  std::string& slice() { return files_.bytes_of("slice.json"); }
  const Finding& only_quarantined(const CollectingSink& sink) {
    const auto found = sink.findings(FindingClass::quarantined);
    EXPECT_EQ(found.size(), 1u) << sink.said();
    static Finding copy;
    copy = found.empty() ? Finding() : *found[0];
    return copy;
  }
  SourceFiles files_;
};

TEST_F(MlperfSlice, TheNextRoundIsReadTheSame) {
  const CollectingSink sink = import(files_);
  EXPECT_EQ(sink.claims_of(ManifestKind::serving_run), 9u) << sink.said();
  const std::map<std::string, std::size_t, std::less<>> skipped = {
      {"open_or_network_division", 1}, {"non_datacenter_suite", 1}, {"non_llm_benchmark", 2}};
  EXPECT_EQ(sink.skips, skipped);
  for (const ingest::Draft& draft : sink.drafts) {
    if (draft.manifest.kind != ManifestKind::serving_run) continue;
    EXPECT_TRUE(test::catalog_objects().contains(draft.manifest.identity.text()));
  }
}

TEST_F(MlperfSlice, ABadResultIsSetAsideAndTheOthersCome) {
  const std::string whole = slice();
  const auto quarantined_by = [&](std::string_view from, std::string_view to) {
    slice() = whole;
    replace_first(slice(), from, to);
    const CollectingSink sink = import(files_);
    EXPECT_EQ(sink.claims_of(ManifestKind::serving_run), 8u) << to;
    EXPECT_EQ(sink.accounted_items(), 13u);
    return only_quarantined(sink).item + " " + only_quarantined(sink).code;
  };
  const std::string result = "\"Performance_Result\": 785522";
  EXPECT_EQ(quarantined_by(result, "\"Performance_Result\": 0"), "/0 BAD_SHAPE");
  EXPECT_EQ(quarantined_by(result, "\"Performance_Result\": null"), "/0 BAD_SHAPE");
  EXPECT_EQ(quarantined_by(result, "\"Performance_Result\": 1e999"), "/0 NUMBER_RANGE");
  EXPECT_EQ(quarantined_by("\"Nodes\": 11", "\"Nodes\": 1.5"), "/0 BAD_SHAPE");
  EXPECT_EQ(quarantined_by("\"Total Accelerators\": 88", "\"Nodes\": 11"), "/0 DUPLICATE_KEY");
}

TEST_F(MlperfSlice, ARoundThatIsNotKnownIsSetAside) {
  for (std::size_t at; (at = slice().find("\"v6.0\"")) != std::string::npos;) {
    slice().replace(at, 6, "\"v9.0\"");
  }
  const CollectingSink sink = import(files_);
  EXPECT_EQ(sink.claims_of(ManifestKind::serving_run), 0u);
  ASSERT_EQ(sink.findings(FindingClass::quarantined).size(), 9u);
  EXPECT_EQ(sink.findings(FindingClass::quarantined)[0]->code, "UNKNOWN_ROUND");
}

TEST_F(MlperfSlice, UnknownMembersAndScenariosAreDrift) {
  replace_first(slice(), "\"Total Accelerators\": 88,", "\"Mood\": 1,");
  replace_first(slice(), "\"Total Accelerators\": 88,", "\"Mood\": 2,");
  const CollectingSink sink = import(files_);
  ASSERT_EQ(sink.findings(FindingClass::drift).size(), 1u) << sink.said();
  EXPECT_EQ(sink.findings(FindingClass::drift)[0]->reason, "result: unknown upstream field 'Mood'");
}

TEST_F(MlperfSlice, WhatIsNoSummaryIsListed) {
  files_.add("README.md", "# A round").add("other.json", "[1, 2]");
  EXPECT_EQ(import(files_).findings(FindingClass::review).size(), 2u);
  SourceFiles none;
  none.add("README.md", "# A round");
  CollectingSink sink;
  const Status refused = ingest::import_mlperf_inference(none.recorded(), sink);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "NOT_A_SUMMARY");
}

}  // namespace
}  // namespace kernelindex
