// SPDX-License-Identifier: Apache-2.0
#include "ingest/lower_case.h"

namespace kernelindex::ingest {

std::string lower_case(std::string_view text) {
  constexpr std::string_view kKelvinSign = "\xE2\x84\xAA";
  constexpr std::string_view kDottedCapitalI = "\xC4\xB0";
  constexpr std::string_view kDottedSmallI = "i\xCC\x87";
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = text.substr(i);
    if (text[i] >= 'A' && text[i] <= 'Z') {
      out += static_cast<char>(text[i] - 'A' + 'a');
    } else if (rest.starts_with(kKelvinSign)) {
      out += 'k';
      i += kKelvinSign.size() - 1;
    } else if (rest.starts_with(kDottedCapitalI)) {
      out += kDottedSmallI;
      i += kDottedCapitalI.size() - 1;
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace kernelindex::ingest
