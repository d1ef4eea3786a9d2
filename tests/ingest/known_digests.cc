// SPDX-License-Identifier: Apache-2.0
#include "tests/ingest/known_digests.h"

#include <sstream>

#include "ingest/line_source.h"
#include "ingest/zstd_source.h"
#include "schema/canonical_json.h"
#include "schema/comparison_key.h"
#include "schema/json_reader.h"
#include "schema/limits.h"
#include "tests/support/corpus.h"

namespace kernelindex::test {
namespace {

using json::Value;

constexpr std::string_view kCatalog = "data/kernelindex-catalog-2026-08-16-0022af0b.jsonl.zst";

void for_each_row(const std::function<void(std::string_view table, const Value& row)>& take) {
  const std::string bytes = read_file(corpus_path(kCatalog));
  MemorySource packed(bytes);
  ingest::ZstdSource unpacked(packed);
  ingest::LineSource lines(unpacked);
  ingest::Line line;
  json::Arena arena;
  while (lines.next(line).value()) {
    arena.reset();
    const Value value =
        json::parse(line.text, arena, {limits::kSourceLineBytes, limits::kJsonDepth}).value();
    take(value.text("table"), *value.find("row"));
  }
}

void add(std::map<std::string, CatalogObject, std::less<>>& out, const Value& manifest,
         std::string key) {
  json::Arena arena;
  const Manifest made = make_manifest(manifest, arena).value();
  out[made.identity.text()] = {made.document.text(), std::move(key)};
}

}  // namespace

DigestsById expected_digests(std::string_view path, std::string_view kind,
                             std::string_view id_member) {
  std::istringstream lines(read_file(corpus_path(path)));
  DigestsById expected;
  std::string line;
  while (std::getline(lines, line)) {
    json::Arena arena;
    const Value row = json::parse(line, arena).value();
    if (row.text("kind") != kind) continue;
    expected[std::string(row.text(id_member))].emplace(row.text("digest"));
  }
  return expected;
}

DigestsById found_digests(const CollectingSink& sink, ManifestKind kind) {
  DigestsById found;
  for (const ingest::Draft& draft : sink.drafts) {
    if (draft.manifest.kind != kind) continue;
    const std::string id = draft.external_ids.empty() ? "" : draft.external_ids[0];
    found[id.substr(id.find(':') + 1)].insert(draft.manifest.identity.text());
  }
  return found;
}

const std::map<std::string, CatalogObject, std::less<>>& catalog_objects() {
  static const auto* const objects = [] {
    auto* out = new std::map<std::string, CatalogObject, std::less<>>();
    for_each_row([&](std::string_view table, const Value& row) {
      const Value* manifest = row.find("manifest");
      if (manifest == nullptr) return;
      if (table != "benchmark_runs") {
        return add(*out, *manifest, std::string(row.text("cohortKey")));
      }
      add(*out, *manifest->find("run"), std::string(row.text("comparisonKey")));
      add(*out, *manifest->find("protocol"), {});
      add(*out, *manifest->find("environment"), {});
    });
    return out;
  }();
  return *objects;
}

std::vector<std::string> catalog_rows(std::string_view table) {
  std::vector<std::string> out;
  for_each_row([&](std::string_view name, const Value& row) {
    if (name == table) out.push_back(json::canonical(row));
  });
  return out;
}

std::map<std::string, std::string> keys_of_runs(const CollectingSink& sink) {
  std::map<Digest, KindFacts> facts;
  std::map<std::string, std::string> keys;
  for (const ingest::Draft& draft : sink.drafts) {
    const Manifest& manifest = draft.manifest;
    facts[manifest.identity] = manifest.facts;
    if (const auto* run = std::get_if<BenchmarkRunFacts>(&manifest.facts)) {
      const auto& workload = std::get<WorkloadFacts>(facts.at(run->workload));
      keys[manifest.identity.text()] = comparison_key(*run, workload).text();
    } else if (const auto* serving = std::get_if<ServingRunFacts>(&manifest.facts)) {
      const auto& workload = std::get<ServingWorkloadFacts>(facts.at(serving->workload));
      const auto& model = std::get<ModelFacts>(facts.at(serving->model));
      keys[manifest.identity.text()] = cohort_key(*serving, workload, model.tokenizer).text();
    }
  }
  return keys;
}

}  // namespace kernelindex::test
