// SPDX-License-Identifier: Apache-2.0
// import, show, cat, history, runs, records, provenance, search: what a reader of results asks.
#include <gmock/gmock.h>

#include <algorithm>

#include "tests/tools/cli_fixture.h"

namespace kernelindex::test {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::string_view kRun =
    "sha256:fa2cdd25d5d22ec080b8e6fcabbd2acc51a3c2ab3bcff1cfc9a5be97cdd4e0dc";
constexpr std::string_view kKey =
    "sha256:caec9f00e44cade99c754c1692c5cff4493a56cefcc08fb31c52fb4034cfe49f";

class CmdQuery : public Cli {
 protected:
  void SetUp() override { import_sample(); }
};

TEST_F(CmdQuery, ImportingAgainAddsNothing) {
  const json::Value report =
      document({"import", "sol-execbench", (source_root() / "tools/sample").string()});
  EXPECT_EQ(report.find({"recorded", "manifests"})->number(), 0);
  EXPECT_EQ(report.find({"existing", "manifests"})->number(), 58);
  EXPECT_EQ(report.find("size")->number(), 72);
}

TEST_F(CmdQuery, ADryRunWritesNothing) {
  const std::string ledger = (folder_ / "dry").string();
  ok({"init", "--quiet", "--ledger", ledger});
  const json::Value report = document({"import", "sol-execbench", "--dry-run", "--ledger", ledger,
                                       (source_root() / "tools/sample").string()});
  EXPECT_EQ(report.find({"recorded", "manifests"})->number(), 58);
  EXPECT_EQ(document({"status", "--ledger", ledger}).find("size")->number(), 7);
}

TEST_F(CmdQuery, AnItemThatIsSetAsideMakesExitOne) {
  std::filesystem::create_directory(folder_ / "dump");
  write_file(folder_ / "dump/kernels.json", R"({"kernels":[{"id":1,"name":"k"}]})");
  write_file(folder_ / "dump/broken.json", R"({"submissions":[)");
  const Outcome outcome = run({"import", "sol-execbench", "dump"});
  EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("set aside"));
}

TEST_F(CmdQuery, ImportRefusesWhatItCannotUse) {
  EXPECT_EQ(run({"import", "nvbench", "x"}).exit_code, 2);
  EXPECT_EQ(run({"import", "sol-execbench", "nowhere"}).exit_code, 3);
  std::filesystem::create_directory(folder_ / "empty");
  EXPECT_EQ(run({"import", "sol-execbench", "empty"}).exit_code, 3);
  write_file(folder_ / "catalog.jsonl", "{}\n");
  const Outcome pinned =
      run({"import", "kernelindex-catalog", "catalog.jsonl", "--sha256", std::string(64, '0')});
  EXPECT_EQ(pinned.exit_code, 3);
  EXPECT_THAT(pinned.err, HasSubstr("DIGEST_DIFFERS"));
}

TEST_F(CmdQuery, HistoryRanksAndTellsTheRecord) {
  const json::Value history = document({"history", "sol-execbench:submission/15866"});
  EXPECT_EQ(history.text("comparisonKey"), kKey);
  EXPECT_EQ(history.text("profile"), "source_native");
  EXPECT_EQ(history.text("policy"), "ranking-v1");
  EXPECT_EQ(history.text("trust"), "own-ledger");
  EXPECT_EQ(history.find({"asOf", "size"})->number(), 72);
  const auto runs = history.find("runs")->array();
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].find("rank")->number(), 1);
  EXPECT_EQ(runs[0].text("digest"), kRun);
  EXPECT_EQ(runs[0].find("value")->number(), 59812);
  EXPECT_EQ(runs[0].text("unit"), "ns");
  EXPECT_EQ(runs[0].text("level"), "reported");
  EXPECT_EQ(runs[0].text("observedAt"), "2026-06-29T21:49:23.345Z");
  const auto moves = history.find("transitions")->array();
  ASSERT_EQ(moves.size(), 2u);
  EXPECT_TRUE(moves[0].find("previous")->is_null());
  EXPECT_EQ(moves[1].text("run"), kRun);
}

TEST_F(CmdQuery, AKeyAndEveryIdOfARunNameTheSameGroup) {
  const std::string by_key = ok({"history", std::string(kKey), "--json"});
  for (const char* id : {"caec9f00e44c", "fa2cdd", "sha256:fa2cdd25d5d2",
                         "sol-execbench:run:submission/15866", "sol-execbench:submission/13511"}) {
    EXPECT_EQ(ok({"history", id, "--json"}), by_key) << id;
  }
}

TEST_F(CmdQuery, HistoryAsTheLogStood) {
  const Outcome before = run({"history", std::string(kKey), "--as-of", "8"});
  EXPECT_EQ(before.exit_code, 3);
  // The claims are there, and no import statement covers them yet.
  const json::Value unsigned_yet = document({"history", std::string(kKey), "--as-of", "71"});
  EXPECT_TRUE(unsigned_yet.find("runs")->array()[0].find("rank")->is_null());
  EXPECT_EQ(unsigned_yet.find({"asOf", "size"})->number(), 71);
  EXPECT_EQ(run({"history", std::string(kKey), "--as-of", "73"}).exit_code, 3);
}

TEST_F(CmdQuery, IdsThatNameNothingOrTooMuchOrNoRun) {
  EXPECT_EQ(run({"history", "sol-execbench:submission/1"}).exit_code, 3);
  EXPECT_EQ(run({"show", "fa2c"}).exit_code, 3);
  EXPECT_EQ(run({"show", "sha256:FA2CDD25"}).exit_code, 3);
  const Outcome suite = run(
      {"history", "sol-execbench:079_ImageNet_83.6_ssm_output_projection_gate_multiply_backward"});
  EXPECT_EQ(suite.exit_code, 3);
  EXPECT_THAT(suite.err, HasSubstr("kernelindex runs"));
}

TEST_F(CmdQuery, ShowAndCatGiveTheDocument) {
  const json::Value shown = document({"show", "sol-execbench:submission/15866"});
  EXPECT_EQ(shown.text("digest"), kRun);
  EXPECT_EQ(shown.text("kind"), "BenchmarkRun");
  EXPECT_EQ(shown.text("comparisonKey"), kKey);
  EXPECT_EQ(shown.text("level"), "reported");
  EXPECT_EQ(shown.find({"manifest", "spec", "timing", "latencyNs", "mean"})->number(), 59812);
  const std::string document_digest(shown.find("documents")->array()[0].text("digest"));
  const std::string bytes = ok({"cat", std::string(kRun)});
  EXPECT_EQ(sha256(bytes).text(), document_digest);
  EXPECT_EQ(ok({"cat", document_digest}), bytes);
  EXPECT_EQ(run({"cat", std::string(kRun), "-o", "nowhere/file"}).exit_code, 6);
}

TEST_F(CmdQuery, RunsAreFiltered) {
  const auto count = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"runs", "--jsonl"});
    const std::string lines = ok(std::move(words));
    return std::count(lines.begin(), lines.end(), '\n');
  };
  EXPECT_EQ(count({}), 7);
  EXPECT_EQ(count({"--source", "sol-execbench", "--status", "passed"}), 7);
  EXPECT_EQ(count({"--source", "gpumode"}), 0);
  EXPECT_EQ(count({"--hardware", "nvidia b200"}), 7);
  EXPECT_EQ(count({"--hardware", "NVIDIA H200"}), 0);
  EXPECT_EQ(count({"--level", "reported"}), 7);
  EXPECT_EQ(count({"--level", "verified"}), 0);
  EXPECT_EQ(count({"--since", "2026-07-10", "--until", "2026-07-14"}), 2);
  EXPECT_EQ(count({"--since", "2026-07-10T00:00:00Z"}), 4);
  EXPECT_EQ(count({"--limit", "3"}), 3);
  EXPECT_EQ(count({"--serving"}), 0);
  EXPECT_EQ(count({"--operation",
                   "sol-execbench:079_ImageNet_83.6_ssm_output_projection_gate_multiply_backward"}),
            3);
  EXPECT_EQ(count({"--implementation", "sol-execbench:implementation:submission/15866"}), 1);
  EXPECT_EQ(run({"runs", "--since", "yesterday"}).exit_code, 2);
  EXPECT_EQ(run({"runs", "--level", "best"}).exit_code, 2);
}

TEST_F(CmdQuery, PagesOfRunsMeetWithoutGapOrOverlap) {
  std::vector<std::string> digests;
  std::string cursor;
  do {
    std::vector<std::string> words{"runs", "--limit", "3"};
    if (!cursor.empty()) words.insert(words.end(), {"--cursor", cursor});
    const json::Value page = document(words);
    for (const json::Value& each : page.find("runs")->array()) {
      digests.emplace_back(each.text("digest"));
    }
    cursor = page.text("cursor");
  } while (!cursor.empty());
  EXPECT_EQ(digests.size(), 7u);
  std::ranges::sort(digests);
  EXPECT_EQ(std::ranges::unique(digests).size(), 0u);
}

TEST_F(CmdQuery, CsvHasOneHeaderAndUncutFields) {
  const std::string csv = ok({"runs", "--csv"});
  EXPECT_THAT(csv, StartsWith("digest,externalIds,source,"));
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 8);
  EXPECT_THAT(csv, HasSubstr(kKey));
  EXPECT_EQ(run({"runs", "--csv", "--json"}).exit_code, 2);
}

TEST_F(CmdQuery, RecordsTellEachMove) {
  const std::string lines = ok({"records", "--jsonl"});
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 6);
  EXPECT_THAT(lines, AllOf(HasSubstr(R"("cause":"new_run")"), HasSubstr(R"("late":false)"),
                           HasSubstr(R"("previous":null)")));
  EXPECT_THAT(ok({"records", "--ranking", "ranking-v0", "--limit", "1"}), HasSubstr("µs"));
}

TEST_F(CmdQuery, ProvenanceLeadsFromClaimToSnapshotToLog) {
  const json::Value story = document({"provenance", "fa2cdd25"});
  EXPECT_EQ(story.text("level"), "reported");
  EXPECT_EQ(story.text("policy"), "evidence-v1");
  ASSERT_EQ(story.find("claims")->array().size(), 1u);
  const json::Value& claim = story.find("claims")->array()[0];
  EXPECT_EQ(claim.text("source"), "sol-execbench");
  EXPECT_EQ(claim.text("acquired"), "supplied");
  EXPECT_EQ(claim.text("item"), "/data/submissions/0");
  EXPECT_TRUE(claim.find({"import", "valid"})->boolean());
  EXPECT_EQ(claim.find("snapshot")->text("locator"), "submissions/79.json");
  EXPECT_EQ(story.find("refers")->array().size(), 4u);
  for (const json::Value& reference : story.find("refers")->array()) {
    EXPECT_TRUE(reference.find("present")->boolean());
  }
  EXPECT_EQ(story.find({"notes", "total"})->number(), 0);
  EXPECT_EQ(story.find({"checkpoint", "size"})->number(), 72);
  EXPECT_EQ(story.find({"inclusion", "path"})->array().size(), 7u);
  // The snapshot that it names is the file that was given.
  const std::string snapshot(claim.find("snapshot")->text("digest"));
  EXPECT_EQ(ok({"cat", snapshot}), read_file(source_root() / "tools/sample/submissions/79.json"));
}

TEST_F(CmdQuery, SearchFindsByWords) {
  EXPECT_THAT(ok({"search", "databricks"}), HasSubstr("Databricks"));
  EXPECT_THAT(ok({"search", "swiglu", "--limit", "1"}), HasSubstr("OperationSpec"));
  EXPECT_EQ(ok({"search", "no-such-word"}), "nothing found\n");
  EXPECT_EQ(document({"search", "no-such-word"}).find("hits")->array().size(), 0u);
}

TEST_F(CmdQuery, TablesCarryNoColourIntoAPipe) {
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"history", "fa2cdd"}, {"runs"}, {"records"}, {"provenance", "fa2cdd"}, {"status"}}) {
    EXPECT_THAT(ok(words), AllOf(Not(HasSubstr("\x1b")), EndsWith("\n")));
  }
}

TEST_F(CmdQuery, DigestsAreNeverCutInMachineOutput) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"history", "fa2cdd", "--json"},
                                             {"runs", "--json"},
                                             {"records", "--json"},
                                             {"provenance", "fa2cdd", "--json"},
                                             {"show", "fa2cdd", "--json"}}) {
    const std::string text = ok(words);
    for (std::size_t at = text.find("sha256:"); at != std::string::npos;
         at = text.find("sha256:", at + 1)) {
      const std::size_t end = text.find_first_not_of("0123456789abcdef", at + 7);
      EXPECT_EQ(end - at, 7u + 64u) << text.substr(at, 80);
    }
  }
}

TEST_F(CmdQuery, ProvenanceTellsTheWholeImport) {
  const json::Value told = document({"provenance", std::string(kRun)});
  const json::Value* import = told.find("claims")->array()[0].find("import");
  const json::Value* event = import->find("event");
  ASSERT_NE(event, nullptr);
  EXPECT_EQ(event->text("parser"), "sol-execbench");
  EXPECT_EQ(event->find("statements")->array().size(), 1u);
  EXPECT_EQ(event->find("snapshots")->array().size(), 6u);
  EXPECT_EQ(event->find({"recorded", "manifests"})->number(), 58);
  const std::string report(event->find("report")->text("digest"));
  EXPECT_TRUE(event->find("report")->find("kept")->boolean());
  EXPECT_EQ(event->find({"report", "selected"})->number(), 7);
  EXPECT_THAT(ok({"provenance", std::string(kRun)}),
              AllOf(HasSubstr("sol-execbench 1, 1 statement of entries"),
                    HasSubstr("report " + report + ": 7 items selected")));
}

}  // namespace
}  // namespace kernelindex::test
