// SPDX-License-Identifier: Apache-2.0
// The JSON Schema of each predicate, shipped with the program for those who read the log with other
// tools. DESIGN section 6.
//
// The schemas describe the member `predicate` of a statement, binding included. They are made from
// one description a predicate in the language of schema/document_schema.h; the readers of
// predicate_members.h are stricter where JSON Schema has no words (bytes of a text, order of a
// list, relations between members), and a test holds the two against each other.
#pragma once

#include <string>

#include "ledger/predicates.h"
#include "schema/document_schema.h"

namespace kernelindex {

// The shape of a predicate. Requires: a row of predicate_types().
schema::Node predicate_shape(const PredicateType& type);

// The schema as canonical JSON. Requires: a row of predicate_types().
std::string predicate_json_schema(const PredicateType& type);

// "note-v1.schema.json": the name of the file that holds it.
std::string predicate_schema_file(const PredicateType& type);

}  // namespace kernelindex
