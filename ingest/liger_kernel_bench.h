// SPDX-License-Identifier: Apache-2.0
// `import liger`: the benchmark CSVs of Liger-Kernel to drafts. IMPORT section 8.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ingest/draft.h"
#include "ingest/recorded_file.h"

namespace kernelindex::ingest {

struct LigerKernelBenchOptions {
  std::string commit;  // of the repository, named in the operations' sources; may be empty
};

// Files are read record by record; each needs the 15 columns (MISSING_COLUMN quarantines the file),
// and further ones are drift. Skip reasons: memory_row, uncurated_kernel, unknown_provider,
// unknown_config (also of modes), unknown_gpu, duplicate_row. Quarantined: BAD_RECORD with a wrong
// number of fields, LINE_TOO_LONG, TOO_MANY_FIELDS, BAD_QUOTE, BAD_UTF8, NOT_POSITIVE, BAD_TIME,
// and what the schema refuses. Review: UNKNOWN_FILE. NOT_A_TABLE (invalid) when no file is such a
// table.
Status import_liger_kernel_bench(std::span<const RecordedFile> files,
                                 const LigerKernelBenchOptions& options, DraftSink& sink);

// Whether a file begins with the header of such a table.
bool begins_liger_table(std::string_view beginning);

}  // namespace kernelindex::ingest
