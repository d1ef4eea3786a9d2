// SPDX-License-Identifier: Apache-2.0
#include "ingest/catalog_line.h"

#include <utility>

#include "schema/canonical_json.h"

namespace kernelindex::ingest {

CatalogLine::CatalogLine(CatalogTable table, std::string& out) : out_(out) {
  out_ += R"({"table":)";
  json::append_string(table_name(table), out_);
  out_ += R"(,"row":{)";
}

std::string& CatalogLine::begin(std::string_view column) {
  if (!std::exchange(first_, false)) out_ += ',';
  json::append_string(column, out_);
  out_ += ':';
  return out_;
}

CatalogLine& CatalogLine::text(std::string_view column, std::string_view value) {
  json::append_string(value, begin(column));
  return *this;
}

CatalogLine& CatalogLine::text(std::string_view column, const std::optional<std::string>& value) {
  return value ? text(column, std::string_view(*value)) : null(column);
}

CatalogLine& CatalogLine::number(std::string_view column, const std::optional<double>& value) {
  if (!value) return null(column);
  json::append_number(*value, begin(column));
  return *this;
}

CatalogLine& CatalogLine::boolean(std::string_view column, bool value) {
  begin(column) += value ? "true" : "false";
  return *this;
}

CatalogLine& CatalogLine::texts(std::string_view column, const std::vector<std::string>& values) {
  begin(column) += '[';
  for (const std::string& value : values) {
    if (&value != &values.front()) out_ += ',';
    json::append_string(value, out_);
  }
  out_ += ']';
  return *this;
}

CatalogLine& CatalogLine::id(std::string_view column, const std::optional<Uuid>& value) {
  return value ? text(column, std::string_view(value->text())) : null(column);
}

CatalogLine& CatalogLine::digest(std::string_view column, const Digest& value) {
  return text(column, std::string_view(value.text()));
}

CatalogLine& CatalogLine::instant(std::string_view column, UtcMicros value) {
  return text(column, std::string_view(format_utc_millis(value)));
}

CatalogLine& CatalogLine::null(std::string_view column) {
  begin(column) += "null";
  return *this;
}

CatalogLine& CatalogLine::json(std::string_view column, std::string_view value) {
  begin(column) += value;
  return *this;
}

void CatalogLine::finish() { out_ += "}}\n"; }

}  // namespace kernelindex::ingest
