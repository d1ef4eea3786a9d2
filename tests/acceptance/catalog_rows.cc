// SPDX-License-Identifier: Apache-2.0
#include "tests/acceptance/catalog_rows.h"

#include "ingest/line_source.h"
#include "ingest/zstd_source.h"
#include "schema/json_reader.h"
#include "tests/acceptance/room.h"
#include "tests/support/corpus.h"

namespace kernelindex::test {
namespace {

struct Event {
  std::string key;
  std::string run;
  std::string previous;
  std::string at;
};

void read_row(std::string_view table, const json::Value& row, CatalogRows& out,
              std::vector<Event>& events) {
  const std::string id(row.text("id"));
  const auto digest = [&](std::string_view column) {
    return must(Digest::parse(row.text(column)));
  };
  if (table == "benchmark_runs") {
    out.runs.push_back({id, digest("runDigest"), digest("comparisonKey")});
  } else if (table == "serving_runs") {
    out.serving_runs.push_back({id, digest("runDigest"), digest("cohortKey")});
  } else if (table == "record_events") {
    events.push_back({std::string(row.text("comparisonKey")), std::string(row.text("runId")),
                      std::string(row.text("previousRunId")), std::string(row.text("at"))});
  } else if (table == "operations") {
    out.digests.emplace(id, digest("semanticDigest"));
  } else if (table == "implementations") {
    out.digests.emplace(id, digest("implementationDigest"));
  }
}

CatalogRows read_catalog() {
  const std::string bytes = read_file(catalog_file());
  MemorySource memory(bytes);
  ingest::ZstdSource source(memory);
  ingest::LineSource lines(source);
  const json::ReadLimits bounds{limits::kSourceLineBytes, limits::kJsonDepth};
  CatalogRows out;
  std::vector<Event> events;
  json::Arena arena;
  ingest::Line line;
  while (must(lines.next(line))) {
    arena.reset();
    const json::Value document = must(json::parse(line.text, arena, bounds));
    read_row(document.text("table"), *document.find("row"), out, events);
  }
  std::map<std::string, Digest> runs;
  for (const CatalogRun& run : out.runs) runs.emplace(run.id, run.run);
  for (const Event& event : events) {
    CatalogMove move{must(Digest::parse(event.key)), runs.at(event.run), std::nullopt,
                     must(parse_utc_instant(event.at))};
    if (!event.previous.empty()) move.previous = runs.at(event.previous);
    out.moves.push_back(move);
  }
  return out;
}

}  // namespace

const CatalogRows& CatalogRows::published() {
  static const CatalogRows rows = read_catalog();
  return rows;
}

}  // namespace kernelindex::test
