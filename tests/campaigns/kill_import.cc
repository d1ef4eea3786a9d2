// SPDX-License-Identifier: Apache-2.0
// Kills importing programs at random instants, a few hundred times, and judges what is left.
//
//   kill_import [COUNT [SEED]]      COUNT: 200 by default; a quarter of them import the catalog
//
// Needs the corpora. Exit status 1 when a ledger was not what it must be.
#include "tests/acceptance/kill_import.h"

#include <cstdio>
#include <cstdlib>
#include <map>

#include "tests/support/corpus.h"

namespace {

using kernelindex::test::KillImport;

// How often each number of whole batches was left, as a line of text.
std::string spread(const std::map<unsigned, unsigned>& counts) {
  std::string out;
  for (const auto& [commits, times] : counts) {
    out += " " + std::to_string(commits) + ":" + std::to_string(times);
  }
  return out;
}

unsigned campaign(const char* source, const std::filesystem::path& path, unsigned count,
                  std::mt19937& chance) {
  KillImport imports(source, path);
  std::map<unsigned, unsigned> found;
  unsigned killed = 0;
  unsigned faulty = 0;
  for (unsigned i = 0; i < count; ++i) {
    const KillImport::Outcome outcome = imports.kill_once(chance);
    killed += outcome.killed ? 1 : 0;
    ++found[outcome.left];
    faulty += outcome.faults.empty() ? 0 : 1;
    for (const std::string& fault : outcome.faults) {
      std::printf("%s, instant %u, size %llu: %s\n", source, i,
                  static_cast<unsigned long long>(outcome.size), fault.c_str());
    }
  }
  std::printf("%s: %u instants, %u killed before the end, %u faulty; batches left:%s of %zu\n",
              source, count, killed, faulty, spread(found).c_str(), imports.commits() - 1);
  return faulty;
}

}  // namespace

int main(int argc, char** argv) {
  const unsigned count = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 200;
  const unsigned seed = argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 1;
  if (!kernelindex::test::have_corpus()) {
    std::fprintf(stderr, "kill_import: no corpora; set KERNELINDEX_CORPUS\n");
    return 2;
  }
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  std::mt19937 chance(seed);
  const unsigned catalogs = count / 4;
  const unsigned faulty =
      campaign("sol-execbench", kernelindex::test::dump_folder(), count - catalogs, chance) +
      campaign("kernelindex-catalog", kernelindex::test::catalog_file(), catalogs, chance);
  return faulty == 0 ? 0 : 1;
}
