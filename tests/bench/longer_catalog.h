// SPDX-License-Identifier: Apache-2.0
// A catalog export several times as long, in which everything still agrees: for measuring that
// memory and time grow as they should.
//
// Each copy renames operations, projects, implementations, runs and serving objects, gives them row
// ids of their own, and recomputes every digest, key and reference, so that an import quarantines
// nothing. Only `sources` stay as they are, and the protocols and environments inside runs.
#pragma once

#include <functional>
#include <string_view>

#include "schema/result.h"

namespace kernelindex::bench {

inline constexpr unsigned kCopiesMax = 16;

// Copy 0 is the catalog as it is. Tables stay together, in the order of the catalog. Calls `write`
// for each line, with its newline. Requires: 1 <= copies <= kCopiesMax. Errors: of lines that
// cannot be read, and those of `write`.
Status write_longer_catalog(std::string_view catalog, unsigned copies,
                            const std::function<Status(std::string_view)>& write);

}  // namespace kernelindex::bench
