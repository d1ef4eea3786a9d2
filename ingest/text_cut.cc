// SPDX-License-Identifier: Apache-2.0
#include "ingest/text_cut.h"

#include <algorithm>

#include "schema/canonical_json.h"

namespace kernelindex::ingest {

std::string_view first_utf16(std::string_view text, std::size_t units) {
  if (text.size() <= units) return text;  // no character has fewer bytes than code units
  std::size_t used = 0;
  std::size_t i = 0;
  while (i < text.size()) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t bytes = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    used += bytes == 4 ? 2 : 1;
    if (used > units) break;
    i += bytes;
  }
  return text.substr(0, std::min(i, text.size()));
}

std::string title_cut(std::string_view text) {
  constexpr std::size_t kTitleUnits = 200;
  if (text.size() <= kTitleUnits || json::utf16_length(text) <= kTitleUnits) {
    return std::string(text);
  }
  return std::string(first_utf16(text, kTitleUnits - 1)) + "\xE2\x80\xA6";
}

}  // namespace kernelindex::ingest
