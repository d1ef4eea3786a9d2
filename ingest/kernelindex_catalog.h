// SPDX-License-Identifier: Apache-2.0
// `import kernelindex-catalog`: a published catalog export, JSON lines bare or in zstd, to drafts.
// IMPORT section 11.
//
// Each row is a claim of its own source via `kernelindex`. Every stored digest, key and reference
// is recomputed; a row that disagrees is quarantined with both values, and those that refer to it
// are judged for themselves. Tables that record nothing (measurements, record events, artifacts,
// aliases) are checked against the runs. Memory does not grow with the file but for some 100 bytes
// a row.
#pragma once

#include <string>

#include "ingest/draft.h"
#include "schema/byte_source.h"

namespace kernelindex::ingest {

struct CatalogOptions {
  unsigned threads = 0;  // that read rows; 0: one for each processor
};

// The file is source file 0, and items are line numbers. Reads it twice. What was handed to the
// sink before an error stays handed over. Counts: measurements_confirmed,
// serving_measurements_confirmed, record_events_confirmed, artifacts_named; skip reasons:
// of_quarantined_run, unknown_table.
Status import_kernelindex_catalog(ByteSource& file, const std::string& locator,
                                  const CatalogOptions& options, DraftSink& sink);

}  // namespace kernelindex::ingest
