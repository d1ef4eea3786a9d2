// SPDX-License-Identifier: Apache-2.0
// One line of a trace file, as SOL-ExecBench and FlashInfer-Bench write it: a solution run on a
// workload, what came of it, and where. IMPORT section 5.8.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ingest/kernel_definition.h"
#include "ingest/source_item.h"
#include "schema/json_value.h"
#include "schema/result.h"

namespace kernelindex::ingest {

// All texts are views into the document that was read.
struct TraceEvaluation {
  std::string_view status;       // of the manifest: "passed"
  std::string_view log;          // empty when absent
  bool has_correctness = false;  // the errors below are absent where the source says "NaN"
  std::optional<double> max_relative_error;
  std::optional<double> max_absolute_error;
  std::optional<double> latency_ms;
  std::optional<double> reference_latency_ms;
  std::optional<double> speedup_factor;
  std::string_view hardware;
  std::span<const json::Member> libraries;  // texts, in the order of the source
  std::string_view timestamp;
};

struct Trace {
  std::string_view definition;
  std::string_view solution;  // empty when absent
  WorkloadEntry workload;
  // Absent: the line lists a workload of the definition, and nothing was run.
  std::optional<TraceEvaluation> evaluation;
};

// Checks the shape. An evaluation that is null, absent or an empty object is none; with a solution
// named that is the fault NO_EVALUATION. Other codes: BAD_SHAPE, UNKNOWN_STATUS, and NO_PERFORMANCE
// for a passed run without a latency.
Result<Trace> read_trace(const json::Value& item, DriftLog& drift);

}  // namespace kernelindex::ingest
