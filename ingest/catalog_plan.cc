// SPDX-License-Identifier: Apache-2.0
#include "ingest/catalog_plan.h"

#include <algorithm>
#include <array>
#include <set>

#include "ingest/catalog_sources.h"
#include "ledger/key_layout.h"

namespace kernelindex::ingest {
namespace {

constexpr std::array<std::string_view, 6> kLeftOutNames = {
    "WITHHELD", "NOT_COVERED", "NOT_REPORTED", "REFERENCE_LEFT_OUT", "NO_RUN", "OTHER_DOCUMENT"};

// Nothing for protocols and environments: the rows of runs show them.
std::optional<CatalogTable> table_of(ManifestKind kind) {
  switch (kind) {
    case ManifestKind::software_project:
      return CatalogTable::projects;
    case ManifestKind::operation_spec:
      return CatalogTable::operations;
    case ManifestKind::workload_case:
    case ManifestKind::workload_suite:
      return CatalogTable::workloads;
    case ManifestKind::implementation_revision:
      return CatalogTable::implementations;
    case ManifestKind::benchmark_run:
      return CatalogTable::benchmark_runs;
    case ManifestKind::model_revision:
      return CatalogTable::model_revisions;
    case ManifestKind::serving_stack_revision:
      return CatalogTable::serving_stack_revisions;
    case ManifestKind::serving_configuration:
      return CatalogTable::serving_configurations;
    case ManifestKind::serving_workload:
      return CatalogTable::serving_workloads;
    case ManifestKind::serving_run:
      return CatalogTable::serving_runs;
    case ManifestKind::benchmark_protocol:
    case ManifestKind::execution_environment:
      return std::nullopt;
  }
  return std::nullopt;
}

bool is_run(ManifestKind kind) {
  return kind == ManifestKind::benchmark_run || kind == ManifestKind::serving_run;
}

}  // namespace

std::string_view left_out_name(LeftOut reason) {
  return kLeftOutNames[static_cast<std::size_t>(reason)];
}

class CatalogPlan::Maker {
 public:
  explicit Maker(const Reader& reader)
      : reader_(reader),
        size_(reader.head().size),
        judgements_(reader.judgements(size_)),
        judge_(reader, size_, RankingPolicy::v1) {}

  Result<CatalogPlan> make() {
    StoreCursor cursor = reader_.view().scan(Space::derived, "s");
    for (; cursor.valid(); cursor.next()) {
      const Digest identity = key_layout::last_digest(cursor.key());
      const Result<SubjectRow> row = decode_subject_row(cursor.value());
      if (!row) return fail_in(identity.text(), row.error());
      if (Status taken = take(identity, *row); !taken) return fail(taken.error());
    }
    if (Status status = cursor.status(); !status) return fail(status.error());
    finish();
    return std::move(plan_);
  }

 private:
  Status take(const Digest& identity, const SubjectRow& row) {
    note_successors(identity);
    PlannedRow planned{identity, {}, 0, Level::none, false};
    std::string source;
    if (is_run(row.kind)) {
      const Result<std::optional<RunView>> run = judge_.read(identity);
      if (!run) return fail(run.error());
      if (!*run || (*run)->evidence.level == Level::none) return leave_out(LeftOut::not_reported);
      planned.level = (*run)->evidence.level;
      source = (*run)->row.source;
    }
    Result<const ClaimRow*> claim = shown_claim(row, source);
    if (!claim) return fail(claim.error());
    if (*claim == nullptr) return {};
    planned.claim = (*claim)->index;
    planned.id = known_id(identity, row, **claim);
    const auto known =
        plan_.sources_.emplace(source.empty() ? (*claim)->source : source, planned.claim).first;
    known->second = std::min(known->second, planned.claim);
    const std::optional<CatalogTable> table = table_of(row.kind);
    (table ? plan_.tables_[*table] : plan_.shared_).push_back(planned);
    return {};
  }

  Status leave_out(LeftOut reason) {
    ++plan_.left_out_[reason];
    return {};
  }

  void note_successors(const Digest& identity) {
    const SubjectJudgement* said = judgements_->find(identity);
    if (said == nullptr) return;
    for (const SubjectJudgement::Successor& successor : said->successors) {
      plan_.replaced_.emplace(successor.by, identity);
    }
  }

  bool covered(const ClaimRow& claim) const {
    const ImportRange* import = reader_.covering_import(claim.index, size_);
    if (import == nullptr) return false;
    const SubjectJudgement* said = judgements_->find(import->id);
    return said == nullptr || (!said->retracted() && !said->cannot_judge);
  }

  // The claim of the run's own source, else the first, of those that count and whose document is
  // held; null when there is none, which is counted.
  Result<const ClaimRow*> shown_claim(const SubjectRow& row, std::string_view own_source) {
    std::vector<const ClaimRow*> counting;
    std::set<Digest> documents;
    for (const ClaimRow& claim : row.claims) {
      if (!covered(claim)) continue;
      counting.push_back(&claim);
      documents.insert(claim.document);
    }
    if (counting.empty()) {
      ++plan_.left_out_[LeftOut::not_covered];
      return nullptr;
    }
    std::ranges::stable_partition(
        counting, [&](const ClaimRow* claim) { return claim->source == own_source; });
    for (const ClaimRow* claim : counting) {
      const Result<bool> kept = reader_.object_kept(claim->document);
      if (!kept) return fail(kept.error());
      if (!*kept) continue;
      if (documents.size() > 1) plan_.left_out_[LeftOut::other_document] += documents.size() - 1;
      return claim;
    }
    return require_withheld(counting.front()->document);
  }

  Result<const ClaimRow*> require_withheld(const Digest& document) {
    const Result<bool> withheld = reader_.object_withheld(document);
    if (!withheld) return fail(withheld.error());
    if (!*withheld) {
      return fail(ErrorKind::corrupt, "MISSING_OBJECT", document.text(),
                  "the bytes of a claimed manifest are not there",
                  "`kernelindex audit` says what else is missing");
    }
    ++plan_.left_out_[LeftOut::withheld];
    return nullptr;
  }

  // The row id that a catalog gave it, the shown claim's before others'; else one made of the
  // digest. Nobody may take an id that is made of another digest.
  static Uuid known_id(const Digest& identity, const SubjectRow& row, const ClaimRow& shown) {
    const Uuid made = uuid_of(identity);
    std::vector<const ClaimRow*> claims = {&shown};
    for (const ClaimRow& claim : row.claims) claims.push_back(&claim);
    for (const ClaimRow* claim : claims) {
      for (const std::string_view external : claim->external_ids) {
        const std::optional<Uuid> id = catalog_row_id(external);
        if (id && (id->version() != made.version() || *id == made)) return *id;
      }
    }
    return made;
  }

  void finish() {
    for (auto& [table, rows] : plan_.tables_) {
      std::ranges::sort(rows, {}, &PlannedRow::claim);
      UuidIndex taken;
      for (PlannedRow& row : rows) {
        // Ids of outside can repeat; the first in the log keeps it.
        if (!taken.insert(row.id, 0)) row.id = uuid_of(row.identity);
      }
    }
    plan_.index();
  }

  const Reader& reader_;
  std::uint64_t size_;
  std::shared_ptr<const Judgements> judgements_;
  RunJudge judge_;
  CatalogPlan plan_;
};

Result<CatalogPlan> CatalogPlan::make(const Reader& reader) { return Maker(reader).make(); }

void CatalogPlan::index() {
  const auto add = [&](std::vector<PlannedRow>& rows) {
    for (PlannedRow& row : rows) by_identity_.emplace(row.identity, &row);
  };
  for (auto& [table, rows] : tables_) add(rows);
  add(shared_);
}

PlannedRow* CatalogPlan::find(const Digest& identity) {
  const auto found = by_identity_.find(identity);
  return found == by_identity_.end() ? nullptr : found->second;
}

const PlannedRow* CatalogPlan::written(const Digest& identity) {
  const PlannedRow* row = find(identity);
  return row != nullptr && row->written ? row : nullptr;
}

std::optional<Digest> CatalogPlan::replaced_by(const Digest& successor) const {
  const auto found = replaced_.find(successor);
  return found == replaced_.end() ? std::nullopt : std::optional(found->second);
}

void CatalogPlan::count_unused() {
  const auto unused =
      static_cast<std::uint64_t>(std::ranges::count(shared_, false, &PlannedRow::written));
  if (unused != 0) left_out_[LeftOut::no_run] += unused;
}

}  // namespace kernelindex::ingest
