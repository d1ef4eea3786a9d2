// SPDX-License-Identifier: Apache-2.0
// prove: write the evidence for a run into one file that anyone can verify without this ledger.
#include <algorithm>

#include "ledger/identify.h"
#include "ledger/key_file.h"
#include "tools/display_text.h"
#include "tools/json_output.h"
#include "tools/ledger_access.h"
#include "tools/output_file.h"
#include "tools/table.h"
#include "tools/verbs.h"
#include "verify/bundle.h"
#include "verify/bundle_writer.h"

namespace kernelindex::tools {
namespace {

constexpr OptionSpec kOptions[] = {
    {.name = "-o",
     .value = "FILE",
     .help = "write to a file, which appears whole or not at all",
     .kind = ValueKind::output},
    {.name = "--key",
     .value = "FILE",
     .help = "the status key; by default the one in the folder of keys",
     .kind = ValueKind::file},
    {.name = "ID", .help = "a run: a digest or its beginning, or an external id", .required = true},
};
constexpr std::string_view kExamples[] = {
    "prove sol-execbench:submission/15866 -o run.bundle.json",
    "prove fa2cdd25d5d2 > run.bundle.json",
};

// The newest checkpoint that can be had: of the head, else the kept one of an earlier size.
Result<SignedCheckpoint> find_checkpoint(Session& session, Ledger& ledger) {
  Result<SignedCheckpoint> newest = ledger.checkpoint();
  if (newest) return newest;
  const MarkPlaces places{ledger.options().directory, ledger.options().keys,
                          ledger.options().state};
  for (ReleasedMark& mark : read_marks(places, ledger.format().ledger_id)) {
    if (mark.path != places.directory / "checkpoint" || !mark.checkpoint) continue;
    session.note("kernelindex: as of size " +
                 std::to_string(mark.checkpoint->checkpoint.head.size) +
                 ", the newest checkpoint that is there: " + escape_text(newest.error().message));
    return std::move(*mark.checkpoint);
  }
  return newest;
}

// The key that says that nothing was left out; nothing when there is none here.
Result<std::optional<KeyFile>> find_status_key(Session& session, const Arguments& arguments) {
  const Result<LedgerOptions> options = ledger_options(session);
  if (!options) return fail(options.error());
  Result<KeyFile> key = arguments.given("--key")
                            ? read_key_file(arguments.text("--key"), options->passphrase)
                            : read_role_key(session.keys_path(), Role::status, options->passphrase);
  if (key) return std::move(*key);
  if (arguments.given("--key") || key.error().code != "NO_KEY_FILE") return fail(key.error());
  session.note(
      "kernelindex: without a status key nobody says that nothing was left out: 'verify' will call "
      "the currency unknown");
  return std::nullopt;
}

// Nothing leaves that would not be taken: every arrow is checked as a stranger would.
Result<BundleVerdict> check(const std::string& bundle, const Ledger& ledger) {
  VerifyOptions options;
  options.ledger_id = ledger.format().ledger_id;
  options.allow_unknown_currency = true;
  Result<BundleVerdict> verdict = verify_bundle(bundle, options);
  if (!verdict) return verdict;
  const auto last = std::ranges::find(verdict->checks, "NOT_JUDGED", &BundleCheck::code);
  if (last == verdict->checks.end()) return verdict;
  const BundleCheck& broken = *std::prev(last);
  return fail(ErrorKind::corrupt, broken.code, std::string(broken.check), broken.detail,
              "run `kernelindex audit`");
}

void print(Output& out, const BundleVerdict& verdict, const std::string& path, std::size_t bytes) {
  if (out.for_people()) {
    FactList list;
    list.add("proved", verdict.subject.text(), Tone::strong);
    list.add("level", std::string(level_name(verdict.level)) + ", as of size " +
                          std::to_string(verdict.as_of.size));
    list.add("file", path + ", " + grouped(bytes) + " bytes");
    list.add("verify", "kernelindex verify " + path + " --ledger-id " + verdict.ledger_id->text());
    out.write(list.text(out.terminal()));
    return;
  }
  json::Arena arena;
  const JsonOutput json(arena);
  out.document(json.object()
                   .add("subject", json.digest(verdict.subject))
                   .add("ledger", json.digest(verdict.ledger_id))
                   .add("level", level_name(verdict.level))
                   .add("file", path)
                   .add("bytes", json.count(bytes))
                   .add("asOf", json.object()
                                    .add("size", json.count(verdict.as_of.size))
                                    .add("root", json.digest(verdict.as_of.root))
                                    .finish())
                   .add("complete", json::Value(verdict.complete_to.has_value()))
                   .finish());
}

Result<ExitCode> run(Session& session, const Arguments& arguments) {
  const Result<std::unique_ptr<Ledger>> ledger = open_ledger(session, Access::query);
  if (!ledger) return fail(ledger.error());
  const Reader reader = (*ledger)->read();
  const Result<Candidate> found = identify(reader, arguments.text("ID"), {Named::manifest});
  if (!found) return fail(found.error());
  const Result<SignedCheckpoint> checkpoint = find_checkpoint(session, **ledger);
  if (!checkpoint) return fail(checkpoint.error());
  const Result<std::optional<KeyFile>> key = find_status_key(session, arguments);
  if (!key) return fail(key.error());
  const Result<std::string> bundle =
      make_bundle(reader, found->digest, *checkpoint, *key ? &(*key)->key : nullptr);
  if (!bundle) return fail(bundle.error());
  const Result<BundleVerdict> verdict = check(*bundle, **ledger);
  if (!verdict) return fail(verdict.error());
  if (!arguments.given("-o")) {
    session.out().write(*bundle);
    return ExitCode::done;
  }
  OutputFile file(arguments.text("-o"));
  Status status = file.open();
  if (status) status = file.write(*bundle);
  if (status) status = file.commit();
  if (!status) return fail(status.error());
  print(session.out(), *verdict, arguments.text("-o"), bundle->size());
  return ExitCode::done;
}

}  // namespace

constexpr Verb kProveVerb{
    .name = "prove",
    .summary = "write the evidence for a run into one file that travels",
    .details =
        "An evidence bundle: the run's documents, every entry that its level depends on with the\n"
        "proof that it stands in the log, the keys, and a statement of the status key that "
        "nothing\n"
        "was left out. 'kernelindex verify' judges it without any ledger.",
    .options = kOptions,
    .examples = kExamples,
    .run = run,
};

}  // namespace kernelindex::tools
