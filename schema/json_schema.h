// SPDX-License-Identifier: Apache-2.0
// JSON Schema (draft 2020-12) of a document schema, for programs in other languages.
//
// The schema is that of the normal form, in which documents are stored: durations are integers,
// sets hold nothing twice. It is necessary, not sufficient: what it refuses is refused here, and
// what it accepts may still break a rule that JSON Schema cannot say, such as the order of a list.
// Rules about an object as a whole stand as `$comment`. Lengths count code points there and UTF-16
// code units here, so no text is refused there that is accepted here.
#pragma once

#include <string_view>

#include "schema/document_schema.h"
#include "schema/json_value.h"

namespace kernelindex::schema {

inline constexpr std::string_view kJsonSchemaDialect =
    "https://json-schema.org/draft/2020-12/schema";

// The schema of what check() gives back with this node. Patterns are ECMAScript expressions of the
// whole text. The value lies in `arena`.
json::Value json_schema(const Node& node, json::Arena& arena);

// The same as a document of its own: with `$schema`, `$id`, `title` and `description` in front.
json::Value json_schema_document(const Node& node, std::string_view id, std::string_view title,
                                 std::string_view description, json::Arena& arena);

}  // namespace kernelindex::schema
