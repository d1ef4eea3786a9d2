// SPDX-License-Identifier: Apache-2.0
// Runs as a table, for pages that list them across groups.
#pragma once

#include <span>

#include "ledger/query.h"
#include "tools/serve/pages/html.h"

namespace kernelindex::serve {

struct RunColumns {
  bool operation = true;
  bool implementation = true;
  bool hardware = true;
};

void append_runs_table(Html& html, std::span<const RunView> runs, const RunColumns& columns,
                       std::string_view caption);
// Moves of records, newest first.
void append_records_table(Html& html, std::span<const RecordView* const> records,
                          std::string_view caption);

}  // namespace kernelindex::serve
