// SPDX-License-Identifier: Apache-2.0
#include "schema/measurement_terms.h"

#include <algorithm>

namespace kernelindex {
namespace {

bool is_segment(std::string_view segment) {
  return !segment.empty() && segment != "." && segment != ".." && !segment.starts_with('-');
}

// C0 and DEL are bytes of their own; C1 is 0xC2 and a byte of 0x80..0x9F in UTF-8.
bool has_control_character(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x20 || byte == 0x7f) return true;
    if (byte == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::string_view clock_variant_name(ClockVariant variant) {
  return variant == ClockVariant::locked ? "locked" : "unlocked";
}

std::string_view trust_mode_name(TrustMode mode) {
  return mode == TrustMode::native_host ? "native_host" : "device_only";
}

bool is_source_path(std::string_view text) {
  if (text.size() > kSourcePathBytes || text.contains('\\') || has_control_character(text)) {
    return false;
  }
  while (true) {
    const std::size_t slash = text.find('/');
    if (!is_segment(text.substr(0, slash))) return false;
    if (slash == std::string_view::npos) return true;
    text.remove_prefix(slash + 1);
  }
}

bool is_reason_code(std::string_view text) {
  if (text.empty() || text.size() > kCodeBytes || text.contains("__")) return false;
  if (text.front() < 'A' || text.front() > 'Z' || text.ends_with('_')) return false;
  return std::ranges::all_of(
      text, [](char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; });
}

}  // namespace kernelindex
