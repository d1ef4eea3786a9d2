// SPDX-License-Identifier: Apache-2.0
#include "ingest/catalog_row.h"

#include <algorithm>
#include <array>
#include <span>

#include "ingest/catalog_row_reader.h"
#include "ingest/catalog_sources.h"
#include "ingest/source_item.h"
#include "ingest/text_cut.h"
#include "schema/json_reader.h"
#include "schema/limits.h"

namespace kernelindex::ingest {
namespace {

using json::Value;
using Columns = std::span<const std::string_view>;

constexpr std::string_view kSources[] = {"id", "slug", "kind", "name", "policy", "createdAt"};
constexpr std::string_view kProjects[] = {
    "id",       "slug",      "name", "normalizedName", "canonicalUrl", "licenseExpression",
    "manifest", "createdAt", "kind"};
constexpr std::string_view kOperations[] = {
    "id",       "slug", "family",    "name",        "schemaVersion", "semanticDigest",
    "manifest", "tags", "createdAt", "supersedesId"};
constexpr std::string_view kAliases[] = {"operationId", "alias"};
constexpr std::string_view kWorkloads[] = {
    "id",           "operationId", "workloadDigest", "schemaVersion", "manifest",
    "shapeSummary", "dtypes",      "layoutKeys",     "createdAt"};
constexpr std::string_view kImplementations[] = {"id",
                                                 "projectId",
                                                 "operationId",
                                                 "slug",
                                                 "implementationDigest",
                                                 "sourceRevision",
                                                 "language",
                                                 "framework",
                                                 "targetArchitectures",
                                                 "licenseExpression",
                                                 "sourceAvailable",
                                                 "installable",
                                                 "title",
                                                 "installKind",
                                                 "installCommand",
                                                 "licenseDeclared",
                                                 "manifest",
                                                 "createdAt",
                                                 "supersedesId",
                                                 "role"};
constexpr std::string_view kRuns[] = {"id",
                                      "runDigest",
                                      "implementationId",
                                      "workloadId",
                                      "sourceId",
                                      "status",
                                      "observedAt",
                                      "publishedAt",
                                      "hardwareVendor",
                                      "hardwareModel",
                                      "hardwareArchitecture",
                                      "driverMajor",
                                      "cudaMajor",
                                      "protocolKey",
                                      "environmentKey",
                                      "correctnessKey",
                                      "comparisonKey",
                                      "primaryMetric",
                                      "primaryValue",
                                      "primaryUnit",
                                      "sampleCount",
                                      "uncertaintyLow",
                                      "uncertaintyHigh",
                                      "reported",
                                      "reproducedByKernelindex",
                                      "independentReplicationCount",
                                      "sourceAvailable",
                                      "installable",
                                      "licenseExpression",
                                      "primaryStatistic",
                                      "hasRawEvidence",
                                      "sourceNative",
                                      "environmentSummary",
                                      "manifest",
                                      "supersedesId",
                                      "retractedAt",
                                      "retractionReason",
                                      "solScore"};
constexpr std::string_view kMeasurements[] = {"id",   "runId", "metric",     "statistic",
                                              "unit", "value", "sampleCount"};
constexpr std::string_view kEvents[] = {
    "id", "comparisonKey", "runId", "previousRunId", "policyVersion", "cause", "at", "createdAt"};
constexpr std::string_view kArtifacts[] = {"id",        "contentDigest", "kind",
                                           "mediaType", "sizeBytes",     "storage",
                                           "uri",       "license",       "createdAt"};
constexpr std::string_view kModels[] = {
    "id",        "slug",    "modelDigest",   "name",     "parameterCount", "contextLength",
    "tokenizer", "license", "schemaVersion", "manifest", "createdAt"};
constexpr std::string_view kStacks[] = {"id",       "projectId", "slug",          "stackDigest",
                                        "name",     "version",   "schemaVersion", "manifest",
                                        "createdAt"};
constexpr std::string_view kConfigurations[] = {
    "id",       "stackRevisionId", "configurationDigest",
    "dtype",    "quantization",    "tensorParallel",
    "summary",  "schemaVersion",   "manifest",
    "createdAt"};
constexpr std::string_view kServingWorkloads[] = {
    "id",       "workloadDigest", "slug", "name", "streaming", "loadGeneration", "schemaVersion",
    "manifest", "createdAt"};
constexpr std::string_view kServingRuns[] = {"id",
                                             "runDigest",
                                             "modelRevisionId",
                                             "configurationId",
                                             "workloadId",
                                             "sourceId",
                                             "status",
                                             "observedAt",
                                             "publishedAt",
                                             "cohortKey",
                                             "protocolKey",
                                             "qualityPolicy",
                                             "metricSetKey",
                                             "scenario",
                                             "acceleratorVendor",
                                             "acceleratorModel",
                                             "acceleratorCount",
                                             "nodeCount",
                                             "totalAccelerators",
                                             "reported",
                                             "schemaVersion",
                                             "manifest",
                                             "supersedesId",
                                             "retractedAt",
                                             "retractionReason",
                                             "createdAt"};

struct TableInfo {
  std::string_view name;
  Columns columns;
};
// In the order of the enumerators, which is that of the file.
constexpr std::array<TableInfo, 16> kTables = {{
    {"sources", kSources},
    {"projects", kProjects},
    {"operations", kOperations},
    {"operation_aliases", kAliases},
    {"workloads", kWorkloads},
    {"implementations", kImplementations},
    {"benchmark_runs", kRuns},
    {"measurements", kMeasurements},
    {"record_events", kEvents},
    {"artifacts", kArtifacts},
    {"model_revisions", kModels},
    {"serving_stack_revisions", kStacks},
    {"serving_configurations", kConfigurations},
    {"serving_workloads", kServingWorkloads},
    {"serving_runs", kServingRuns},
    {"serving_measurements", kMeasurements},
}};

std::optional<CatalogTable> table_named(std::string_view name) {
  const auto* found = std::ranges::find(kTables, name, &TableInfo::name);
  if (found == kTables.end()) return std::nullopt;
  return static_cast<CatalogTable>(found - kTables.begin());
}

// Exports write columns in one order, so that most are found where they are expected.
void find_unknown_columns(const Value& row, Columns columns, CatalogRow& out) {
  for (std::size_t i = 0; i < row.object().size(); ++i) {
    const std::string_view name = row.object()[i].name;
    if (i < columns.size() && columns[i] == name) continue;
    if (std::ranges::find(columns, name) == columns.end()) out.unknown_columns.emplace_back(name);
  }
}

void read_project_row(CatalogRowReader& reader) {
  reader.out().slug = reader.text("slug");
  reader.out().source = source_of_slug(reader.out().slug);
  reader.take_manifest(reader.row().find("manifest"), ManifestKind::software_project);
}

void read_alias_row(CatalogRowReader& reader) {
  reader.out().keys.operation = reader.required_key("operationId");
  reader.out().slug = reader.text("alias");
}

void read_measurement_row(CatalogRowReader& reader) {
  CatalogMeasurement measurement;
  reader.out().keys.run = reader.required_key("runId");
  measurement.metric = reader.text("metric");
  measurement.statistic = reader.text("statistic");
  measurement.unit = reader.text("unit");
  const std::optional<double> value = reader.optional_number("value");
  if (!value) reader.refuse("value", "a number");
  measurement.value = value.value_or(0);
  measurement.sample_count = reader.optional_number("sampleCount");
  reader.out().detail = std::move(measurement);
}

void read_event_row(CatalogRowReader& reader) {
  RecordEventColumns event;
  reader.out().keys.run = reader.required_key("runId");
  reader.out().keys.previous_run = reader.optional_key("previousRunId");
  event.comparison_key = reader.optional_digest("comparisonKey");
  event.cause = reader.text("cause");
  const Result<UtcMicros> at = parse_utc_instant(reader.text("at"));
  if (at) {
    event.at = *at;
  } else {
    reader.refuse("at", "an instant");
  }
  reader.out().detail = std::move(event);
}

void read_artifact_row(CatalogRowReader& reader) {
  ArtifactColumns artifact;
  const std::optional<Digest> digest = reader.optional_digest("contentDigest");
  if (!digest) reader.refuse("contentDigest", "a digest");
  artifact.digest = digest.value_or(Digest());
  const std::optional<double> size = reader.optional_number("sizeBytes");
  if (size && (*size < 0 || !is_safe_integer(*size))) reader.refuse("sizeBytes", "a size");
  if (size && *size >= 0) artifact.size = static_cast<std::uint64_t>(*size);
  artifact.media_type = reader.optional_text("mediaType");
  artifact.license = reader.optional_text("license");
  reader.out().detail = std::move(artifact);
}

void read_table(CatalogTable table, CatalogRowReader& reader) {
  if (table != CatalogTable::operation_aliases) reader.take_id();
  switch (table) {
    case CatalogTable::sources:
      reader.out().slug = reader.text("slug");
      return;
    case CatalogTable::projects:
      return read_project_row(reader);
    case CatalogTable::operations:
      return read_operation_row(reader);
    case CatalogTable::operation_aliases:
      return read_alias_row(reader);
    case CatalogTable::workloads:
      return read_workload_row(reader);
    case CatalogTable::implementations:
      return read_implementation_row(reader);
    case CatalogTable::benchmark_runs:
      return read_benchmark_run_row(reader);
    case CatalogTable::measurements:
    case CatalogTable::serving_measurements:
      return read_measurement_row(reader);
    case CatalogTable::record_events:
      return read_event_row(reader);
    case CatalogTable::artifacts:
      return read_artifact_row(reader);
    case CatalogTable::model_revisions:
      return read_model_row(reader);
    case CatalogTable::serving_stack_revisions:
      return read_stack_row(reader);
    case CatalogTable::serving_configurations:
      return read_configuration_row(reader);
    case CatalogTable::serving_workloads:
      return read_serving_workload_row(reader);
    case CatalogTable::serving_runs:
      return read_serving_run_row(reader);
  }
}

}  // namespace

std::string_view table_name(CatalogTable table) {
  return kTables[static_cast<std::size_t>(table)].name;
}

std::optional<CatalogTable> table_of_line(std::string_view line) {
  constexpr std::string_view kFront = "{\"table\":\"";
  if (!line.starts_with(kFront)) return std::nullopt;
  const std::string_view rest = line.substr(kFront.size());
  return table_named(rest.substr(0, rest.find('"')));
}

CatalogRow read_catalog_row(const Line& line, json::Arena& arena) {
  CatalogRow out;
  out.line = line.number;
  const auto bad = [&](std::string code, std::string place, std::string message) {
    out.fault =
        Error{ErrorKind::invalid, std::move(code), std::move(place), std::move(message), {}};
    return std::move(out);
  };
  if (line.too_long) {
    return bad(
        "TOO_LARGE", {},
        "the line has more bytes than the limit of " + std::to_string(limits::kSourceLineBytes));
  }
  const json::ReadLimits bounds{limits::kSourceLineBytes, limits::kJsonDepth};
  std::vector<json::Defect> defects;
  Result<Value> document = json::parse_collecting_defects(line.text, arena, bounds, defects);
  if (!document) {
    return bad(document.error().code, document.error().place, document.error().message);
  }
  if (!defects.empty()) {
    // What can be read all the same tells which row it is, for those that refer to it.
    const json::Defect& defect = defects.front();
    out.fault = Error{ErrorKind::invalid,
                      std::string(defect.code),
                      json::line_and_column(line.text, defect.offset),
                      defect.message,
                      {}};
  }
  const bool readable = !out.fault;
  const Value* row = document->find("row");
  if (document->text("table").empty() || row == nullptr || !row->is_object()) {
    return bad("BAD_ROW", {}, "a line of a catalog is {\"table\": name, \"row\": {...}}");
  }
  out.table = table_named(document->text("table"));
  if (!out.table) {
    out.table_text = first_utf16(document->text("table"), 100);
    return out;
  }
  find_unknown_columns(*row, kTables[static_cast<std::size_t>(*out.table)].columns, out);
  CatalogRowReader reader(*row, out, arena);
  read_table(*out.table, reader);
  if (!readable) out.manifests.clear();  // made of replaced text
  return out;
}

}  // namespace kernelindex::ingest
