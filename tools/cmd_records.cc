// SPDX-License-Identifier: Apache-2.0
#include "tools/json_stream.h"
#include "tools/ledger_access.h"
#include "tools/run_options.h"
#include "tools/run_output.h"
#include "tools/table.h"
#include "tools/units.h"
#include "tools/verbs.h"

namespace kernelindex::tools {
namespace {

constexpr auto kOptions = joined(
    kFilterOptions,
    std::to_array<OptionSpec>({{.name = "--limit",
                                .value = "N",
                                .help = "how many at most; by default 50 on a terminal, else all",
                                .kind = ValueKind::count}}),
    kPolicyOptions);
constexpr std::string_view kExamples[] = {
    "records --hardware 'NVIDIA B200' --limit 10",
    "records --ranking ranking-v0 --jsonl",
};

void print_table(Output& out, const std::vector<RecordView>& records) {
  if (records.empty()) {
    out.write("no records\n");
    return;
  }
  Table table({{"OBSERVED"},
               {"VALUE", Align::right},
               {"OPERATION", Align::left, 20},
               {"IMPLEMENTATION", Align::left, 12},
               {"HARDWARE", Align::left, 11},
               {"SOURCE", Align::left, 8},
               {"RUN"},
               {""}});
  for (const RecordView& record : records) {
    table.add({{day_text(record.at)},
               {format_quantity(record.value, record.unit)},
               {record.operation_name},
               {std::string(without_ending(record.implementation_name, record.operation_name))},
               {record.hardware},
               {record.source},
               {record.run.hex().substr(0, 12), Tone::dim},
               {record.late       ? "LATE"
                : record.previous ? ""
                                  : "first",
                record.late ? Tone::warning : Tone::dim}});
  }
  out.write(table.text(out.terminal()));
}

Result<ExitCode> run(Session& session, const Arguments& arguments) {
  const Result<std::unique_ptr<Ledger>> ledger = open_ledger(session, Access::query);
  if (!ledger) return fail(ledger.error());
  const Reader reader = (*ledger)->read();
  Result<RunFilter> filter = read_filter(reader, arguments);
  if (!filter) return fail(filter.error());
  Output& out = session.out();
  constexpr std::uint64_t kPageOnTerminal = 50;
  const bool paged = out.for_people() && out.terminal().attached;
  filter->limit = arguments.count("--limit").value_or(paged ? kPageOnTerminal : 0);
  const Result<std::vector<RecordView>> records =
      list_records(reader, *filter, read_policy(arguments));
  if (!records) return fail(records.error());
  if (out.for_people()) {
    print_table(out, *records);
    return ExitCode::done;
  }
  JsonStream stream(out, "records");
  for (const RecordView& record : *records) {
    json::Arena arena;
    stream.item(record_document(JsonOutput(arena), record));
  }
  json::Arena arena;
  stream.finish(json::ObjectBuilder(arena)
                    .add("size", json::Value(static_cast<double>(reader.head().size)))
                    .finish());
  return ExitCode::done;
}

}  // namespace

constexpr Verb kRecordsVerb{
    .name = "records",
    .summary = "list how the records moved, newest first",
    .details = "A record is marked LATE when it was recorded after one that it displaces in time.",
    .options = kOptions,
    .examples = kExamples,
    .run = run,
};

}  // namespace kernelindex::tools
