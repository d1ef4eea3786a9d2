// SPDX-License-Identifier: Apache-2.0
// Rows of single manifests, for the export. Internal to catalog_export.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ingest/catalog_columns.h"
#include "ingest/catalog_line.h"
#include "ingest/catalog_plan.h"
#include "ingest/catalog_row.h"
#include "ingest/run_numbers.h"
#include "ledger/entry.h"
#include "ledger/reader.h"
#include "schema/json_value.h"
#include "schema/manifest.h"
#include "schema/utc_time.h"

namespace kernelindex::ingest {

// The claim that is shown of a manifest, and its document.
struct ShownClaim {
  ManifestEntry claim;
  UtcMicros recorded_at = 0;
  std::string bytes;  // canonical JSON
  json::Arena arena;
  json::Value document;  // in the arena
};
// Errors (corrupt): MISSING_OBJECT, those of decode_entry() and json::parse().
Result<ShownClaim> read_shown(const Reader& reader, const PlannedRow& row);

// The UUIDv8 of a row that is no manifest, by the members that name it.
Uuid made_id(std::initializer_list<std::pair<std::string_view, std::string_view>> members);
Uuid source_id(std::string_view source);

class CatalogRowWriter {
 public:
  CatalogRowWriter(const Reader& reader, CatalogPlan& plan) : reader_(reader), plan_(plan) {}

  // Appends the row of a manifest, and notes that it is there. False, and nothing appended, when
  // something that it refers to has no row. Requires: a table of manifests, in the order of tables.
  Result<bool> write(CatalogTable table, PlannedRow& row, std::string& lines);
  // Appends the rows of the numbers that a run's manifest gives; how many. Requires: a written run.
  Result<std::uint64_t> write_measurements(CatalogTable table, const PlannedRow& run,
                                           std::string& lines);

  // The record history of the benchmark runs that were written, and the run that a move is about.
  std::vector<RecordHistory::Move> moves() { return history_.moves(); }
  const PlannedRow& run_of(const RecordHistory::Move& move) const { return *runs_[move.run]; }

 private:
  // A manifest on its way to a row.
  struct Item {
    const PlannedRow& row;
    const ShownClaim& shown;
    const Manifest& manifest;

    const json::Value& spec() const { return *shown.document.find("spec"); }
    // The slug that its source gave it, else its own name.
    std::string_view slug() const {
      return shown.claim.facts.slug.empty() ? manifest.name : shown.claim.facts.slug;
    }
  };
  // What is said of a run beside its manifest.
  struct Standing {
    std::string source;     // that the run names, else of the one who claims it
    std::string published;  // when the source said so, else when it was recorded
    std::optional<Uuid> supersedes;
    std::optional<std::string> retracted_at;  // absent: it stands
    std::optional<std::string> retraction_reason;
  };
  struct RunRows;  // the rows and documents that the row of a benchmark run shows

  // Each appends one row; false when something that it refers to has no row.
  Result<bool> project(const Item& item, std::string& lines);
  Result<bool> operation(const Item& item, std::string& lines);
  Result<bool> workload(const Item& item, std::string& lines);
  Result<bool> implementation(const Item& item, std::string& lines);
  Result<bool> run(const Item& item, std::string& lines);
  Result<bool> model(const Item& item, std::string& lines);
  Result<bool> stack(const Item& item, std::string& lines);
  Result<bool> configuration(const Item& item, std::string& lines);
  Result<bool> serving_workload(const Item& item, std::string& lines);
  Result<bool> serving_run(const Item& item, std::string& lines);

  Result<std::optional<RunRows>> rows_of_run(const Item& item);
  void write_run(const Item& item, const RunRows& rows, std::string& lines);
  // What the columns of its row, being read again, would say to the record history.
  void remember_run(const Item& item, const RunRows& rows);

  // Null when there is none, or none was written.
  std::optional<Uuid> project_id(const Item& item);
  Result<std::optional<Uuid>> superseded_id(const Item& item);
  Result<Standing> standing_of(const Item& item, const std::optional<SourceNative>& native);
  // By a statement of this ledger.
  Status add_retraction(const Item& item, Standing& standing);
  Result<std::string> first_tensor_of(const PlannedRow& operation);
  Result<const ImplementationColumns*> columns_of(const PlannedRow& implementation);
  template <typename Facts>
  Result<Facts> facts_of(const Digest& identity);

  const Reader& reader_;
  CatalogPlan& plan_;
  RecordHistory history_;
  std::vector<const PlannedRow*> runs_;  // by their number in history_
  // What neighbouring rows ask for again.
  std::optional<std::pair<Digest, std::string>> last_first_tensor_;
  std::optional<std::pair<Digest, ImplementationColumns>> last_implementation_;
};

template <typename Facts>
Result<Facts> CatalogRowWriter::facts_of(const Digest& identity) {
  const Result<std::optional<SubjectRow>> row = reader_.subject(identity);
  if (!row) return fail(row.error());
  if (*row) {
    if (const auto* facts = std::get_if<Facts>(&(*row)->facts)) return *facts;
  }
  return fail(ErrorKind::corrupt, "DAMAGED_ROW", identity.text(),
              "the row of a manifest does not have the facts of its kind",
              "`kernelindex reindex` makes derived data anew");
}

}  // namespace kernelindex::ingest
