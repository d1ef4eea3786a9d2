// SPDX-License-Identifier: Apache-2.0
// Writes the ledger that golden_ledger_test opens: once for each version of the format, and never
// again after that version is released.
//
//   make_golden_ledger DIR      DIR must not exist
#include <cstdio>
#include <filesystem>

#include "tests/verify/ledger_fixture.h"

int main(int argc, char** argv) {
  using namespace kernelindex::test;
  if (argc != 2 || std::filesystem::exists(argv[1])) {
    std::fputs("usage: make_golden_ledger DIR, which must not exist\n", stderr);
    return 2;
  }
  const LedgerFixture ledger;
  std::filesystem::copy(ledger.directory(), argv[1], std::filesystem::copy_options::recursive);
  for (const auto& file :
       std::filesystem::directory_iterator(std::filesystem::path(argv[1]) / "db")) {
    const std::string name = file.path().filename().string();
    // No evidence, and made anew by whoever writes.
    if (name.starts_with("OPTIONS") || name == "LOCK") std::filesystem::remove(file.path());
  }
  std::printf("%s\n", ledger.head().root.text().c_str());
  return 0;
}
