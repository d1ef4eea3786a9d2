// SPDX-License-Identifier: Apache-2.0
// The complete run of what byte_flip_test samples: each byte of each covered file of the small
// ledger, once with its records in table files and once in the write-ahead log.
//
//   flip_every_byte [STRIDE]      exit 1 when a flip goes unnoticed
#include <cstdio>
#include <cstdlib>

#include "tests/verify/flip_bytes.h"

int main(int argc, char** argv) {
  using namespace kernelindex::test;
  const std::uint64_t stride = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1;
  FlipCounts all;
  for (const Shape shape : {Shape::plain, Shape::killed}) {
    LedgerFixture ledger(shape);
    for (const std::filesystem::path& file : covered_files(ledger)) {
      const FlipCounts counts = flip_bytes(ledger, file, 0, stride > 0 ? stride : 1);
      std::printf("%-24s %8llu flips, %llu noticed, %zu change nothing, %zu UNNOTICED\n",
                  file.filename().c_str(), static_cast<unsigned long long>(counts.flips),
                  static_cast<unsigned long long>(counts.noticed), counts.harmless.size(),
                  counts.unnoticed.size());
      for (const std::string& place : counts.harmless)
        std::printf("  nothing: %s\n", place.c_str());
      for (const std::string& place : counts.unnoticed) std::printf("  HOLE: %s\n", place.c_str());
      std::fflush(stdout);
      all.add(counts);
    }
  }
  return all.unnoticed.empty() ? 0 : 1;
}
