// SPDX-License-Identifier: Apache-2.0
// What differs between the sources whose results are traces of solutions.
#pragma once

#include <string>
#include <string_view>

#include "ingest/benchmark_tree.h"
#include "schema/json_value.h"
#include "schema/manifest.h"
#include "schema/result.h"

namespace kernelindex::ingest {

// A solution as manifests, and how its source names it.
struct SolutionManifests {
  Manifest project;
  Manifest implementation;
  std::string project_slug;
  std::string slug;
  std::string external_id;
  bool hardware_listed = true;
};

class TraceDialect {
 public:
  virtual ~TraceDialect() = default;
  virtual std::string_view source() const = 0;    // slug
  virtual std::string operation_url() const = 0;  // metadata.sourceRefs of operations
  virtual Result<Manifest> protocol(json::Arena& arena) const = 0;
  // `locator` is the path of the solution's file. Error NO_PINNED_COMMIT when no commit was given:
  // the path alone does not say which source it was.
  virtual Result<SolutionManifests> solution(const SolutionRecord& record,
                                             const std::string& locator,
                                             const KernelDefinition& kernel,
                                             const Digest& operation, json::Arena& arena) const = 0;
};

// hardwareArchitectures, productsTested and dtypes of a solution: of the hardware that it names but
// "LOCAL", architecture "unknown" when it names none; of the definition's inputs.
json::Value solution_support(const SolutionDocument& solution, const KernelDefinition& kernel,
                             json::Arena& arena);
// Whether every device that it names is in the table of hardware.
bool is_hardware_listed(const SolutionDocument& solution);

// 40 lower-case hex digits.
bool is_commit(std::string_view text);
Error no_pinned_commit(std::string_view option);

}  // namespace kernelindex::ingest
