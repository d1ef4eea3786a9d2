// SPDX-License-Identifier: Apache-2.0
// What an import did or would do, in words and as JSON: the same for all sources.
#pragma once

#include <string>
#include <vector>

#include "ingest/recorder.h"
#include "tools/output.h"

namespace kernelindex::tools {

enum class ImportForm {
  recorded,  // it was done
  dry_run,   // what it would do
  review,    // the same, with the proposals
};

void print_import(Output& out, const ingest::ImportReport& report, ImportForm form);

// Files that no source knows; nothing when there are none.
void print_unclaimed(Output& out, const std::vector<std::string>& unclaimed);

// One report as it is; of several, or when sources were recognised, also the files that nobody
// claims. `unclaimed` null: the source was named. With a line break.
std::string imports_json(const std::vector<ingest::ImportReport>& reports,
                         const std::vector<std::string>* unclaimed);

}  // namespace kernelindex::tools
