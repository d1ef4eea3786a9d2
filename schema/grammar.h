// SPDX-License-Identifier: Apache-2.0
// The named grammars of texts in documents (IMPORT section 3), each matched by a hand-written
// scanner: std::regex is slower by orders of magnitude and recurses on its input.
#pragma once

#include <optional>
#include <string_view>

namespace kernelindex::schema {

struct Grammar {
  std::string_view name;        // "token"
  std::string_view expression;  // the whole text, as an ECMAScript regular expression; may be empty
  std::string_view phrase;      // "a lower-case token": what a person is told to write
  bool (*matches)(std::string_view text);
};

inline namespace grammars {
extern const Grammar kDigest;        // sha256: and 64 lower-case hex digits
extern const Grammar kHex64;         // 64 lower-case hex digits
extern const Grammar kToken;         // [a-z][a-z0-9_]*
extern const Grammar kAxisName;      // the same, named after its use
extern const Grammar kSlug;          // [a-z0-9][a-z0-9-]*
extern const Grammar kManifestName;  // [a-z0-9][a-z0-9._-]*
extern const Grammar kGitCommit;     // 40 lower-case hex digits
extern const Grammar kExpression;    // characters of an axis expression; not evaluated
extern const Grammar kUtcInstant;    // utc_time.h
extern const Grammar kHttpsUrl;      // https_url.h
}  // namespace grammars

// The text without what ECMAScript's trim() takes away at both ends: \s of its regular expressions.
std::string_view trimmed(std::string_view text);

// Nanoseconds of a duration text: digits, optional fraction, at most one white space, a unit of ns,
// us, µs, ms, s. The number times the unit, one binary64 multiplication, must be a safe integer:
// "1.001 us" is ambiguous (1000.9999999999999) and refused, as the forerunner does.
struct DurationText {
  bool well_formed = false;           // has the grammar of a duration
  std::optional<double> nanoseconds;  // absent when the text is ambiguous
};
DurationText parse_duration_text(std::string_view text);

}  // namespace kernelindex::schema
