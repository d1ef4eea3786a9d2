// SPDX-License-Identifier: Apache-2.0
#include "tools/fetch/fetch_record.h"

#include <algorithm>

#include "schema/canonical_json.h"
#include "schema/json_reader.h"
#include "schema/limits.h"

namespace kernelindex::tools {
namespace {

using json::Value;

constexpr std::size_t kMaxPathBytes = 1024;

std::unexpected<Error> malformed(std::size_t line, std::string message) {
  return fail(ErrorKind::invalid, "FETCH_RECORD_MALFORMED", "line " + std::to_string(line),
              std::move(message), "Fetch into a fresh folder, or delete the record");
}

Value count(std::uint64_t number) { return Value(static_cast<double>(number)); }

std::optional<std::uint64_t> count_of(const Value& object, std::string_view name) {
  const Value* value = object.find(name);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  const double number = value->number();
  if (!(number >= 0) || number > limits::kSafeInteger ||
      number != static_cast<double>(static_cast<std::uint64_t>(number))) {
    return std::nullopt;
  }
  return static_cast<std::uint64_t>(number);
}

std::optional<UtcMicros> time_of(const Value& object, std::string_view name) {
  const Result<UtcMicros> time = parse_utc_instant(object.text(name));
  return time ? std::optional(*time) : std::nullopt;
}

bool read_file(const Value& line, FetchedFile& file) {
  file.path = line.text("path");
  file.url = line.text("url");
  file.answered_by = line.text("answeredBy");
  const auto session = count_of(line, "session");
  const auto status = count_of(line, "status");
  const auto size = count_of(line, "size");
  const auto fetched = time_of(line, "fetchedAt");
  const auto checked = time_of(line, "checkedAt");
  const Result<Digest> digest = Digest::parse(line.text("digest"));
  const Value* fields = line.find("fields");
  if (!session || !status || *status > 599 || !size || !fetched || !checked || !digest ||
      file.url.empty() || !is_plain_path(file.path) || fields == nullptr || !fields->is_object()) {
    return false;
  }
  for (const json::Member& member : fields->object()) {
    if (!member.value.is_string()) return false;
    file.fields.emplace(member.name, member.value.string());
  }
  file.session = *session;
  file.status = static_cast<int>(*status);
  file.size = *size;
  file.fetched_at = *fetched;
  file.checked_at = *checked;
  file.digest = *digest;
  return true;
}

Status read_line(const Value& line, std::size_t number, FetchRecord& record) {
  const std::string_view type = line.text("type");
  const auto session = count_of(line, "session");
  if (!session) return malformed(number, "the line has no session");
  if (type == "fetch") {
    if (count_of(line, "v") != 1u) return malformed(number, "a version that is not known");
    if (!record.source.empty() && record.source != line.text("source")) {
      return malformed(number, "the record is of two sources");
    }
    record.source = line.text("source");
    record.session = *session;
    record.complete = false;
  } else if (type == "file") {
    FetchedFile file;
    if (!read_file(line, file)) return malformed(number, "the line does not describe a file");
    record.files[file.path] = std::move(file);
  } else if (type == "end") {
    record.complete = *session == record.session;
  } else {
    return malformed(number, "the line is of no known type");
  }
  return {};
}

}  // namespace

std::string FetchedFile::field(const std::string& name) const {
  const auto found = fields.find(name);
  return found == fields.end() ? std::string() : found->second;
}

bool is_plain_path(std::string_view path) {
  if (path.empty() || path.size() > kMaxPathBytes) return false;
  for (std::size_t from = 0; from <= path.size();) {
    const std::size_t to = std::min(path.find('/', from), path.size());
    const std::string_view part = path.substr(from, to - from);
    if (part.empty() || part.front() == '.') return false;
    const bool plain = std::ranges::all_of(part, [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             c == '.' || c == '_' || c == '-';
    });
    if (!plain) return false;
    from = to + 1;
  }
  return true;
}

Result<FetchRecord> parse_fetch_record(std::string_view text) {
  FetchRecord record;
  json::Arena arena;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) break;
    ++number;
    arena.reset();
    const Result<Value> line = json::parse(text.substr(0, end), arena);
    if (!line) return malformed(number, line.error().message);
    if (!line->is_object()) return malformed(number, "the line is no object");
    if (Status read = read_line(*line, number, record); !read) return fail(read.error());
    text.remove_prefix(end + 1);
  }
  return record;
}

std::string fetch_begin_line(std::string_view source, std::uint64_t session, UtcMicros at) {
  json::Arena arena;
  json::ObjectBuilder line(arena);
  line.add("type", "fetch").add("v", count(1)).add("source", source);
  line.add("session", count(session)).add("at", format_utc_micros(at));
  return json::canonical(line.finish()) + "\n";
}

std::string fetch_file_line(const FetchedFile& file) {
  json::Arena arena;
  json::ObjectBuilder fields(arena);
  for (const auto& [name, value] : file.fields) fields.add(name, value);
  json::ObjectBuilder line(arena);
  line.add("type", "file").add("path", file.path).add("url", file.url);
  line.add_if(!file.answered_by.empty(), "answeredBy", file.answered_by);
  line.add("session", count(file.session)).add("status", count(static_cast<unsigned>(file.status)));
  line.add("fetchedAt", format_utc_micros(file.fetched_at));
  line.add("checkedAt", format_utc_micros(file.checked_at));
  line.add("digest", file.digest.text()).add("size", count(file.size));
  line.add("fields", fields.finish());
  return json::canonical(line.finish()) + "\n";
}

std::string fetch_end_line(std::uint64_t session, UtcMicros at) {
  json::Arena arena;
  json::ObjectBuilder line(arena);
  line.add("type", "end").add("session", count(session)).add("at", format_utc_micros(at));
  return json::canonical(line.finish()) + "\n";
}

}  // namespace kernelindex::tools
