// SPDX-License-Identifier: Apache-2.0
// A request as routes see it: words that were decoded and checked, nothing of the network.
//
// A target is read once, here, and what is doubtful in it is refused and never repaired: path
// segments that decode to "", ".", "..", a slash, a backslash or a control character, percent signs
// without two hex digits, and bytes that are not UTF-8 in its shortest form (RFC 3986, RFC 3629).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schema/result.h"

namespace kernelindex::serve {

inline constexpr std::size_t kTargetBytes = 8 * 1024;
inline constexpr std::size_t kPathSegments = 16;
inline constexpr std::size_t kQueryParameters = 32;

enum class Method : std::uint8_t { get, head, post };

struct Parameter {
  std::string name;
  std::string value;
};

struct Target {
  std::vector<std::string> segments;  // decoded; none for "/"
  bool trailing_slash = false;        // of a path that has segments
  std::vector<Parameter> query;       // decoded, "+" as a space, in the order given

  // "/api/v1/runs", encoded again in one spelling, without the query and a slash at the end.
  std::string path() const;
};

// The path and query of a target: an absolute one, "http://host/path", is its path for us (RFC 9112
// section 3.2.2). A view of the text.
std::string_view origin_form(std::string_view text);

// Reads "/path?query". Errors (invalid): TARGET_TOO_LONG, BAD_TARGET, BAD_PATH, BAD_ESCAPE,
// NOT_UTF8, TOO_MANY_SEGMENTS, TOO_MANY_PARAMETERS.
Result<Target> parse_target(std::string_view text);

// Bytes as one path segment or query value: all but unreserved characters as "%XX".
std::string percent_encode(std::string_view text);

struct Request {
  Method method = Method::get;
  Target target;
  std::string raw_target;     // as it came
  std::string accept;         // the Accept header, as it came
  std::string if_none_match;  // the If-None-Match header, as it came
  std::string content_type;   // of the body
  std::string body;           // of POST, within the route's limit
  std::string client;         // the address it came from, for limits and logs only

  // The value of a query parameter, the first of that name; null when it was not given.
  const std::string* parameter(std::string_view name) const;
  // The same, empty when it was not given.
  std::string_view text(std::string_view name) const;
  // All values of that name, in order.
  std::vector<std::string_view> all(std::string_view name) const;
  // A whole number from 0 to `max`; `absent` when it was not given. Error BAD_PARAMETER (invalid).
  Result<std::uint64_t> count(std::string_view name, std::uint64_t absent, std::uint64_t max) const;
};

// Whether an Accept header names the media type with a quality above zero, by itself and not by a
// wildcard (RFC 9110 section 12.5.1).
bool accepts(std::string_view accept, std::string_view media_type);

// Whether an If-None-Match header names the tag, by the weak comparison that GET asks for, or "*"
// (RFC 9110 section 13.1.2).
bool matches_tag(std::string_view if_none_match, std::string_view tag);

}  // namespace kernelindex::serve
