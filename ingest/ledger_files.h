// SPDX-License-Identifier: Apache-2.0
// A ledger in a folder as the files of an import: its log as one stream (kernelindex_ledger.h), the
// snapshots that it kept, and its artifacts.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

#include "ingest/draft.h"
#include "ingest/recorded_file.h"
#include "ingest/recorder.h"
#include "ledger/ledger.h"
#include "schema/digest.h"
#include "schema/result.h"

namespace kernelindex::ingest {

class LedgerFiles {
 public:
  // Opens a ledger for reading and reads every object of it once. Derived data is not needed, nor a
  // key, nor that the ledger can be written; only its entries must be whole. Errors: those of
  // Ledger::open(), DAMAGED_ENTRY (corrupt).
  // The stream is kept as one object: a log whose leaves, manifests and envelopes come to more than
  // 2 GiB cannot be taken (OBJECT_TOO_LARGE, when it is recorded).
  static Result<LedgerFiles> open(const std::filesystem::path& directory);
  LedgerFiles(LedgerFiles&&) noexcept;
  ~LedgerFiles();

  const Digest& ledger_id() const;
  // The stream first, then the snapshots in order of the log, under their sources. What they open
  // must not outlive this object.
  const std::vector<RecordedFile>& files() const;
  // Artifacts, and the reports that imports kept.
  const std::vector<RecordedFile>& artifacts() const;
  // What could not be taken: DAMAGED_OBJECT and NOT_HELD are quarantined, WITHHELD is to review.
  const std::vector<Finding>& findings() const;

 private:
  struct Opened;
  explicit LedgerFiles(std::unique_ptr<Opened> opened);

  std::unique_ptr<Opened> opened_;
};

// Takes another ledger into this one. Importing it again adds nothing. Errors: SAME_LEDGER (usage),
// those of import_source().
Result<ImportReport> import_ledger(Ledger& ledger, const LedgerFiles& other, bool dry_run,
                                   std::function<void(std::uint64_t)> progress);

}  // namespace kernelindex::ingest
