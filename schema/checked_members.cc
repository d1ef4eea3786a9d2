// SPDX-License-Identifier: Apache-2.0
#include "schema/checked_members.h"

#include <algorithm>

#include "schema/json_reader.h"
#include "schema/measurement_terms.h"

namespace kernelindex::checked {
namespace {

bool is_line(std::string_view text) {
  if (text.empty()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x20 || byte == 0x7f) return false;
    if (byte == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0) {
      return false;
    }
  }
  return true;
}

bool is_bytes32(std::string_view text) {
  const std::optional<std::string> bytes = from_base64(text);
  return bytes && bytes->size() == 32;
}

bool is_micros(std::string_view text) {
  const Result<UtcMicros> time = parse_utc_instant(text);
  return time && format_utc_micros(*time) == text;
}

}  // namespace

const schema::Grammar kLine = {"plainLine", "^[^\\u0000-\\u001f\\u007f-\\u009f]+$",
                               "one line without control characters", is_line};
const schema::Grammar kBytes32 = {"bytes32", "^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$",
                                  "32 bytes in base64", is_bytes32};
const schema::Grammar kMicros = {
    "utcMicros", "^[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9]\\.[0-9]{6}Z$",
    "a UTC instant with six digits after the second", is_micros};
const schema::Grammar kSourcePath = {
    "sourcePath", "^(?:(?!\\.{1,2}(?:/|$)|-)[^/\\\\\\u0000-\\u001f\\u007f-\\u009f]+(?:/(?!$)|$))+$",
    "a relative path in one spelling", is_source_path};
const schema::Grammar kCode = {"reasonCode", "^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*$",
                               "a code of capital letters, digits and single _", is_reason_code};

Error bad_member(std::string place, std::string message, std::string remedy) {
  return {ErrorKind::invalid, "BAD_MEMBER", std::move(place), std::move(message),
          std::move(remedy)};
}

Result<json::Value> parse_document(std::string_view text, std::string_view format,
                                   const schema::Node& shape, std::size_t bytes,
                                   json::Arena& arena) {
  Result<json::Value> value = json::parse(text, arena, {bytes, limits::kJsonDepth});
  if (!value) return value;
  if (value->text("format") != format) {
    return fail(ErrorKind::invalid, "WRONG_FORMAT", "format",
                "this is no document of the format " + std::string(format),
                "Give the file that kernelindex wrote, or a newer kernelindex");
  }
  std::vector<schema::Fault> faults;
  const json::Value checked = schema::check(shape, *value, arena, faults);
  if (!faults.empty()) return fail(faults.front().error);
  return checked;
}

std::string text_of(const json::Value& object, std::string_view name) {
  return std::string(object.text(name));
}

std::int64_t whole_of(const json::Value& object, std::string_view name) {
  const json::Value* value = object.find(name);
  assert(value != nullptr);
  return static_cast<std::int64_t>(value->number());
}

std::optional<std::int64_t> optional_whole(const json::Value& object, std::string_view name) {
  if (object.find(name) == nullptr) return std::nullopt;
  return whole_of(object, name);
}

bool flag_of(const json::Value& object, std::string_view name) {
  const json::Value* value = object.find(name);
  assert(value != nullptr);
  return value->boolean();
}

std::optional<bool> optional_flag(const json::Value& object, std::string_view name) {
  if (object.find(name) == nullptr) return std::nullopt;
  return flag_of(object, name);
}

Digest digest_of(const json::Value& object, std::string_view name) {
  return Digest::parse(object.text(name)).value();
}

std::optional<Digest> optional_digest(const json::Value& object, std::string_view name) {
  if (object.find(name) == nullptr) return std::nullopt;
  return digest_of(object, name);
}

Digest hex_digest_of(const json::Value& object, std::string_view name) {
  return Digest::parse_hex(object.text(name)).value();
}

std::array<std::uint8_t, 32> bytes32_of(const json::Value& object, std::string_view name) {
  const std::string bytes = from_base64(object.text(name)).value();
  std::array<std::uint8_t, 32> out{};
  std::ranges::transform(bytes, out.begin(), [](char c) { return static_cast<std::uint8_t>(c); });
  return out;
}

UtcMicros micros_of(const json::Value& object, std::string_view name) {
  return parse_utc_instant(object.text(name)).value();
}

std::span<const json::Value> items_of(const json::Value& object, std::string_view name) {
  const json::Value* value = object.find(name);
  if (value == nullptr) return {};
  return value->array();
}

std::vector<std::string> texts_of(const json::Value& object, std::string_view name) {
  std::vector<std::string> out;
  for (const json::Value& item : items_of(object, name)) out.emplace_back(item.string());
  return out;
}

std::map<std::string, std::string> text_map_of(const json::Value& object, std::string_view name) {
  std::map<std::string, std::string> out;
  const json::Value* value = object.find(name);
  if (value == nullptr) return out;
  for (const json::Member& member : value->object()) {
    out.emplace(member.name, member.value.string());
  }
  return out;
}

json::Value number(std::int64_t value) { return json::Value(static_cast<double>(value)); }

json::Value texts(const std::vector<std::string>& items, json::Arena& arena) {
  std::vector<json::Value> values;
  values.reserve(items.size());
  for (const std::string& item : items) values.push_back(arena.string(item));
  return arena.array(values);
}

json::Value text_map(const std::map<std::string, std::string>& items, json::Arena& arena) {
  json::ObjectBuilder out(arena);
  for (const auto& [name, value] : items) out.add(arena.copy(name), value);
  return out.finish();
}

std::string base64(const std::array<std::uint8_t, 32>& bytes) {
  return to_base64({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace kernelindex::checked
