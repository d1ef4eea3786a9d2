// SPDX-License-Identifier: Apache-2.0
// What a fetch says of the files it wrote: from where, when, what the server said, and the digest
// of the bytes. One JSON document a line, so that a fetch that breaks off leaves all lines before.
//
//   {"type":"fetch","v":1,"source":"sol-execbench","session":2,"at":TIME}
//   {"type":"file","path":"kernels/79.json","url":U,"session":2,"status":200,"fetchedAt":TIME,
//    "checkedAt":TIME,"digest":"sha256:…","size":N,"fields":{"etag":…,…},"answeredBy":U?}
//   {"type":"end","session":2,"at":TIME}
//
// Of several lines about one path the last holds. `fetchedAt` is when the bytes came; `checkedAt`
// when the source last said that they are still its own. A session is one fetch and all that
// resumes it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "schema/digest.h"
#include "schema/result.h"
#include "schema/utc_time.h"

namespace kernelindex::tools {

// Lies in the folder that was fetched into, beside the files.
inline constexpr std::string_view kFetchRecordName = "fetch-record.jsonl";
inline constexpr std::string_view kFetchRecordMediaType =
    "application/vnd.kernelindex.fetch-record+jsonl";

struct FetchedFile {
  std::string path;         // in the folder, is_plain_path()
  std::string url;          // that was asked
  std::string answered_by;  // the URL after redirects; empty when it is the same
  std::uint64_t session = 0;
  int status = 0;
  UtcMicros fetched_at = 0;
  UtcMicros checked_at = 0;
  Digest digest;
  std::uint64_t size = 0;
  // Those of kFieldsKept that the answer had, by name in lower case.
  std::map<std::string, std::string> fields;

  // The value of a field, or empty.
  std::string field(const std::string& name) const;
};

// The fields that matter: what makes the next request conditional, and what the server says of the
// bytes and of their age.
inline constexpr std::string_view kFieldsKept[] = {
    "age", "content-encoding", "content-length", "content-type", "date", "etag", "last-modified"};

struct FetchRecord {
  std::string source;                        // slug
  std::uint64_t session = 0;                 // the last one; 0: none began
  bool complete = false;                     // the last session came to its end
  std::map<std::string, FetchedFile> files;  // by path
};

// Relative, of plain letters, digits and ._- between slashes, no part beginning with a dot, at most
// 1,024 bytes: what a name from outside must be before it becomes a path.
bool is_plain_path(std::string_view path);

// A last line without its line break is what a crash left, and is passed over. Errors:
// FETCH_RECORD_MALFORMED (invalid) with the line.
Result<FetchRecord> parse_fetch_record(std::string_view text);

// Lines with their line break.
std::string fetch_begin_line(std::string_view source, std::uint64_t session, UtcMicros at);
std::string fetch_file_line(const FetchedFile& file);
std::string fetch_end_line(std::uint64_t session, UtcMicros at);

}  // namespace kernelindex::tools
