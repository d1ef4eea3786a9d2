// SPDX-License-Identifier: Apache-2.0
// Ids that a source gave its own results, recovered from what the forerunner wrote into manifests.
#pragma once

#include <string>
#include <string_view>

#include "schema/json_value.h"
#include "schema/manifest.h"

namespace kernelindex::ingest {

// "submission/15866" of a SOL-ExecBench run, "submission/18667/benchmark/1" or
// "submission/555004/leaderboard" of a KernelBot one; empty when the manifest does not tell.
std::string upstream_run_id(const Manifest& run);

// "submission/15866", or the path of a FlashInfer-Bench solution; empty when the manifest does not
// tell. Requires: `document` is what `implementation` was made of.
std::string upstream_implementation_id(const Manifest& implementation, const json::Value& document);

// "<round>/<ID>/<Model>/<Scenario>" of an MLPerf result: its ID names a system and repeats.
// Requires: `document` is what `run` was made of.
std::string upstream_serving_run_id(const Manifest& run, const json::Value& document);

// The key that a case has by the axes in its title, "name · a=1, b=2"; empty when the title is cut,
// or when the first digits of the key are not those that end the case's name.
std::string key_by_title(const Manifest& workload_case);

// The key that a KernelBot case has by its axes, "k7168-m1024"; empty when its name does not end
// so.
std::string key_by_axes(const Manifest& workload_case, const json::Value& document);

}  // namespace kernelindex::ingest
