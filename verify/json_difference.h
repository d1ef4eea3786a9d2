// SPDX-License-Identifier: Apache-2.0
// Where two JSON documents differ, field by field.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "schema/json_value.h"

namespace kernelindex {

struct JsonDifference {
  std::string path;      // "spec.timing.medianNs", "spec.cases[3]"; empty for the document itself
  std::string expected;  // canonical JSON; empty where there is no such member
  std::string found;
};

// In the order of members in `expected`, at most `most`.
std::vector<JsonDifference> json_differences(const json::Value& expected, const json::Value& found,
                                             std::size_t most);

}  // namespace kernelindex
