// SPDX-License-Identifier: Apache-2.0
// Each source with one member of one item spoilt: the item is chosen, skipped or set aside, the
// others are what they were, and nothing is lost unsaid.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "ingest/flashinfer_bench.h"
#include "ingest/gpumode_kernelbot.h"
#include "ingest/kernelbench.h"
#include "ingest/liger_kernel_bench.h"
#include "ingest/mlperf_inference.h"
#include "ingest/sol_execbench.h"
#include "ingest/sol_local.h"
#include "schema/canonical_json.h"
#include "schema/json_reader.h"
#include "tests/ingest/collecting_sink.h"
#include "tests/ingest/json_mutations.h"
#include "tests/support/corpus.h"

namespace kernelindex {
namespace {

using test::CollectingSink;
using test::Mutation;
using test::SourceFiles;

constexpr std::uint32_t kSeed = 20261130;
constexpr std::size_t kMutations = 400;
constexpr std::string_view kCommit = "da915083d4c7c5e61aa3005e3d17ae488e0fc71c";

using Import = std::function<Status(const SourceFiles& files, CollectingSink& sink)>;

std::string read(std::string_view path) {
  return test::read_file(test::corpus_path("data/sources/" + std::string(path)));
}

// Spoils `item` inside the file, `count` times in another place; `items` are accounted for always.
void expect_nothing_lost(SourceFiles& files, std::string_view locator, const std::string& before,
                         const std::string& item, const std::string& behind, std::size_t items,
                         const Import& import) {
  for (const Mutation& mutation : test::mutations_of(item, kSeed, kMutations)) {
    files.bytes_of(locator) = before + mutation.text + behind;
    CollectingSink sink;
    const Status done = import(files, sink);
    ASSERT_TRUE(done) << mutation.what << ": " << done.error().text();
    ASSERT_EQ(sink.accounted_items(), items) << mutation.what << "\n" << sink.said();
    ASSERT_EQ(sink.early_claims, 0u);
  }
}

TEST(Mutations, OfAFlashinferTrace) {
  KERNELINDEX_REQUIRE_CORPUS();
  const std::string folder = "flashinfer/kernelindex-fixtures/dataset/";
  SourceFiles files;
  files.add("definition.json", read(folder + "definition.json"));
  files.add("solution.json", read(folder + "solution.json")).add("trace.jsonl", "");
  const std::string traces = read(folder + "trace.jsonl");
  const std::size_t first = traces.find('\n') + 1;
  const std::size_t second = traces.find('\n', first);
  expect_nothing_lost(
      files, "trace.jsonl", traces.substr(0, first), traces.substr(first, second - first),
      traces.substr(second), 4, [](const SourceFiles& of, CollectingSink& sink) {
        return ingest::import_flashinfer_bench(of.recorded(), {std::string(kCommit)}, sink);
      });
}

TEST(Mutations, OfALocalSolution) {
  KERNELINDEX_REQUIRE_CORPUS();
  const std::string folder = "sol-execbench/nvidia-repo/examples/pytorch/linear_backward/";
  SourceFiles files;
  files.add("definition.json", read(folder + "definition.json"));
  files.add("workload.jsonl", read(folder + "workload.jsonl")).add("solution.json", "");
  for (const Mutation& mutation :
       test::mutations_of(read(folder + "solution_python.json"), kSeed, kMutations)) {
    files.bytes_of("solution.json") = mutation.text;
    CollectingSink sink;
    ASSERT_TRUE(ingest::import_sol_local(files.recorded(), {std::string(kCommit)}, sink));
    // Without the members that tell it is a solution it is a file that nobody knows.
    const std::size_t unknown = sink.findings(ingest::FindingClass::review).size();
    ASSERT_EQ(sink.accounted_items() + unknown, 1u) << mutation.what << "\n" << sink.said();
  }
}

TEST(Mutations, OfADefinitionAndItsWorkloads) {
  KERNELINDEX_REQUIRE_CORPUS();
  const std::string folder = "sol-execbench/nvidia-repo/examples/cuda_cpp/rmsnorm/";
  SourceFiles files;
  files.add("definition.json", "").add("workload.jsonl", "");
  const std::string definition = read(folder + "definition.json");
  const std::string workloads = read(folder + "workload.jsonl");
  const auto import = [&] {
    CollectingSink sink;
    const Status done = ingest::import_sol_local(files.recorded(), {}, sink);
    EXPECT_TRUE(done) << done.error().text();
    return sink;
  };
  files.bytes_of("workload.jsonl") = workloads;
  for (const Mutation& mutation : test::mutations_of(definition, kSeed, kMutations)) {
    files.bytes_of("definition.json") = mutation.text;
    const CollectingSink sink = import();
    const bool said = !sink.all_findings.empty() || !sink.drafts.empty();
    ASSERT_TRUE(said) << mutation.what;
  }
  files.bytes_of("definition.json") = definition;
  const std::size_t end = workloads.find('\n');
  for (const Mutation& mutation : test::mutations_of(workloads.substr(0, end), kSeed, kMutations)) {
    files.bytes_of("workload.jsonl") = mutation.text + workloads.substr(end);
    const CollectingSink sink = import();
    ASSERT_EQ(sink.claims_of(ManifestKind::workload_case) + sink.accounted_items() +
                  sink.findings(ingest::FindingClass::review).size(),
              14u)
        << mutation.what << "\n"
        << sink.said();
  }
}

TEST(Mutations, OfAKernelbotRow) {
  KERNELINDEX_REQUIRE_CORPUS();
  const std::string folder = "gpumode/kernelindex-fixtures/api/";
  SourceFiles files;
  files.add("leaderboards.json", read(folder + "leaderboards.json")).add("top.json", "");
  json::Arena arena;
  const std::string text = read(folder + "fp8-mm-top.json");
  const json::Value page = json::parse(text, arena).value();
  const auto rows = page.find("rows")->array();
  const std::string before = "{\"rows\":[" + json::canonical(rows[1]) + ",{\"row\":";
  expect_nothing_lost(files, "top.json", before, json::canonical(*rows[0].find("row")), "}]}", 2,
                      [](const SourceFiles& of, CollectingSink& sink) {
                        return ingest::import_gpumode_kernelbot(of.recorded(), {}, sink);
                      });
}

TEST(Mutations, OfAnMlperfResult) {
  KERNELINDEX_REQUIRE_CORPUS();
  const std::string text = read("mlperf/kernelindex-fixtures/summary-v6.0-slice.json");
  json::Arena arena;
  const json::Value list = json::parse(text, arena).value();
  const std::string before = "[" + json::canonical(list.array()[0]) + ",";
  SourceFiles files;
  files.add("summary_results.json", "");
  expect_nothing_lost(files, "summary_results.json", before, json::canonical(list.array()[1]), "]",
                      2, [](const SourceFiles& of, CollectingSink& sink) {
                        return ingest::import_mlperf_inference(of.recorded(), sink);
                      });
}

// One submission of a saved page; the page's others, and those of the other kernel, stay.
TEST(Mutations, OfASubmissionInADump) {
  SourceFiles files = SourceFiles::of_folder(test::source_root() / "tools/sample");
  CollectingSink whole;
  ASSERT_TRUE(ingest::import_sol_execbench(files.view(), {}, whole));
  json::Arena arena;
  const std::string page = files.bytes_of("submissions/79.json");
  const json::Value document = json::parse(page, arena, {limits::kSourceJsonBytes}).value();
  const json::Value& item = document.find({"data", "submissions"})->array()[0];
  const std::string before = page.substr(0, item.begin());
  const std::string behind = page.substr(item.end());
  for (const Mutation& mutation : test::mutations_of(json::canonical(item), kSeed, kMutations)) {
    files.bytes_of("submissions/79.json") = before + mutation.text + behind;
    CollectingSink sink;
    ASSERT_TRUE(ingest::import_sol_execbench(files.view(), {}, sink)) << mutation.what;
    // A submission of a kernel that is not there makes the kernel one item more.
    const auto aside = sink.findings(ingest::FindingClass::quarantined);
    const auto missing = std::ranges::count(aside, "KERNEL_MISSING", &ingest::Finding::code);
    ASSERT_EQ(sink.accounted_items(), whole.accounted_items() + static_cast<std::size_t>(missing))
        << mutation.what << "\n"
        << sink.said();
    ASSERT_EQ(sink.early_claims, 0u);
  }
}

// The JSON inside a cell of Liger's table.
TEST(Mutations, OfTheConfigurationInALigerRow) {
  KERNELINDEX_REQUIRE_CORPUS();
  const std::string table = read("liger/kernelindex-fixtures/all-benchmark-data-slice.csv");
  const std::size_t header = table.find('\n') + 1;
  const std::size_t begin = table.find("\"{", header);
  const std::size_t end = table.find("}\"", begin) + 2;
  const auto quoted = [](const std::string& text) {
    std::string out = "\"";
    for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
    return out + "\"";
  };
  SourceFiles files;
  files.add("all.csv", table);
  CollectingSink whole;
  ASSERT_TRUE(ingest::import_liger_kernel_bench(files.recorded(), {}, whole));
  for (const Mutation& mutation : test::mutations_of(
           R"({"M": 2048, "dtype": "torch.bfloat16", "eps": 1e-06})", kSeed, kMutations)) {
    files.bytes_of("all.csv") = table.substr(0, begin) + quoted(mutation.text) + table.substr(end);
    CollectingSink sink;
    ASSERT_TRUE(ingest::import_liger_kernel_bench(files.recorded(), {}, sink));
    ASSERT_EQ(sink.accounted_items(), whole.accounted_items()) << mutation.what << sink.said();
  }
}

TEST(Mutations, OfAKernelbenchTiming) {
  SourceFiles files;
  files.add("h/baseline_time_torch.json", "");
  const std::string item =
      R"({"mean":2.66,"std":0.0199,"min":2.65,"max":2.86,"num_trials":100,"hardware":"NVIDIA H100","device":"cuda:0"})";
  expect_nothing_lost(files, "h/baseline_time_torch.json",
                      R"({"level1":{"1_a.py":{"mean":1,"hardware":"x"},"2_b.py":)", item, "}}", 2,
                      [](const SourceFiles& of, CollectingSink& sink) {
                        return ingest::import_kernelbench(of.recorded(), {}, sink);
                      });
}

}  // namespace
}  // namespace kernelindex
