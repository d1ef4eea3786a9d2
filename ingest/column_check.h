// SPDX-License-Identifier: Apache-2.0
// Columns of a catalog row against what its manifest gives. Exports of different dates have
// different columns, so one that is absent is not compared.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schema/digest.h"
#include "schema/json_value.h"
#include "schema/result.h"
#include "schema/utc_time.h"

namespace kernelindex::ingest {

class ColumnCheck {
 public:
  // Requires: `row` outlives this object.
  explicit ColumnCheck(const json::Value& row) : row_(row) {}

  void text(std::string_view column, std::string_view derived);
  // Null when there is nothing to derive.
  void text_or_null(std::string_view column, const std::optional<std::string>& derived);
  void number_or_null(std::string_view column, const std::optional<double>& derived);
  void boolean(std::string_view column, bool derived);
  void texts(std::string_view column, const std::vector<std::string>& derived);
  // Compared as instants, to the millisecond of the database.
  void instant(std::string_view column, UtcMicros derived);
  // Code DIGEST_DIFFERS or KEY_DIFFERS rather than COLUMN_DIFFERS.
  void digest(std::string_view column, const Digest& derived, std::string code);

  // The first column that differs, with both values.
  std::optional<Error> take_fault() { return std::move(fault_); }

 private:
  const json::Value* find(std::string_view column) const;
  void differs(std::string_view column, const json::Value& found, const std::string& derived,
               std::string code = "COLUMN_DIFFERS");

  const json::Value& row_;
  std::optional<Error> fault_;
};

// A fault that names both values: "comparisonKey: the row says A, its manifest gives B".
Error both_values(std::string code, std::string_view column, std::string_view row_says,
                  std::string_view derived);

}  // namespace kernelindex::ingest
