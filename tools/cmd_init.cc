// SPDX-License-Identifier: Apache-2.0
#include "tools/json_output.h"
#include "tools/ledger_access.h"
#include "tools/table.h"
#include "tools/verbs.h"

namespace kernelindex::tools {
namespace {

constexpr OptionSpec kOptions[] = {
    {.name = "--origin",
     .value = "NAME",
     .help = "the name that checkpoints carry; by default kernelindex.local/ and 8 digits of the "
             "root key's id"},
    {.name = "--owner", .value = "SLUG", .help = "who runs this ledger; by default local"},
};
constexpr std::string_view kExamples[] = {
    "init",
    "init --ledger results.ledger --origin example.org/kernels --owner example",
};

void print(Session& session, const Ledger& ledger, const Reader& reader) {
  Output& out = session.out();
  if (!out.for_people()) {
    json::Arena arena;
    const JsonOutput json(arena);
    out.document(json.object()
                     .add("ledger", session.ledger_path().native())
                     .add("ledgerId", json.digest(reader.format().ledger_id))
                     .add("origin", reader.format().origin)
                     .add("owner", reader.format().owner)
                     .add("logKey", json.text(log_key_text(reader)))
                     .add("size", json.count(reader.head().size))
                     .add("root", json.digest(reader.head().root))
                     .finish());
    return;
  }
  FactList facts;
  facts.add("ledger", ledger.options().directory.native(), Tone::strong);
  facts.add("ledger id", reader.format().ledger_id.text());
  facts.add("origin", reader.format().origin);
  facts.add("owner", reader.format().owner);
  facts.add("log key", log_key_text(reader));
  facts.add("size", std::to_string(reader.head().size));
  facts.add("root", reader.head().root.text());
  out.write(facts.text(out.terminal()));
}

Result<ExitCode> run(Session& session, const Arguments& arguments) {
  const Result<LedgerOptions> options = ledger_options(session);
  if (!options) return fail(options.error());
  FoundingOptions founding;
  founding.origin = arguments.text("--origin");
  if (arguments.given("--owner")) founding.owner = arguments.text("--owner");
  const Result<std::unique_ptr<Ledger>> ledger = Ledger::create(*options, founding);
  if (!ledger) return fail(ledger.error());
  print(session, **ledger, (*ledger)->read());
  const std::string root_key = key_file_path(session.keys_path(), Role::root).string();
  session.note("\nMove " + root_key +
               " away from this machine: who has it can enrol any key.\n"
               "The ledger id above is what a reader pins.");
  return ExitCode::done;
}

}  // namespace

constexpr Verb kInitVerb{
    .name = "init",
    .summary = "make a ledger, its keys and its first checkpoint",
    .details =
        "Entry 0 founds the ledger and is signed by the root key; the next entries enrol the "
        "other\n"
        "keys. With --passphrase-file the key files are encrypted.",
    .options = kOptions,
    .examples = kExamples,
    .run = run,
};

}  // namespace kernelindex::tools
