// SPDX-License-Identifier: Apache-2.0
// `import kernelbench`: the baseline timings of the KernelBench repository. IMPORT section 10.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ingest/draft.h"
#include "ingest/recorded_file.h"

namespace kernelindex::ingest {

struct KernelbenchOptions {
  std::string observed_at;  // UTC instant of all results, which state none; may be empty
};

// `<host>/baseline_time_<variant>.json`, each {"level1": {"<problem>.py": timing or null}}. The
// files state neither shapes nor times, so that by themselves they record nothing: each result is
// listed (review, NO_OPERATION; skipped no_operation) and the files are kept. A result is recorded
// once two things are given: among the files an OperationSpec and a WorkloadSuite, in JSON or YAML,
// whose names are kernelbench_operation_name() and that with "-suite"; and `observed_at`, else
// NO_TIME. Its run is then marked observed_at_by_operator, which keeps it out of record history.
//
// Skip reasons: no_operation, no_time, failed (null). Quarantined: BAD_SHAPE, BAD_JSON and what the
// schema refuses. Review: UNKNOWN_FILE. NOT_A_TIMING (invalid) when no file is one of timings;
// BAD_OPTIONS (usage) when observed_at is no instant.
Status import_kernelbench(std::span<const RecordedFile> files, const KernelbenchOptions& options,
                          DraftSink& sink);

// Whether a file that begins so holds such timings.
bool begins_kernelbench_timings(std::string_view beginning);

}  // namespace kernelindex::ingest
