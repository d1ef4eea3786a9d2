// SPDX-License-Identifier: Apache-2.0
// `import sol-execbench`: a saved dump of the leaderboard, a local tree of definitions and
// solutions, or both together.
#pragma once

#include <span>
#include <string_view>

#include "ingest/draft.h"
#include "ingest/recorded_file.h"
#include "ingest/sol_execbench.h"
#include "ingest/sol_local.h"

namespace kernelindex::ingest {

// Each file goes to the importer that knows its content: saved answers and files that neither knows
// to import_sol_execbench(), the parts of a tree to import_sol_local(), which comes second. A file
// that neither knows is listed by the one that has the others.
Status import_sol_files(std::span<const RecordedFile> files, const SolExecbenchOptions& dump,
                        const SolLocalOptions& local, DraftSink& sink);

// Whether a file that begins so is a saved answer of the leaderboard: a list of kernels, a kernel
// with its id or its workloads, a page of submissions.
bool begins_sol_dump(std::string_view beginning);

}  // namespace kernelindex::ingest
