// SPDX-License-Identifier: Apache-2.0
// `import sol-execbench` of a local tree: definition.json, workload.jsonl, solution*.json and
// trace*.json[l], as in the repository of SOL-ExecBench, to drafts. IMPORT section 5.7.
#pragma once

#include <span>
#include <string>

#include "ingest/draft.h"
#include "ingest/recorded_file.h"

namespace kernelindex::ingest {

struct SolLocalOptions {
  std::string commit;  // of the repository, 40 hex digits; empty: solutions are quarantined
};

// Lists of workloads belong to the definition in their directory. Findings as of import_traces();
// BAD_OPTIONS (usage) when the commit is none.
Status import_sol_local(std::span<const RecordedFile> files, const SolLocalOptions& options,
                        DraftSink& sink);

}  // namespace kernelindex::ingest
