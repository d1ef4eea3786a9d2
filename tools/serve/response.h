// SPDX-License-Identifier: Apache-2.0
// What a route answers. Bodies are shared, so that the same bytes are cached and sent without a
// copy.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "schema/result.h"

namespace kernelindex::serve {

// How long an answer holds (RFC 9111).
enum class CachePolicy : std::uint8_t {
  immutable,   // named by a digest: never changes
  revalidate,  // of the log's size: ask each time, with the tag
  brief,       // the checkpoint: some seconds
  no_store,    // of this moment: never kept, by us neither
};

struct Header {
  std::string_view name;  // a constant of the program
  std::string value;      // without control characters; see header_value()
};

// Gives the next piece of a body that is too large to be held; an empty piece ends it. After an
// error the connection is closed, so that a cut body never looks whole.
using BodySource = std::function<Result<std::string>()>;

struct Response {
  unsigned status = 200;
  std::string content_type;
  std::shared_ptr<const std::string> body = std::make_shared<const std::string>();
  BodySource source;  // when set, the body: sent in chunks, without a tag
  std::string etag;   // strong, with its quotes; empty: none
  CachePolicy cache = CachePolicy::revalidate;
  std::vector<Header> headers;
  std::string fault;  // why an answer of 500 and above was one: for the log, never sent
};

inline constexpr std::string_view kHtml = "text/html; charset=utf-8";
inline constexpr std::string_view kText = "text/plain; charset=utf-8";
inline constexpr std::string_view kJson = "application/json";
inline constexpr std::string_view kJsonLines = "application/jsonl";
inline constexpr std::string_view kBytes = "application/octet-stream";
inline constexpr std::string_view kProblem = "application/problem+json";  // RFC 9457

// The strong tag of a body: its SHA-256, the first 16 bytes in hex, in quotes.
std::string tag_of(std::string_view body);

// An answer with its tag.
Response answer(std::string body, std::string_view content_type,
                CachePolicy cache = CachePolicy::revalidate);

// 303 to a path of ours. Requires: made by percent_encode() and constants.
Response redirect(std::string location);

// What went wrong, as the status and words of RFC 9457.
struct Problem {
  unsigned status = 500;
  std::string code;    // ours, "NO_SUCH_ID": the end of the type's URI
  std::string title;   // the same for every problem of this status
  std::string detail;  // this one
  // When another try may end better, in seconds; 0: not said (RFC 9110 section 10.2.3).
  unsigned retry_after = 0;
};

// 400 for usage, invalid and ambiguous input, 404, 403, and 500 for what is ours. Details of errors
// of kind corrupt and system are for the log alone: they can name files of this machine.
Problem problem_of(const Error& error);
// Of 429 and 503 with a time to come again.
Problem problem(unsigned status, std::string code, std::string detail);
// As application/problem+json, not cached.
Response problem_response(const Problem& problem);

// "Not Found"
std::string_view status_text(unsigned status);

// A text as the value of a header: control characters and bytes above 0x7e as "_".
std::string header_value(std::string_view text);

}  // namespace kernelindex::serve
