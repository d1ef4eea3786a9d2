// SPDX-License-Identifier: Apache-2.0
// JSON for people to read on a terminal.
#pragma once

#include <string>

#include "schema/json_value.h"

namespace kernelindex::tools {

// Indented by two spaces, short arrays and objects of plain values on one line, members in the
// order of the document, control characters spelled out. Ends in a newline.
std::string pretty_json(const json::Value& value);

}  // namespace kernelindex::tools
