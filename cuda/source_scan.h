// SPDX-License-Identifier: Apache-2.0
// Words in sources that a reviewer should see. Triage only: what decides is what the processes do,
// and words can be pasted together. HACKS rows 10, 31 to 33; PROTOCOL section 13.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "schema/digest.h"

namespace kernelindex::runner {

struct ScanNote {
  std::string code;  // "SCAN_ENVIRONMENT"
  std::string path;
  std::size_t line = 0;  // from 1
  std::string word;

  bool operator==(const ScanNote&) const = default;
};

// At most 64 notes of one file, in the order of lines. Comments and strings are not looked into.
std::vector<ScanNote> scan_source(std::string_view path, std::string_view text);

// The text without comments, with white space as single spaces, string contents dropped, and names
// replaced by the order of their first use: clones under new names have the same digest.
Digest normalised_token_digest(std::string_view text);

}  // namespace kernelindex::runner
