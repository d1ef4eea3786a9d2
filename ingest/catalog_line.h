// SPDX-License-Identifier: Apache-2.0
// One line of a catalog export being written: {"table":T,"row":{...}} and a newline, its columns in
// the order in which they are added.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/catalog_row.h"
#include "ingest/uuid.h"
#include "schema/digest.h"
#include "schema/utc_time.h"

namespace kernelindex::ingest {

class CatalogLine {
 public:
  // Appends to `out`, which outlives this object. Requires: finish() before anything else is
  // appended to it.
  CatalogLine(CatalogTable table, std::string& out);

  CatalogLine& text(std::string_view column, std::string_view value);
  CatalogLine& text(std::string_view column, const std::optional<std::string>& value);
  CatalogLine& number(std::string_view column, const std::optional<double>& value);
  CatalogLine& boolean(std::string_view column, bool value);
  CatalogLine& texts(std::string_view column, const std::vector<std::string>& values);
  CatalogLine& id(std::string_view column, const std::optional<Uuid>& value);
  CatalogLine& digest(std::string_view column, const Digest& value);
  // To the millisecond.
  CatalogLine& instant(std::string_view column, UtcMicros value);
  CatalogLine& null(std::string_view column);
  // Requires: JSON text.
  CatalogLine& json(std::string_view column, std::string_view value);
  void finish();

 private:
  // Begins a column.
  std::string& begin(std::string_view column);

  std::string& out_;
  bool first_ = true;
};

}  // namespace kernelindex::ingest
