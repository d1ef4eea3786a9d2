// SPDX-License-Identifier: Apache-2.0
// One result of an MLPerf Inference round: its shape, which results are chosen, and what manifests
// a chosen one becomes. IMPORT section 9.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ingest/source_item.h"
#include "schema/json_value.h"
#include "schema/manifest.h"
#include "schema/result.h"

namespace kernelindex::ingest {

// What ends the name of a submitter's project.
inline constexpr std::string_view kMlperfSubmitter = " (MLPerf submitter)";

// All texts are views into the document that was read.
struct MlperfResult {
  std::string_view id;  // of a system, not of a result: "5.1-0001"
  std::string_view submitter;
  std::string_view availability;
  std::string_view system;
  std::string_view model;
  std::string_view scenario;
  std::string_view accelerator;
  std::string_view software;
  std::string_view units;
  std::string_view round;  // "v5.1"
  double nodes = 0;
  double accelerators = 0;  // of each node
  double performance = 0;
  std::optional<std::string_view> weight_data_types;
  std::optional<std::string_view> notes;
  std::optional<std::string_view> details;  // URL
};

// Why a result is not one of those that are imported, the names of the forerunner's report; empty
// when it is. Loose: members of other types than documented count as other values.
std::string_view mlperf_skip_reason(const json::Value& item);

Result<MlperfResult> read_mlperf_result(const json::Value& item, DriftLog& drift);

struct MlperfManifests {
  Manifest model;
  Manifest project;
  Manifest stack;
  Manifest configuration;
  Manifest workload;
  Manifest run;
  std::string model_slug;
  std::string project_slug;
  std::string stack_slug;
  std::string workload_slug;
  std::string external_id;  // "v5.1/5.1-0001/llama2-70b-99/Server"
  bool has_limits = true;   // the table has the scenario
};

// Error UNKNOWN_ROUND: when the round was published is not known, and that is the time of its runs.
// Requires: mlperf_skip_reason() is empty.
Result<MlperfManifests> make_mlperf_result(const MlperfResult& result, json::Arena& arena);

}  // namespace kernelindex::ingest
