// SPDX-License-Identifier: Apache-2.0
// The sources that can be imported: how each is called, whose it is, and how its files are known.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace kernelindex::ingest {

enum class ImporterName : std::uint8_t {
  kernelindex_catalog,
  kernelindex_run,
  sol_execbench,
  flashinfer_bench,
};

struct SourceInfo {
  ImporterName importer{};
  std::string_view name;  // slug, and the word after `import`
  std::string_view title;
  std::string_view input;           // what to give it
  std::string_view parser;          // named in import statements
  std::string_view parser_version;  // rises when the same bytes would give other documents
  std::string_view url;
  std::string_view license;
  std::string_view terms;
  std::string_view attribution;
  // Whether a file that begins so belongs to the source. `beginning` is at least the first 64 KiB,
  // or the whole file when it is shorter.
  bool (*recognises)(std::string_view beginning);
};

// In the order in which they are tried.
std::span<const SourceInfo> sources();
// Null when there is none of that name.
const SourceInfo* find_source(std::string_view name);
// Null when no source knows the file.
const SourceInfo* recognise_source(std::string_view beginning);

}  // namespace kernelindex::ingest
