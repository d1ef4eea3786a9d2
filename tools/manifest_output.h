// SPDX-License-Identifier: Apache-2.0
// A manifest with what the log says of it, gathered and as machine output. DESIGN section 10.1,
// `show`.
#pragma once

#include <optional>
#include <string>

#include "ledger/identify.h"
#include "ledger/query.h"
#include "tools/json_output.h"

namespace kernelindex::tools {

struct ShownFacts {
  ShownManifest manifest;
  std::string label;
  std::optional<Evidence> evidence;  // of a run
};

// Errors: those of show_manifest() and view_run().
Result<ShownFacts> look_up_manifest(const Reader& reader, const Candidate& found);
// The document itself; null when its bytes are withheld. Errors: those of json::parse().
Result<json::Value> parse_shown(const ShownFacts& shown, json::Arena& arena);
// `manifest`: what parse_shown() gave.
json::Value manifest_answer(const JsonOutput& json, const ShownFacts& shown,
                            const json::Value& manifest);

}  // namespace kernelindex::tools
