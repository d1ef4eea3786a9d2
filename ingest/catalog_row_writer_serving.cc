// SPDX-License-Identifier: Apache-2.0
// Rows of the serving tables.
#include "ingest/catalog_row_writer.h"
#include "schema/comparison_key.h"

namespace kernelindex::ingest {

using json::Value;

Result<bool> CatalogRowWriter::model(const Item& item, std::string& lines) {
  const auto& facts = std::get<ModelFacts>(item.manifest.facts);
  CatalogLine(CatalogTable::model_revisions, lines)
      .id("id", item.row.id)
      .text("slug", item.slug())
      .digest("modelDigest", item.row.identity)
      .text("name", std::string_view(facts.model))
      .number("parameterCount", number_member(item.spec(), "parameterCount"))
      .number("contextLength", number_member(item.spec(), "contextLength"))
      .text("tokenizer", facts.tokenizer)
      .text("license", text_member(item.spec(), "license"))
      .text("schemaVersion", kApiVersion)
      .json("manifest", item.shown.bytes)
      .instant("createdAt", item.shown.recorded_at)
      .finish();
  return true;
}

Result<bool> CatalogRowWriter::stack(const Item& item, std::string& lines) {
  const std::optional<std::string> version = text_member(*item.spec().find("revision"), "version");
  CatalogLine(CatalogTable::serving_stack_revisions, lines)
      .id("id", item.row.id)
      .id("projectId", project_id(item))
      .text("slug", item.slug())
      .digest("stackDigest", item.row.identity)
      .text("name", std::string_view(version ? *version : item.manifest.label()))
      .text("version", version)
      .text("schemaVersion", kApiVersion)
      .json("manifest", item.shown.bytes)
      .instant("createdAt", item.shown.recorded_at)
      .finish();
  return true;
}

Result<bool> CatalogRowWriter::configuration(const Item& item, std::string& lines) {
  const PlannedRow* stack =
      plan_.written(std::get<ServingConfigurationFacts>(item.manifest.facts).stack);
  if (stack == nullptr) return false;
  const Result<ShownClaim> shown_stack = read_shown(reader_, *stack);
  if (!shown_stack) return fail(shown_stack.error());
  const Value* parallelism = item.spec().find("parallelism");
  CatalogLine(CatalogTable::serving_configurations, lines)
      .id("id", item.row.id)
      .id("stackRevisionId", stack->id)
      .digest("configurationDigest", item.row.identity)
      .text("dtype", text_member(item.spec(), "dtype"))
      .text("quantization", text_member(item.spec(), "quantization"))
      .number("tensorParallel",
              parallelism == nullptr ? std::nullopt : number_member(*parallelism, "tensor"))
      .text("summary",
            std::string_view(configuration_summary(item.shown.document, shown_stack->document)))
      .text("schemaVersion", kApiVersion)
      .json("manifest", item.shown.bytes)
      .instant("createdAt", item.shown.recorded_at)
      .finish();
  return true;
}

Result<bool> CatalogRowWriter::serving_workload(const Item& item, std::string& lines) {
  const auto& facts = std::get<ServingWorkloadFacts>(item.manifest.facts);
  CatalogLine(CatalogTable::serving_workloads, lines)
      .id("id", item.row.id)
      .digest("workloadDigest", item.row.identity)
      .text("slug", item.slug())
      .text("name", std::string_view(item.manifest.label()))
      .boolean("streaming", facts.streaming)
      .text("loadGeneration", std::string_view(facts.load_generation))
      .text("schemaVersion", kApiVersion)
      .json("manifest", item.shown.bytes)
      .instant("createdAt", item.shown.recorded_at)
      .finish();
  return true;
}

Result<bool> CatalogRowWriter::serving_run(const Item& item, std::string& lines) {
  const auto& facts = std::get<ServingRunFacts>(item.manifest.facts);
  const PlannedRow* model = plan_.written(facts.model);
  const PlannedRow* configuration = plan_.written(facts.configuration);
  const PlannedRow* workload = plan_.written(facts.workload);
  if (model == nullptr || configuration == nullptr || workload == nullptr) return false;
  const Result<ModelFacts> model_facts = facts_of<ModelFacts>(facts.model);
  if (!model_facts) return fail(model_facts.error());
  const Result<ServingWorkloadFacts> load = facts_of<ServingWorkloadFacts>(facts.workload);
  if (!load) return fail(load.error());
  const Result<Standing> standing = standing_of(item, facts.source_native);
  if (!standing) return fail(standing.error());
  const TopologyColumns topology = topology_columns(item.spec());
  const Value* native = item.spec().find("sourceNative");
  CatalogLine(CatalogTable::serving_runs, lines)
      .id("id", item.row.id)
      .digest("runDigest", item.row.identity)
      .id("modelRevisionId", model->id)
      .id("configurationId", configuration->id)
      .id("workloadId", workload->id)
      .id("sourceId", source_id(standing->source))
      .text("status", std::string_view(facts.status))
      .instant("observedAt", facts.observed_at)
      .text("publishedAt", std::string_view(standing->published))
      .digest("cohortKey", cohort_key(facts, *load, model_facts->tokenizer))
      .text("protocolKey", std::string_view(serving_protocol_key(facts, *load)))
      .text("qualityPolicy", std::string_view(facts.quality_policy))
      .text("metricSetKey", std::string_view(facts.metric_set_key))
      .text("scenario", native == nullptr ? std::nullopt : text_member(*native, "scenario"))
      .text("acceleratorVendor", topology.vendor)
      .text("acceleratorModel", std::string_view(facts.accelerator))
      .number("acceleratorCount", topology.accelerators)
      .number("nodeCount", topology.nodes)
      .number("totalAccelerators", topology.accelerators * topology.nodes)
      .boolean("reported", true)
      .text("schemaVersion", kApiVersion)
      .json("manifest", item.shown.bytes)
      .id("supersedesId", standing->supersedes)
      .text("retractedAt", standing->retracted_at)
      .text("retractionReason", standing->retraction_reason)
      .instant("createdAt", item.shown.recorded_at)
      .finish();
  return true;
}

}  // namespace kernelindex::ingest
