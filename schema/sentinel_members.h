// SPDX-License-Identifier: Apache-2.0
// A sentinel session as part of another document. Internal to schema/.
#pragma once

#include "schema/document_schema.h"
#include "schema/json_value.h"
#include "schema/sentinel_session.h"

namespace kernelindex::checked {

schema::Node session_shape();
// Requires: a value that the shape accepts.
SentinelSession read_session(const json::Value& value);
json::Value write_session(const SentinelSession& session, json::Arena& arena);

}  // namespace kernelindex::checked
