// SPDX-License-Identifier: Apache-2.0
// A comparison group as machine output. DESIGN section 10.1, `history`.
#pragma once

#include "ledger/query.h"
#include "tools/json_output.h"

namespace kernelindex::tools {

// Requires: the group has a run.
json::Value group_document(const JsonOutput& json, const History& group);

}  // namespace kernelindex::tools
