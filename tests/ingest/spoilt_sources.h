// SPDX-License-Identifier: Apache-2.0
// Each source with one file to spoil, and what must hold however it is spoilt.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/ingest/collecting_sink.h"

namespace kernelindex::test {

struct SpoiltSource {
  std::string name;
  SourceFiles files;
  std::string target;  // locator of the file that is spoilt
  std::function<Status(const SourceFiles&, CollectingSink&)> import;
  // How many items the target holds, counted without the importer; none in text that is no document
  // any more, and then the file must be set aside as a whole.
  std::function<std::size_t(std::string_view)> count;
  // A table with a stray quote may be read in two ways; this counts the other. Null: the same.
  std::function<std::size_t(std::string_view)> count_otherwise = nullptr;
};

// Needs the corpora.
std::vector<SpoiltSource> spoilt_sources();

// Spoils the target by the seed and imports. What is wrong, empty when all holds: the import ends
// with what it recorded, or with an error that says why nothing can be; and each item of the target
// was recorded, skipped with a reason or set aside, or the file as a whole was.
std::string import_spoilt(SpoiltSource& source, std::uint32_t seed);

}  // namespace kernelindex::test
