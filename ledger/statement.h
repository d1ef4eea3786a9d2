// SPDX-License-Identifier: Apache-2.0
// In-toto Statement v1, in our profile: one subject, matched by its SHA-256 alone.
//
//   {"_type": "https://in-toto.io/Statement/v1",
//    "predicate": {...}, "predicateType": URI,
//    "subject": [{"digest": {"sha256": 64 hex digits}}]}
//
// The members are a closed set: names, locations and other digest algorithms of a subject are
// refused, since nothing here would check them.
#pragma once

#include <string>
#include <string_view>

#include "schema/digest.h"
#include "schema/json_value.h"
#include "schema/result.h"

namespace kernelindex {

inline constexpr std::string_view kStatementType = "https://in-toto.io/Statement/v1";

struct Statement {
  Digest subject;
  std::string predicate_type;
  json::Value predicate;  // an object; lives as long as the arena it was read into

  // Canonical JSON: the payload of an envelope.
  std::string encode() const;
};

// Reads a payload, which must be canonical JSON. Errors (kind invalid): those of json::parse,
// PAYLOAD_NOT_CANONICAL, UNKNOWN_MEMBER, MISSING_MEMBER, SUBJECT_COUNT, BAD_DIGEST, BAD_STATEMENT.
Result<Statement> parse_statement(std::string_view payload, json::Arena& arena);

}  // namespace kernelindex
