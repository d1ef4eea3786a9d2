// SPDX-License-Identifier: Apache-2.0
// One submission of the SOL-ExecBench leaderboard: its shape, which submissions are chosen, and
// what manifests a chosen one becomes. IMPORT sections 5.1, 5.5 and 5.6.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/kernel_definition.h"
#include "schema/manifest.h"
#include "schema/result.h"

namespace kernelindex::ingest {

// All texts are views into the document that was read.
struct Submission {
  std::int64_t id = 0;
  std::int64_t kernel_id = 0;
  std::string_view username;
  std::string_view kernel_name;
  std::string_view status;
  std::string_view gpu_type;
  std::string_view mode;   // empty when absent
  std::string_view stack;  // evaluation_stack_version; empty when absent
  std::string_view worker;
  bool correct = false;
  bool disqualified = false;
  std::string_view disqualification;  // the reason; empty when absent
  std::optional<double> sol_score;
  std::optional<double> latency_ms;
  std::optional<double> avg_speedup;
  std::optional<double> fast_1_count;
  std::optional<double> fast_1_total;
  std::optional<std::string_view> submitted_at;
  std::optional<std::string_view> finished_at;
};

Result<Submission> read_submission(const json::Value& item, DriftLog& drift);

// How settled what a record says is: of two records of one id the more settled one counts.
enum class SubmissionState : std::uint8_t { in_flight, final_state, disqualified };
SubmissionState state_of(const Submission& submission);

// What becomes of a submission. The names are the reasons in the report.
enum class Selection : std::uint8_t {
  usable,
  disqualified,
  unfinished,
  incorrect,
  filtered,
  reviewed_implausible,  // faster than the speed of light, and a person found it false
  implausible,           // faster than the speed of light
};
std::string_view selection_name(Selection selection);

// `stack` filters when not empty; `bound_ms` is speed_of_light_ms() of the kernel.
Selection judge_submission(const Submission& submission, std::string_view stack,
                           std::optional<double> bound_ms);

// The manifests of one submission. Whoever reads the same user or stack twice makes the same
// documents twice.
struct SubmissionManifests {
  Manifest project;
  Manifest implementation;
  Manifest protocol;
  Manifest environment;
  Manifest run;
  std::string project_slug;
  std::string implementation_slug;
  bool zone_assumed = false;
  bool hardware_listed = true;
};

// NO_TIME when the submission has neither a finishing nor a submission time: an instant of our own
// would give it a new digest at each import.
Result<SubmissionManifests> make_submission(const Submission& submission,
                                            const KernelDefinition& kernel, const Digest& operation,
                                            const Digest& suite, json::Arena& arena);

}  // namespace kernelindex::ingest
