// SPDX-License-Identifier: Apache-2.0
#include "schema/canonical_json.h"
#include "tools/display_text.h"
#include "tools/json_stream.h"
#include "tools/ledger_access.h"
#include "tools/run_options.h"
#include "tools/run_output.h"
#include "tools/table.h"
#include "tools/verbs.h"

namespace kernelindex::tools {
namespace {

constexpr auto kOptions =
    joined(kFilterOptions,
           std::to_array<OptionSpec>({
               {.name = "--serving", .help = "serving runs instead of benchmark runs"},
               {.name = "--limit",
                .value = "N",
                .help = "how many at most; by default 50 on a terminal, else all",
                .kind = ValueKind::count},
               {.name = "--cursor", .value = "TEXT", .help = "go on where the last page ended"},
               {.name = "--csv", .help = "comma-separated values with a header, nothing cut"},
           }),
           kPolicyOptions);
constexpr std::string_view kExamples[] = {
    "runs --hardware 'NVIDIA B200' --status passed --since 2026-06-01",
    "runs --operation 58efad3661ff --jsonl",
    "runs --source sol-execbench --csv > runs.csv",
};

void print_json(Output& out, const RunPage& page) {
  JsonStream stream(out, "runs");
  for (const RunView& run : page.runs) {
    json::Arena arena;
    stream.item(run_document(JsonOutput(arena), run));
  }
  json::Arena arena;
  json::ObjectBuilder rest(arena);
  rest.add("cursor", page.next.empty() ? json::Value() : arena.string(page.next));
  stream.finish(rest.finish());
}

// RFC 4180; a text that a spreadsheet would take for a formula gets a leading apostrophe.
std::string csv_field(std::string_view text) {
  std::string field(text);
  if (!field.empty() && std::string_view("=+-@\t\r").contains(field.front())) field.insert(0, "'");
  if (field.find_first_of(",\"\r\n") == std::string::npos) return field;
  std::string quoted = "\"";
  for (const char c : field) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string words(const auto& list) {
  std::string out;
  for (const auto& word : list) out += (out.empty() ? "" : " ") + std::string(word);
  return out;
}

void print_csv(Output& out, const RunPage& page) {
  out.write(
      "digest,externalIds,source,operation,operationName,implementation,implementationName,project,"
      "hardware,status,value,unit,statistic,level,levelReasons,comparisonKey,rank,reasons,"
      "observedAt\r\n");
  for (const RunView& run : page.runs) {
    const RunRow& row = run.row;
    std::string value;
    if (row.value) json::append_number(*row.value, value);
    const std::string fields[] = {run.digest.text(),
                                  words(row.external_ids),
                                  std::string(row.source),
                                  row.operation ? row.operation->text() : "",
                                  std::string(row.operation_name),
                                  row.implementation.text(),
                                  std::string(row.implementation_name),
                                  std::string(row.project_name),
                                  std::string(row.hardware),
                                  std::string(row.status),
                                  value,
                                  std::string(row.unit),
                                  std::string(row.statistic),
                                  std::string(level_name(run.evidence.level)),
                                  words(level_reasons(run.evidence)),
                                  row.group ? row.group->text() : "",
                                  run.rank ? std::to_string(*run.rank) : "",
                                  words(run.reasons),
                                  time_text(row.observed_at)};
    std::string line;
    for (const std::string& field : fields) line += (line.empty() ? "" : ",") + csv_field(field);
    out.write(line + "\r\n");
  }
}

void print_table(Output& out, const RunPage& page) {
  if (page.runs.empty()) {
    out.write("no runs\n");
    return;
  }
  Table table({{"OBSERVED"},
               {"#", Align::right},
               {"VALUE", Align::right},
               {"STATUS"},
               {"LEVEL"},
               {"IMPLEMENTATION", Align::left, 12},
               {"OPERATION", Align::left, 16},
               {"HARDWARE", Align::left, 11},
               {"ID", Align::left, 16}});
  for (const RunView& run : page.runs) {
    const RunRow& row = run.row;
    const std::string id = row.external_ids.empty() ? run.digest.text().substr(7, 12)
                                                    : std::string(row.source) + ":" +
                                                          std::string(short_external_id(row));
    table.add({{day_text(row.observed_at)},
               {run.rank ? std::to_string(*run.rank) : "-"},
               {value_text(row)},
               {std::string(row.status), row.status == "passed" ? Tone::plain : Tone::warning},
               {std::string(level_name(run.evidence.level))},
               {std::string(implementation_text(row))},
               {std::string(row.operation_name)},
               {std::string(row.hardware)},
               {id, Tone::dim}});
  }
  out.write(table.text(out.terminal()));
  if (!page.next.empty()) out.write("more: --cursor " + escape_text(page.next) + "\n");
}

Result<ExitCode> run(Session& session, const Arguments& arguments) {
  Output& out = session.out();
  const bool csv = arguments.given("--csv");
  if (csv && !out.for_people()) {
    return fail(ErrorKind::usage, "USAGE", "", "--csv, --json and --jsonl exclude each other",
                "Give one of them");
  }
  const Result<std::unique_ptr<Ledger>> ledger = open_ledger(session, Access::query);
  if (!ledger) return fail(ledger.error());
  const Reader reader = (*ledger)->read();
  Result<RunFilter> filter = read_filter(reader, arguments);
  if (!filter) return fail(filter.error());
  constexpr std::uint64_t kPageOnTerminal = 50;
  const bool paged = out.for_people() && !csv && out.terminal().attached;
  filter->serving = arguments.given("--serving");
  filter->limit = arguments.count("--limit").value_or(paged ? kPageOnTerminal : 0);
  filter->cursor = arguments.text("--cursor");
  const Result<RunPage> page = list_runs(reader, *filter, read_policy(arguments));
  if (!page) return fail(page.error());
  if (csv) {
    print_csv(out, *page);
  } else if (out.for_people()) {
    print_table(out, *page);
  } else {
    print_json(out, *page);
  }
  return ExitCode::done;
}

}  // namespace

constexpr Verb kRunsVerb{
    .name = "runs",
    .summary = "list runs, newest observation first",
    .options = kOptions,
    .examples = kExamples,
    .run = run,
};

}  // namespace kernelindex::tools
