// SPDX-License-Identifier: Apache-2.0
// The live leaderboard of SOL-ExecBench as a dump: kernels.json, kernels/<id>.json, and all pages
// of submissions/<id>.json, submissions/<id>_<offset>.json. Each file is a verbatim answer of the
// API.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "schema/result.h"
#include "tools/fetch/fetcher.h"

namespace kernelindex::tools {

inline constexpr std::string_view kSolExecbenchApi =
    "https://research.nvidia.com/benchmarks/sol-execbench/api";

struct SolExecbenchFetch {
  std::string api = std::string(kSolExecbenchApi);  // without a final slash
  std::vector<std::string> kernels;                 // ids or names; empty: all
};

// Pages are read until none is left. A list that grows while it is read would lose an item at a
// page's edge: when a later page speaks of another total, the pages of that list are read again.
// Errors: those of Fetcher::file; invalid ANSWER_MALFORMED (not the JSON that is documented);
// not_found NO_SUCH_KERNEL; system PAGES_MOVED (the list changed at every attempt).
Status fetch_sol_execbench(const SolExecbenchFetch& what, Fetcher& fetcher);

}  // namespace kernelindex::tools
