// SPDX-License-Identifier: Apache-2.0
// What of a ledger a catalog can show: for each manifest the claim that is shown, and the row id
// under which others refer to it. The first pass of the export; the second writes the rows.
//
// A claim is shown when a valid import statement covers it and its document is held, a run when the
// ledger reports it (evidence level `reported` or above): a catalog cannot say less of a row than
// that it is published, and whoever imports it takes it for such.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ingest/catalog_row.h"
#include "ingest/uuid.h"
#include "ledger/evidence_policy.h"
#include "ledger/group_view.h"
#include "ledger/reader.h"
#include "schema/digest.h"
#include "schema/result.h"

namespace kernelindex::ingest {

// Why something of the ledger has no row; each prints as its UPPER_SNAKE name.
enum class LeftOut : std::uint8_t {
  withheld,        // the bytes of its document are withheld
  not_covered,     // no valid import statement covers a claim of it
  not_reported,    // a run without an evidence level
  reference,       // what it refers to has no row
  no_run,          // a protocol or an environment, and no row of a run shows it
  other_document,  // a further document of an identity, which can have one row
};
std::string_view left_out_name(LeftOut reason);
using LeftOutCounts = std::map<LeftOut, std::uint64_t>;

struct PlannedRow {
  Digest identity;
  Uuid id;
  std::uint64_t claim = 0;    // entry of the claim that is shown
  Level level = Level::none;  // of a run
  bool written = false;       // its row is in the export, or rows show it: others may name it
};

class CatalogPlan {
 public:
  // Reads every row of the ledger once. Some 150 bytes a manifest stay in memory. Errors: those of
  // reading rows; MISSING_OBJECT (corrupt) for a document that is neither held nor withheld.
  static Result<CatalogPlan> make(const Reader& reader);
  CatalogPlan(CatalogPlan&&) = default;

  // Manifests of the kinds, in the order of the log.
  std::vector<PlannedRow>& rows(CatalogTable table) { return tables_[table]; }
  // Null when nothing of that identity is to be shown. Protocols and environments are found too.
  PlannedRow* find(const Digest& identity);
  // Null unless its row is written already.
  const PlannedRow* written(const Digest& identity);

  // Whose claims the rows are, with the first entry of each.
  const std::map<std::string, std::uint64_t>& sources() const { return sources_; }
  // What a statement of this ledger says that a run replaces.
  std::optional<Digest> replaced_by(const Digest& successor) const;
  LeftOutCounts& left_out() { return left_out_; }
  // Adds protocols and environments that no row shows to what is left out.
  void count_unused();

 private:
  class Maker;
  CatalogPlan() = default;
  void index();

  std::map<CatalogTable, std::vector<PlannedRow>> tables_;
  std::vector<PlannedRow> shared_;  // protocols and environments
  std::unordered_map<Digest, PlannedRow*> by_identity_;
  std::map<Digest, Digest> replaced_;  // by the successor
  std::map<std::string, std::uint64_t> sources_;
  LeftOutCounts left_out_;
};

}  // namespace kernelindex::ingest
