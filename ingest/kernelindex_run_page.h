// SPDX-License-Identifier: Apache-2.0
// `import kernelindex-run`: the {run, protocol, environment} document that a KernelIndex run page
// shows, to drafts.
#pragma once

#include <span>

#include "ingest/draft.h"

namespace kernelindex::ingest {

// Each file is one document. Its claim is of the run's own source via `kernelindex`; the workload
// and the implementation that it refers to need not be known. A run whose protocol or environment
// digest is not that of the documents beside it is quarantined with both values, and so is a file
// that is no such document; an error only when none is.
Status import_kernelindex_run(std::span<const SourceFile> files, DraftSink& sink);

}  // namespace kernelindex::ingest
