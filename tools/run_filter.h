// SPDX-License-Identifier: Apache-2.0
// Which runs are asked for, from words: the options of a command line, the query of an address.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "ledger/query.h"
#include "schema/result.h"

namespace kernelindex::tools {

// What was given under a name, without its prefix; empty when nothing was.
using FilterText = std::function<std::string(std::string_view name)>;

// Reads source, operation, implementation, project, hardware, status, level, since and until. Ids
// are looked up. `prefix` stands before names in errors: "--" on a command line. Errors: those of
// identify(); usage for a level or time that is none.
Result<RunFilter> read_filter(const Reader& reader, const FilterText& text,
                              std::string_view prefix);

std::optional<Level> level_from_name(std::string_view name);

// The comparison or cohort key that a text names: itself, or the key of a run. Errors: NOT_A_RUN
// (invalid), WORKLOAD_MISSING (not_found) for a run whose workload is not in the ledger.
Result<Digest> identify_group(const Reader& reader, const std::string& text);

}  // namespace kernelindex::tools
