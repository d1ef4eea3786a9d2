// SPDX-License-Identifier: Apache-2.0
// Reading and recording side by side: an importer fills a bounded queue from a thread of its own
// while the caller's thread records. The order of calls is kept, so the result is the same as
// without.
#pragma once

#include <functional>

#include "ingest/draft.h"

namespace kernelindex::ingest {

using Importer = std::function<Status(DraftSink&)>;

// Runs `importer` on a second thread and hands all it gives to `sink` on this one. The first error
// of either side ends both. At most some thousand drafts or 8 MiB of documents wait in between.
Status run_pipelined(const Importer& importer, DraftSink& sink);

}  // namespace kernelindex::ingest
