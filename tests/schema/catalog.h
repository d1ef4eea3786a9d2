// SPDX-License-Identifier: Apache-2.0
// The forerunner's published catalog: one JSON row a line, zstd-compressed.
#pragma once

#include <functional>
#include <string_view>

#include "schema/json_value.h"

namespace kernelindex::test {

// Calls `row` for every line with its table, its row and the text of the line, in order. The values
// live until the next call. Throws std::runtime_error on a line that cannot be read.
using CatalogRow =
    std::function<void(std::string_view table, const json::Value& row, std::string_view line)>;
void for_each_catalog_row(const CatalogRow& row);

}  // namespace kernelindex::test
