// SPDX-License-Identifier: Apache-2.0
// The sources that can be imported: how each is called, whose it is, under which terms its facts
// are, and how its files are known.
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
  gpumode_kernelbot,
  liger_kernel_bench,
  mlperf_inference,
  kernelbench,
  kernelindex_ledger,
};

struct SourceInfo {
  ImporterName importer{};
  std::string_view name;  // slug: whose claims these are
  std::string_view word;  // after `import`; the slug is taken too
  std::string_view title;
  std::string_view kind;    // in a catalog: leaderboard, benchmark; empty: of no numbers of its own
  std::string_view input;   // what to give it
  std::string_view parser;  // named in import statements
  std::string_view parser_version;  // rises when the same bytes would give other documents
  std::string_view url;
  std::string_view license;      // of the facts, as the source states it
  std::string_view terms;        // what it asks of whoever shows them
  std::string_view attribution;  // how it is named beside them
  // What an importer makes of a file depends on its path too, so that reports keep the paths.
  bool reads_locators = false;
  // Whether a file that begins so belongs to the source. `beginning` is at least the first 64 KiB,
  // or the whole file when it is shorter. Sources whose files look alike say no: see
  // recognise_files().
  bool (*recognises)(std::string_view beginning) = nullptr;
};

// In the order in which they are tried.
std::span<const SourceInfo> sources();
// By slug or word; null when there is none of that name.
const SourceInfo* find_source(std::string_view name);
const SourceInfo& source_of(ImporterName importer);
// Null when no source knows the file by itself.
const SourceInfo* recognise_source(std::string_view beginning);

}  // namespace kernelindex::ingest
