// SPDX-License-Identifier: Apache-2.0
#include "ingest/catalog_row_writer.h"

#include <algorithm>

#include "ingest/catalog_sources.h"
#include "ingest/lower_case.h"
#include "ledger/identify.h"
#include "ledger/ledger.h"
#include "schema/canonical_json.h"
#include "schema/comparison_key.h"
#include "schema/json_reader.h"

namespace kernelindex::ingest {
namespace {

using json::Value;

void add_environment(CatalogLine& line, const EnvironmentColumns& environment) {
  line.text("hardwareVendor", environment.vendor)
      .text("hardwareModel", environment.product)
      .text("hardwareArchitecture", environment.architecture)
      .number("driverMajor", environment.driver_major)
      .number("cudaMajor", environment.cuda_major);
}

void add_keys(CatalogLine& line, const BenchmarkRunFacts& run, const WorkloadFacts& workload) {
  line.digest("protocolKey", run.protocol)
      .digest("environmentKey", run.environment)
      .digest("correctnessKey", workload.correctness_key)
      .digest("comparisonKey", comparison_key(run, workload));
}

// `bounds`: the interval that the manifest gives; null when it gives none.
void add_primary(CatalogLine& line, const PrimaryColumns& primary, const Value* bounds) {
  const auto bound = [&](std::size_t which) {
    return bounds == nullptr ? std::nullopt : std::optional(bounds->array()[which].number());
  };
  line.text("primaryMetric", std::string_view(primary.metric))
      .number("primaryValue", primary.value)
      .text("primaryUnit", primary.unit)
      .number("sampleCount", primary.sample_count)
      .number("uncertaintyLow", bound(0))
      .number("uncertaintyHigh", bound(1));
}

void add_level(CatalogLine& line, Level level) {
  line.boolean("reported", level >= Level::reported)
      .boolean("reproducedByKernelindex", level >= Level::verified)
      .number("independentReplicationCount", level == Level::replicated ? 2 : 0);
}

}  // namespace

Result<ShownClaim> read_shown(const Reader& reader, const PlannedRow& row) {
  Result<Entry> entry = reader.entry(row.claim);
  if (!entry) return fail(entry.error());
  ShownClaim shown;
  shown.claim = std::move(std::get<ManifestEntry>(entry->body));
  shown.recorded_at = entry->recorded_at;
  Result<std::optional<std::string>> bytes = reader.object(entry->content.digest);
  if (!bytes) return fail(bytes.error());
  if (!*bytes) {
    return fail(ErrorKind::corrupt, "MISSING_OBJECT", entry->content.digest.text(),
                "the bytes of a claimed manifest are not there");
  }
  shown.bytes = std::move(**bytes);
  Result<Value> document = json::parse(shown.bytes, shown.arena);
  if (!document) return fail_in(row.identity.text(), document.error());
  shown.document = *document;
  return shown;
}

Uuid made_id(std::initializer_list<std::pair<std::string_view, std::string_view>> members) {
  json::Arena arena;
  json::ObjectBuilder object(arena);
  for (const auto& [name, value] : members) object.add(name, value);
  return uuid_of(sha256(json::canonical(object.finish())));
}

Uuid source_id(std::string_view source) { return made_id({{"source", source}}); }

Result<bool> CatalogRowWriter::write(CatalogTable table, PlannedRow& row, std::string& lines) {
  Result<ShownClaim> shown = read_shown(reader_, row);
  if (!shown) return fail(shown.error());
  const Result<Manifest> manifest = make_manifest(shown->document, shown->arena);
  if (!manifest) return fail_in(row.identity.text(), manifest.error());
  const Item item{row, *shown, *manifest};
  const auto made = [&]() -> Result<bool> {
    switch (table) {
      case CatalogTable::projects:
        return project(item, lines);
      case CatalogTable::operations:
        return operation(item, lines);
      case CatalogTable::workloads:
        return workload(item, lines);
      case CatalogTable::implementations:
        return implementation(item, lines);
      case CatalogTable::benchmark_runs:
        return run(item, lines);
      case CatalogTable::model_revisions:
        return model(item, lines);
      case CatalogTable::serving_stack_revisions:
        return stack(item, lines);
      case CatalogTable::serving_configurations:
        return configuration(item, lines);
      case CatalogTable::serving_workloads:
        return serving_workload(item, lines);
      case CatalogTable::serving_runs:
        return serving_run(item, lines);
      default:
        return false;
    }
  }();
  if (made) row.written = *made;
  return made;
}

// ---- what rows have in common ----

std::optional<Uuid> CatalogRowWriter::project_id(const Item& item) {
  const std::optional<Digest>& project = item.shown.claim.facts.project;
  const PlannedRow* row = project ? plan_.written(*project) : nullptr;
  return row == nullptr ? std::nullopt : std::optional(row->id);
}

Result<std::optional<Uuid>> CatalogRowWriter::superseded_id(const Item& item) {
  std::optional<Digest> replaced = plan_.replaced_by(item.row.identity);
  const std::string& said = item.shown.claim.facts.supersedes;
  if (!said.empty()) {
    if (const std::optional<Uuid> id = catalog_row_id(said)) return id;
    const Result<Candidate> named = identify(reader_, said, {Named::manifest}, item.manifest.kind);
    const bool unknown = !named && (named.error().kind == ErrorKind::not_found ||
                                    named.error().kind == ErrorKind::ambiguous ||
                                    named.error().kind == ErrorKind::invalid);
    if (!named && !unknown) return fail(named.error());
    if (named) replaced = named->digest;
  }
  const PlannedRow* row = replaced ? plan_.find(*replaced) : nullptr;
  return row == nullptr ? std::nullopt : std::optional(row->id);
}

Result<CatalogRowWriter::Standing> CatalogRowWriter::standing_of(
    const Item& item, const std::optional<SourceNative>& native) {
  const ClaimFacts& said = item.shown.claim.facts;
  Standing standing;
  standing.source = native ? native->source : item.shown.claim.source;
  standing.published =
      said.published_at.empty() ? format_utc_millis(item.shown.recorded_at) : said.published_at;
  const Result<std::optional<Uuid>> superseded = superseded_id(item);
  if (!superseded) return fail(superseded.error());
  standing.supersedes = *superseded;
  if (!said.retracted_at.empty()) {
    standing.retracted_at = said.retracted_at;
  } else if (Status added = add_retraction(item, standing); !added) {
    return fail(added.error());
  }
  return standing;
}

Status CatalogRowWriter::add_retraction(const Item& item, Standing& standing) {
  const auto judgements = reader_.judgements(reader_.head().size);
  const SubjectJudgement* said = judgements->find(item.row.identity);
  if (said == nullptr) return {};
  std::optional<std::uint64_t> index;
  if (said->retracted()) index = said->retractions.front();
  // Only the source whose number it is can withdraw it.
  const std::string own = standing.source + ":";
  for (std::size_t i = 0; i < said->withdrawn_ids.size() && !index; ++i) {
    if (said->withdrawn_ids[i].starts_with(own)) index = said->withdrawals[i];
  }
  if (!index) return {};
  const Result<Entry> entry = reader_.entry(*index);
  if (!entry) return fail(entry.error());
  const Result<Attestation> statement = read_attestation(reader_, *index);
  if (!statement) return fail(statement.error());
  standing.retracted_at = format_utc_millis(entry->recorded_at);
  if (const auto* retraction = std::get_if<Retraction>(&statement->predicate)) {
    standing.retraction_reason = retraction->reason;
  } else if (const auto* withdrawal = std::get_if<Withdrawal>(&statement->predicate)) {
    standing.retraction_reason = withdrawal->state;
    if (!withdrawal->reason.empty()) *standing.retraction_reason += ": " + withdrawal->reason;
  }
  return {};
}

Result<std::string> CatalogRowWriter::first_tensor_of(const PlannedRow& operation) {
  if (last_first_tensor_ && last_first_tensor_->first == operation.identity) {
    return last_first_tensor_->second;
  }
  const Result<ShownClaim> shown = read_shown(reader_, operation);
  if (!shown) return fail(shown.error());
  last_first_tensor_ = {operation.identity, first_tensor_name(shown->document)};
  return last_first_tensor_->second;
}

Result<const ImplementationColumns*> CatalogRowWriter::columns_of(
    const PlannedRow& implementation) {
  if (!last_implementation_ || last_implementation_->first != implementation.identity) {
    Result<ShownClaim> shown = read_shown(reader_, implementation);
    if (!shown) return fail(shown.error());
    const Result<Manifest> manifest = make_manifest(shown->document, shown->arena);
    if (!manifest) return fail_in(implementation.identity.text(), manifest.error());
    last_implementation_ = {implementation.identity,
                            implementation_columns(std::get<ImplementationFacts>(manifest->facts),
                                                   *shown->document.find("spec"))};
  }
  return &last_implementation_->second;
}

// ---- kernels ----

Result<bool> CatalogRowWriter::project(const Item& item, std::string& lines) {
  const std::string& name = std::get<ProjectFacts>(item.manifest.facts).name;
  CatalogLine(CatalogTable::projects, lines)
      .id("id", item.row.id)
      .text("slug", item.slug())
      .text("name", std::string_view(name))
      .text("normalizedName", std::string_view(lower_case(name)))
      .text("canonicalUrl", text_member(item.spec(), "repository"))
      .null("licenseExpression")
      .json("manifest", item.shown.bytes)
      .instant("createdAt", item.shown.recorded_at)
      .finish();
  return true;
}

Result<bool> CatalogRowWriter::operation(const Item& item, std::string& lines) {
  const Result<std::optional<Uuid>> superseded = superseded_id(item);
  if (!superseded) return fail(superseded.error());
  CatalogLine(CatalogTable::operations, lines)
      .id("id", item.row.id)
      .text("slug", item.slug())
      .text("family", std::string_view(std::get<OperationFacts>(item.manifest.facts).family))
      .text("name", std::string_view(item.manifest.label()))
      .text("schemaVersion", kApiVersion)
      .digest("semanticDigest", item.row.identity)
      .json("manifest", item.shown.bytes)
      .texts("tags", item.shown.claim.facts.tags)
      .instant("createdAt", item.shown.recorded_at)
      .id("supersedesId", *superseded)
      .finish();
  return true;
}

Result<bool> CatalogRowWriter::workload(const Item& item, std::string& lines) {
  const auto& facts = std::get<WorkloadFacts>(item.manifest.facts);
  const PlannedRow* operation = plan_.written(facts.operation);
  if (operation == nullptr) return false;
  const TensorColumns tensors = tensor_columns(item.spec());
  std::string shape;
  if (item.manifest.kind == ManifestKind::workload_suite) {
    shape = suite_summary(facts);
  } else {
    const Result<std::string> first = first_tensor_of(*operation);
    if (!first) return fail(first.error());
    shape = shape_of(tensors.shapes, *first);
  }
  CatalogLine(CatalogTable::workloads, lines)
      .id("id", item.row.id)
      .id("operationId", operation->id)
      .digest("workloadDigest", item.row.identity)
      .text("schemaVersion", kApiVersion)
      .json("manifest", item.shown.bytes)
      .text("shapeSummary", std::string_view(shape))
      .texts("dtypes", tensors.dtypes)
      .texts("layoutKeys", tensors.layouts)
      .instant("createdAt", item.shown.recorded_at)
      .finish();
  return true;
}

Result<bool> CatalogRowWriter::implementation(const Item& item, std::string& lines) {
  const auto& facts = std::get<ImplementationFacts>(item.manifest.facts);
  const PlannedRow* operation = plan_.written(facts.operation);
  if (operation == nullptr) return false;
  const Result<std::optional<Uuid>> superseded = superseded_id(item);
  if (!superseded) return fail(superseded.error());
  const ImplementationColumns columns = implementation_columns(facts, item.spec());
  CatalogLine(CatalogTable::implementations, lines)
      .id("id", item.row.id)
      .id("projectId", project_id(item))
      .id("operationId", operation->id)
      .text("slug", item.slug())
      .digest("implementationDigest", item.row.identity)
      .text("sourceRevision", columns.revision)
      .text("language", std::string_view(facts.language))
      .text("framework", columns.framework)
      .texts("targetArchitectures", columns.architectures)
      .text("licenseExpression", columns.license)
      .boolean("sourceAvailable", columns.source_available)
      .boolean("installable", columns.installable)
      .text("title", std::string_view(item.manifest.label()))
      .text("installKind", columns.install_kind)
      .text("installCommand", columns.install_command)
      .text("licenseDeclared", columns.license_declared)
      .json("manifest", item.shown.bytes)
      .instant("createdAt", item.shown.recorded_at)
      .id("supersedesId", *superseded)
      .finish();
  return true;
}

// ---- benchmark runs ----

struct CatalogRowWriter::RunRows {
  const PlannedRow* implementation = nullptr;
  const PlannedRow* workload = nullptr;
  ShownClaim protocol;
  ShownClaim environment;
  ImplementationColumns columns;  // of the implementation
  WorkloadFacts workload_facts;
  Standing standing;
};

Result<std::optional<CatalogRowWriter::RunRows>> CatalogRowWriter::rows_of_run(const Item& item) {
  const auto& facts = std::get<BenchmarkRunFacts>(item.manifest.facts);
  RunRows rows;
  rows.implementation = plan_.written(facts.implementation);
  rows.workload = plan_.written(facts.workload);
  PlannedRow* protocol = plan_.find(facts.protocol);
  PlannedRow* environment = plan_.find(facts.environment);
  if (rows.implementation == nullptr || rows.workload == nullptr || protocol == nullptr ||
      environment == nullptr) {
    return std::nullopt;
  }
  for (const auto& [row, place] :
       {std::pair(protocol, &RunRows::protocol), std::pair(environment, &RunRows::environment)}) {
    Result<ShownClaim> shown = read_shown(reader_, *row);
    if (!shown) return fail(shown.error());
    rows.*place = std::move(*shown);
    row->written = true;
  }
  const Result<const ImplementationColumns*> columns = columns_of(*rows.implementation);
  if (!columns) return fail(columns.error());
  rows.columns = **columns;
  Result<WorkloadFacts> workload = facts_of<WorkloadFacts>(facts.workload);
  if (!workload) return fail(workload.error());
  rows.workload_facts = std::move(*workload);
  Result<Standing> standing = standing_of(item, facts.source_native);
  if (!standing) return fail(standing.error());
  rows.standing = std::move(*standing);
  return rows;
}

Result<bool> CatalogRowWriter::run(const Item& item, std::string& lines) {
  const Result<std::optional<RunRows>> rows = rows_of_run(item);
  if (!rows) return fail(rows.error());
  if (!*rows) return false;
  write_run(item, **rows, lines);
  remember_run(item, **rows);
  return true;
}

void CatalogRowWriter::write_run(const Item& item, const RunRows& rows, std::string& lines) {
  const auto& facts = std::get<BenchmarkRunFacts>(item.manifest.facts);
  const PrimaryColumns primary = primary_columns(facts);
  const EnvironmentColumns environment =
      environment_columns(rows.environment.document, rows.protocol.document);
  CatalogLine line(CatalogTable::benchmark_runs, lines);
  line.id("id", item.row.id)
      .digest("runDigest", item.row.identity)
      .id("implementationId", rows.implementation->id)
      .id("workloadId", rows.workload->id)
      .id("sourceId", source_id(rows.standing.source))
      .text("status", std::string_view(facts.status))
      .instant("observedAt", facts.observed_at)
      .text("publishedAt", std::string_view(rows.standing.published));
  add_environment(line, environment);
  add_keys(line, facts, rows.workload_facts);
  add_primary(line, primary, item.spec().find({"timing", "latencyNs", "confidence95"}));
  add_level(line, item.row.level);
  line.boolean("sourceAvailable", rows.columns.source_available)
      .boolean("installable", rows.columns.installable)
      .text("licenseExpression", rows.columns.license)
      .text("primaryStatistic", primary.statistic)
      .boolean("hasRawEvidence", has_raw_evidence(facts))
      .boolean("sourceNative", facts.source_native.has_value())
      .text("environmentSummary", std::string_view(environment.summary))
      .json("manifest", R"({"run":)" + item.shown.bytes + R"(,"protocol":)" + rows.protocol.bytes +
                            R"(,"environment":)" + rows.environment.bytes + "}")
      .id("supersedesId", rows.standing.supersedes)
      .text("retractedAt", rows.standing.retracted_at)
      .text("retractionReason", rows.standing.retraction_reason)
      .finish();
}

void CatalogRowWriter::remember_run(const Item& item, const RunRows& rows) {
  constexpr UtcMicros kMilli = 1000;
  const auto& facts = std::get<BenchmarkRunFacts>(item.manifest.facts);
  RunColumns columns;
  columns.comparison_key = comparison_key(facts, rows.workload_facts);
  columns.primary_value = primary_columns(facts).value;
  columns.observed_at = facts.observed_at - ((facts.observed_at % kMilli) + kMilli) % kMilli;
  columns.eligible = facts.status == "passed" && !rows.standing.retracted_at &&
                     !rows.standing.supersedes && columns.primary_value.has_value();
  history_.add_run(item.row.id, columns);
  runs_.push_back(&item.row);
}

Result<std::uint64_t> CatalogRowWriter::write_measurements(CatalogTable table,
                                                           const PlannedRow& run,
                                                           std::string& lines) {
  const Result<ShownClaim> shown = read_shown(reader_, run);
  if (!shown) return fail(shown.error());
  const Value& spec = *shown->document.find("spec");
  const std::vector<CatalogMeasurement> all =
      table == CatalogTable::measurements ? run_measurements(spec) : listed_measurements(spec);
  const std::string identity = run.identity.text();
  std::vector<Uuid> said;  // one row a metric, statistic and unit
  for (const CatalogMeasurement& measurement : all) {
    const Uuid id = made_id({{"metric", measurement.metric},
                             {"run", identity},
                             {"statistic", measurement.statistic},
                             {"unit", measurement.unit}});
    if (std::ranges::find(said, id) != said.end()) continue;
    said.push_back(id);
    CatalogLine(table, lines)
        .id("id", id)
        .id("runId", run.id)
        .text("metric", std::string_view(measurement.metric))
        .text("statistic", std::string_view(measurement.statistic))
        .text("unit", std::string_view(measurement.unit))
        .number("value", measurement.value)
        .number("sampleCount", measurement.sample_count)
        .finish();
  }
  return said.size();
}

}  // namespace kernelindex::ingest
