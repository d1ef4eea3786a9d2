// SPDX-License-Identifier: Apache-2.0
#include "ingest/case_key.h"

#include <algorithm>

#include "schema/canonical_json.h"
#include "schema/digest.h"

namespace kernelindex::ingest {
namespace {

constexpr std::size_t kKeyDigits = 12;

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

// The first level of the comparison; other characters stand behind the letters, in byte order.
int primary_rank(char c) {
  if (c == '_') return 0;
  if (c >= '0' && c <= '9') return 1 + (c - '0');
  if (c >= 'a' && c <= 'z') return 11 + (c - 'a');
  if (is_upper(c)) return 11 + (c - 'A');
  return 64 + static_cast<unsigned char>(c);
}

}  // namespace

int compare_axis_names(std::string_view a, std::string_view b) {
  const std::size_t common = std::min(a.size(), b.size());
  for (std::size_t i = 0; i < common; ++i) {
    const int difference = primary_rank(a[i]) - primary_rank(b[i]);
    if (difference != 0) return difference;
  }
  if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  for (std::size_t i = 0; i < common; ++i) {
    if (a[i] != b[i]) return is_upper(a[i]) ? 1 : -1;
  }
  return 0;
}

std::string case_key(std::vector<AxisValue> axes) {
  std::ranges::stable_sort(axes, [](const AxisValue& a, const AxisValue& b) {
    return compare_axis_names(a.name, b.name) < 0;
  });
  std::string text = "{";
  for (const AxisValue& axis : axes) {
    if (text.size() > 1) text += ',';
    json::append_string(axis.name, text);
    text += ':';
    json::append_number(axis.value, text);
  }
  text += '}';
  return sha256(text).hex().substr(0, kKeyDigits);
}

}  // namespace kernelindex::ingest
