// SPDX-License-Identifier: Apache-2.0
#include "tests/ingest/spoilt_sources.h"

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "ingest/import.h"
#include "schema/json_reader.h"
#include "tests/ingest/text_mutations.h"
#include "tests/support/corpus.h"

namespace kernelindex::test {
namespace {

constexpr std::string_view kCommit = "da915083d4c7c5e61aa3005e3d17ae488e0fc71c";

std::string read(std::string_view path) {
  return read_file(corpus_path("data/sources/" + std::string(path)));
}

auto importer(std::string_view word, ingest::ImportOptions options = {}) {
  const ingest::SourceInfo* source = ingest::find_source(word);
  if (source == nullptr) throw std::runtime_error("no source " + std::string(word));
  return [source, options](const SourceFiles& files, CollectingSink& sink) {
    return ingest::run_importer(*source, options, files.recorded(), sink);
  };
}

// Items of a document, by a walk of a test; none when it is no document.
template <typename Count>
auto of_document(Count count) {
  return [count](std::string_view text) -> std::size_t {
    json::Arena arena;
    std::vector<json::Defect> defects;
    const Result<json::Value> document = json::parse_collecting_defects(
        text, arena, {limits::kSourceJsonBytes, limits::kJsonDepth}, defects);
    return document ? count(*document) : 0;
  };
}

std::size_t list_size(const json::Value* list) {
  return list != nullptr && list->is_array() ? list->array().size() : 0;
}

std::size_t timings(const json::Value& document) {
  std::size_t count = 0;
  if (!document.is_object()) return 0;
  for (const json::Member& level : document.object()) {
    // A level that is none is one thing to set aside.
    count += level.value.is_object() ? level.value.object().size() : 1;
  }
  return count;
}

// Without the header.
std::size_t rows(std::size_t records) { return records == 0 ? 0 : records - 1; }

std::size_t submissions(const json::Value& document) {
  const json::Value* data = document.find("data");
  return list_size((data != nullptr ? *data : document).find("submissions"));
}

}  // namespace

std::vector<SpoiltSource> spoilt_sources() {
  std::vector<SpoiltSource> out;
  const std::string flashinfer = "flashinfer/kernelindex-fixtures/dataset/";
  SourceFiles traces;
  traces.add("definition.json", read(flashinfer + "definition.json"))
      .add("solution.json", read(flashinfer + "solution.json"))
      .add("trace.jsonl", read(flashinfer + "trace.jsonl"));
  ingest::ImportOptions revision;
  revision.revision = kCommit;
  out.push_back({"flashinfer-bench", traces, "trace.jsonl", importer("flashinfer-bench", revision),
                 count_lines});

  SourceFiles table;
  table.add("all.csv", read("liger/kernelindex-fixtures/all-benchmark-data-slice.csv"));
  out.push_back({"liger", table, "all.csv", importer("liger"),
                 [](std::string_view text) { return rows(count_csv_records(text)); },
                 [](std::string_view text) { return rows(count_lines(text)); }});

  SourceFiles summary;
  summary.add("summary_results.json", read("mlperf/kernelindex-fixtures/summary-v6.0-slice.json"));
  out.push_back({"mlperf", summary, "summary_results.json", importer("mlperf"),
                 of_document([](const json::Value& document) { return list_size(&document); })});

  SourceFiles pages;
  pages.add("leaderboards.json", read("gpumode/kernelindex-fixtures/api/leaderboards.json"))
      .add("top.json", read("gpumode/kernelindex-fixtures/api/fp8-mm-top.json"));
  out.push_back(
      {"gpumode", pages, "top.json", importer("gpumode"),
       of_document([](const json::Value& page) { return list_size(page.find("rows")); })});

  SourceFiles timing;
  timing.add("h/baseline_time_torch.json",
             "{\"level1\":{\n"
             "\"1_a.py\":{\"mean\":2.66,\"std\":0.02,\"min\":2.65,\"max\":2.86,\"num_trials\":100,"
             "\"hardware\":\"NVIDIA H100\",\"device\":\"cuda:0\"},\n\"2_b.py\":null,\n"
             "\"3_c.py\":{\"mean\":1,\"hardware\":\"x\"}\n}}\n");
  out.push_back({"kernelbench", timing, "h/baseline_time_torch.json", importer("kernelbench"),
                 of_document(timings)});

  out.push_back({"sol-execbench", SourceFiles::of_folder(source_root() / "tools/sample"),
                 "submissions/79.json", importer("sol-execbench"), of_document(submissions)});
  return out;
}

std::string import_spoilt(SpoiltSource& source, std::uint32_t seed) {
  const std::string whole = source.files.bytes_of(source.target);
  CollectingSink before;
  if (const Status done = source.import(source.files, before); !done) return done.error().text();
  const std::size_t others = before.accounted_items() - source.count(whole);
  const Mutation mutation = text_mutation(whole, seed);
  source.files.bytes_of(source.target) = mutation.text;
  CollectingSink after;
  const Status done = source.import(source.files, after);
  source.files.bytes_of(source.target) = whole;
  const std::string what = source.name + ", " + mutation.what + ": ";
  if (!done) {
    const Error& error = done.error();
    const bool said = error.kind == ErrorKind::invalid && !error.code.empty();
    return said ? "" : what + "the import ends with " + error.text();
  }
  if (after.early_claims > 0) return what + "a claim came before its file";
  const bool aside = std::ranges::any_of(after.all_findings, [&](const ingest::Finding& finding) {
    const bool file = finding.item.empty() || finding.item == "1" || finding.item == "/data";
    return finding.locator == source.target && file && finding.kind != ingest::FindingClass::drift;
  });
  const std::size_t items = others + source.count(mutation.text);
  const std::size_t otherwise =
      source.count_otherwise ? others + source.count_otherwise(mutation.text) : items;
  const std::size_t accounted = after.accounted_items();
  if (aside ||
      (accounted >= std::min(items, otherwise) && accounted <= std::max(items, otherwise))) {
    return {};
  }
  return what + std::to_string(accounted) + " items of " + std::to_string(items) +
         " are accounted for\n" + after.said();
}

}  // namespace kernelindex::test
