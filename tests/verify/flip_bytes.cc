// SPDX-License-Identifier: Apache-2.0
#include "tests/verify/flip_bytes.h"

#include <algorithm>

namespace kernelindex::test {
namespace {

// What a reader gets to see of the database.
struct Reading {
  LedgerFixture::Pairs evidence;
  LedgerFixture::Pairs derived;

  bool operator==(const Reading&) const = default;
};

Reading read_all(const LedgerFixture& ledger) {
  return {ledger.all(Space::evidence), ledger.all(Space::derived)};
}

bool in_database(const std::filesystem::path& file) {
  return file.parent_path().filename() == "db";
}

}  // namespace

void FlipCounts::add(const FlipCounts& other) {
  flips += other.flips;
  noticed += other.noticed;
  harmless.insert(harmless.end(), other.harmless.begin(), other.harmless.end());
  unnoticed.insert(unnoticed.end(), other.unnoticed.begin(), other.unnoticed.end());
}

std::vector<std::filesystem::path> covered_files(const LedgerFixture& ledger) {
  std::vector<std::filesystem::path> out;
  for (const auto& file : std::filesystem::recursive_directory_iterator(ledger.directory())) {
    if (!file.is_regular_file() || file.file_size() == 0) continue;
    const std::string name = file.path().filename().string();
    const bool no_evidence = name.starts_with("LOG") || name.starts_with("OPTIONS") ||
                             name == "IDENTITY" || name == "LOCK";
    if (in_database(file.path()) && no_evidence) continue;
    out.push_back(file.path());
  }
  std::ranges::sort(out);
  return out;
}

FlipCounts flip_bytes(LedgerFixture& ledger, const std::filesystem::path& file, std::uint64_t first,
                      std::uint64_t stride) {
  FlipCounts out;
  const Reading before = read_all(ledger);
  const std::uint64_t size = std::filesystem::file_size(file);
  for (std::uint64_t offset = first; offset < size; offset += stride) {
    const auto bit = static_cast<unsigned>((offset * 7 + offset / 8) % 8);
    ledger.flip_bit(file, offset, bit);
    ++out.flips;
    if (!ledger.audit().ok()) {
      ++out.noticed;
    } else {
      const std::string place = file.filename().string() + " at " + std::to_string(offset) +
                                ", bit " + std::to_string(bit);
      const bool same = in_database(file) && read_all(ledger) == before;
      (same ? out.harmless : out.unnoticed).push_back(place);
    }
    ledger.flip_bit(file, offset, bit);
  }
  return out;
}

}  // namespace kernelindex::test
