// SPDX-License-Identifier: Apache-2.0
// `import mlperf`: the summary of an MLPerf Inference round, summary_results.json, to drafts.
// IMPORT section 9.
#pragma once

#include <span>

#include "ingest/draft.h"
#include "ingest/recorded_file.h"

namespace kernelindex::ingest {

// Each file is a list of results, at most 64 MiB; they are claimed in its order. Skip reasons:
// those of mlperf_skip_reason(). Quarantined: BAD_SHAPE, UNKNOWN_ROUND, and what the schema
// refuses. Files that are no such list are listed for review (UNKNOWN_FILE); NOT_A_SUMMARY
// (invalid) when all are.
Status import_mlperf_inference(std::span<const RecordedFile> files, DraftSink& sink);

// Whether a file that begins so is such a list.
bool begins_mlperf_summary(std::string_view beginning);

}  // namespace kernelindex::ingest
