// SPDX-License-Identifier: Apache-2.0
#include "ingest/catalog_sources.h"

#include <utility>

namespace kernelindex::ingest {
namespace {

using PrefixToSource = std::pair<std::string_view, std::string_view>;

constexpr PrefixToSource kUrls[] = {
    {"https://research.nvidia.com/benchmarks/sol-execbench", "sol-execbench"},
    {"https://github.com/gpu-mode/reference-kernels", "gpumode-kernelbot"},
    {"https://huggingface.co/datasets/flashinfer-ai/flashinfer-trace", "flashinfer-bench"},
    {"https://github.com/linkedin/Liger-Kernel", "liger-kernel-bench"},
    {"https://github.com/mlcommons", "mlperf-inference"},
    {"https://mlcommons.org", "mlperf-inference"},
};

constexpr PrefixToSource kSlugs[] = {
    {"sol-user-", "sol-execbench"},           {"nvidia-sol-execbench", "sol-execbench"},
    {"kernelbot-user-", "gpumode-kernelbot"}, {"flashinfer-", "flashinfer-bench"},
    {"liger-", "liger-kernel-bench"},         {"mlperf-", "mlperf-inference"},
};

template <std::size_t N>
std::string_view source_by_prefix(const PrefixToSource (&table)[N], std::string_view text) {
  for (const auto& [prefix, source] : table) {
    if (text.starts_with(prefix)) return source;
  }
  return kCatalogSource;
}

}  // namespace

std::string catalog_external_id(const Uuid& row) {
  return std::string(kCatalogSource) + ":" + row.text();
}

std::optional<Uuid> catalog_row_id(std::string_view external_id) {
  if (!external_id.starts_with(kCatalogSource)) return std::nullopt;
  external_id.remove_prefix(kCatalogSource.size());
  if (!external_id.starts_with(':')) return std::nullopt;
  return Uuid::parse(external_id.substr(1));
}

std::string_view source_of_operation(const json::Value& manifest) {
  const json::Value* refs = manifest.find({"metadata", "sourceRefs"});
  if (refs == nullptr || !refs->is_array() || refs->array().empty()) return kCatalogSource;
  return source_by_prefix(kUrls, refs->array()[0].text("url"));
}

std::string_view source_of_slug(std::string_view slug) { return source_by_prefix(kSlugs, slug); }

}  // namespace kernelindex::ingest
