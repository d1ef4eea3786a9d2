// SPDX-License-Identifier: Apache-2.0
// One run of an importer as one event: its import statements, what they read, and what they say
// was recorded.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ledger/reader.h"
#include "schema/digest.h"
#include "schema/result.h"
#include "schema/utc_time.h"

namespace kernelindex {

struct ImportStatementView {
  std::uint64_t index = 0;  // of its entry
  std::uint64_t first = 0;  // the leaves that it signs: [first, end)
  std::uint64_t end = 0;
  bool valid = false;  // by a key that counts, and not taken back
};

struct ImportSnapshotView {
  Digest digest;
  std::string locator;
  std::string fetched_at;  // empty when supplied as a file
  bool kept = false;       // its bytes are held
};

// What the kept report says of the source; no member when the report is not held.
struct ImportReportView {
  Digest digest;
  bool kept = false;
  std::uint64_t selected = 0;
  std::uint64_t skipped = 0;      // of all reasons
  std::uint64_t quarantined = 0;  // items set aside
  std::vector<Digest> fetch_records;
};

struct ImportEventView {
  std::string parser;
  std::string parser_version;
  std::string options;                          // canonical JSON of an object
  std::string signer;                           // key id, 64 hex digits
  UtcMicros recorded_at = 0;                    // of the last statement
  std::vector<ImportStatementView> statements;  // one for each batch, in order
  std::vector<ImportSnapshotView> snapshots;    // in order of reading
  std::map<std::string, std::int64_t> counts;   // of what was recorded, all batches together
  std::optional<ImportReportView> report;       // absent: the import was cut off
};

// The import that the statement at `index` belongs to. Statements of one parser, version, options
// and signer that follow each other are one import up to the one that names a report: so one that
// was cut off and run again is told as one. Errors: NO_SUCH_IMPORT (not_found) when no import
// statement stands there or its bytes are withheld; those of reading.
Result<ImportEventView> view_import_event(const Reader& reader, std::uint64_t index);

}  // namespace kernelindex
