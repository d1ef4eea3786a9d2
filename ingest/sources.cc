// SPDX-License-Identifier: Apache-2.0
#include "ingest/sources.h"

#include <algorithm>
#include <array>
#include <cassert>

#include "ingest/catalog_row.h"
#include "ingest/flashinfer_bench.h"
#include "ingest/gpumode_kernelbot.h"
#include "ingest/kernelbench.h"
#include "ingest/kernelindex_ledger.h"
#include "ingest/liger_kernel_bench.h"
#include "ingest/mlperf_inference.h"
#include "ingest/sol_files.h"

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

constexpr std::array<SourceInfo, 9> kSources = {{
    {.importer = ImporterName::kernelindex_catalog,
     .name = "kernelindex-catalog",
     .word = "kernelindex-catalog",
     .title = "KernelIndex catalog export",
     .kind = {},
     .input = "an export's JSON lines, bare or compressed with zstd",
     .parser = "kernelindex-catalog",
     .parser_version = "1",
     .url = "https://github.com/SamMausberg/KernelIndex",
     .license = "Apache-2.0",
     .terms = "The facts in an export keep the terms of the sources they came from.",
     .attribution = "KernelIndex",
     .recognises = is_catalog},
    {.importer = ImporterName::kernelindex_run,
     .name = "kernelindex-run",
     .word = "kernelindex-run",
     .title = "KernelIndex run page",
     .kind = {},
     .input = "the {run, protocol, environment} document of a run page",
     .parser = "kernelindex-run",
     .parser_version = "1",
     .url = "https://github.com/SamMausberg/KernelIndex",
     .license = "Apache-2.0",
     .terms = "The facts of a run keep the terms of the source they came from.",
     .attribution = "KernelIndex",
     .recognises = is_run_page},
    {.importer = ImporterName::kernelindex_ledger,
     .name = "kernelindex-ledger",
     .word = "kernelindex-ledger",
     .title = "KernelIndex ledger",
     .kind = {},
     .input = "the folder of another ledger",
     .parser = "kernelindex-ledger",
     .parser_version = "1",
     .url = "https://github.com/SamMausberg/KernelIndex",
     .license = "Apache-2.0",
     .terms = "The facts in a ledger keep the terms of the sources they came from.",
     .attribution = "KernelIndex",
     .recognises = is_ledger_stream},
    {.importer = ImporterName::mlperf_inference,
     .name = "mlperf-inference",
     .word = "mlperf",
     .title = "MLPerf Inference",
     .kind = "benchmark",
     .input = "summary_results.json of a round's results repository",
     .parser = "mlperf-inference",
     .parser_version = "1",
     .url = "https://mlcommons.org/benchmarks/inference-datacenter/",
     .license = "Apache-2.0",
     .terms = "Official published results are shown unmodified, with round, division, submitter, "
              "system and entry id, by the MLPerf results messaging guidelines.",
     .attribution = "MLPerf\xE2\x84\xA2 Inference results by MLCommons; MLPerf\xE2\x84\xA2 is a "
                    "trademark of MLCommons",
     .recognises = begins_mlperf_summary},
    {.importer = ImporterName::kernelbench,
     .name = "kernelbench",
     .word = "kernelbench",
     .title = "KernelBench baselines",
     .kind = "benchmark",
     .input = "results/timing of the repository, <host>/baseline_time_<variant>.json",
     .parser = "kernelbench",
     .parser_version = "1",
     .url = "https://github.com/ScalingIntelligence/KernelBench",
     .license = "MIT",
     .terms = "Redistribution with the licence's notice.",
     .attribution = "KernelBench (ScalingIntelligence)",
     .reads_locators = true,
     .recognises = begins_kernelbench_timings},
    {.importer = ImporterName::gpumode_kernelbot,
     .name = "gpumode-kernelbot",
     .word = "gpumode",
     .title = "GPU MODE KernelBot",
     .kind = "leaderboard",
     .input = "saved pages of the data set kernelbot-data, with the page of its boards",
     .parser = "gpumode-kernelbot",
     .parser_version = "2",
     .url = "https://huggingface.co/datasets/GPUMODE/kernelbot-data",
     .license = "June 9 Researcher Reciprocity License v1.0",
     .terms = "Redistribution and public display permitted with the notice kept and attribution; "
              "use for the training of models requires researcher reciprocity.",
     .attribution = "GPU Mode and the KernelBot dataset",
     .recognises = begins_kernelbot_page},
    {.importer = ImporterName::liger_kernel_bench,
     .name = "liger-kernel-bench",
     .word = "liger",
     .title = "Liger-Kernel benchmark",
     .kind = "benchmark",
     .input = "benchmark/data/*.csv of the repository",
     .parser = "liger-kernel-bench",
     .parser_version = "1",
     .url = "https://github.com/linkedin/Liger-Kernel",
     .license = "BSD-2-Clause",
     .terms = "Redistribution with the licence's notice.",
     .attribution = "Liger-Kernel (LinkedIn)",
     .recognises = begins_liger_table},
    {.importer = ImporterName::sol_execbench,
     .name = "sol-execbench",
     .word = "sol-execbench",
     .title = "NVIDIA SOL-ExecBench",
     .kind = "leaderboard",
     .input = "saved answers of the leaderboard: the list of kernels, kernels, pages of "
              "submissions; or definitions, workloads, solutions and traces of a local tree",
     .parser = "sol-execbench",
     .parser_version = "1",
     .url = "https://research.nvidia.com/benchmarks/sol-execbench",
     .license = "none stated",
     .terms = "Facts of a public leaderboard, shown with attribution. Nothing of the data set of "
              "its kernels may be redistributed. The repository's examples: Apache-2.0.",
     .attribution = "NVIDIA SOL-ExecBench",
     .reads_locators = true,
     .recognises = begins_sol_dump},
    {.importer = ImporterName::flashinfer_bench,
     .name = "flashinfer-bench",
     .word = "flashinfer-bench",
     .title = "FlashInfer-Bench",
     .kind = "benchmark",
     .input = "definitions, solutions, workloads and traces of the data set flashinfer-trace, with "
              "its info.json",
     .parser = "flashinfer-bench",
     .parser_version = "3",
     .url = "https://huggingface.co/datasets/flashinfer-ai/flashinfer-trace",
     .license = "Apache-2.0",
     .terms = "Redistribution and display permitted with the licence's notice. Traces of solutions "
              "that models wrote are labelled with their author.",
     .attribution = "FlashInfer-Bench (flashinfer-ai/flashinfer-trace)",
     .reads_locators = true,
     .recognises = begins_data_set_info},
}};

}  // namespace

std::span<const SourceInfo> sources() { return kSources; }

const SourceInfo* find_source(std::string_view name) {
  const auto* found = std::ranges::find_if(kSources, [&](const SourceInfo& source) {
    return source.name == name || source.word == name;
  });
  return found == kSources.end() ? nullptr : found;
}

const SourceInfo& source_of(ImporterName importer) {
  const auto* found = std::ranges::find(kSources, importer, &SourceInfo::importer);
  assert(found != kSources.end());
  return *found;
}

const SourceInfo* recognise_source(std::string_view beginning) {
  const auto* found = std::ranges::find_if(
      kSources, [&](const SourceInfo& source) { return source.recognises(beginning); });
  return found == kSources.end() ? nullptr : found;
}

}  // namespace kernelindex::ingest
