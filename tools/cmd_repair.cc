// SPDX-License-Identifier: Apache-2.0
// repair: the last resort for a database that cannot be opened.
#include "tools/display_text.h"
#include "tools/json_output.h"
#include "tools/ledger_access.h"
#include "tools/verbs.h"

namespace kernelindex::tools {
namespace {

constexpr std::string_view kExamples[] = {"repair"};

Result<ExitCode> run(Session& session, const Arguments&) {
  const Result<LedgerOptions> options = ledger_options(session);
  if (!options) return fail(options.error());
  const Result<std::unique_ptr<Ledger>> ledger = Ledger::repair(*options);
  if (!ledger) return fail(ledger.error());
  const TreeHead head = (*ledger)->read().head();
  const auto& lost = (*ledger)->read_only_reason();
  if (session.out().for_people()) {
    session.out().write("the database opens again, with " + counted(head.size, "entry", "entries") +
                        "\n");
    if (lost) session.out().write(lost->message + " (" + lost->code + ")\n");
    session.out().write("now `kernelindex audit`: it says what is not as it was\n");
  } else {
    json::Arena arena;
    const JsonOutput json(arena);
    json::ObjectBuilder value = json.object();
    value.add("size", json.count(head.size)).add("root", json.digest(head.root));
    if (lost) value.add("lost", json.text(lost->code));
    session.out().document(value.finish());
  }
  return lost ? ExitCode::check_failed : ExitCode::done;
}

}  // namespace

constexpr Verb kRepairVerb{
    .name = "repair",
    .summary = "make a database that cannot be opened openable again",
    .details =
        "Copy the directory first. The database is made anew from the table files and logs that "
        "are\n"
        "there, and what cannot be read is moved to `lost` in it; rows and indexes are made from "
        "the\n"
        "log. Nothing is believed for that: `audit` afterwards holds every byte against its "
        "digest.\n"
        "Entries that are gone show by the released marks, and the ledger stays read-only then.",
    .examples = kExamples,
    .run = run,
};

}  // namespace kernelindex::tools
