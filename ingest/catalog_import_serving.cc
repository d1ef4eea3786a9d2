// SPDX-License-Identifier: Apache-2.0
// The serving tables of a catalog export.
#include "ingest/catalog_import.h"
#include "ingest/catalog_sources.h"
#include "ingest/column_check.h"
#include "schema/comparison_key.h"

namespace kernelindex::ingest {

Status CatalogImport::take_model(CatalogRow& row) {
  KnownModel& known = remember(row, models_, source_index(row.source));
  if (!row.manifests.empty()) {
    known.tokenizer = std::get<ModelFacts>(row.manifests[0].facts).tokenizer;
  }
  if (row.fault) return {};
  row.facts.slug = row.slug;
  return claim(row, std::move(row.manifests[0]), known.source, {});
}

Status CatalogImport::take_stack(CatalogRow& row) {
  const Known* project = projects_.find(row.keys.project);
  check_project(row, project);
  const Known& known = remember(row, stacks_, source_index(row.source));
  if (row.fault) return {};
  if (project != nullptr) row.facts.project = project->identity;
  row.facts.slug = row.slug;
  return claim(row, std::move(row.manifests[0]), known.source, {});
}

Status CatalogImport::take_configuration(CatalogRow& row) {
  if (!row.manifests.empty()) {
    const auto& facts = std::get<ServingConfigurationFacts>(row.manifests[0].facts);
    check_reference(row, "stackRevisionId", stacks_.find(row.keys.stack), facts.stack);
  }
  const Known& known = remember(row, configurations_, source_index(row.source));
  if (row.fault) return {};
  return claim(row, std::move(row.manifests[0]), known.source, {});
}

Status CatalogImport::take_serving_workload(CatalogRow& row) {
  KnownServingWorkload& known = remember(row, serving_workloads_, source_index(row.source));
  if (!row.manifests.empty()) {
    known.facts = std::get<ServingWorkloadFacts>(row.manifests[0].facts);
  }
  if (row.fault) return {};
  row.facts.slug = row.slug;
  return claim(row, std::move(row.manifests[0]), known.source, {});
}

void CatalogImport::check_cohort_key(CatalogRow& row, const KnownModel* model,
                                     const KnownServingWorkload* workload) {
  const auto& columns = std::get<ServingRunColumns>(row.detail);
  const auto& run = std::get<ServingRunFacts>(row.manifests[0].facts);
  const bool known = model != nullptr && model->accepted && workload != nullptr &&
                     workload->accepted && workload->facts;
  if (!known || !columns.cohort_key || row.fault) return;
  const Digest key = cohort_key(run, *workload->facts, model->tokenizer);
  if (*columns.cohort_key == key) return;
  row.fault = both_values("KEY_DIFFERS", "cohortKey", columns.cohort_key->text(), key.text());
}

Status CatalogImport::take_serving_run(CatalogRow& row) {
  auto* columns = std::get_if<ServingRunColumns>(&row.detail);
  std::optional<std::uint16_t> source;
  if (!row.manifests.empty() && columns != nullptr) {
    const auto& run = std::get<ServingRunFacts>(row.manifests[0].facts);
    const KnownModel* model = models_.find(row.keys.model);
    const KnownServingWorkload* workload = serving_workloads_.find(row.keys.workload);
    check_reference(row, "modelRevisionId", model, run.model);
    check_reference(row, "configurationId", configurations_.find(row.keys.configuration),
                    run.configuration);
    check_reference(row, "workloadId", workload, run.workload);
    check_cohort_key(row, model, workload);
    source = check_source(row, run.source_native);
  }
  if (!remember_run(row, serving_runs_, serving_runs_set_aside_)) return {};
  serving_measurements_.add_run(columns == nullptr ? std::vector<CatalogMeasurement>()
                                                   : columns->measurements);
  if (row.fault) return {};
  std::vector<std::string> ids;
  if (!row.upstream_id.empty()) ids.push_back(row.upstream_id);
  return claim(row, std::move(row.manifests[0]), *source, ids);
}

}  // namespace kernelindex::ingest
