// SPDX-License-Identifier: Apache-2.0
// Whose claim a catalog row is, where no column says it.
#pragma once

#include <string_view>

#include "schema/json_value.h"

namespace kernelindex::ingest {

// What is of no known source is the forerunner's own.
inline constexpr std::string_view kCatalogSource = "kernelindex";

// By the first of metadata.sourceRefs of an operation.
std::string_view source_of_operation(const json::Value& manifest);

// By the beginning of the slug of a project, or of a serving object.
std::string_view source_of_slug(std::string_view slug);

}  // namespace kernelindex::ingest
