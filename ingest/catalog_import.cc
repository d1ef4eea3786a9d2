// SPDX-License-Identifier: Apache-2.0
#include "ingest/catalog_import.h"

#include <algorithm>
#include <cassert>
#include <limits>

#include "ingest/catalog_sources.h"
#include "ingest/column_check.h"
#include "schema/comparison_key.h"

namespace kernelindex::ingest {
namespace {

constexpr std::string_view kVia = kCatalogSource;
constexpr std::string_view kKernelBot = "gpumode-kernelbot";

void set_fault(CatalogRow& row, Error fault) {
  if (!row.fault) row.fault = std::move(fault);
}

}  // namespace

CatalogImport::CatalogImport(const CatalogSideTables& side_tables, std::string locator,
                             DraftSink& sink)
    : side_tables_(side_tables), locator_(std::move(locator)), sink_(sink) {}

Status CatalogImport::take(CatalogRow&& row) {
  if (!row.table) {
    if (row.fault) {
      quarantine(row);
    } else {
      report_columns(row);
      sink_.skipped("unknown_table");
    }
    return {};
  }
  report_columns(row);
  switch (*row.table) {
    case CatalogTable::sources:
      if (row.id && !row.fault) {
        source_rows_.index.insert(*row.id, static_cast<std::uint32_t>(source_rows_.items.size()));
        source_rows_.items.push_back(source_index(row.slug));
      }
      break;
    case CatalogTable::projects:
      return take_project(row);
    case CatalogTable::operations:
      return take_operation(row);
    case CatalogTable::operation_aliases:
      if (operations_.find(row.keys.operation) == nullptr) {
        check_reference(row, "operationId", nullptr, {});
      }
      break;
    case CatalogTable::workloads:
      return take_workload(row);
    case CatalogTable::implementations:
      return take_implementation(row);
    case CatalogTable::benchmark_runs:
      return take_run(row);
    case CatalogTable::measurements:
      take_measurement(row, runs_, runs_set_aside_, measurements_, "measurements_confirmed");
      return {};
    case CatalogTable::record_events:
      take_record_event(row);
      return {};
    case CatalogTable::artifacts:
      take_artifact(row);
      return {};
    case CatalogTable::model_revisions:
      return take_model(row);
    case CatalogTable::serving_stack_revisions:
      return take_stack(row);
    case CatalogTable::serving_configurations:
      return take_configuration(row);
    case CatalogTable::serving_workloads:
      return take_serving_workload(row);
    case CatalogTable::serving_runs:
      return take_serving_run(row);
    case CatalogTable::serving_measurements:
      take_measurement(row, serving_runs_, serving_runs_set_aside_, serving_measurements_,
                       "serving_measurements_confirmed");
      return {};
  }
  if (row.fault) quarantine(row);
  return {};
}

void CatalogImport::report_columns(const CatalogRow& row) {
  const auto say = [&](std::string code, std::string what) {
    if (!drift_said_.insert(what).second) return;
    sink_.finding({FindingClass::drift, locator_, std::to_string(row.line), std::move(code),
                   std::move(what)});
  };
  if (!row.table) say("UNKNOWN_TABLE", "unknown table '" + row.table_text + "'");
  for (const std::string& column : row.unknown_columns) {
    say("UNKNOWN_FIELD",
        std::string(table_name(*row.table)) + ": unknown upstream field '" + column + "'");
  }
}

void CatalogImport::quarantine(const CatalogRow& row) {
  const Error& fault = *row.fault;
  std::string reason = row.table ? std::string(table_name(*row.table)) : std::string();
  if (!fault.place.empty()) reason += (reason.empty() ? "" : ".") + fault.place;
  reason += (reason.empty() ? "" : ": ") + fault.message;
  sink_.finding({FindingClass::quarantined, locator_, std::to_string(row.line), fault.code,
                 std::move(reason)});
}

std::uint16_t CatalogImport::source_index(std::string_view source) {
  const auto found = std::ranges::find(sources_, source);
  const auto index = static_cast<std::size_t>(found - sources_.begin());
  assert(index <= std::numeric_limits<std::uint16_t>::max());
  if (found == sources_.end()) sources_.emplace_back(source);
  return static_cast<std::uint16_t>(index);
}

Status CatalogImport::claim(CatalogRow& row, Manifest manifest, std::uint16_t source,
                            const std::vector<std::string>& upstream_ids) {
  Draft draft;
  draft.manifest = std::move(manifest);
  draft.source = sources_[source];
  if (draft.source != kVia) draft.via = kVia;
  draft.external_ids = {catalog_external_id(*row.id)};
  for (const std::string& id : upstream_ids) draft.external_ids.push_back(draft.source + ":" + id);
  draft.item = std::to_string(row.line);
  draft.facts = std::move(row.facts);
  return sink_.claim(std::move(draft));
}

void CatalogImport::check_reference(CatalogRow& row, std::string_view column, const Known* target,
                                    const Digest& named) {
  if (target == nullptr) {
    set_fault(row, {ErrorKind::invalid,
                    "FOREIGN_KEY_UNKNOWN",
                    std::string(column),
                    "it names no row of this file",
                    {}});
  } else if (!target->is(named)) {
    set_fault(row,
              both_values("FOREIGN_KEY_DIFFERS", column, target->stored().text(), named.text()));
  }
}

void CatalogImport::check_project(CatalogRow& row, const Known* project) {
  if (!row.keys.project) return;
  check_reference(row, "projectId", project, project == nullptr ? Digest() : project->identity);
}

Status CatalogImport::take_project(CatalogRow& row) {
  const Known& known = remember(row, projects_, source_index(row.source));
  if (row.fault) return {};
  row.facts.slug = row.slug;
  return claim(row, std::move(row.manifests[0]), known.source, {});
}

Status CatalogImport::take_operation(CatalogRow& row) {
  KnownOperation& known = remember(row, operations_, source_index(row.source));
  if (row.fault) return {};
  known.title = row.manifests[0].title;
  known.first_tensor = std::get<OperationColumns>(row.detail).first_tensor;
  row.facts.slug = row.slug;
  row.facts.aliases = side_tables_.aliases_of(*row.id);
  // A KernelBot operation is known by its boards; elsewhere the title is the definition's name.
  std::vector<std::string> ids;
  if (row.source == kKernelBot) {
    known.boards = row.facts.aliases;
    ids = known.boards;
  } else if (row.source != kCatalogSource && !known.title.empty()) {
    ids.push_back(known.title);
  }
  return claim(row, std::move(row.manifests[0]), known.source, ids);
}

void CatalogImport::check_first_tensor(CatalogRow& row, const KnownOperation* operation) {
  const auto* columns = std::get_if<WorkloadColumns>(&row.detail);
  if (operation == nullptr || !operation->accepted || columns == nullptr) return;
  if (!columns->shape_summary) return;
  const std::string derived = shape_of(columns->shapes, operation->first_tensor);
  if (*columns->shape_summary != derived) {
    set_fault(row, both_values("COLUMN_DIFFERS", "shapeSummary", *columns->shape_summary, derived));
  }
}

std::vector<std::string> CatalogImport::workload_ids(const CatalogRow& row,
                                                     const KnownOperation& operation) const {
  const auto& columns = std::get<WorkloadColumns>(row.detail);
  const bool is_suite = row.manifests[0].kind == ManifestKind::workload_suite;
  std::vector<std::string> ids;
  const bool by_board = sources_[operation.source] == kKernelBot;
  const std::string& key = by_board ? columns.axes_list : columns.axes_key;
  const std::string last = is_suite ? "suite" : key;
  if (last.empty() || sources_[operation.source] == kCatalogSource) return ids;
  if (by_board) {
    for (const std::string& board : operation.boards) ids.push_back(board + "/" + last);
  } else if (!operation.title.empty()) {
    ids.push_back(operation.title + "/" + last);
  }
  return ids;
}

Status CatalogImport::take_workload(CatalogRow& row) {
  const KnownOperation* operation = operations_.find(row.keys.operation);
  const WorkloadFacts* facts = nullptr;
  if (!row.manifests.empty()) {
    facts = &std::get<WorkloadFacts>(row.manifests[0].facts);
    check_reference(row, "operationId", operation, facts->operation);
    check_first_tensor(row, operation);
  }
  const std::uint16_t source =
      operation == nullptr ? source_index(kCatalogSource) : operation->source;
  KnownWorkload& known = remember(row, workloads_, source);
  if (facts != nullptr) {
    known.operation = facts->operation;
    known.correctness_key = facts->correctness_key;
    known.suite_cases = facts->suite_cases;
    known.comparator = &*comparators_.insert(facts->comparator).first;
  }
  if (row.fault) return {};
  const std::vector<std::string> ids = workload_ids(row, *operation);
  return claim(row, std::move(row.manifests[0]), source, ids);
}

Status CatalogImport::take_implementation(CatalogRow& row) {
  const Known* project = projects_.find(row.keys.project);
  const KnownOperation* operation = operations_.find(row.keys.operation);
  if (!row.manifests.empty()) {
    const auto& facts = std::get<ImplementationFacts>(row.manifests[0].facts);
    check_reference(row, "operationId", operation, facts.operation);
    check_project(row, project);
  }
  std::uint16_t source = source_index(kCatalogSource);
  if (project != nullptr) {
    source = project->source;
  } else if (operation != nullptr) {
    source = operation->source;
  }
  remember(row, implementations_, source);
  if (row.fault) return {};
  if (project != nullptr) row.facts.project = project->identity;
  row.facts.slug = row.slug;
  for (const NamedArtifact& artifact : row.facts.artifacts) {
    const std::optional<std::uint64_t> listed = side_tables_.size_of(artifact.digest);
    if (artifact.size && listed && *artifact.size != *listed) {
      other_sizes_[artifact.digest] = *artifact.size;
    }
  }
  side_tables_.complete(row.facts.artifacts);
  std::vector<std::string> ids;
  if (!row.upstream_id.empty()) ids.push_back(row.upstream_id);
  return claim(row, std::move(row.manifests[0]), source, ids);
}

std::optional<Digest> CatalogImport::check_run_keys(CatalogRow& row,
                                                    const KnownWorkload* workload) {
  const auto& columns = std::get<RunColumns>(row.detail);
  const auto& run = std::get<BenchmarkRunFacts>(row.manifests[2].facts);
  // Of a workload that was set aside, only its digest may be what the run refers to.
  if (workload == nullptr || workload->comparator == nullptr ||
      workload->identity != run.workload) {
    return std::nullopt;
  }
  const Digest& correctness = workload->correctness_key;
  if (columns.correctness_key && *columns.correctness_key != correctness) {
    set_fault(row, both_values("KEY_DIFFERS", "correctnessKey", columns.correctness_key->text(),
                               correctness.text()));
  }
  const Digest key = comparison_key(run, workload->facts());
  if (columns.comparison_key && *columns.comparison_key != key) {
    set_fault(row, both_values("KEY_DIFFERS", "comparisonKey", columns.comparison_key->text(),
                               key.text()));
  }
  return key;
}

std::optional<std::uint16_t> CatalogImport::check_source(
    CatalogRow& row, const std::optional<SourceNative>& native) {
  const std::uint16_t* source = source_rows_.find(row.keys.source);
  if (source == nullptr) {
    check_reference(row, "sourceId", nullptr, {});
    return std::nullopt;
  }
  if (native && native->source != sources_[*source]) {
    set_fault(row, both_values("SOURCE_DIFFERS", "sourceId", sources_[*source], native->source));
  }
  return *source;
}

Status CatalogImport::take_run(CatalogRow& row) {
  auto* columns = std::get_if<RunColumns>(&row.detail);
  std::optional<std::uint16_t> source;
  std::optional<Digest> derived_key;
  if (!row.manifests.empty() && columns != nullptr) {
    const auto& run = std::get<BenchmarkRunFacts>(row.manifests[2].facts);
    const KnownWorkload* workload = workloads_.find(row.keys.workload);
    check_reference(row, "implementationId", implementations_.find(row.keys.implementation),
                    run.implementation);
    check_reference(row, "workloadId", workload, run.workload);
    derived_key = check_run_keys(row, workload);
    source = check_source(row, run.source_native);
  }
  if (!remember_run(row, runs_, runs_set_aside_)) return {};
  history_.add_run(*row.id, columns == nullptr ? RunColumns() : *columns);
  if (row.fault) history_.doubt_run(derived_key);
  measurements_.add_run(columns == nullptr ? std::vector<CatalogMeasurement>()
                                           : columns->measurements);
  if (row.fault) return {};
  for (std::size_t i = 0; i < 2; ++i) {
    if (!shared_documents_.insert(row.manifests[i].document).second) continue;
    Draft draft;  // protocols and environments have no row of their own, and so no id
    draft.manifest = std::move(row.manifests[i]);
    draft.source = sources_[*source];
    if (draft.source != kVia) draft.via = kVia;
    draft.item = std::to_string(row.line);
    if (Status claimed = sink_.claim(std::move(draft)); !claimed) return claimed;
  }
  side_tables_.complete(row.facts.artifacts);
  std::vector<std::string> ids;
  if (!row.upstream_id.empty()) ids.push_back(row.upstream_id);
  return claim(row, std::move(row.manifests[2]), *source, ids);
}

bool CatalogImport::remember_run(CatalogRow& row, UuidIndex& index, std::vector<bool>& set_aside) {
  const auto next = static_cast<std::uint32_t>(index.size());
  const bool is_new = row.id && index.insert(*row.id, next);
  if (row.id && !is_new) {
    set_fault(row, {ErrorKind::invalid,
                    "DUPLICATE_ROW",
                    "id",
                    "another row has this id: " + row.id->text(),
                    {}});
  }
  if (row.fault) quarantine(row);
  if (!is_new) return false;
  set_aside.push_back(row.fault.has_value());
  return true;
}

std::uint32_t CatalogImport::find_run(CatalogRow& row, const UuidIndex& runs) {
  const std::optional<std::uint32_t> run = row.keys.run ? runs.find(*row.keys.run) : std::nullopt;
  if (!run) check_reference(row, "runId", nullptr, {});
  return run.value_or(0);
}

void CatalogImport::take_measurement(CatalogRow& row, const UuidIndex& runs,
                                     const std::vector<bool>& set_aside, MeasurementCheck& check,
                                     std::string_view confirmed) {
  const std::uint32_t run = find_run(row, runs);
  if (row.fault) return quarantine(row);
  if (set_aside[run]) return sink_.skipped("of_quarantined_run");
  row.fault = check.confirm(run, std::get<CatalogMeasurement>(row.detail));
  if (row.fault) return quarantine(row);
  sink_.counted(confirmed, 1);
}

void CatalogImport::take_record_event(CatalogRow& row) {
  const std::uint32_t run = find_run(row, runs_);
  if (row.fault) return quarantine(row);
  RecordHistory::Judgement judgement =
      history_.judge(run, row.keys.previous_run, std::get<RecordEventColumns>(row.detail));
  switch (judgement.answer) {
    case RecordHistory::Answer::confirmed:
      return sink_.counted("record_events_confirmed", 1);
    case RecordHistory::Answer::doubtful:
      return sink_.skipped("of_quarantined_run");
    case RecordHistory::Answer::differs:
      row.fault = std::move(judgement.fault);
      return quarantine(row);
  }
}

void CatalogImport::take_artifact(CatalogRow& row) {
  if (!row.fault) {
    const auto& artifact = std::get<ArtifactColumns>(row.detail);
    const auto other = other_sizes_.find(artifact.digest);
    if (other != other_sizes_.end()) {
      set_fault(row, both_values("COLUMN_DIFFERS", "sizeBytes", std::to_string(*artifact.size),
                                 std::to_string(other->second)));
    }
  }
  if (row.fault) return quarantine(row);
  sink_.counted("artifacts_named", 1);
}

void CatalogImport::finish() {
  const auto say = [&](const Uuid& run, std::string code, std::string reason) {
    sink_.finding({FindingClass::review, locator_, "kernelindex:" + run.text(), std::move(code),
                   std::move(reason)});
  };
  const auto say_incomplete = [&](const MeasurementCheck& check, const UuidIndex& ids,
                                  const std::vector<bool>& set_aside) {
    for (const std::uint32_t run : check.incomplete_runs()) {
      if (set_aside[run]) continue;
      say(ids.id(run), "MEASUREMENT_MISSING", "no row says a number that the run's manifest gives");
    }
  };
  say_incomplete(measurements_, runs_, runs_set_aside_);
  say_incomplete(serving_measurements_, serving_runs_, serving_runs_set_aside_);
  for (const std::uint32_t run : history_.untold_runs()) {
    say(runs_.id(run), "RECORD_EVENT_MISSING",
        "the run takes the lead of its group, and no row says so");
  }
}

}  // namespace kernelindex::ingest
