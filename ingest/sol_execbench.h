// SPDX-License-Identifier: Apache-2.0
// `import sol-execbench`: a saved dump of the SOL-ExecBench leaderboard to drafts. IMPORT
// section 5.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ingest/draft.h"

namespace kernelindex::ingest {

struct SolExecbenchOptions {
  std::optional<std::size_t> top;  // of each kernel by SOL score, as the forerunner; all if absent
  std::vector<std::string> tags;   // kernels with any of these; empty: all
  std::vector<std::string> kernels;  // by name or slug; empty: all
  std::string stack;                 // evaluation stack version; empty: all
};

// Kernels come in the order of the list of kernels, else by id; of each its operation, its cases,
// the suite, and the chosen submissions, best score first. Skip reasons: kernel_filtered,
// kernel_not_saved, kernel_missing, kernel_quarantined, kernel_repeated, suite_quarantined,
// repeated, beyond_top, and the names of Selection. Each record of a page is selected, skipped or
// quarantined.
Status import_sol_execbench(std::span<const SourceFile> files, const SolExecbenchOptions& options,
                            DraftSink& sink);

}  // namespace kernelindex::ingest
