// SPDX-License-Identifier: Apache-2.0
#include "ingest/json_items.h"

#include <utility>
#include <vector>

#include "ingest/line_source.h"
#include "schema/json_reader.h"
#include "schema/limits.h"

namespace kernelindex::ingest {
namespace {

using json::Arena;
using json::Defect;
using json::Value;

constexpr std::string_view kSpace = " \t\r\n";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

Error error_of(const Defect& defect, std::string_view text) {
  return {ErrorKind::invalid,
          std::string(defect.code),
          json::line_and_column(text, defect.offset),
          defect.message,
          {}};
}

Status take_lines(const RecordedFile& file, Arena& arena, bool keep,
                  const std::function<Status(JsonItem)>& take) {
  Result<std::unique_ptr<ByteSource>> bytes = file.open();
  if (!bytes) return fail_in(file.locator, std::move(bytes.error()));
  LineSource lines(**bytes);
  Line line;
  std::vector<Defect> defects;
  while (true) {
    const Result<bool> more = lines.next(line);
    if (!more) return fail_in(file.locator, more.error());
    if (!*more) return {};
    if (!keep) arena.reset();
    JsonItem item{std::to_string(line.number), Value(), false};
    if (line.too_long) {
      item.value = fail(ErrorKind::invalid, "LINE_TOO_LONG", {},
                        "the line is longer than the limit of 16 MiB");
    } else {
      defects.clear();
      item.value = json::parse_collecting_defects(
          line.text, arena, {limits::kSourceLineBytes, limits::kJsonDepth}, defects);
      if (item.value && !defects.empty()) {
        item.value = fail(error_of(defects.front(), line.text));
      }
    }
    if (Status taken = take(std::move(item)); !taken) return taken;
  }
}

Status take_document(const RecordedFile& file, Arena& arena,
                     const std::function<Status(JsonItem)>& take) {
  const Result<std::string> text = read_whole(file);
  if (!text) {
    if (text.error().kind != ErrorKind::invalid) return fail(text.error());
    return take({{}, fail(text.error()), true});
  }
  std::vector<Defect> defects;
  const Result<Value> document = json::parse_collecting_defects(
      *text, arena, {limits::kSourceJsonBytes, limits::kJsonDepth}, defects);
  if (!document) return take({{}, fail(document.error()), true});
  if (!document->is_array()) {
    if (!defects.empty()) return take({{}, fail(error_of(defects.front(), *text)), true});
    return take({{}, *document, false});
  }
  for (std::size_t i = 0; i < document->array().size(); ++i) {
    const Value& value = document->array()[i];
    JsonItem item{"/" + std::to_string(i), value, false};
    if (const Defect* defect = json::defect_within(defects, value)) {
      item.value = fail(error_of(*defect, *text));
    }
    if (Status taken = take(std::move(item)); !taken) return taken;
  }
  return {};
}

}  // namespace

JsonForm json_form(std::string_view beginning, std::string_view locator) {
  const bool complete = beginning.size() < kBeginningBytes;
  if (beginning.starts_with(kByteOrderMark)) beginning.remove_prefix(kByteOrderMark.size());
  const std::size_t start = beginning.find_first_not_of(kSpace);
  if (start == std::string_view::npos) return JsonForm::none;
  beginning.remove_prefix(start);
  if (beginning.front() == '[') return JsonForm::document;
  if (beginning.front() != '{') return JsonForm::none;
  const std::size_t end = beginning.find('\n');
  if (end == std::string_view::npos && !complete) {
    return locator.ends_with(".jsonl") ? JsonForm::lines : JsonForm::document;
  }
  const bool one_line = beginning.find_first_not_of(kSpace, end) == std::string_view::npos;
  if (end == std::string_view::npos || (complete && one_line)) return JsonForm::document;
  Arena arena;
  return first_json_line(beginning, arena) ? JsonForm::lines : JsonForm::document;
}

std::optional<Value> first_json_line(std::string_view beginning, Arena& arena) {
  while (!beginning.empty()) {
    const std::size_t end = beginning.find('\n');
    // Inside a printed document lines are indented, so that only its first begins with a brace.
    if (beginning.front() == '{') {
      arena.reset();
      std::vector<Defect> defects;
      const Result<Value> line = json::parse_collecting_defects(
          beginning.substr(0, end), arena, {limits::kSourceLineBytes, limits::kJsonDepth}, defects);
      if (line) return *line;
    }
    if (end == std::string_view::npos) break;
    beginning.remove_prefix(end + 1);
  }
  return std::nullopt;
}

Status for_each_json_item(const RecordedFile& file, JsonForm form, Arena& arena, bool keep,
                          const std::function<Status(JsonItem)>& take) {
  if (form == JsonForm::lines) return take_lines(file, arena, keep, take);
  if (!keep) arena.reset();
  return take_document(file, arena, take);
}

}  // namespace kernelindex::ingest
