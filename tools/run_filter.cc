// SPDX-License-Identifier: Apache-2.0
#include "tools/run_filter.h"

#include <utility>

#include "ledger/identify.h"

namespace kernelindex::tools {
namespace {

// A day, or an instant.
Result<std::optional<UtcMicros>> read_time(const std::string& text, const std::string& name) {
  if (text.empty()) return std::nullopt;
  constexpr std::size_t kDayBytes = 10;  // 2026-06-29
  const Result<UtcMicros> time =
      parse_utc_instant(text.size() == kDayBytes ? text + "T00:00:00Z" : text);
  if (time) return *time;
  return fail(ErrorKind::usage, "USAGE", "", name + ": '" + text + "' is no time",
              "Write it like 2026-06-29 or 2026-06-29T21:49:23Z");
}

// Names of ids, the kind that each must name, and where it goes.
struct IdName {
  std::string_view name;
  ManifestKind kind;
  std::optional<Digest> RunFilter::*member;
};
constexpr IdName kIds[] = {
    {"operation", ManifestKind::operation_spec, &RunFilter::operation},
    {"implementation", ManifestKind::implementation_revision, &RunFilter::implementation},
    {"project", ManifestKind::software_project, &RunFilter::project},
};

}  // namespace

std::optional<Level> level_from_name(std::string_view name) {
  for (const Level level :
       {Level::none, Level::reported, Level::reproducible, Level::verified, Level::replicated}) {
    if (level_name(level) == name) return level;
  }
  return std::nullopt;
}

Result<RunFilter> read_filter(const Reader& reader, const FilterText& text,
                              std::string_view prefix) {
  const std::string before(prefix);
  RunFilter filter;
  filter.source = text("source");
  filter.hardware = text("hardware");
  filter.status = text("status");
  const std::string level = text("level");
  filter.level = level_from_name(level);
  if (!level.empty() && !filter.level) {
    return fail(ErrorKind::usage, "USAGE", "", before + "level: '" + level + "' is no level",
                "It is one of none, reported, reproducible, verified and replicated");
  }
  for (const IdName& id : kIds) {
    const std::string value = text(id.name);
    if (value.empty()) continue;
    const Result<Candidate> found = identify(reader, value, {Named::manifest}, id.kind);
    if (!found) return fail_in(before + std::string(id.name), found.error());
    filter.*id.member = found->digest;
  }
  const Result<std::optional<UtcMicros>> since = read_time(text("since"), before + "since");
  if (!since) return fail(since.error());
  const Result<std::optional<UtcMicros>> until = read_time(text("until"), before + "until");
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
