// SPDX-License-Identifier: Apache-2.0
// Bytes to JSON values, strictly: I-JSON (RFC 7493) as RFC 8785 requires it. The only door to
// simdjson.
//
// Refused: invalid UTF-8, a byte order mark, trailing bytes, duplicate member names at any depth
// (compared after unescaping), lone surrogates, numbers that overflow binary64, tokens and nesting
// beyond the limits. Numbers become binary64; whether a field must be a safe integer is the
// schema's question.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "schema/json_value.h"
#include "schema/limits.h"
#include "schema/result.h"

namespace kernelindex::json {

struct ReadLimits {
  std::size_t bytes = limits::kManifestBytes;
  unsigned depth = limits::kJsonDepth;
};

// A fault that spoils the item it lies in and leaves the rest of the document readable.
struct Defect {
  std::size_t offset = 0;  // byte offset in the document
  std::string_view code;   // DUPLICATE_KEY, LONE_SURROGATE, BAD_UTF8, UNSAFE_INTEGER, NUMBER_RANGE
  std::string message;
};

// Reads one document. The text is copied into the arena, so the values need nothing but the arena.
// Errors have kind invalid and a place "line:column"; nothing that was built before the error is to
// be used.
Result<Value> parse(std::string_view text, Arena& arena, const ReadLimits& limits = {});

// Reads a document of a foreign source: defects that parse() refuses are collected instead, in
// order of offset, so that one spoilt item can be set aside and the others kept. Integer tokens
// beyond 2^53 - 1 are defects here too, since digests must not depend on how a source rounded them.
// Still an error: what makes the structure unreadable (syntax, depth, size).
Result<Value> parse_collecting_defects(std::string_view text, Arena& arena,
                                       const ReadLimits& limits, std::vector<Defect>& defects);

// The first defect inside the bytes of `item`, or null. Requires: `defects` in order of offset.
const Defect* defect_within(const std::vector<Defect>& defects, const Value& item);

// "line:column" of a byte offset, both from 1, the column in bytes.
std::string line_and_column(std::string_view text, std::size_t offset);

}  // namespace kernelindex::json
