// SPDX-License-Identifier: Apache-2.0
// A kernel's description as manifests: the operation, its cases, and the suite of them. Used by
// every source that shares SOL-ExecBench's definitions. IMPORT sections 5.2 to 5.4.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/kernel_definition.h"
#include "schema/json_value.h"
#include "schema/manifest.h"
#include "schema/result.h"

namespace kernelindex::ingest {

// `tags` are the kernel's own, or those of the list it stands in. Texts and values are built in
// `arena`, which may be reset afterwards.
Result<Manifest> make_operation(const KernelDefinition& kernel,
                                std::span<const std::string_view> tags, std::string_view source_url,
                                json::Arena& arena);

// Requires: key == key_of(entry).
Result<Manifest> make_case(const KernelDefinition& kernel, const Digest& operation,
                           const WorkloadEntry& entry, std::string_view key, json::Arena& arena);

// Lists every entry in the order of the source, repeated ones too. Requires: keys[i] is the key of
// workloads[i].
Result<Manifest> make_suite(const KernelDefinition& kernel, const Digest& operation,
                            std::span<const std::string> keys, json::Arena& arena);

// The tags that are shown: without the markers of subsets, model names and others as slugs, each
// once.
std::vector<std::string> shown_tags(std::span<const std::string_view> tags);

}  // namespace kernelindex::ingest
