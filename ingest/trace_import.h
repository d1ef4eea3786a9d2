// SPDX-License-Identifier: Apache-2.0
// A tree of definitions, solutions and traces to drafts, for every source that has one.
#pragma once

#include <span>

#include "ingest/draft.h"
#include "ingest/recorded_file.h"
#include "ingest/trace_dialect.h"

namespace kernelindex::ingest {

// Of each definition its operation and the cases of its lists; then the solutions, their source
// files as artifacts; then the traces, file by file and line by line: their logs as artifacts, the
// case unless a list has it, and the run. Memory: all but the traces, and the largest of those (a
// line, or a file that is one document).
//
// Quarantined: what is malformed (codes of the readers), NO_DEFINITION, AMBIGUOUS_DEFINITION,
// NO_PINNED_COMMIT, NO_EVALUATION, NO_PERFORMANCE, UNKNOWN_STATUS, UNKNOWN_ITEM, and what the
// schema refuses. Review: NO_SOLUTION and AMBIGUOUS_SOLUTION, whose traces are not recorded. Skip
// reasons: definition_repeated, case_repeated, solution_repeated, definition_quarantined,
// solution_quarantined, solution_unknown, workload_listed. Selected: solutions and
// traces that became manifests.
Status import_traces(std::span<const RecordedFile> files, const TraceDialect& dialect,
                     DraftSink& sink);

}  // namespace kernelindex::ingest
