// SPDX-License-Identifier: Apache-2.0
// Every source through the program: imported once, imported again without a change, and its parser
// run again over what was kept.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ledger/query.h"
#include "tests/acceptance/room.h"
#include "tests/support/corpus.h"

namespace kernelindex::test {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kRevision = "da915083d4c7c5e61aa3005e3d17ae488e0fc71c";
constexpr std::string_view kCommit = "8d2237d2012cba81f64905b273b592653623abf9";

std::string corpus(std::string_view folder) {
  return corpus_path("data/sources/" + std::string(folder)).string();
}

// A room whose ledger the program may write.
struct ClosedRoom : Room {
  ClosedRoom() { close(); }
  Outcome json(std::vector<std::string> words) const {
    words.push_back("--json");
    return run(std::move(words));
  }
};

// Imports twice; the second time adds nothing, and the audit finds nothing either time.
void expect_imports(const std::vector<std::string>& words, std::string_view recorded) {
  const ClosedRoom room;
  std::vector<std::string> import = {"import"};
  import.insert(import.end(), words.begin(), words.end());
  const Outcome first = room.json(import);
  EXPECT_EQ(first.exit_code, 0) << first.out << first.err;
  EXPECT_THAT(first.out, HasSubstr(recorded));
  const Outcome audit = room.json({"audit", "--reimport"});
  EXPECT_EQ(audit.exit_code, 0) << audit.out << audit.err;
  const Outcome again = room.json(import);
  EXPECT_THAT(again.out, HasSubstr("\"recorded\":{\"artifacts\":0,\"attestations\":0,"
                                   "\"manifests\":0,\"snapshots\":0}"))
      << again.err;
  const Outcome second_audit = room.json({"audit", "--reimport"});
  EXPECT_EQ(second_audit.exit_code, 0) << second_audit.out << second_audit.err;
}

TEST(Sources, EachIsImportedOnceAndParsedAgain) {
  KERNELINDEX_REQUIRE_CORPUS();
  expect_imports({"mlperf", corpus("mlperf/mlcommons-inference_results_v5.1/summary_results.json")},
                 "\"ServingRun\":362");
  expect_imports({"liger", corpus("liger/linkedin/benchmark/data")}, "\"source\":\"liger-kernel-");
  expect_imports({"gpumode", corpus("gpumode/kernelindex-fixtures/api")}, "\"BenchmarkRun\":6");
  expect_imports({"kernelbench", corpus("kernelbench")}, "\"no_operation\":");
  expect_imports({"flashinfer-bench", corpus("flashinfer/kernelindex-fixtures"), "--revision",
                  std::string(kRevision)},
                 "\"BenchmarkRun\":5");
  expect_imports({"sol-execbench", corpus("sol-execbench/nvidia-repo/examples"), "--commit",
                  std::string(kCommit)},
                 "\"ImplementationRevision\":11");
}

// Three lists, definitions and solutions of one content in two folders: snapshots alone would not
// tell which is whose.
TEST(Sources, FilesOfOneContentKeepTheirPaths) {
  KERNELINDEX_REQUIRE_CORPUS();
  const TempDir temp;
  for (const char* folder : {"a", "b"}) {
    std::filesystem::copy(corpus("sol-execbench/kernelindex-fixtures/rmsnorm"), temp / folder,
                          std::filesystem::copy_options::recursive);
  }
  expect_imports({"sol-execbench", temp.path().string(), "--commit", std::string(kCommit)},
                 "\"ImplementationRevision\":2");
}

TEST(Sources, WithoutAWordTheContentTells) {
  KERNELINDEX_REQUIRE_CORPUS();
  const ClosedRoom room;
  const TempDir temp;
  std::filesystem::copy(corpus("gpumode/kernelindex-fixtures/api"), temp / "pages",
                        std::filesystem::copy_options::recursive);
  std::filesystem::copy(sample_folder(), temp / "dump", std::filesystem::copy_options::recursive);
  write_file(temp / "NOTES.md", "# What this is");
  const Outcome several = room.json({"import", temp.path().string()});
  EXPECT_EQ(several.exit_code, 0) << several.out << several.err;
  EXPECT_THAT(several.out, HasSubstr("\"source\":\"gpumode-kernelbot\""));
  EXPECT_THAT(several.out, HasSubstr("\"source\":\"sol-execbench\""));
  EXPECT_THAT(several.out, HasSubstr("\"unclaimed\":["));
  EXPECT_THAT(several.out, HasSubstr("\"NOTES.md\""));
  const Outcome one = room.json({"import", (temp / "pages").string(), "--dry-run"});
  EXPECT_THAT(one.out, HasSubstr("\"source\":\"gpumode-kernelbot\"")) << one.err;
  EXPECT_THAT(one.out, HasSubstr("\"unclaimed\":[]"));
  const Outcome none = room.json({"import", (temp / "NOTES.md").string()});
  EXPECT_EQ(none.exit_code, 3);
  EXPECT_THAT(none.err, HasSubstr("UNKNOWN_SOURCE"));
}

TEST(Sources, SourceAndLogInTheLogMakeARunReproducible) {
  KERNELINDEX_REQUIRE_CORPUS();
  const TempDir temp;
  std::filesystem::copy(corpus("flashinfer/kernelindex-fixtures/dataset"), temp / "dataset",
                        std::filesystem::copy_options::recursive);
  std::string traces = read_file(temp / "dataset/trace.jsonl");
  traces.replace(traces.find("\"log\":\"\""), 8, "\"log\":\"built\"");
  std::filesystem::permissions(temp / "dataset/trace.jsonl", std::filesystem::perms::owner_all);
  write_file(temp / "dataset/trace.jsonl", traces);
  const ClosedRoom room;
  const Outcome import = room.json(
      {"import", "flashinfer-bench", temp.path().string(), "--revision", std::string(kRevision)});
  EXPECT_EQ(import.exit_code, 0) << import.out << import.err;
  const Outcome runs = room.json({"runs", "--level", "reproducible", "--json"});
  EXPECT_THAT(runs.out, HasSubstr("\"levelReasons\":[\"CLAIMED_BY_SOURCE\",\"BYTES_HELD\","
                                  "\"NO_CONTROLLED_RUN\"]"));
}

// The same operation and cases by two sources: one object each, two claims.
TEST(Sources, WhatTwoSourcesSayIsOneObjectWithTwoClaims) {
  KERNELINDEX_REQUIRE_CORPUS();
  const ClosedRoom room;
  ASSERT_EQ(room.json({"import", "sol-execbench", corpus("sol-execbench/nvidia-repo/examples"),
                       "--commit", std::string(kCommit)})
                .exit_code,
            0);
  const TempDir temp;
  std::filesystem::create_directories(temp / "definitions");
  std::filesystem::copy(corpus("sol-execbench/nvidia-repo/examples/triton/rmsnorm/definition.json"),
                        temp / "definitions/rmsnorm_h4096.json");
  const Outcome again = room.json({"import", "flashinfer-bench", temp.path().string()});
  EXPECT_THAT(again.out, HasSubstr("\"OperationSpec\":1")) << again.err;
  const Outcome shown = room.json(
      {"provenance", "sha256:2871390f2acf5e895c37899aa361f04013a777aa68085c4d9f7f8072f06483bc"});
  EXPECT_THAT(shown.out, HasSubstr("\"source\":\"flashinfer-bench\"")) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("\"source\":\"sol-execbench\""));
}

}  // namespace
}  // namespace kernelindex::test
