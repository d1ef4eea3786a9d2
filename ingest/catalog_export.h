// SPDX-License-Identifier: Apache-2.0
// A ledger as a catalog: what `import kernelindex-catalog` reads, in the rows of the forerunner's
// export. IMPORT section 11.
//
// JSON lines {"table": T, "row": R}, tables and columns in the forerunner's order. A manifest has
// one row, whose id is the one that a catalog gave it (`kernelindex:<uuid>` among the external ids
// of its claims), else the UUIDv8 of its identity digest (RFC 9562 section 5.8: the first 16 bytes,
// version and variant set); rows refer to each other by these ids. Rows that are no manifests have
// UUIDv8 too: of the content digest for an artifact, of the SHA-256 of canonical JSON for the
// others: {"source"}, {"metric", "run", "statistic", "unit"}, {"cause", "comparisonKey", "run"},
// with identity digests for runs.
//
// Columns are derived from manifests as the import checks them, or come from the facts of the shown
// claim. What a ledger says in other words:
//
//   createdAt              when the claim was recorded here
//   publishedAt            what the source said; else when the claim was recorded here
//   retractedAt            what the source said; else when this ledger took the run back, or its
//                          source withdrew it, with the reason
//   supersedesId           the row that the source, else a statement of this ledger, says it
//                          replaces
//   reproducedByKernelindex, independentReplicationCount
//                          evidence level verified; 2 at level replicated, which asks for two
//                          owners
//   record_events          by the forerunner's rule over the rows that are written
//   artifacts              those that claims name; `storage` is inline when the bytes are held here
//
// What the format has no place for is not written and not counted: attestations other than those
// above, proofs, snapshots, bytes of artifacts, claims beside the one shown. So an import of the
// rows tells the source of a manifest that is no run by its slug or its references
// (ingest/catalog_sources.h), and the artifacts of a claim by its manifest alone. What has a place
// and cannot have a row is counted by reason (ingest/catalog_plan.h); nothing is made up.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "ingest/catalog_plan.h"
#include "ingest/catalog_row.h"
#include "ledger/reader.h"
#include "schema/result.h"

namespace kernelindex::ingest {

struct CatalogExportReport {
  std::map<CatalogTable, std::uint64_t> rows;
  LeftOutCounts left_out;
};

// Rows on demand, so that nobody holds more than a piece of them. Memory grows by some 200 bytes a
// manifest. Not for sharing between threads; must not outlive the reader.
class CatalogExport {
 public:
  // Reads all rows of the ledger. Errors: those of CatalogPlan::make().
  static Result<CatalogExport> start(const Reader& reader);
  CatalogExport(CatalogExport&&) noexcept;
  ~CatalogExport();

  // Appends whole lines, some 64 KiB of them; false when none follow. Errors: those of reading
  // entries and objects; after one the lines are not to be used.
  Result<bool> next(std::string& lines);
  // How many rows were appended so far. Requires, for what was left out: the end was reached.
  const CatalogExportReport& report() const;

 private:
  class Writer;
  explicit CatalogExport(std::unique_ptr<Writer> writer);

  std::unique_ptr<Writer> writer_;
};

}  // namespace kernelindex::ingest
