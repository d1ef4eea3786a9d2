// SPDX-License-Identifier: Apache-2.0
#include "tools/run_options.h"

#include <utility>

namespace kernelindex::tools {
namespace {

// A day, or an instant.
Result<std::optional<UtcMicros>> read_time(const Arguments& arguments, std::string_view option) {
  if (!arguments.given(option)) return std::nullopt;
  const std::string text = arguments.text(option);
  constexpr std::size_t kDayBytes = 10;  // 2026-06-29
  const Result<UtcMicros> time =
      parse_utc_instant(text.size() == kDayBytes ? text + "T00:00:00Z" : text);
  if (time) return *time;
  return fail(ErrorKind::usage, "USAGE", "", std::string(option) + ": '" + text + "' is no time",
              "Write it like 2026-06-29 or 2026-06-29T21:49:23Z");
}

// Option names of ids, the kind that each must name, and where it goes.
using IdOption = std::pair<std::string_view, std::optional<Digest> RunFilter::*>;

ManifestKind kind_of(std::string_view option) {
  if (option == "--operation") return ManifestKind::operation_spec;
  return option == "--project" ? ManifestKind::software_project
                               : ManifestKind::implementation_revision;
}

std::optional<Level> level_from_name(std::string_view name) {
  for (const Level level :
       {Level::none, Level::reported, Level::reproducible, Level::verified, Level::replicated}) {
    if (level_name(level) == name) return level;
  }
  return std::nullopt;
}

}  // namespace

ReadPolicy read_policy(const Arguments& arguments) {
  ReadPolicy policy;
  policy.ranking = policy_from_name(arguments.text("--ranking")).value_or(RankingPolicy::v1);
  policy.as_of = arguments.count("--as-of");
  return policy;
}

Result<RunFilter> read_filter(const Reader& reader, const Arguments& arguments) {
  RunFilter filter;
  filter.source = arguments.text("--source");
  filter.hardware = arguments.text("--hardware");
  filter.status = arguments.text("--status");
  filter.level = level_from_name(arguments.text("--level"));
  for (const auto& [option, member] : {IdOption{"--operation", &RunFilter::operation},
                                       IdOption{"--implementation", &RunFilter::implementation},
                                       IdOption{"--project", &RunFilter::project}}) {
    if (!arguments.given(option)) continue;
    const Result<Candidate> found =
        identify(reader, arguments.text(option), {Named::manifest}, kind_of(option));
    if (!found) return fail_in(std::string(option), found.error());
    filter.*member = found->digest;
  }
  const Result<std::optional<UtcMicros>> since = read_time(arguments, "--since");
  if (!since) return fail(since.error());
  const Result<std::optional<UtcMicros>> until = read_time(arguments, "--until");
  if (!until) return fail(until.error());
  filter.since = *since;
  filter.until = *until;
  return filter;
}

Result<Digest> identify_group(const Reader& reader, const std::string& text) {
  const Result<Candidate> found = identify(reader, text, {Named::comparison_key, Named::manifest});
  if (!found) return fail(found.error());
  if (found->what == Named::comparison_key) return found->digest;
  const bool run =
      found->kind == ManifestKind::benchmark_run || found->kind == ManifestKind::serving_run;
  if (!run) {
    return fail(ErrorKind::invalid, "NOT_A_RUN", text,
                "this is a " + std::string(found->kind ? kind_name(*found->kind) : "document") +
                    ", and history is of a run or a comparison key",
                "'kernelindex runs' finds the runs of an operation or implementation");
  }
  const Result<RunView> view = view_run(reader, found->digest);
  if (!view) return fail(view.error());
  if (view->row.group) return *view->row.group;
  return fail(ErrorKind::not_found, "WORKLOAD_MISSING", text,
              "the run's workload " + view->row.workload.text() +
                  " is not in the ledger, so it has no comparison key yet",
              "Record the workload; the key follows by itself");
}

}  // namespace kernelindex::tools
