// SPDX-License-Identifier: Apache-2.0
// attest: community notes, and envelopes that were made elsewhere.
#include "tools/input_file.h"
#include "tools/ledger_access.h"
#include "tools/signing.h"
#include "tools/verbs.h"

namespace kernelindex::tools {
namespace {

constexpr std::size_t kEnvelopeBytes = 4 * limits::kMiB;

constexpr OptionSpec kOptions[] = {
    {.name = "--type",
     .value = "TYPE",
     .help = "what kind of note it is",
     .kind = ValueKind::choice,
     .choices = "reproduced|could_not_reproduce|environment_note|regression_observed"},
    {.name = "--text", .value = "TEXT", .help = "what was seen, at most 2,000 characters"},
    {.name = "--evidence", .value = "URL", .help = "an https link to what shows it"},
    {.name = "--observed-ns",
     .value = "N",
     .help = "a time that was measured, in nanoseconds",
     .kind = ValueKind::count},
    {.name = "--environment",
     .value = "TEXT",
     .help = "where it was measured, one line of at most 200 characters"},
    {.name = "--envelope",
     .value = "FILE",
     .help = "record this signed DSSE envelope instead",
     .kind = ValueKind::file},
    kKeyOption,
    {.name = "ID", .help = "what the note is about: a digest or its beginning, or an external id"},
};
constexpr std::string_view kExamples[] = {
    "attest sol-execbench:submission/15866 --type reproduced --text 'Same on my B200.' "
    "--observed-ns 60100",
    "attest --envelope note.dsse.json",
};

Result<ExitCode> record_envelope(Session& session, const Arguments& arguments) {
  for (const std::string_view other :
       {"ID", "--type", "--text", "--evidence", "--observed-ns", "--environment", "--key"}) {
    if (!arguments.given(other)) continue;
    return fail(ErrorKind::usage, "USAGE", std::string(other), "an envelope says everything itself",
                "give --envelope alone, or a note without it");
  }
  const std::string path = arguments.text("--envelope");
  const Result<std::string> bytes = read_input(path, kEnvelopeBytes);
  if (!bytes) return fail(bytes.error());
  const Result<std::unique_ptr<Ledger>> ledger = open_ledger(session, Access::write);
  if (!ledger) return fail(ledger.error());
  const Result<Attested> recorded = attest_envelope(**ledger, *bytes);
  if (!recorded) return fail_in(input_name(path), recorded.error());
  const Result<Attestation> said = read_attestation((*ledger)->read(), recorded->index);
  if (!said) return fail(said.error());
  print_attested(session, std::string(predicate_type(said->predicate).name) + " about",
                 said->subject, {*recorded});
  return ExitCode::done;
}

Result<ExitCode> run(Session& session, const Arguments& arguments) {
  if (arguments.given("--envelope")) return record_envelope(session, arguments);
  for (const std::string_view needed : {"ID", "--type", "--text"}) {
    if (arguments.given(needed)) continue;
    return fail(ErrorKind::usage, "USAGE", std::string(needed),
                "a note has a subject, a type and a text",
                "give ID, --type and --text, or --envelope FILE");
  }
  const Result<KeyFile> key = signing_key(session, arguments, Role::contributor);
  if (!key) return fail(key.error());
  const Result<std::unique_ptr<Ledger>> ledger = open_ledger(session, Access::write);
  if (!ledger) return fail(ledger.error());
  const Result<Digest> subject = identify_subject((*ledger)->read(), arguments.text("ID"));
  if (!subject) return fail(subject.error());
  CommunityNote note;
  note.type = note_type_from_name(arguments.text("--type")).value();
  note.text = arguments.text("--text");
  note.evidence_url = arguments.text("--evidence");
  note.environment = arguments.text("--environment");
  if (const std::optional<std::uint64_t> observed = arguments.count("--observed-ns")) {
    note.observed_ns = static_cast<std::int64_t>(*observed);
  }
  const Result<Attested> recorded = attest(**ledger, {*subject, note}, key->key);
  if (!recorded) return fail(recorded.error());
  print_attested(session, "note about", *subject, {*recorded});
  return ExitCode::done;
}

}  // namespace

constexpr Verb kAttestVerb{
    .name = "attest",
    .summary = "sign a note about a manifest, or record an envelope made elsewhere",
    .details =
        "Notes are counted and shown by owner and never change a level or a rank. An envelope is "
        "taken\n"
        "when its signer is enrolled for what it says, and it was signed for this ledger.",
    .options = kOptions,
    .examples = kExamples,
    .run = run,
};

}  // namespace kernelindex::tools
