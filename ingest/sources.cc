// SPDX-License-Identifier: Apache-2.0
#include "ingest/sources.h"

#include <algorithm>
#include <array>

#include "ingest/catalog_row.h"

namespace kernelindex::ingest {
namespace {

bool contains_name(std::string_view text, std::string_view quoted_name) {
  return text.find(quoted_name) != std::string_view::npos;
}

bool begins_with_object(std::string_view text) {
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  return start != std::string_view::npos && text[start] == '{';
}

bool is_catalog(std::string_view beginning) {
  constexpr std::string_view kZstdMagic = "\x28\xB5\x2F\xFD";
  return beginning.starts_with(kZstdMagic) || table_of_line(beginning).has_value();
}

// The beginning may end inside the document, so that only names can be looked for.
bool is_run_page(std::string_view beginning) {
  return begins_with_object(beginning) && contains_name(beginning, "\"BenchmarkRun\"") &&
         contains_name(beginning, "\"run\"") && contains_name(beginning, "\"protocolDigest\"");
}

bool is_sol_dump(std::string_view beginning) {
  if (!begins_with_object(beginning) || is_catalog(beginning)) return false;
  const bool description = contains_name(beginning, "\"axes\"") &&
                           contains_name(beginning, "\"inputs\"") &&
                           contains_name(beginning, "\"name\"");
  return description || contains_name(beginning, "\"kernels\"") ||
         contains_name(beginning, "\"submissions\"");
}

bool is_flashinfer_tree(std::string_view) { return false; }

constexpr std::array<SourceInfo, 4> kSources = {{
    {ImporterName::kernelindex_catalog, "kernelindex-catalog", "KernelIndex catalog export",
     "an export's JSON lines, bare or compressed with zstd", "kernelindex-catalog", "1",
     "https://github.com/SamMausberg/KernelIndex", "Apache-2.0",
     "The facts in an export keep the terms of the sources they came from.", "KernelIndex",
     is_catalog},
    {ImporterName::kernelindex_run, "kernelindex-run", "KernelIndex run page",
     "the {run, protocol, environment} document of a run page", "kernelindex-run", "1",
     "https://github.com/SamMausberg/KernelIndex", "Apache-2.0",
     "The facts of a run keep the terms of the source they came from.", "KernelIndex", is_run_page},
    {ImporterName::sol_execbench, "sol-execbench", "NVIDIA SOL-ExecBench",
     "saved answers of the leaderboard: the list of kernels, kernels, pages of submissions",
     "sol-execbench", "1", "https://research.nvidia.com/benchmarks/sol-execbench", "none stated",
     "Facts of a public leaderboard, shown with attribution. Nothing of the data set of its "
     "kernels "
     "may be redistributed.",
     "NVIDIA SOL-ExecBench", is_sol_dump},
    {ImporterName::flashinfer_bench, "flashinfer-bench", "FlashInfer-Bench",
     "definitions, solutions, workloads and traces of the data set flashinfer-trace",
     "flashinfer-bench", "3", "https://huggingface.co/datasets/flashinfer-ai/flashinfer-trace",
     "Apache-2.0",
     "Redistribution and display permitted with the licence's notice. Traces of solutions that "
     "models wrote are labelled with their author.",
     "FlashInfer-Bench (flashinfer-ai/flashinfer-trace)", is_flashinfer_tree},
}};

}  // namespace

std::span<const SourceInfo> sources() { return kSources; }

const SourceInfo* find_source(std::string_view name) {
  const auto* found = std::ranges::find(kSources, name, &SourceInfo::name);
  return found == kSources.end() ? nullptr : found;
}

const SourceInfo* recognise_source(std::string_view beginning) {
  const auto* found = std::ranges::find_if(
      kSources, [&](const SourceInfo& source) { return source.recognises(beginning); });
  return found == kSources.end() ? nullptr : found;
}

}  // namespace kernelindex::ingest
