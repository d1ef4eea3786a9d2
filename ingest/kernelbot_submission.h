// SPDX-License-Identifier: Apache-2.0
// One row of the KernelBot data set: its two shapes, whether it counts, and what manifests it
// becomes. IMPORT section 7.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/kernelbot_board.h"
#include "ingest/source_item.h"
#include "schema/json_value.h"
#include "schema/manifest.h"
#include "schema/result.h"

namespace kernelindex::ingest {

// The statistics of one case, in nanoseconds.
struct KernelbotBenchmark {
  AxisValues axes;
  std::string title_axes;  // "k=7168, m=1024", in the order of the source
  double mean_ns = 0;
  std::optional<double> best_ns;
  std::optional<double> worst_ns;
  std::optional<double> std_ns;
  std::optional<double> runs;
};

// All texts are views into the document that was read.
struct KernelbotSubmission {
  std::int64_t id = 0;
  std::optional<std::int64_t> board_id;  // a row of the per-shape boards has no other name of it
  std::string_view board_name;           // of the others
  std::string user_id;
  std::string_view user_name;  // trimmed; empty when absent
  std::string_view submitted_at;
  std::string_view file_name;  // empty when absent
  std::string_view code;       // empty when absent or cut off
  std::string_view mode;
  bool passed = false;
  std::optional<double> score;  // seconds
  std::string_view runner;      // empty when absent
  std::string_view torch;       // run_system_info, of per-shape rows
  std::string_view platform;
  const json::Value* result = nullptr;  // run_result of a per-shape row
};

// `code_is_cut` when the page says that the cell was truncated.
Result<KernelbotSubmission> read_kernelbot_submission(const json::Value& row, bool code_is_cut,
                                                      DriftLog& drift);

// Why a row does not count: not_leaderboard_mode, not_passed, no_score; empty when it does.
std::string_view kernelbot_skip_reason(const KernelbotSubmission& submission);

// The cases that run_result lists. Error BAD_RUN_RESULT: one that cannot be read spoils them all.
Result<std::vector<KernelbotBenchmark>> read_kernelbot_benchmarks(const json::Value& result);

Result<Manifest> make_kernelbot_project(const KernelbotSubmission& submission, json::Arena& arena);

// What an implementation names of its source; of a submission whose code is not there, nothing.
struct KernelbotSource {
  Digest digest;
  std::string_view file_name;  // empty when absent
  double bytes = 0;
};
std::optional<KernelbotSource> source_of(const KernelbotSubmission& submission);

Result<Manifest> make_kernelbot_implementation(const KernelbotBoard& board,
                                               const KernelbotSubmission& submission,
                                               const std::optional<KernelbotSource>& source,
                                               const Digest& operation, std::string_view runner,
                                               json::Arena& arena);

struct KernelbotRunParts {
  Digest implementation;
  Digest workload;
  Digest protocol;
  Digest environment;
};
struct KernelbotRun {
  Manifest manifest;
  bool zone_assumed = false;
};
// The score of a whole suite.
Result<KernelbotRun> make_kernelbot_score(const KernelbotBoard& board,
                                          const KernelbotSubmission& submission,
                                          const KernelbotRunParts& parts, json::Arena& arena);
// The time of one case, the `index`th of the submission.
Result<KernelbotRun> make_kernelbot_timing(const KernelbotBoard& board,
                                           const KernelbotSubmission& submission, std::size_t index,
                                           const KernelbotBenchmark& benchmark,
                                           const KernelbotRunParts& parts, json::Arena& arena);

}  // namespace kernelindex::ingest
