// SPDX-License-Identifier: Apache-2.0
#include "ingest/catalog_row_reader.h"

#include "ingest/catalog_sources.h"

namespace kernelindex::ingest {

using json::Value;

void CatalogRowReader::refuse(Error error) {
  if (!out_.fault) out_.fault = std::move(error);
}

void CatalogRowReader::refuse(std::string_view column, std::string_view expected) {
  refuse(Error{
      ErrorKind::invalid, "BAD_ROW", std::string(column), "expected " + std::string(expected), {}});
}

void CatalogRowReader::conclude(ColumnCheck& check) {
  if (std::optional<Error> fault = check.take_fault()) refuse(std::move(*fault));
}

void CatalogRowReader::take_id() { out_.id = required_key("id"); }

void CatalogRowReader::take_digest(std::string_view column) {
  out_.stored_digest = optional_digest(column);
  if (!out_.stored_digest) refuse(column, "a digest");
}

std::optional<Uuid> CatalogRowReader::required_key(std::string_view column) {
  const std::optional<Uuid> key = Uuid::parse(row_.text(column));
  if (!key) refuse(column, "a row id");
  return key;
}

std::optional<Uuid> CatalogRowReader::optional_key(std::string_view column) {
  const Value* value = row_.find(column);
  if (value == nullptr || value->is_null()) return std::nullopt;
  return required_key(column);
}

std::optional<Digest> CatalogRowReader::optional_digest(std::string_view column) {
  const Value* value = row_.find(column);
  if (value == nullptr || value->is_null()) return std::nullopt;
  const Result<Digest> digest = Digest::parse(row_.text(column));
  if (!digest) refuse(column, "a digest");
  return digest ? std::optional(*digest) : std::nullopt;
}

std::string CatalogRowReader::optional_instant(std::string_view column) {
  std::string text = optional_text(column);
  if (!text.empty() && !parse_utc_instant(text)) refuse(column, "an instant");
  return text;
}

std::string CatalogRowReader::text(std::string_view column) {
  const Value* value = row_.find(column);
  if (value == nullptr || !value->is_string()) {
    refuse(column, "a text");
    return {};
  }
  return std::string(value->string());
}

std::string CatalogRowReader::optional_text(std::string_view column) {
  const Value* value = row_.find(column);
  return value == nullptr || value->is_null() ? std::string() : text(column);
}

std::optional<double> CatalogRowReader::optional_number(std::string_view column) {
  const Value* value = row_.find(column);
  if (value == nullptr || value->is_null()) return std::nullopt;
  if (!value->is_number()) refuse(column, "a number");
  return value->is_number() ? std::optional(value->number()) : std::nullopt;
}

const Manifest* CatalogRowReader::take_manifest(const Value* document, ManifestKind kind) {
  if (document == nullptr) {
    refuse("manifest", "a manifest");
    return nullptr;
  }
  Result<Manifest> made = make_manifest(*document, arena_);
  if (!made) {
    refuse(fail_in("manifest", std::move(made.error())).error());
    return nullptr;
  }
  if (made->kind != kind) {
    refuse("manifest.kind", kind_name(kind));
    return nullptr;
  }
  return &out_.manifests.emplace_back(std::move(*made));
}

void CatalogRowReader::take_supersession() {
  const std::optional<Uuid> superseded = optional_key("supersedesId");
  if (superseded) out_.facts.supersedes = catalog_external_id(*superseded);
}

void CatalogRowReader::take_publication() {
  out_.facts.published_at = optional_instant("publishedAt");
  out_.facts.retracted_at = optional_instant("retractedAt");
  take_supersession();
}

}  // namespace kernelindex::ingest
