// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "tools/display_text.h"
#include "tools/group_output.h"
#include "tools/ledger_access.h"
#include "tools/run_options.h"
#include "tools/run_output.h"
#include "tools/table.h"
#include "tools/units.h"
#include "tools/verbs.h"

namespace kernelindex::tools {
namespace {

constexpr std::size_t kBarColumns = 12;

constexpr auto kOptions =
    joined(std::to_array<OptionSpec>({{.name = "--all", .help = "list runs without a rank too"}}),
           kPolicyOptions,
           std::to_array<OptionSpec>({{.name = "KEY|RUN",
                                       .help = "a comparison key, or any id of a run in the group",
                                       .required = true}}));
constexpr std::string_view kExamples[] = {
    "history sol-execbench:submission/15866",
    "history caec9f00e44c --all --as-of 5000",
    "history caec9f00e44c --json",
};

void print_heading(Output& out, const History& group) {
  const Terminal& terminal = out.terminal();
  const RunRow& row = group.runs.front().row;
  const std::string name = row.operation_name.empty()
                               ? (row.operation ? row.operation->text() : "operation not known")
                               : std::string(row.operation_name);
  out.write(terminal.tinted(escape_text(name), Tone::strong) + "\n");
  std::string line = row.workload_name.empty()
                         ? row.workload.text()
                         : std::string(without_ending(row.workload_name, row.operation_name));
  if (!row.hardware.empty()) line += " · " + std::string(row.hardware);
  line += group.source_native ? " · source-native comparison" : " · strict comparison";
  out.write(escape_text(line) + "\n");
  out.write(terminal.tinted(group.key.text() + ", as of size " + std::to_string(group.as_of.size),
                            Tone::dim) +
            "\n\n");
}

// "2 retracted, 1 failed": what the table leaves out, by first reason.
std::string folded(const History& group) {
  std::map<std::string, std::uint64_t> reasons;
  for (const RunView& run : group.runs) {
    if (!run.eligible()) ++reasons[run.reasons.empty() ? "NOT_RANKED" : run.reasons.front()];
  }
  std::string out;
  for (const auto& [reason, count] : reasons) {
    out += (out.empty() ? "" : ", ") + std::to_string(count) + " " + reason;
  }
  return out;
}

std::string joined_words(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

void add_row(Table& table, const RunView& run, std::optional<double> leader, bool several_sources) {
  const RunRow& row = run.row;
  std::string drawn;
  std::string ratio;
  if (run.eligible() && leader && *leader > 0 && row.value && *row.value > 0) {
    drawn = bar(std::min(1.0, *leader / *row.value), kBarColumns);
    ratio = format_ratio(*row.value, *leader);
  }
  const std::string source = several_sources ? std::string(row.source) + " " : "";
  table.add({{run.rank ? std::to_string(*run.rank) : "-"},
             {value_text(row), run.rank == 1u ? Tone::strong : Tone::plain},
             {drawn, Tone::good},
             {ratio},
             {std::string(level_name(run.evidence.level))},
             {std::string(implementation_text(row))},
             {day_text(row.observed_at)},
             {source + std::string(short_external_id(row))},
             {joined_words(run.reasons), Tone::warning}});
}

void print_runs(Output& out, const History& group, bool all) {
  // In a source-native group ranks are per source, and so is the leader that a bar is drawn
  // against.
  std::map<std::string_view, double> leaders;
  for (const RunView& run : group.runs) {
    if (run.rank == 1u && run.row.value) leaders.emplace(run.row.source, *run.row.value);
  }
  const bool several_sources = leaders.size() > 1;
  Table table({{"#", Align::right},
               {"VALUE", Align::right},
               {""},
               {"VS #1", Align::right},
               {"LEVEL"},
               {"IMPLEMENTATION", Align::left, 16},
               {"OBSERVED"},
               {"ID", Align::left, 12},
               {""}});
  for (const RunView& run : group.runs) {
    if (!all && !run.eligible()) continue;
    const auto own = group.source_native ? leaders.find(run.row.source) : leaders.begin();
    add_row(table, run, own == leaders.end() ? std::nullopt : std::optional(own->second),
            several_sources);
  }
  if (!table.empty()) out.write(table.text(out.terminal()));
  const std::string left_out = folded(group);
  if (!all && !left_out.empty()) {
    out.write(out.terminal().tinted("without a rank: " + left_out + ": --all", Tone::dim) + "\n");
  }
}

void print_moves(Output& out, const History& group) {
  if (group.moves.empty()) return;
  out.write("\n" + out.terminal().tinted("Record", Tone::strong) + "\n");
  Table table({{"OBSERVED"},
               {"VALUE", Align::right},
               {"", Align::right},
               {"IMPLEMENTATION", Align::left, 16},
               {"BEFORE", Align::left, 16},
               {""}});
  for (const RecordMove& move : group.moves) {
    const RunRow& row = group.runs[move.run].row;
    const RunRow* before = move.previous ? &group.runs[*move.previous].row : nullptr;
    std::string ratio;
    if (before != nullptr && row.value && before->value && *row.value > 0) {
      ratio = format_ratio(*before->value, *row.value) + " faster";
    }
    table.add({{day_text(row.observed_at)},
               {value_text(row)},
               {ratio, Tone::good},
               {std::string(implementation_text(row))},
               {before == nullptr ? "" : std::string(implementation_text(*before)), Tone::dim},
               {move.late ? "LATE" : "", Tone::warning}});
  }
  out.write(table.text(out.terminal()));
}

Result<ExitCode> run(Session& session, const Arguments& arguments) {
  const Result<std::unique_ptr<Ledger>> ledger = open_ledger(session, Access::query);
  if (!ledger) return fail(ledger.error());
  const Reader reader = (*ledger)->read();
  const Result<Digest> key = identify_group(reader, arguments.text("KEY|RUN"));
  if (!key) return fail(key.error());
  const Result<History> group = history(reader, *key, read_policy(arguments));
  if (!group) return fail(group.error());
  Output& out = session.out();
  if (!out.for_people()) {
    json::Arena arena;
    out.document(group_document(JsonOutput(arena), *group));
    return ExitCode::done;
  }
  print_heading(out, *group);
  print_runs(out, *group, arguments.given("--all"));
  print_moves(out, *group);
  return ExitCode::done;
}

}  // namespace

constexpr Verb kHistoryVerb{
    .name = "history",
    .summary = "rank the runs of a comparison group, and show how its record moved",
    .details =
        "Runs are ranked only inside one group: the same operation, workload, protocol, "
        "environment,\n"
        "correctness rule and metric. A run without a rank says why.",
    .options = kOptions,
    .examples = kExamples,
    .run = run,
};

}  // namespace kernelindex::tools
