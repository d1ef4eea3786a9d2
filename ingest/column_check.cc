// SPDX-License-Identifier: Apache-2.0
#include "ingest/column_check.h"

#include <algorithm>

#include "ingest/text_cut.h"
#include "schema/canonical_json.h"

namespace kernelindex::ingest {
namespace {

using json::Value;

constexpr std::size_t kShownUnits = 200;  // of a value in a report
constexpr UtcMicros kMicrosPerMilli = 1000;

std::string shown(const Value& value) {
  std::string text;
  json::append_canonical(value, text);
  return std::string(first_utf16(text, kShownUnits));
}

std::string quoted_text(std::string_view text) {
  std::string out;
  json::append_string(first_utf16(text, kShownUnits), out);
  return out;
}

}  // namespace

Error both_values(std::string code, std::string_view column, std::string_view row_says,
                  std::string_view derived) {
  return {ErrorKind::invalid,
          std::move(code),
          std::string(column),
          "the row says " + std::string(row_says) + ", its manifest gives " + std::string(derived),
          {}};
}

const Value* ColumnCheck::find(std::string_view column) const {
  return fault_ ? nullptr : row_.find(column);
}

void ColumnCheck::differs(std::string_view column, const Value& found, const std::string& derived,
                          std::string code) {
  fault_ = both_values(std::move(code), column, shown(found), derived);
}

void ColumnCheck::text(std::string_view column, std::string_view derived) {
  const Value* found = find(column);
  if (found == nullptr || (found->is_string() && found->string() == derived)) return;
  differs(column, *found, quoted_text(derived));
}

void ColumnCheck::text_or_null(std::string_view column, const std::optional<std::string>& derived) {
  if (derived) return text(column, *derived);
  const Value* found = find(column);
  if (found != nullptr && !found->is_null()) differs(column, *found, "null");
}

void ColumnCheck::number_or_null(std::string_view column, const std::optional<double>& derived) {
  const Value* found = find(column);
  if (found == nullptr) return;
  const bool same = derived ? found->is_number() && found->number() == *derived : found->is_null();
  if (!same) differs(column, *found, derived ? shown(Value(*derived)) : "null");
}

void ColumnCheck::boolean(std::string_view column, bool derived) {
  const Value* found = find(column);
  if (found == nullptr || (found->is_boolean() && found->boolean() == derived)) return;
  differs(column, *found, derived ? "true" : "false");
}

void ColumnCheck::texts(std::string_view column, const std::vector<std::string>& derived) {
  const Value* found = find(column);
  if (found == nullptr) return;
  const auto same = [](const Value& item, const std::string& text) {
    return item.is_string() && item.string() == text;
  };
  if (found->is_array() && std::ranges::equal(found->array(), derived, same)) return;
  std::string list = "[";
  for (const std::string& text : derived) list += (list.size() > 1 ? "," : "") + quoted_text(text);
  differs(column, *found, list + "]");
}

void ColumnCheck::instant(std::string_view column, UtcMicros derived) {
  const Value* found = find(column);
  if (found == nullptr) return;
  const Result<UtcMicros> stored =
      parse_utc_instant(found->is_string() ? found->string() : std::string_view());
  if (stored && *stored / kMicrosPerMilli == derived / kMicrosPerMilli) return;
  differs(column, *found, quoted_text(format_utc_millis(derived)));
}

void ColumnCheck::digest(std::string_view column, const Digest& derived, std::string code) {
  const Value* found = find(column);
  if (found == nullptr || (found->is_string() && found->string() == derived.text())) return;
  differs(column, *found, quoted_text(derived.text()), std::move(code));
}

}  // namespace kernelindex::ingest
