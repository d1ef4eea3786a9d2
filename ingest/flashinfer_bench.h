// SPDX-License-Identifier: Apache-2.0
// `import flashinfer-bench`: a checkout of the data set flashinfer-ai/flashinfer-trace, or a part
// of it, to drafts. IMPORT section 6.
#pragma once

#include <span>
#include <string>

#include "ingest/draft.h"
#include "ingest/recorded_file.h"

namespace kernelindex::ingest {

struct FlashinferBenchOptions {
  std::string revision;  // of the data set, 40 hex digits; empty: solutions are quarantined
};

// `definitions/**.json`, `solutions/<author>/<op>/<definition>/*.json`, `workloads/**.jsonl` and
// `traces/<author>/<op>/<definition>.jsonl`; in another layout the same, but the external id of a
// solution is then another path. Findings as of import_traces(); BAD_OPTIONS (usage) when the
// revision is no commit.
Status import_flashinfer_bench(std::span<const RecordedFile> files,
                               const FlashinferBenchOptions& options, DraftSink& sink);

}  // namespace kernelindex::ingest
