// SPDX-License-Identifier: Apache-2.0
// Every identity digest, correctness key and comparison key of a catalog export, recomputed: what
// the independent check in Node does, with schema/ alone and on several threads.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "schema/result.h"

namespace kernelindex::bench {

enum class Checked : std::uint8_t {
  operation,
  workload,
  implementation,
  serving_run,
  run,
  protocol,
  environment,
  correctness_key,
  comparison_key,
};
inline constexpr std::size_t kCheckedThings = 9;

struct CatalogCounts {
  struct Count {
    std::uint64_t equal = 0;
    std::uint64_t different = 0;
  };
  std::array<Count, kCheckedThings> things;

  void add(Checked what, bool equal);
  bool all_equal() const;
  // {"operation":{"equal":449,"different":0},...}
  std::string json() const;
};

// With `schema`, every manifest is checked against the schema of its kind and normalised too
// (make_manifest). Error: the first line, in no particular order, that cannot be read.
Result<CatalogCounts> check_catalog(std::string_view text, unsigned threads, bool schema);

}  // namespace kernelindex::bench
