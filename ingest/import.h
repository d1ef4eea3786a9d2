// SPDX-License-Identifier: Apache-2.0
// One door to all importers: a source, its options and its files become drafts, and a whole import
// becomes a report. What the command line imports and what `audit --reimport` runs again.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/draft.h"
#include "ingest/recorder.h"
#include "ingest/sources.h"
#include "ledger/ledger.h"

namespace kernelindex::ingest {

// The choices of all sources; each uses those that its help names.
struct ImportOptions {
  std::optional<std::size_t> top;    // sol-execbench, gpumode
  std::vector<std::string> tags;     // sol-execbench
  std::vector<std::string> kernels;  // sol-execbench
  std::string stack;                 // sol-execbench
  std::string commit;                // sol-execbench (of a local tree), liger
  std::string revision;              // flashinfer-bench
  std::string observed_at;           // kernelbench

  // Canonical JSON, as import statements keep it: only what was chosen.
  std::string json() const;
  // Reads what json() gives. Error BAD_OPTIONS (invalid).
  static Result<ImportOptions> parse(std::string_view text);
};

// Runs the importer of a source over its files. Files that must lie in memory as a whole are read
// into it: at most 64 MiB each (TOO_LARGE).
Status run_importer(const SourceInfo& source, const ImportOptions& options,
                    std::span<const RecordedFile> files, DraftSink& sink);

struct ImportRequest {
  const SourceInfo* source = nullptr;
  ImportOptions options;
  std::vector<RecordedFile> files;
  std::vector<RecordedFile> artifacts;      // kept by digest, behind the first file's snapshot
  std::vector<RecordedFile> fetch_records;  // the same, of what fetched the files
  std::vector<Finding> findings;            // of whoever gathered the files
  bool dry_run = false;                     // nothing is written
  // Called after each commit point with the size of the log.
  std::function<void(std::uint64_t)> progress;
};

// Imports: all that the files say, in atomic batches, and one report. What was committed before an
// error stays; the same import run again continues.
Result<ImportReport> import_source(Ledger& ledger, const ImportRequest& request);

}  // namespace kernelindex::ingest
