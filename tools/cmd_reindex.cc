// SPDX-License-Identifier: Apache-2.0
#include "tools/display_text.h"
#include "tools/json_output.h"
#include "tools/ledger_access.h"
#include "tools/verbs.h"

namespace kernelindex::tools {
namespace {

constexpr std::string_view kExamples[] = {"reindex"};

Result<ExitCode> run(Session& session, const Arguments&) {
  const Result<std::unique_ptr<Ledger>> ledger = open_ledger(session, Access::write);
  if (!ledger) return fail(ledger.error());
  if (Status status = (*ledger)->reindex(); !status) return fail(status.error());
  const TreeHead head = (*ledger)->read().head();
  if (session.out().for_people()) {
    session.out().write("rows and indexes made anew from " +
                        counted(head.size, "entry", "entries") + "\n");
    return ExitCode::done;
  }
  json::Arena arena;
  const JsonOutput json(arena);
  session.out().document(json.object()
                             .add("size", json.count(head.size))
                             .add("root", json.digest(head.root))
                             .finish());
  return ExitCode::done;
}

}  // namespace

constexpr Verb kReindexVerb{
    .name = "reindex",
    .summary = "make all rows and indexes anew from log and objects",
    .details = "Nothing in the log changes. Use it when audit finds derived data that disagrees.",
    .examples = kExamples,
    .run = run,
};

}  // namespace kernelindex::tools
