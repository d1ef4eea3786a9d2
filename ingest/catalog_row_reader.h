// SPDX-License-Identifier: Apache-2.0
// What the readers of single tables share. Internal to catalog_row.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/catalog_row.h"
#include "ingest/column_check.h"
#include "schema/json_value.h"

namespace kernelindex::ingest {

// A row being read: its columns, and the CatalogRow that they fill. The first fault stays.
class CatalogRowReader {
 public:
  CatalogRowReader(const json::Value& row, CatalogRow& out, json::Arena& arena)
      : row_(row), out_(out), arena_(arena) {}

  const json::Value& row() const { return row_; }
  CatalogRow& out() { return out_; }

  // The row's own id, and the digest column of its manifest, kept even when the rest is bad.
  void take_id();
  void take_digest(std::string_view column);
  // A row id that must be there; BAD_ROW otherwise.
  std::optional<Uuid> required_key(std::string_view column);
  // Null or absent gives nothing.
  std::optional<Uuid> optional_key(std::string_view column);
  std::optional<Digest> optional_digest(std::string_view column);
  // Requires an instant or null.
  std::string optional_instant(std::string_view column);
  std::string text(std::string_view column);  // required
  std::string optional_text(std::string_view column);
  std::optional<double> optional_number(std::string_view column);
  // Makes the manifest of a document and keeps it; null when it is not valid.
  const Manifest* take_manifest(const json::Value* document, ManifestKind kind);
  // What the source says of a claim beside its document.
  void take_supersession();
  void take_publication();

  void refuse(Error error);
  void refuse(std::string_view column, std::string_view expected);
  void conclude(ColumnCheck& check);
  bool ok() const { return !out_.fault; }

 private:
  const json::Value& row_;
  CatalogRow& out_;
  json::Arena& arena_;
};

void read_operation_row(CatalogRowReader& reader);
void read_workload_row(CatalogRowReader& reader);
void read_implementation_row(CatalogRowReader& reader);
void read_benchmark_run_row(CatalogRowReader& reader);
void read_model_row(CatalogRowReader& reader);
void read_stack_row(CatalogRowReader& reader);
void read_configuration_row(CatalogRowReader& reader);
void read_serving_workload_row(CatalogRowReader& reader);
void read_serving_run_row(CatalogRowReader& reader);

}  // namespace kernelindex::ingest
