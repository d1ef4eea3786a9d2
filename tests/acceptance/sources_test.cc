// SPDX-License-Identifier: Apache-2.0
// Every source through the program: imported once, imported again without a change, and its parser
// run again over what was kept.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "ingest/line_source.h"
#include "ingest/zstd_source.h"
#include "ledger/import_event.h"
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

// An import of several batches is signed by several statements, and told as one.
TEST(Sources, AnImportOfSeveralBatchesIsOneEvent) {
  KERNELINDEX_REQUIRE_CORPUS();
  Room room;
  const ingest::ImportReport before = room.import_sample();
  const ingest::ImportReport done =
      room.import("liger", corpus_path("data/sources/liger/linkedin/benchmark/data"));
  const Reader reader = room.read();
  const ImportEventView event =
      must(view_import_event(reader, reader.state().imports.back().index));
  EXPECT_EQ(event.parser, "liger-kernel-bench");
  EXPECT_EQ(event.parser_version, "1");
  EXPECT_EQ(event.options, "{}");
  ASSERT_GT(event.statements.size(), 1u);
  EXPECT_EQ(event.statements.front().first, before.head.size) << "nothing of the import before";
  for (std::size_t i = 0; i < event.statements.size(); ++i) {
    EXPECT_TRUE(event.statements[i].valid);
    EXPECT_EQ(event.statements[i].end, event.statements[i].index) << "a statement ends its batch";
    if (i > 0) {
      EXPECT_EQ(event.statements[i].first, event.statements[i - 1].index + 1);
    }
    EXPECT_EQ(must(view_import_event(reader, event.statements[i].index)).statements.size(),
              event.statements.size())
        << "whichever statement is asked about";
  }
  EXPECT_EQ(event.statements.back().index + 1, done.head.size);
  EXPECT_EQ(static_cast<std::uint64_t>(event.counts.at("manifests")), done.recorded.manifests);
  EXPECT_EQ(static_cast<std::uint64_t>(event.counts.at("snapshots")), done.recorded.snapshots);
  EXPECT_EQ(event.snapshots.size(), done.recorded.snapshots);
  ASSERT_TRUE(event.report);
  EXPECT_TRUE(event.report->kept);
  EXPECT_EQ(event.report->digest, sha256(done.kept_json()));
  EXPECT_EQ(event.report->selected, done.selected);
  EXPECT_EQ(must(view_import_event(reader, event.statements.front().index)).report->digest,
            event.report->digest);
  const Result<ImportEventView> none = view_import_event(reader, 0);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, "NO_SUCH_IMPORT");
}

// The lines of the published catalog that are needed for one operation and its cases.
std::string catalog_rows_of(std::string_view operation_row) {
  const std::string compressed = read_file(catalog_file());
  MemorySource bytes(compressed);
  ingest::ZstdSource plain(bytes);
  ingest::LineSource lines(plain);
  std::string out;
  const std::string id = "\"" + std::string(operation_row) + "\"";
  for (ingest::Line line; must(lines.next(line));) {
    const bool wanted = line.text.starts_with("{\"table\":\"sources\"") ||
                        (line.text.starts_with("{\"table\":\"operations\"") &&
                         line.text.find("\"id\":" + id) != line.text.npos) ||
                        (line.text.starts_with("{\"table\":\"workloads\"") &&
                         line.text.find("\"operationId\":" + id) != line.text.npos);
    if (wanted) out.append(line.text).append("\n");
  }
  return out;
}

// Operations and cases that FlashInfer-Bench and SOL-ExecBench both claim.
std::size_t said_by_both(const Reader& reader) {
  std::size_t count = 0;
  for (const Digest& object : objects(reader)) {
    const Result<std::optional<std::string>> bytes = reader.object(object);
    if (!bytes || !*bytes) continue;
    const Result<Manifest> manifest = read_manifest(**bytes);
    if (!manifest || (manifest->kind != ManifestKind::operation_spec &&
                      manifest->kind != ManifestKind::workload_case)) {
      continue;
    }
    std::set<std::string> sources;
    const Provenance told = must(provenance(reader, manifest->identity));
    for (const ClaimView& claim : told.claims) sources.insert(claim.source);
    if (sources == std::set<std::string>{"flashinfer-bench", "sol-execbench"}) ++count;
  }
  return count;
}

// NVIDIA's rmsnorm example, and the rows that a catalog has of FlashInfer-Bench: the operation and
// all fourteen cases are one object each, said by both.
TEST(Sources, NvidiasExampleAndTheCatalogsRowsOfFlashinferAreOneObjectEach) {
  KERNELINDEX_REQUIRE_CORPUS();
  const TempDir temp;
  write_file(temp / "rows.jsonl", catalog_rows_of("01a00b19-864a-7db7-9f06-c5bfaf08253a"));
  Room room;
  const ingest::ImportReport catalog = room.import("kernelindex-catalog", temp / "rows.jsonl");
  EXPECT_EQ(catalog.claims.at("OperationSpec"), 1u);
  const std::uint64_t cases = catalog.claims.at("WorkloadCase");
  EXPECT_GE(cases, 14u);
  const ingest::ImportReport example =
      room.import("sol-execbench",
                  corpus_path("data/sources/sol-execbench/nvidia-repo/examples/triton/rmsnorm"),
                  {.top = {},
                   .tags = {},
                   .kernels = {},
                   .stack = {},
                   .commit = std::string(kCommit),
                   .revision = {},
                   .observed_at = {}});
  EXPECT_EQ(example.claims.at("OperationSpec"), 1u);
  EXPECT_EQ(example.claims.at("WorkloadCase"), 14u);
  EXPECT_GE(said_by_both(room.read()), 15u) << "the operation and fourteen cases";
  room.close();
  expect_sound(room);
}

}  // namespace
}  // namespace kernelindex::test
