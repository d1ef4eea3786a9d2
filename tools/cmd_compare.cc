// SPDX-License-Identifier: Apache-2.0
// compare: runs side by side, the first field that forbids a ranking, and who is in front when
// nothing does.
#include "ledger/identify.h"
#include "tools/display_text.h"
#include "tools/ledger_access.h"
#include "tools/run_comparison.h"
#include "tools/run_options.h"
#include "tools/run_output.h"
#include "tools/table.h"
#include "tools/verbs.h"

namespace kernelindex::tools {
namespace {

constexpr auto kOptions =
    joined(std::to_array<OptionSpec>({
               {.name = "--all", .help = "also the fields in which the runs agree"},
               {.name = "--format",
                .value = "FORM",
                .help = "a table for people, GitHub's Markdown, or CSV; --json gives one document",
                .kind = ValueKind::choice,
                .choices = "text|markdown|csv"},
               {.name = "RUN",
                .help = "two to eight runs: digests or their beginnings, or external ids",
                .required = true,
                .repeated = true},
           }),
           kPolicyOptions);
constexpr std::string_view kExamples[] = {
    "compare sol-execbench:submission/15866 sol-execbench:submission/13511",
    "compare fa2cdd25d5d2 ff20b7b398a7 --format markdown",
};

void print_text(Output& out, const RunComparison& comparison, bool all) {
  const Terminal& terminal = out.terminal();
  out.write(terminal.tinted(escape_text(comparison_verdict(comparison)), Tone::strong) + "\n\n");
  constexpr std::size_t kShrinksTo = 12;
  std::vector<Column> columns = {{""}, {""}};
  for (const RunView& run : comparison.runs) {
    columns.push_back(
        {std::string(implementation_text(run.row)) + " " + run.digest.hex().substr(0, kShrinksTo),
         Align::left, kShrinksTo});
  }
  columns.push_back({""});
  Table table(std::move(columns));
  std::size_t equal = 0;
  for (std::size_t at = 0; at < comparison.rows.size(); ++at) {
    const ComparedRow& row = comparison.rows[at];
    if (!row.differs && !all) {
      ++equal;
      continue;
    }
    const bool first = comparison.first_mismatch == at;
    std::vector<Cell> cells = {{row.section, Tone::dim}, {row.name, Tone::dim}};
    for (const std::string& value : row.values) {
      cells.push_back({value, first ? Tone::warning : Tone::plain});
    }
    cells.push_back({first ? "FIRST MISMATCH" : "", Tone::warning});
    table.add(std::move(cells));
  }
  if (!table.empty()) out.write(table.text(terminal));
  if (equal > 0) {
    out.write(terminal.tinted("equal in " + counted(equal, "other field") + ": --all", Tone::dim) +
              "\n");
  }
}

Result<ExitCode> run(Session& session, const Arguments& arguments) {
  const Result<std::unique_ptr<Ledger>> ledger = open_ledger(session, Access::query);
  if (!ledger) return fail(ledger.error());
  const Reader reader = (*ledger)->read();
  std::vector<Digest> runs;
  for (const std::string& text : arguments.list("RUN")) {
    const Result<Candidate> found = identify(reader, text, {Named::manifest});
    if (!found) return fail(found.error());
    runs.push_back(found->digest);
  }
  const Result<RunComparison> comparison = compare_runs(reader, runs, read_policy(arguments));
  if (!comparison) return fail(comparison.error());
  Output& out = session.out();
  const std::string format = arguments.text("--format");
  if (!out.for_people()) {
    json::Arena arena;
    out.document(comparison_document(JsonOutput(arena), *comparison));
  } else if (format == "markdown") {
    out.write(comparison_markdown(*comparison));
  } else if (format == "csv") {
    out.write(comparison_csv(*comparison));
  } else {
    print_text(out, *comparison, arguments.given("--all"));
  }
  return ExitCode::done;
}

}  // namespace

constexpr Verb kCompareVerb{
    .name = "compare",
    .summary = "put runs side by side, and name the first field that forbids a ranking",
    .details =
        "Numbers are ranked only inside one comparison group; in a source-native group only "
        "among\nthose of one source. Across groups no winner is named.",
    .options = kOptions,
    .examples = kExamples,
    .run = run,
};

}  // namespace kernelindex::tools
