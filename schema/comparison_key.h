// SPDX-License-Identifier: Apache-2.0
// Comparison keys: the digest that names a comparison group (cohort). Runs are ranked only inside
// one group. DESIGN section 4; serving cohorts: IMPORT section 4.
#pragma once

#include <optional>
#include <string>

#include "schema/digest.h"
#include "schema/json_value.h"
#include "schema/manifest.h"

namespace kernelindex {

// SHA-256 of the canonical {"correctness": <spec.correctness of a workload>}.
Digest correctness_key(const json::Value& correctness);

// The key of a benchmark run, once its workload is known. The implementation is not part of it:
// implementations are what a group compares. Metric "none" when the run has no primary measurement.
Digest comparison_key(const BenchmarkRunFacts& run, const WorkloadFacts& workload);

// How a serving run was measured: "mlperf_loadgen/v5.1/unspecified/streaming/open_loop".
std::string serving_protocol_key(const ServingRunFacts& run, const ServingWorkloadFacts& workload);

// The key of a serving run's cohort; never equal to a comparison key. The tokenizer is null in the
// canonical text, not absent, when the model names none.
Digest cohort_key(const ServingRunFacts& run, const ServingWorkloadFacts& workload,
                  const std::optional<std::string>& tokenizer);

}  // namespace kernelindex
