// SPDX-License-Identifier: Apache-2.0
// The boards of GPU MODE's KernelBot whose submissions can be imported, from the curated table, and
// what each becomes by itself: its operation, its suite, its protocol. IMPORT section 7.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/curated_operation.h"
#include "ingest/token_map.h"
#include "schema/json_value.h"
#include "schema/manifest.h"
#include "schema/result.h"

namespace kernelindex::ingest {

struct KernelbotBoard {
  std::string_view name;
  std::string_view task_path;  // in gpu-mode/reference-kernels
  std::vector<std::string_view> tags;
  CuratedOperation operation;
  bool per_shape = false;              // results of each case; else one score for the suite
  std::string_view statistic;          // of the score: "geomean"; empty for a per-shape board
  const json::Value* cases = nullptr;  // of the suite; null for a per-shape board
};

// In the order of the table.
const std::vector<KernelbotBoard>& kernelbot_boards();
// Null when the board is not curated.
const KernelbotBoard* find_kernelbot_board(std::string_view name);

Result<Manifest> make_kernelbot_operation(const KernelbotBoard& board, json::Arena& arena);
// Requires: a board with one score.
Result<Manifest> make_kernelbot_suite(const KernelbotBoard& board, const Digest& operation,
                                      json::Arena& arena);
Result<Manifest> make_kernelbot_case(const KernelbotBoard& board, const Digest& operation,
                                     const AxisValues& axes, const std::string& title_axes,
                                     json::Arena& arena);
Result<Manifest> make_kernelbot_protocol(const KernelbotBoard& board, json::Arena& arena);

// The device behind a runner's name, in the words of KernelBot.
Hardware kernelbot_hardware(std::string_view runner);
// A board with one score is comparable only within one kind of runner, which the environment names.
Result<Manifest> make_kernelbot_environment(const KernelbotBoard& board, std::string_view runner,
                                            json::Arena& arena);

}  // namespace kernelindex::ingest
