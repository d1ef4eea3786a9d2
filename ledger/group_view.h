// SPDX-License-Identifier: Apache-2.0
// A comparison group read and judged: what history, run lists and record lists share.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "ledger/query.h"

namespace kernelindex {

// Evidence and candidates of rows, as of a size.
Evidence judge_evidence(const Reader& reader, const RunRow& row, std::uint64_t size);
RankCandidate candidate_of(const RunView& run);

// The size that a policy asks about. Error SIZE_OUT_OF_RANGE (not_found) above the head.
Result<std::uint64_t> size_of(const Reader& reader, const ReadPolicy& policy);

// The run's row at a size; nullopt when the log had no claim of it.
Result<std::optional<RunView>> read_run(const Reader& reader, const Digest& identity,
                                        std::uint64_t size, RowsAsOf* earlier);

// Reads and judges the group; no runs when nothing had the key at that size.
Result<History> judge_group(const Reader& reader, const Digest& key, const ReadPolicy& policy);

// Ranks `runs`, fills in rank and reasons, and puts them into display order.
void rank_runs(History& history);

}  // namespace kernelindex
