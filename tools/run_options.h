// SPDX-License-Identifier: Apache-2.0
// The options that choose runs and how they are judged, shared by history, runs, records and diff.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "ledger/identify.h"
#include "ledger/query.h"
#include "schema/result.h"
#include "tools/run_filter.h"
#include "tools/verb.h"

namespace kernelindex::tools {

// Options in the order of the help; to be joined with those of a verb.
inline constexpr std::array kPolicyOptions = std::to_array<OptionSpec>({
    {.name = "--ranking",
     .value = "POLICY",
     .help = "how runs are ranked; by default ranking-v1",
     .kind = ValueKind::choice,
     .choices = "ranking-v0|ranking-v1"},
    {.name = "--as-of",
     .value = "SIZE",
     .help = "answer as the log stood when it had so many entries",
     .kind = ValueKind::count},
});

inline constexpr std::array kFilterOptions = std::to_array<OptionSpec>({
    {.name = "--source", .value = "SLUG", .help = "runs of this source"},
    {.name = "--operation", .value = "ID", .help = "runs of this operation"},
    {.name = "--implementation", .value = "ID", .help = "runs of this implementation"},
    {.name = "--project", .value = "ID", .help = "runs of this project's implementations"},
    {.name = "--hardware",
     .value = "TEXT",
     .help = "runs on this product, such as 'NVIDIA B200'; case does not matter"},
    {.name = "--status", .value = "STATUS", .help = "runs with this status, such as passed"},
    {.name = "--level",
     .value = "LEVEL",
     .help = "runs of exactly this evidence level",
     .kind = ValueKind::choice,
     .choices = "none|reported|reproducible|verified|replicated"},
    {.name = "--since", .value = "TIME", .help = "observed at or after this day or UTC instant"},
    {.name = "--until", .value = "TIME", .help = "observed before this day or UTC instant"},
});

template <std::size_t... sizes>
constexpr auto joined(const std::array<OptionSpec, sizes>&... parts) {
  std::array<OptionSpec, (sizes + ...)> all{};
  std::size_t at = 0;
  const auto append = [&](const auto& part) {
    for (const OptionSpec& option : part) all[at++] = option;
  };
  (append(parts), ...);
  return all;
}

// Requires: the verb has kPolicyOptions.
ReadPolicy read_policy(const Arguments& arguments);
// Requires: the verb has kFilterOptions. Ids are looked up. Errors: those of identify(), and usage
// for a time that is none.
Result<RunFilter> read_filter(const Reader& reader, const Arguments& arguments);

}  // namespace kernelindex::tools
