// SPDX-License-Identifier: Apache-2.0
// spoil_sources [SEEDS [FIRST]]: files of every source spoilt by so many seeds, imported, and each
// item accounted for; needs the corpora. What is wrong goes to standard output; exit 1 then.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/ingest/spoilt_sources.h"

int main(int argc, char** argv) {
  const auto number = [&](int argument, unsigned long otherwise) {
    return argc > argument ? std::strtoul(argv[argument], nullptr, 10) : otherwise;
  };
  const auto seeds = static_cast<std::uint32_t>(number(1, 20'000));
  const auto first = static_cast<std::uint32_t>(number(2, 1));
  bool good = true;
  for (kernelindex::test::SpoiltSource& source : kernelindex::test::spoilt_sources()) {
    for (std::uint32_t seed = first; seed < first + seeds; ++seed) {
      const std::string wrong = kernelindex::test::import_spoilt(source, seed);
      if (wrong.empty()) continue;
      std::printf("seed %u: %s\n", seed, wrong.c_str());
      good = false;
    }
    std::printf("%s: %u seeds\n", source.name.c_str(), seeds);
  }
  return good ? 0 : 1;
}
