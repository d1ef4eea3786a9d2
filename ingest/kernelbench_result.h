// SPDX-License-Identifier: Apache-2.0
// One timing of a KernelBench baseline and what it becomes once its problem has an operation.
// IMPORT section 10.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ingest/source_item.h"
#include "schema/json_value.h"
#include "schema/manifest.h"
#include "schema/result.h"

namespace kernelindex::ingest {

// Texts are views into the document that was read; times in milliseconds.
struct KernelbenchResult {
  double mean = 0;
  std::optional<double> std;
  std::optional<double> min;
  std::optional<double> max;
  std::optional<double> trials;
  std::string_view hardware;
};
Result<KernelbenchResult> read_kernelbench_result(const json::Value& item, DriftLog& drift);

// Where a result stands: of which file, and for which problem.
struct KernelbenchProblem {
  std::string host;     // folder of the file, "H100_Modal"
  std::string variant;  // "torch_compile_inductor_default"
  std::string level;    // "level1"
  std::string name;     // "1_Square_matrix_multiplication_", without ".py"

  std::string id() const;  // "H100_Modal/torch/level1/1_Square_matrix_multiplication_"
};
// The name that the operation of a problem has; its suite has "-suite" behind it.
std::string kernelbench_operation_name(std::string_view level, std::string_view problem);

struct KernelbenchManifests {
  Manifest project;
  Manifest implementation;
  Manifest protocol;
  Manifest environment;
  Manifest run;
  bool hardware_listed = true;
};
// `observed_at` is an instant that the operator gave: the source states none.
Result<KernelbenchManifests> make_kernelbench_result(const KernelbenchResult& result,
                                                     const KernelbenchProblem& problem,
                                                     const Digest& operation, const Digest& suite,
                                                     std::string_view observed_at,
                                                     json::Arena& arena);

}  // namespace kernelindex::ingest
