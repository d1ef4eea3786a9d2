// SPDX-License-Identifier: Apache-2.0
#include "ingest/kebab.h"

#include "ingest/lower_case.h"

namespace kernelindex::ingest {

std::string kebab(std::string_view text) {
  constexpr std::size_t kSlugLength = 100;
  std::string out;
  bool gap = false;
  for (const char c : lower_case(text)) {
    if ((c < 'a' || c > 'z') && (c < '0' || c > '9')) {
      gap = true;
      continue;
    }
    if (gap && !out.empty()) out += '-';
    gap = false;
    out += c;
  }
  if (out.size() > kSlugLength) out.resize(kSlugLength);
  return out;
}

}  // namespace kernelindex::ingest
