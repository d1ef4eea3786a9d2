// SPDX-License-Identifier: Apache-2.0
#include "ingest/gpumode_kernelbot.h"

#include <gtest/gtest.h>

#include <sstream>

#include "ingest/kernelbot_board.h"
#include "ingest/kernelbot_choice.h"
#include "ingest/kernelbot_submission.h"
#include "schema/canonical_json.h"
#include "schema/json_reader.h"
#include "schema/limits.h"
#include "tests/ingest/known_digests.h"
#include "tests/support/corpus.h"

namespace kernelindex {
namespace {

using ingest::Finding;
using ingest::FindingClass;
using ingest::KernelbotBoard;
using test::CollectingSink;
using test::replace_once;
using test::SourceFiles;

constexpr std::string_view kExpected = "data/sources/gpumode/expected.jsonl";

void expect_in(const std::set<std::string>& expected, const Result<Manifest>& made,
               std::string_view what) {
  ASSERT_TRUE(made) << what << ": " << made.error().text();
  EXPECT_TRUE(expected.contains(made->identity.text())) << what << "\n" << made->bytes;
}

TEST(KernelbotBoards, EveryBoardGivesTheExpectedDigests) {
  KERNELINDEX_REQUIRE_CORPUS();
  const auto operations = test::expected_digests(kExpected, "operation", "leaderboard");
  const auto suites = test::expected_digests(kExpected, "suite", "leaderboard");
  const auto protocols = test::expected_digests(kExpected, "protocol", "leaderboard");
  const auto environments = test::expected_digests(kExpected, "environment", "runner");
  EXPECT_EQ(ingest::kernelbot_boards().size(), 28u);
  EXPECT_EQ(operations.size(), 28u);
  json::Arena arena;
  for (const KernelbotBoard& board : ingest::kernelbot_boards()) {
    const std::string name(board.name);
    const Result<Manifest> operation = ingest::make_kernelbot_operation(board, arena);
    expect_in(operations.at(name), operation, name);
    if (board.per_shape) continue;
    expect_in(suites.at(name), ingest::make_kernelbot_suite(board, operation->identity, arena),
              name);
    expect_in(protocols.at(name), ingest::make_kernelbot_protocol(board, arena), name);
  }
  const KernelbotBoard& scored = *ingest::find_kernelbot_board("trimul");
  const KernelbotBoard& shaped = *ingest::find_kernelbot_board("amd-fp8-mm");
  for (const auto& [runner, digests] : environments) {
    const KernelbotBoard& board = runner == "AMD Instinct MI300X" ? shaped : scored;
    expect_in(digests, ingest::make_kernelbot_environment(board, runner, arena), runner);
  }
}

// The fixture: a page of boards and one of two submissions with three cases each.
class KernelbotPages : public testing::Test {
 protected:
  void SetUp() override {
    KERNELINDEX_REQUIRE_CORPUS();
    const auto folder = test::corpus_path("data/sources/gpumode/kernelindex-fixtures/api");
    files_.add("leaderboards.json", test::read_file(folder / "leaderboards.json"));
    files_.add("top.json", test::read_file(folder / "fp8-mm-top.json"));
  }
  CollectingSink import() {
    CollectingSink sink;
    const Status done = ingest::import_gpumode_kernelbot(files_.recorded(), options_, sink);
    EXPECT_TRUE(done) << done.error().text();
    return sink;
  }
  Finding only_quarantined(const CollectingSink& sink) {
    const auto found = sink.findings(FindingClass::quarantined);
    EXPECT_EQ(found.size(), 1u) << sink.said();
    return found.empty() ? Finding() : *found[0];
  }
  std::string& page() { return files_.bytes_of("top.json"); }

  SourceFiles files_;
  ingest::GpumodeKernelbotOptions options_;
};

TEST_F(KernelbotPages, TheFixtureGivesTheExpectedDigests) {
  const CollectingSink sink = import();
  EXPECT_TRUE(sink.findings(FindingClass::quarantined).empty()) << sink.said();
  EXPECT_TRUE(sink.findings(FindingClass::drift).empty()) << sink.said();
  EXPECT_EQ(test::found_digests(sink, ManifestKind::workload_case),
            test::expected_digests(kExpected, "case"));
  EXPECT_EQ(test::found_digests(sink, ManifestKind::benchmark_run),
            test::expected_digests(kExpected, "run"));
  EXPECT_EQ(test::found_digests(sink, ManifestKind::implementation_revision),
            test::expected_digests(kExpected, "implementation"));
  EXPECT_EQ(sink.claims_of(ManifestKind::benchmark_run), 6u);
  EXPECT_EQ(sink.early_claims, 0u);
}

TEST_F(KernelbotPages, CasesProtocolAndEnvironmentAreThoseOfTheCatalog) {
  const CollectingSink sink = import();
  for (const ingest::Draft& draft : sink.drafts) {
    const ManifestKind kind = draft.manifest.kind;
    // The code is not in the fixture; projects had no `kind`, operations a description.
    if (kind == ManifestKind::benchmark_run || kind == ManifestKind::implementation_revision ||
        kind == ManifestKind::software_project) {
      continue;
    }
    const auto known = test::catalog_objects().find(draft.manifest.identity.text());
    ASSERT_NE(known, test::catalog_objects().end()) << draft.manifest.bytes;
    if (kind == ManifestKind::operation_spec) continue;
    EXPECT_EQ(draft.manifest.document.text(), known->second.document) << draft.manifest.bytes;
  }
}

TEST_F(KernelbotPages, CodeIsAnArtifactUnlessItWasCutOff) {
  const std::size_t at = page().find("\"code\": null");
  page().replace(at, 12, "\"code\": \"import torch\\n\"");
  const CollectingSink sink = import();
  ASSERT_EQ(sink.artifacts.size(), 1u);
  EXPECT_EQ(sink.artifacts[0].bytes, "import torch\n");
  const ingest::Draft* draft =
      sink.find(ManifestKind::implementation_revision, "gpumode-kernelbot:submission/30771");
  ASSERT_NE(draft, nullptr);
  ASSERT_EQ(draft->facts.artifacts.size(), 1u);
  EXPECT_EQ(draft->facts.artifacts[0].path, "submission.py");
  EXPECT_EQ(draft->facts.artifacts[0].license, "LicenseRef-GPUMode-Reciprocity-1.0");

  const std::size_t cells = page().find("\"truncated_cells\": []");
  page().replace(cells, 21, "\"truncated_cells\": [\"code\"]");
  const CollectingSink cut = import();
  EXPECT_TRUE(cut.artifacts.empty());
  ASSERT_EQ(cut.findings(FindingClass::drift).size(), 1u) << cut.said();
  EXPECT_EQ(cut.findings(FindingClass::drift)[0]->code, "TRUNCATED_CELL");
}

TEST_F(KernelbotPages, ARowThatDoesNotCountIsSkippedWithItsReason) {
  const std::string whole = page();
  const auto reason_of = [&](std::string_view from, std::string_view to) -> std::string {
    page() = whole;
    page().replace(page().find(from), from.size(), to);
    const CollectingSink sink = import();
    EXPECT_EQ(sink.selected_count, 1u) << sink.said();
    return sink.skips.empty() ? only_quarantined(sink).code : sink.skips.begin()->first;
  };
  EXPECT_EQ(reason_of("\"run_passed\": true", "\"run_passed\": false"), "not_passed");
  EXPECT_EQ(reason_of("\"run_mode\": \"leaderboard\"", "\"run_mode\": \"test\""),
            "not_leaderboard_mode");
  EXPECT_EQ(reason_of("\"run_score\": 0.0001033188475318776", "\"run_score\": null"), "no_score");
  EXPECT_EQ(reason_of("\"leaderboard_id\": 399", "\"leaderboard_id\": 4"), "BOARD_UNKNOWN");
  EXPECT_EQ(reason_of("\"submission_id\": 30771", "\"submission_id\": \"x\""), "BAD_SHAPE");
  EXPECT_EQ(reason_of("k: 7168; m: 1024", "k: 7168; m: many"), "BAD_RUN_RESULT");
  EXPECT_EQ(reason_of("\"79544.11\"", "\"-1\""), "BAD_RUN_RESULT");
  EXPECT_EQ(reason_of("\"benchmark-count\": \"3\"", "\"benchmark-count\": \"4\""),
            "BAD_RUN_RESULT");
  EXPECT_EQ(reason_of("\"benchmark-count\": \"3\"", "\"benchmark-count\": \"99999999\""),
            "BAD_RUN_RESULT");
  EXPECT_EQ(reason_of("2025-06-02T19:14:36.811714", "yesterday"), "BAD_TIME");
}

TEST_F(KernelbotPages, UnknownMembersAtAnyDepthAreSaidOnce) {
  page().insert(page().find("\"cpu\""), "\"mood\": 1, ");
  page().insert(page().rfind("\"cpu\""), "\"mood\": 1, ");
  const CollectingSink sink = import();
  ASSERT_EQ(sink.findings(FindingClass::drift).size(), 1u) << sink.said();
  EXPECT_EQ(sink.findings(FindingClass::drift)[0]->reason,
            "submission.run_system_info: unknown upstream field 'mood'");
}

TEST_F(KernelbotPages, AnotherBoardIsSkipped) {
  files_.add("flat.json", R"({"rows": [
    {"row": {"submission_id": 1, "problem_name": "identity", "user_id": "7", "submission_time": "2026-01-01", "mode": "leaderboard", "passed": true, "score": 1, "runner": "H100"}},
    {"row": {"submission_id": 2, "problem_name": "trimul", "user_id": "7", "user_name": " ada ", "submission_time": "2026-01-01 10:00:00", "mode": "leaderboard", "passed": true, "score": 0.0025, "runner": "H100"}},
    {"row": 3}]})");
  const CollectingSink sink = import();
  EXPECT_EQ(sink.skipped_count("uncurated_board"), 1u);
  EXPECT_EQ(only_quarantined(sink).item, "/rows/2");
  const ingest::Draft* run =
      sink.find(ManifestKind::benchmark_run, "gpumode-kernelbot:submission/2/leaderboard");
  ASSERT_NE(run, nullptr);
  const auto& facts = std::get<BenchmarkRunFacts>(run->manifest.facts);
  EXPECT_EQ(facts.primary->key(), "score:geomean:s");
  EXPECT_EQ(facts.primary->value, 0.0025);
  EXPECT_EQ(run->facts.marks, std::vector<std::string>{"zone_assumed"});
}

TEST_F(KernelbotPages, TopChoosesTheBestOfEachUserAndTheWayThere) {
  options_.top = 50;
  const CollectingSink sink = import();
  EXPECT_EQ(sink.selected_count, 1u) << "the second submission of the user was slower";
  EXPECT_EQ(sink.skipped_count("beyond_top"), 1u);
  EXPECT_EQ(sink.accounted_items(), 2u);
}

TEST(KernelbotChoice, HistoriesAreThinnedAndKeepBothEnds) {
  ingest::KernelbotChoice choice(2);
  for (int i = 0; i < 100; ++i) {
    choice.add("b", "r", {i, "ada", "2026-01-01T00:00:" + std::to_string(100 + i), 1000.0 - i});
  }
  choice.add("b", "r", {200, "bob", "2026", 5000});
  choice.add("b", "r", {201, "eve", "2026", 6000});
  choice.choose();
  int chosen = 0;
  for (int i = 0; i < 100; ++i) chosen += choice.is_chosen("b", "r", i) ? 1 : 0;
  EXPECT_EQ(chosen, 12);
  EXPECT_TRUE(choice.is_chosen("b", "r", 0));
  EXPECT_TRUE(choice.is_chosen("b", "r", 99));
  EXPECT_TRUE(choice.is_chosen("b", "r", 200));
  EXPECT_FALSE(choice.is_chosen("b", "r", 201)) << "the third user";
}

// Every run of the catalog, made again from what it says: the source's pages are not in the
// corpora, so that each row is built from the run, with the code's digest in the place of the code.
TEST(KernelbotCatalog, EveryImplementationRunAndKeyComesOutAgain) {
  KERNELINDEX_REQUIRE_CORPUS();
  const auto rows_by_id = [](std::string_view table) {
    std::map<std::string, std::string> rows;
    for (std::string& row : test::catalog_rows(table)) {
      json::Arena arena;
      const std::string id(json::parse(row, arena).value().text("id"));
      rows[id] = std::move(row);
    }
    return rows;
  };
  const std::map<std::string, std::string> implementations = rows_by_id("implementations");
  const std::map<std::string, std::string> workloads = rows_by_id("workloads");
  std::size_t compared = 0;
  for (const std::string& text : test::catalog_rows("benchmark_runs")) {
    json::Arena arena;
    const json::Value row = json::parse(text, arena).value();
    const json::Value& run = *row.find({"manifest", "run"});
    const json::Value& native = *run.find({"spec", "sourceNative"});
    if (native.text("source") != "gpumode-kernelbot") continue;
    const std::string& stored = implementations.at(std::string(row.text("implementationId")));
    const json::Value implementation = *json::parse(stored, arena).value().find("manifest");
    const std::string_view benchmark = native.text("benchmark");
    const KernelbotBoard* board =
        ingest::find_kernelbot_board(benchmark.substr(0, benchmark.find('/')));
    ASSERT_NE(board, nullptr) << benchmark;

    const json::Value& environment = *row.find({"manifest", "environment"});
    const json::Value& hardware = *environment.find({"spec", "hardware"});
    const std::string runner(board->per_shape ? hardware.text("product")
                                              : hardware.text("formFactor").substr(7));
    ingest::KernelbotSubmission submission;
    submission.id = std::stoll(std::string(native.text("externalId").substr(11)));
    submission.submitted_at = run.find("spec")->text("observedAt");
    submission.score = native.find({"metrics", "leaderboard_score_s"})->number();
    if (const json::Value* authors = implementation.find({"metadata", "authors"})) {
      submission.user_name = authors->array()[0].text("name");
    }
    submission.file_name = implementation.find("metadata")->text("description");
    std::optional<ingest::KernelbotSource> source;
    if (const json::Value* file = implementation.find({"spec", "source"})) {
      source = {Digest::parse(file->text("contentDigest")).value(), file->text("fileName"),
                file->find("sizeBytes")->number()};
    }
    const Result<Manifest> operation = ingest::make_kernelbot_operation(*board, arena);
    const Result<Manifest> made = ingest::make_kernelbot_implementation(
        *board, submission, source, operation->identity, runner, arena);
    ASSERT_TRUE(made) << made.error().text();
    ASSERT_EQ(made->bytes, json::canonical(implementation));

    ingest::KernelbotRunParts parts;
    parts.implementation = made->identity;
    parts.protocol = ingest::make_kernelbot_protocol(*board, arena)->identity;
    parts.environment = ingest::make_kernelbot_environment(*board, runner, arena)->identity;
    Result<ingest::KernelbotRun> again = fail(ErrorKind::invalid, "NONE", {}, {});
    if (board->per_shape) {
      const json::Value& latency = *run.find({"spec", "timing", "latencyNs"});
      const json::Value* labels = run.find({"metadata", "labels"});
      submission.torch = labels == nullptr ? "" : labels->text("torch");
      submission.platform = labels == nullptr ? "" : labels->text("platform");
      ingest::KernelbotBenchmark timing;
      const std::string& of_case = workloads.at(std::string(row.text("workloadId")));
      const json::Value stored_case = *json::parse(of_case, arena).value().find("manifest");
      for (const json::Member& axis : stored_case.find({"spec", "axes"})->object()) {
        timing.axes[std::string(axis.name)] = axis.value.number();
      }
      const std::string_view title = stored_case.find("metadata")->text("title");
      timing.title_axes = title.substr(board->operation.title.size() + 4);
      timing.mean_ns = native.find({"metrics", "mean_ns"})->number();
      if (const json::Value* best = native.find({"metrics", "best_ns"})) {
        timing.best_ns = best->number();
      }
      if (const json::Value* most = latency.find("maximum")) timing.worst_ns = most->number();
      if (const json::Value* runs = run.find({"spec", "timing", "samples"})) {
        timing.runs = runs->number();
      }
      if (const json::Value* list = run.find({"spec", "measurements"})) {
        timing.std_ns = list->array()[0].find("value")->number();
      }
      const Result<Manifest> of = ingest::make_kernelbot_case(
          *board, operation->identity, timing.axes, timing.title_axes, arena);
      ASSERT_TRUE(of) << of.error().text();
      ASSERT_EQ(of->bytes, json::canonical(stored_case));
      parts.workload = of->identity;
      const std::size_t index = std::stoul(std::string(benchmark.substr(benchmark.find('/') + 1)));
      again = ingest::make_kernelbot_timing(*board, submission, index, timing, parts, arena);
    } else {
      parts.workload = ingest::make_kernelbot_suite(*board, operation->identity, arena)->identity;
      again = ingest::make_kernelbot_score(*board, submission, parts, arena);
    }
    ASSERT_TRUE(again) << again.error().text();
    ASSERT_EQ(again->manifest.bytes, json::canonical(run));
    ++compared;
  }
  EXPECT_EQ(compared, 5215u);
}

}  // namespace
}  // namespace kernelindex
