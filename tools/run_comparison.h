// SPDX-License-Identifier: Apache-2.0
// Runs side by side: what they share and where they part, field by field, and whether their numbers
// may be ranked at all. What the verb `compare`, the comparison page and the API show.
//
// Runs are ranked only inside one comparison group (DESIGN section 4); in a source-native group
// only among those of one source (section 9). Elsewhere no winner is named: the first field of the
// comparison key that differs is.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/query.h"
#include "tools/json_output.h"

namespace kernelindex::tools {

inline constexpr std::size_t kComparedRunsMin = 2;
inline constexpr std::size_t kComparedRunsMax = 8;

struct ComparedRow {
  std::string section;  // operation, workload, protocol, environment, correctness, ...
  std::string name;
  std::vector<std::string> values;  // one a run; empty where a run says nothing
  bool digest = false;              // the values are digests
  bool material = false;            // part of the comparison key: a difference forbids a ranking
  bool differs = false;
};

struct RunComparison {
  std::vector<RunView> runs;                  // as asked
  std::vector<ComparedRow> rows;              // material sections first, in the order of the key
  std::optional<std::size_t> first_mismatch;  // of `rows`, material
  // Why no winner is named; empty when there is one.
  std::string refusal;
  std::optional<std::size_t> winner;  // of `runs`: alone in front among the eligible

  bool comparable() const { return !first_mismatch && refusal.empty(); }
};

// Errors: TOO_FEW_RUNS, TOO_MANY_RUNS, SAME_RUN (usage), NOT_A_BENCHMARK_RUN (invalid), those of
// view_run().
Result<RunComparison> compare_runs(const Reader& reader, std::span<const Digest> runs,
                                   const ReadPolicy& policy = {});

// One sentence: who is in front and by how much, or why that is not said.
std::string comparison_verdict(const RunComparison& comparison);

// A table in GitHub's Markdown, RFC 4180 CSV (a cell that a spreadsheet would take for a formula
// gets a leading apostrophe), and one document.
std::string comparison_markdown(const RunComparison& comparison);
std::string comparison_csv(const RunComparison& comparison);
json::Value comparison_document(const JsonOutput& json, const RunComparison& comparison);

}  // namespace kernelindex::tools
