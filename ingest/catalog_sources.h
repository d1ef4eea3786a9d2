// SPDX-License-Identifier: Apache-2.0
// Whose claim a catalog row is, where no column says it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ingest/uuid.h"
#include "schema/json_value.h"

namespace kernelindex::ingest {

// What is of no known source is the forerunner's own.
inline constexpr std::string_view kCatalogSource = "kernelindex";

// "kernelindex:<uuid>": the external id of a claim that a row of a catalog made; and back, nothing
// when it is no such id.
std::string catalog_external_id(const Uuid& row);
std::optional<Uuid> catalog_row_id(std::string_view external_id);

// By the first of metadata.sourceRefs of an operation.
std::string_view source_of_operation(const json::Value& manifest);

// By the beginning of the slug of a project, or of a serving object.
std::string_view source_of_slug(std::string_view slug);

}  // namespace kernelindex::ingest
