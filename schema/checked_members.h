// SPDX-License-Identifier: Apache-2.0
// Members of documents that schema::check() has found sound, as fields of structs. Internal to
// schema/: the documents of measurements are written in it.
//
// A row of a table says one member once; shape, reader and writer are made from the rows.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "schema/digest.h"
#include "schema/document_schema.h"
#include "schema/json_value.h"
#include "schema/limits.h"
#include "schema/result.h"
#include "schema/utc_time.h"

namespace kernelindex::checked {

inline constexpr std::int64_t kSafe = static_cast<std::int64_t>(limits::kSafeInteger);

// Parses, checks the member `format`, checks the shape. The values lie in `arena`.
Result<json::Value> parse_document(std::string_view text, std::string_view format,
                                   const schema::Node& shape, std::size_t bytes,
                                   json::Arena& arena);
// The error of a member that no shape can refuse: order, relations.
Error bad_member(std::string place, std::string message, std::string remedy = {});

// ---- Grammars that documents of measurements share ----

extern const schema::Grammar kLine;        // one line without control characters
extern const schema::Grammar kBytes32;     // 32 bytes in canonical base64
extern const schema::Grammar kMicros;      // format_utc_micros()
extern const schema::Grammar kSourcePath;  // is_source_path()
extern const schema::Grammar kCode;        // is_reason_code()

inline schema::Node line(std::size_t bytes) { return schema::text(kLine, bytes); }
inline schema::Node digest() { return schema::text(schema::kDigest); }
inline schema::Node whole(std::int64_t low = 0, std::int64_t high = kSafe) {
  return schema::integer(static_cast<double>(low), static_cast<double>(high));
}

// ---- Values of checked objects. Each requires that the shape demanded the member. ----

std::string text_of(const json::Value& object, std::string_view name);  // empty when absent
std::int64_t whole_of(const json::Value& object, std::string_view name);
std::optional<std::int64_t> optional_whole(const json::Value& object, std::string_view name);
bool flag_of(const json::Value& object, std::string_view name);
std::optional<bool> optional_flag(const json::Value& object, std::string_view name);
Digest digest_of(const json::Value& object, std::string_view name);
std::optional<Digest> optional_digest(const json::Value& object, std::string_view name);
Digest hex_digest_of(const json::Value& object, std::string_view name);
std::array<std::uint8_t, 32> bytes32_of(const json::Value& object, std::string_view name);
UtcMicros micros_of(const json::Value& object, std::string_view name);
std::span<const json::Value> items_of(const json::Value& object, std::string_view name);
std::vector<std::string> texts_of(const json::Value& object, std::string_view name);
std::map<std::string, std::string> text_map_of(const json::Value& object, std::string_view name);

json::Value number(std::int64_t value);
json::Value texts(const std::vector<std::string>& items, json::Arena& arena);
json::Value text_map(const std::map<std::string, std::string>& items, json::Arena& arena);
std::string base64(const std::array<std::uint8_t, 32>& bytes);

// ---- Enumerations: the words in the order of the values from 0 ----

template <std::size_t Count>
schema::Node one_of_words(const std::array<std::string_view, Count>& words) {
  schema::Node node = schema::one_of({});
  node.values.assign(words.begin(), words.end());
  return node;
}

template <typename Enumeration, std::size_t Count>
Enumeration word_of(const json::Value& object, std::string_view name,
                    const std::array<std::string_view, Count>& words) {
  const std::string_view word = object.text(name);
  for (std::size_t i = 0; i < Count; ++i) {
    if (words[i] == word) return static_cast<Enumeration>(i);
  }
  assert(false);
  return {};
}

// ---- Tables of members of one kind ----

template <typename Struct>
struct WholeRow {
  std::string_view name;
  std::int64_t Struct::*field;
  std::int64_t low = 0;
  std::int64_t high = kSafe;
};
template <typename Struct>
struct OptionalWholeRow {
  std::string_view name;
  std::optional<std::int64_t> Struct::*field;
  std::int64_t low = 0;
  std::int64_t high = kSafe;
};
template <typename Struct>
struct FlagRow {
  std::string_view name;
  bool Struct::*field;
};
// A text that is absent when it is empty.
template <typename Struct>
struct LineRow {
  std::string_view name;
  std::string Struct::*field;
  std::size_t bytes;
};

template <typename Struct, std::size_t Count>
void add_fields(schema::Node& node, const WholeRow<Struct> (&rows)[Count]) {
  for (const auto& row : rows) {
    node.fields.push_back(schema::required(row.name, whole(row.low, row.high)));
  }
}
template <typename Struct, std::size_t Count>
void add_fields(schema::Node& node, const OptionalWholeRow<Struct> (&rows)[Count]) {
  for (const auto& row : rows) {
    node.fields.push_back(schema::optional(row.name, whole(row.low, row.high)));
  }
}
template <typename Struct, std::size_t Count>
void add_fields(schema::Node& node, const FlagRow<Struct> (&rows)[Count]) {
  for (const auto& row : rows) {
    node.fields.push_back(schema::required(row.name, schema::boolean()));
  }
}
template <typename Struct, std::size_t Count>
void add_fields(schema::Node& node, const LineRow<Struct> (&rows)[Count]) {
  for (const auto& row : rows) {
    node.fields.push_back(schema::optional(row.name, line(row.bytes)));
  }
}

template <typename Struct, std::size_t Count>
void read_rows(const json::Value& object, const WholeRow<Struct> (&rows)[Count], Struct& out) {
  for (const auto& row : rows) out.*row.field = whole_of(object, row.name);
}
template <typename Struct, std::size_t Count>
void read_rows(const json::Value& object, const OptionalWholeRow<Struct> (&rows)[Count],
               Struct& out) {
  for (const auto& row : rows) out.*row.field = optional_whole(object, row.name);
}
template <typename Struct, std::size_t Count>
void read_rows(const json::Value& object, const FlagRow<Struct> (&rows)[Count], Struct& out) {
  for (const auto& row : rows) out.*row.field = flag_of(object, row.name);
}
template <typename Struct, std::size_t Count>
void read_rows(const json::Value& object, const LineRow<Struct> (&rows)[Count], Struct& out) {
  for (const auto& row : rows) out.*row.field = text_of(object, row.name);
}

template <typename Struct, std::size_t Count>
void write_rows(const Struct& from, const WholeRow<Struct> (&rows)[Count],
                json::ObjectBuilder& out) {
  for (const auto& row : rows) out.add(row.name, number(from.*row.field));
}
template <typename Struct, std::size_t Count>
void write_rows(const Struct& from, const OptionalWholeRow<Struct> (&rows)[Count],
                json::ObjectBuilder& out) {
  for (const auto& row : rows) {
    if (const std::optional<std::int64_t>& value = from.*row.field) {
      out.add(row.name, number(*value));
    }
  }
}
template <typename Struct, std::size_t Count>
void write_rows(const Struct& from, const FlagRow<Struct> (&rows)[Count],
                json::ObjectBuilder& out) {
  for (const auto& row : rows) out.add(row.name, json::Value(from.*row.field));
}
template <typename Struct, std::size_t Count>
void write_rows(const Struct& from, const LineRow<Struct> (&rows)[Count],
                json::ObjectBuilder& out) {
  for (const auto& row : rows) out.add_if(!(from.*row.field).empty(), row.name, from.*row.field);
}

}  // namespace kernelindex::checked
