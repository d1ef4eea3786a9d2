// SPDX-License-Identifier: Apache-2.0
#include "ingest/recognise.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "ingest/benchmark_tree.h"
#include "ingest/json_items.h"

namespace kernelindex::ingest {
namespace {

bool has_folder(std::string_view locator, std::string_view folder) {
  const std::string inner = "/" + std::string(folder) + "/";
  return locator.starts_with(inner.substr(1)) || locator.find(inner) != std::string_view::npos;
}

// Of a solution, the member that only one of the two sources has.
std::optional<ImporterName> source_by_content(std::string_view beginning) {
  if (beginning.find("\"languages\"") != std::string_view::npos) return ImporterName::sol_execbench;
  if (beginning.find("\"language\"") != std::string_view::npos) {
    return ImporterName::flashinfer_bench;
  }
  return std::nullopt;
}

std::optional<ImporterName> source_by_name(std::string_view locator) {
  constexpr std::array<std::string_view, 4> kFolders = {"definitions", "solutions", "workloads",
                                                        "traces"};
  for (const std::string_view folder : kFolders) {
    if (has_folder(locator, folder)) return ImporterName::flashinfer_bench;
  }
  const std::string_view base = locator.substr(locator.rfind('/') + 1);
  if (base == "definition.json" || base == "workload.jsonl") return ImporterName::sol_execbench;
  return std::nullopt;
}

struct Part {
  std::size_t file = 0;
  std::string directory;
  std::optional<ImporterName> source;
};

// By what stands in the same directory and tells by its content, by names, by the nearest that
// tells; else the source that takes any layout.
void decide(std::span<const RecordedFile> files, std::vector<Part>& parts) {
  const std::vector<Part> told = parts;
  const auto nearest = [&](const Part& part, bool same_directory) -> std::optional<ImporterName> {
    const Part* best = nullptr;
    std::size_t most = 0;
    for (const Part& other : told) {
      if (!other.source || (same_directory && other.directory != part.directory)) continue;
      const std::size_t common = common_folders(part.directory, other.directory);
      if (best != nullptr && common <= most) continue;
      best = &other;
      most = common;
    }
    return best == nullptr ? std::nullopt : best->source;
  };
  for (Part& part : parts) {
    if (!part.source) part.source = nearest(part, true);
    if (!part.source) part.source = source_by_name(files[part.file].locator);
    if (!part.source) part.source = nearest(part, false);
    if (!part.source) part.source = ImporterName::sol_execbench;
  }
}

void add(Recognition& out, const SourceInfo& source, std::size_t file) {
  const bool one_file = source.importer == ImporterName::kernelindex_catalog;
  const auto known = std::ranges::find(out.sources, &source, &RecognisedFiles::source);
  if (one_file || known == out.sources.end()) {
    out.sources.push_back({&source, {file}});
  } else {
    known->files.push_back(file);
  }
}

}  // namespace

Result<Recognition> recognise_files(std::span<const RecordedFile> files) {
  Recognition out;
  std::vector<Part> parts;
  std::vector<std::pair<std::size_t, const SourceInfo*>> claimed;
  for (std::size_t file = 0; file < files.size(); ++file) {
    const Result<std::string> beginning = read_beginning(files[file], kBeginningBytes);
    if (!beginning) return fail(beginning.error());
    if (begins_benchmark_tree(*beginning, files[file].locator)) {
      parts.push_back({file, directory_of(files[file].locator), source_by_content(*beginning)});
    } else if (const SourceInfo* source = recognise_source(*beginning)) {
      claimed.emplace_back(file, source);
    } else {
      out.unclaimed.push_back(file);
    }
  }
  decide(files, parts);
  for (const Part& part : parts) claimed.emplace_back(part.file, &source_of(*part.source));
  std::ranges::sort(claimed);
  for (const auto& [file, source] : claimed) add(out, *source, file);
  return out;
}

}  // namespace kernelindex::ingest
