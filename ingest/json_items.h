// SPDX-License-Identifier: Apache-2.0
// The items of a file that is JSON: the lines of JSON lines, the elements of a list, or one object.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "ingest/recorded_file.h"
#include "schema/json_value.h"
#include "schema/result.h"

namespace kernelindex::ingest {

// What a file looks like from its beginning; names are not asked, because ".jsonl" files of one
// pretty-printed object exist.
enum class JsonForm : std::uint8_t {
  none,      // it does not begin as JSON
  document,  // one object or list
  lines,     // an object on each line
};
inline constexpr std::size_t kBeginningBytes = std::size_t{64} * 1024;

// `beginning` is the first kBeginningBytes of the file, or all of it. A first line that does not
// end there is one of JSON lines when the file is called so.
JsonForm json_form(std::string_view beginning, std::string_view locator);

// The first line of JSON lines that can be read; nothing when the beginning holds none.
std::optional<json::Value> first_json_line(std::string_view beginning, json::Arena& arena);

struct JsonItem {
  std::string pointer;          // "17" of lines, "/3" of a list, "" of one object
  Result<json::Value> value;    // an error: this item is spoilt, the others are not
  bool whole_document = false;  // the error is the whole file's
};

// Calls `take` for each item in order; the first error of `take` or of reading ends it. Values live
// in `arena`, which is reset between lines when `keep` is false. What parse() would refuse spoils
// the item it lies in. Limits: 16 MiB a line (LINE_TOO_LONG), 64 MiB a document (TOO_LARGE), depth
// 64.
Status for_each_json_item(const RecordedFile& file, JsonForm form, json::Arena& arena, bool keep,
                          const std::function<Status(JsonItem)>& take);

}  // namespace kernelindex::ingest
