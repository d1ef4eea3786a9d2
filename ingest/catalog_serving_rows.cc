// SPDX-License-Identifier: Apache-2.0
// Rows of the serving tables.
#include "ingest/catalog_columns.h"
#include "ingest/catalog_row_reader.h"
#include "ingest/catalog_sources.h"
#include "ingest/upstream_ids.h"

namespace kernelindex::ingest {
namespace {

using json::Value;

// Tables of one manifest, whose digest column and schema version are all that derives from it.
const Manifest* read_plain_row(CatalogRowReader& reader, std::string_view digest_column,
                               ManifestKind kind) {
  reader.take_digest(digest_column);
  const Manifest* manifest = reader.take_manifest(reader.row().find("manifest"), kind);
  if (manifest == nullptr) return nullptr;
  ColumnCheck check(reader.row());
  check.digest(digest_column, manifest->identity, "DIGEST_DIFFERS");
  check.text("schemaVersion", kApiVersion);
  reader.conclude(check);
  reader.out().source =
      source_of_slug(reader.out().slug.empty() ? manifest->name : reader.out().slug);
  return manifest;
}

}  // namespace

void read_model_row(CatalogRowReader& reader) {
  reader.out().slug = reader.text("slug");
  const Manifest* manifest = read_plain_row(reader, "modelDigest", ManifestKind::model_revision);
  if (manifest == nullptr) return;
  ColumnCheck check(reader.row());
  check.text("name", std::get<ModelFacts>(manifest->facts).model);
  reader.conclude(check);
}

void read_stack_row(CatalogRowReader& reader) {
  reader.out().slug = reader.text("slug");
  reader.out().keys.project = reader.optional_key("projectId");
  read_plain_row(reader, "stackDigest", ManifestKind::serving_stack_revision);
}

void read_configuration_row(CatalogRowReader& reader) {
  reader.out().keys.stack = reader.required_key("stackRevisionId");
  read_plain_row(reader, "configurationDigest", ManifestKind::serving_configuration);
}

void read_serving_workload_row(CatalogRowReader& reader) {
  reader.out().slug = reader.text("slug");
  const Manifest* manifest =
      read_plain_row(reader, "workloadDigest", ManifestKind::serving_workload);
  if (manifest == nullptr) return;
  const auto& facts = std::get<ServingWorkloadFacts>(manifest->facts);
  ColumnCheck check(reader.row());
  check.boolean("streaming", facts.streaming);
  check.text("loadGeneration", facts.load_generation);
  reader.conclude(check);
}

void read_serving_run_row(CatalogRowReader& reader) {
  CatalogRow& out = reader.out();
  out.keys.model = reader.required_key("modelRevisionId");
  out.keys.configuration = reader.required_key("configurationId");
  out.keys.workload = reader.required_key("workloadId");
  out.keys.source = reader.required_key("sourceId");
  reader.take_publication();
  ServingRunColumns columns;
  columns.cohort_key = reader.optional_digest("cohortKey");
  const Manifest* run = read_plain_row(reader, "runDigest", ManifestKind::serving_run);
  if (run != nullptr) {
    const Value& spec = *reader.row().find({"manifest", "spec"});
    const auto& facts = std::get<ServingRunFacts>(run->facts);
    const TopologyColumns topology = topology_columns(spec);
    ColumnCheck check(reader.row());
    check.text("status", facts.status);
    check.instant("observedAt", facts.observed_at);
    check.text("qualityPolicy", facts.quality_policy);
    check.text("metricSetKey", facts.metric_set_key);
    check.text_or_null("acceleratorVendor", topology.vendor);
    check.text("acceleratorModel", facts.accelerator);
    check.number_or_null("acceleratorCount", topology.accelerators);
    check.number_or_null("nodeCount", topology.nodes);
    check.number_or_null("totalAccelerators", topology.accelerators * topology.nodes);
    if (const Value* native = spec.find("sourceNative")) {
      check.text_or_null("scenario", text_member(*native, "scenario"));
      out.upstream_id = upstream_serving_run_id(*run, *reader.row().find("manifest"));
    }
    reader.conclude(check);
    columns.measurements = listed_measurements(spec);
  }
  out.detail = std::move(columns);
}

}  // namespace kernelindex::ingest
