// SPDX-License-Identifier: Apache-2.0
// `import gpumode`: saved pages of the KernelBot data set, as the data sets server answers, to
// drafts. IMPORT section 7.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "ingest/draft.h"
#include "ingest/recorded_file.h"

namespace kernelindex::ingest {

struct GpumodeKernelbotOptions {
  // Of each board and runner only the best submission of each of the first N users by score, and
  // the improvements that led there of the first 10; all that count if absent. 50 chooses as the
  // forerunner did.
  std::optional<std::size_t> top;
};

// Pages are {"rows":[{"row":{},"truncated_cells":[]}]}, at most 64 MiB each and read one at a time;
// one of them may be of the list of boards, without which the rows of per-shape boards have no
// name. Of each row that counts: operation, suite or cases, project, implementation (its code as an
// artifact), protocol, environment, run or runs. Skip reasons: those of kernelbot_skip_reason(),
// uncurated_board, beyond_top. Quarantined: BAD_SHAPE, BAD_RUN_RESULT, BOARD_UNKNOWN, BAD_TIME, and
// what the schema refuses. Review: UNKNOWN_FILE. NOT_A_PAGE (invalid) when no file is a page.
Status import_gpumode_kernelbot(std::span<const RecordedFile> files,
                                const GpumodeKernelbotOptions& options, DraftSink& sink);

// Whether a file that begins so is such a page, of submissions or of boards.
bool begins_kernelbot_page(std::string_view beginning);

}  // namespace kernelindex::ingest
