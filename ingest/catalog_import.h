// SPDX-License-Identifier: Apache-2.0
// Rows of a catalog export in the order of the file, checked against each other, to claims.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "ingest/catalog_row.h"
#include "ingest/catalog_side_tables.h"
#include "ingest/draft.h"
#include "ingest/run_numbers.h"
#include "ingest/uuid.h"

namespace kernelindex::ingest {

class CatalogImport {
 public:
  // Requires: `side_tables` and `sink` outlive this object.
  CatalogImport(const CatalogSideTables& side_tables, std::string locator, DraftSink& sink);

  Status take(CatalogRow&& row);
  // After the last row: what no row said.
  void finish();

 private:
  // A row with a manifest, for those that name it. One that was set aside stays known, so that its
  // fault is not said again of each row that refers to it.
  struct Known {
    Digest identity;                     // of the manifest, recomputed
    std::unique_ptr<const Digest> said;  // by the row, where it differs: only when set aside
    std::uint16_t source = 0;            // index into sources_
    bool accepted = false;

    const Digest& stored() const { return said ? *said : identity; }
    bool is(const Digest& digest) const { return digest == identity || digest == stored(); }
  };
  struct KnownOperation : Known {
    std::string title;
    std::string first_tensor;
    std::vector<std::string> boards;  // aliases of a KernelBot operation
  };
  struct KnownWorkload : Known {
    Digest operation;
    Digest correctness_key;
    std::uint32_t suite_cases = 0;
    const std::string* comparator = nullptr;  // in comparators_; null without a manifest

    // Requires: a manifest.
    WorkloadFacts facts() const { return {operation, correctness_key, suite_cases, *comparator}; }
  };
  struct KnownModel : Known {
    std::optional<std::string> tokenizer;
  };
  struct KnownServingWorkload : Known {
    std::optional<ServingWorkloadFacts> facts;
  };
  template <typename Item>
  struct Rows {
    UuidIndex index;
    std::deque<Item> items;

    const Item* find(const std::optional<Uuid>& id) const {
      const std::optional<std::uint32_t> item = id ? index.find(*id) : std::nullopt;
      return item ? &items[*item] : nullptr;
    }
  };

  Status take_project(CatalogRow& row);
  Status take_operation(CatalogRow& row);
  Status take_workload(CatalogRow& row);
  Status take_implementation(CatalogRow& row);
  Status take_run(CatalogRow& row);
  Status take_model(CatalogRow& row);
  Status take_stack(CatalogRow& row);
  Status take_configuration(CatalogRow& row);
  Status take_serving_workload(CatalogRow& row);
  Status take_serving_run(CatalogRow& row);
  // The run that the row is about; not being there is the row's fault.
  std::uint32_t find_run(CatalogRow& row, const UuidIndex& runs);
  void take_measurement(CatalogRow& row, const UuidIndex& runs, const std::vector<bool>& set_aside,
                        MeasurementCheck& check, std::string_view confirmed);
  void take_record_event(CatalogRow& row);
  void take_artifact(CatalogRow& row);

  // What a row says of other rows; a difference becomes its fault. `named` is what its manifest
  // refers to.
  void check_reference(CatalogRow& row, std::string_view column, const Known* target,
                       const Digest& named);
  // Manifests do not name their project; whose project a ledger never learned has null there.
  void check_project(CatalogRow& row, const Known* project);
  void check_first_tensor(CatalogRow& row, const KnownOperation* operation);
  // The comparison key that the manifests give, when the workload is known.
  std::optional<Digest> check_run_keys(CatalogRow& row, const KnownWorkload* workload);
  void check_cohort_key(CatalogRow& row, const KnownModel* model,
                        const KnownServingWorkload* workload);
  // The source that the row names, if it is known.
  std::optional<std::uint16_t> check_source(CatalogRow& row,
                                            const std::optional<SourceNative>& native);
  std::vector<std::string> workload_ids(const CatalogRow& row,
                                        const KnownOperation& operation) const;

  void report_columns(const CatalogRow& row);
  void quarantine(const CatalogRow& row);
  // Makes a row known to those that name it, and quarantines it when it has a fault.
  template <typename Item>
  Item& remember(CatalogRow& row, Rows<Item>& rows, std::uint16_t source);
  // The same for a run; false when it has no id of its own to be known by.
  bool remember_run(CatalogRow& row, UuidIndex& index, std::vector<bool>& set_aside);
  Status claim(CatalogRow& row, Manifest manifest, std::uint16_t source,
               const std::vector<std::string>& upstream_ids);
  std::uint16_t source_index(std::string_view source);

  const CatalogSideTables& side_tables_;
  std::string locator_;
  DraftSink& sink_;
  std::set<std::string> drift_said_;
  std::vector<std::string> sources_;
  Rows<std::uint16_t> source_rows_;
  Rows<Known> projects_;
  Rows<KnownOperation> operations_;
  Rows<KnownWorkload> workloads_;
  std::set<std::string> comparators_;  // of all workloads: a few names
  Rows<Known> implementations_;
  UuidIndex runs_;
  std::vector<bool> runs_set_aside_;
  MeasurementCheck measurements_;
  RecordHistory history_;
  std::unordered_set<Digest> shared_documents_;  // protocols and environments claimed
  std::map<Digest, std::uint64_t> other_sizes_;  // of artifacts, by manifests that disagree
  Rows<KnownModel> models_;
  Rows<Known> stacks_;
  Rows<Known> configurations_;
  Rows<KnownServingWorkload> serving_workloads_;
  UuidIndex serving_runs_;
  std::vector<bool> serving_runs_set_aside_;
  MeasurementCheck serving_measurements_;
};

template <typename Item>
Item& CatalogImport::remember(CatalogRow& row, Rows<Item>& rows, std::uint16_t source) {
  const auto next = static_cast<std::uint32_t>(rows.items.size());
  if (row.id && !rows.index.insert(*row.id, next) && !row.fault) {
    row.fault = Error{ErrorKind::invalid,
                      "DUPLICATE_ROW",
                      "id",
                      "another row has this id: " + row.id->text(),
                      {}};
  }
  Item& item = rows.items.emplace_back();
  const Digest stored = row.stored_digest.value_or(Digest());
  item.identity = row.manifests.empty() ? stored : row.manifests[0].identity;
  if (row.stored_digest && stored != item.identity) item.said = std::make_unique<Digest>(stored);
  item.source = source;
  item.accepted = !row.fault;
  if (row.fault) quarantine(row);
  return item;
}

}  // namespace kernelindex::ingest
