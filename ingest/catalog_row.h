// SPDX-License-Identifier: Apache-2.0
// One line of a catalog export, {"table": T, "row": R}, read and checked against itself: the
// manifest valid, and every column that can be derived from it as derived. What takes other rows to
// check is left to the import. IMPORT sections 4, 11 and 12.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ingest/catalog_columns.h"
#include "ingest/line_source.h"
#include "ingest/uuid.h"
#include "ledger/entry.h"
#include "schema/digest.h"
#include "schema/json_value.h"
#include "schema/manifest.h"
#include "schema/utc_time.h"

namespace kernelindex::ingest {

enum class CatalogTable : std::uint8_t {
  sources,
  projects,
  operations,
  operation_aliases,
  workloads,
  implementations,
  benchmark_runs,
  measurements,
  record_events,
  artifacts,
  model_revisions,
  serving_stack_revisions,
  serving_configurations,
  serving_workloads,
  serving_runs,
  serving_measurements,
};

std::string_view table_name(CatalogTable table);

struct OperationColumns {
  std::string first_tensor;  // name of the first input that is a tensor
};
struct WorkloadColumns {
  std::optional<std::string> shape_summary;  // the column
  // Of a case: "name\n[4, 8]\n" for each tensor; the operation says which is the first.
  std::string shapes;
  std::string axes_key;   // key made of the axes in the title, empty when that is cut
  std::string axes_list;  // "k1024-m16": the key that KernelBot cases have
};
struct RunColumns {
  std::optional<Digest> correctness_key;
  std::optional<Digest> comparison_key;
  std::optional<double> primary_value;
  UtcMicros observed_at = 0;
  bool eligible = false;  // passed, neither retracted nor superseded
  std::vector<CatalogMeasurement> measurements;
};
struct ServingRunColumns {
  std::optional<Digest> cohort_key;
  std::vector<CatalogMeasurement> measurements;
};
struct RecordEventColumns {
  std::optional<Digest> comparison_key;
  std::optional<UtcMicros> at;
  std::string cause;
};
struct ArtifactColumns {
  Digest digest;
  std::optional<std::uint64_t> size;
  std::string media_type;
  std::string license;
};

// Row ids that a row names; absent when its table has no such column or it is null.
struct ForeignKeys {
  std::optional<Uuid> project;
  std::optional<Uuid> operation;
  std::optional<Uuid> workload;
  std::optional<Uuid> implementation;
  std::optional<Uuid> source;
  std::optional<Uuid> run;
  std::optional<Uuid> previous_run;
  std::optional<Uuid> model;
  std::optional<Uuid> configuration;
  std::optional<Uuid> stack;
};

struct CatalogRow {
  std::uint64_t line = 0;
  std::optional<CatalogTable> table;  // absent when unknown
  std::string table_text;             // as written, when unknown
  std::optional<Error> fault;         // unreadable, or the row disagrees with itself
  std::vector<std::string> unknown_columns;

  std::optional<Uuid> id;
  std::optional<Digest> stored_digest;  // the digest column of the row's manifest
  ForeignKeys keys;
  // The row's manifest; of a benchmark run the protocol, the environment and the run. Empty when
  // not valid.
  std::vector<Manifest> manifests;
  ClaimFacts facts;
  std::string_view source;  // whose claim it is, where the row alone tells it; a static text
  std::string slug;
  std::string upstream_id;  // of the claim at its own source, where the row alone tells it
  std::variant<std::monostate, OperationColumns, WorkloadColumns, RunColumns, ServingRunColumns,
               CatalogMeasurement, RecordEventColumns, ArtifactColumns>
      detail;
};

// Never fails: what is wrong is the row's fault. Values are built in `arena`; the row needs it no
// more afterwards.
CatalogRow read_catalog_row(const Line& line, json::Arena& arena);

// The table that a line belongs to by its first bytes, without reading the rest; nothing when the
// line is not written the way exports are.
std::optional<CatalogTable> table_of_line(std::string_view line);

}  // namespace kernelindex::ingest
