// SPDX-License-Identifier: Apache-2.0
// `import flashinfer-bench`: a checkout of the data set flashinfer-ai/flashinfer-trace, or a part
// of it, to drafts. IMPORT section 6.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ingest/draft.h"
#include "ingest/recorded_file.h"

namespace kernelindex::ingest {

struct FlashinferBenchOptions {
  // Of the data set, 40 hex digits; empty: the one that info.json names, and without that
  // solutions are quarantined.
  std::string revision;
};

// `definitions/**.json`, `solutions/<author>/<op>/<definition>/*.json`, `workloads/**.jsonl` and
// `traces/<author>/<op>/<definition>.jsonl`; in another layout the same, but the external id of a
// solution is then another path. A file that begins_data_set_info() says which revision the others
// are of; when the option says another, that one holds (REVISION_DIFFERS, to review). Findings as
// of import_traces(); BAD_OPTIONS (usage) when the revision is no commit.
Status import_flashinfer_bench(std::span<const RecordedFile> files,
                               const FlashinferBenchOptions& options, DraftSink& sink);

// Whether it is the answer of /api/datasets/... about the data set, as `fetch` keeps it.
bool begins_data_set_info(std::string_view beginning);

}  // namespace kernelindex::ingest
