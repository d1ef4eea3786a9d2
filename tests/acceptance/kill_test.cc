// SPDX-License-Identifier: Apache-2.0
// kill -9 at any instant of an import leaves the state after some whole batch; finished, the import
// is what it would have been. Some instants here; tests/campaigns/kill_import takes hundreds.
#include <gtest/gtest.h>

#include "tests/acceptance/kill_import.h"
#include "tests/support/corpus.h"

namespace kernelindex::test {
namespace {

void kill_some(const std::string& source, const std::filesystem::path& path, int times) {
  KillImport imports(source, path);
  EXPECT_GE(imports.commits(), 5u);
  std::mt19937 chance(20260820);
  for (int i = 0; i < times; ++i) {
    const KillImport::Outcome outcome = imports.kill_once(chance);
    for (const std::string& fault : outcome.faults) {
      ADD_FAILURE() << "instant " << i << ", size " << outcome.size << ": " << fault;
    }
  }
}

TEST(Kill, AnImportOfADump) {
  KERNELINDEX_REQUIRE_CORPUS();
  kill_some("sol-execbench", dump_folder(), 8);
}

TEST(Kill, AnImportOfTheCatalog) {
  KERNELINDEX_REQUIRE_CORPUS();
  kill_some("kernelindex-catalog", catalog_file(), 2);
}

}  // namespace
}  // namespace kernelindex::test
