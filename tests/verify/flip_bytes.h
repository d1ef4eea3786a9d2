// SPDX-License-Identifier: Apache-2.0
// Flips bytes of a ledger's files in turn and asks the audit each time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/verify/ledger_fixture.h"

namespace kernelindex::test {

struct FlipCounts {
  std::uint64_t flips = 0;
  std::uint64_t noticed = 0;
  // The audit found nothing, and the ledger reads exactly as before: bytes that nobody reads.
  std::vector<std::string> harmless;
  // The audit found nothing, and something reads otherwise: a hole. "file at offset: why".
  std::vector<std::string> unnoticed;

  void add(const FlipCounts& other);
};

// The files of the ledger that the audit promises to cover: the database without LOG*, OPTIONS*,
// IDENTITY and LOCK, the checkpoint, the key files and the mark beside them.
std::vector<std::filesystem::path> covered_files(const LedgerFixture& ledger);

// Flips one bit of every `stride`-th byte of a file, from `first` on, which bit depends on the
// place; puts it back each time.
FlipCounts flip_bytes(LedgerFixture& ledger, const std::filesystem::path& file, std::uint64_t first,
                      std::uint64_t stride);

}  // namespace kernelindex::test
