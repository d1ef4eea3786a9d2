// SPDX-License-Identifier: Apache-2.0
// Corrections: new entries that say what no longer stands. Nothing is deleted, but for withheld
// bytes.
#include "ledger/identify.h"
#include "tools/ledger_access.h"
#include "tools/named_entry.h"
#include "tools/root_desk.h"
#include "tools/signing.h"
#include "tools/verbs.h"

namespace kernelindex::tools {
namespace {

constexpr OptionSpec kSubject = {
    .name = "ID",
    .help = "a digest or its beginning, or an external id: of a manifest or an attestation",
    .required = true};

constexpr OptionSpec kRetractOptions[] = {
    kReasonOption,
    {.name = "--import",
     .value = "INDEX",
     .help = "take back a whole import: the entry of one of its statements, or one of its claims",
     .kind = ValueKind::count},
    kKeyOption,
    {.name = "ID", .help = "what no longer stands: a manifest or an attestation"},
};
constexpr std::string_view kRetractExamples[] = {
    "retract sol-execbench:submission/15866 --reason 'measured with a cached result'",
    "retract --import 412 --reason 'wrong file'",
};

constexpr OptionSpec kSupersedeOptions[] = {
    {.name = "--by", .value = "ID", .help = "the successor, of the same kind"},
    kReasonOption,
    kKeyOption,
    kSubject,
};
constexpr std::string_view kSupersedeExamples[] = {
    "supersede fa2cdd25d5d2 --by 0bc1d2e3f4a5 --reason 'measured again with locked clocks'"};

constexpr OptionSpec kDisputeOptions[] = {kReasonOption, kKeyOption, kSubject};
constexpr std::string_view kDisputeExamples[] = {
    "dispute sol-execbench:submission/15866 --reason 'faster than memory allows'"};

constexpr OptionSpec kResolveOptions[] = {
    {.name = "--outcome",
     .value = "WORD",
     .help = "how it ended",
     .kind = ValueKind::choice,
     .choices = "dismissed|upheld"},
    kReasonOption,
    kKeyOption,
    {.name = "ID", .help = "the dispute: an attestation id or its beginning", .required = true},
};
constexpr std::string_view kResolveExamples[] = {
    "resolve 5f0a9c1d22 --outcome dismissed --reason 'the profile shows the traffic'"};

constexpr OptionSpec kWithholdOptions[] = {
    kReasonOption,
    kKeyOption,
    kUnsignedOption,
    {.name = "DIGEST", .help = "the whole digest of the object's bytes", .required = true},
};
constexpr std::string_view kWithholdExamples[] = {
    "withhold sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 --reason "
    "'licence'"};

// What a correction needs: why, who signs, and the ledger to write to.
struct Desk {
  std::string reason;
  KeyFile key;
  std::unique_ptr<Ledger> ledger;
};

Result<Desk> prepare(const Session& session, const Arguments& arguments, Role role) {
  Result<std::string> reason = required_reason(arguments);
  if (!reason) return fail(reason.error());
  Result<KeyFile> key = signing_key(session, arguments, role);
  if (!key) return fail(key.error());
  Result<std::unique_ptr<Ledger>> ledger = open_ledger(session, Access::write);
  if (!ledger) return fail(ledger.error());
  return Desk{std::move(*reason), std::move(*key), std::move(*ledger)};
}

Result<ExitCode> say(Session& session, Desk& desk, std::string_view what, const Digest& subject,
                     const Predicate& predicate) {
  const Result<Attested> recorded = attest(*desk.ledger, {subject, predicate}, desk.key.key);
  if (!recorded) return fail(recorded.error());
  print_attested(session, what, subject, {*recorded});
  return ExitCode::done;
}

Result<ExitCode> retract_import(Session& session, Desk& desk, std::uint64_t index) {
  const Reader reader = desk.ledger->read();
  const Result<std::vector<ImportRange>> statements = whole_import(reader, index);
  if (!statements) return fail(statements.error());
  std::vector<Saying> sayings;
  for (const ImportRange& statement : *statements) {
    sayings.push_back({statement.id, Retraction{desk.reason}});
  }
  const Result<std::vector<Attested>> recorded = attest(*desk.ledger, sayings, desk.key.key);
  if (!recorded) return fail(recorded.error());
  for (std::size_t i = 0; i < recorded->size(); ++i) {
    print_attested(session, "retraction of import", sayings[i].subject, {(*recorded)[i]});
  }
  return ExitCode::done;
}

Result<ExitCode> retract(Session& session, const Arguments& arguments) {
  if (arguments.given("ID") == arguments.given("--import")) {
    return fail(ErrorKind::usage, "USAGE", {}, "give either ID or --import INDEX");
  }
  Result<Desk> desk = prepare(session, arguments, Role::maintainer);
  if (!desk) return fail(desk.error());
  if (const std::optional<std::uint64_t> index = arguments.count("--import")) {
    return retract_import(session, *desk, *index);
  }
  const Result<Digest> subject = identify_subject(desk->ledger->read(), arguments.text("ID"));
  if (!subject) return fail(subject.error());
  return say(session, *desk, "retraction of", *subject, Retraction{desk->reason});
}

Result<ExitCode> supersede(Session& session, const Arguments& arguments) {
  if (!arguments.given("--by")) {
    return fail(ErrorKind::usage, "USAGE", "--by", "a supersession names the successor",
                "give --by ID");
  }
  Result<Desk> desk = prepare(session, arguments, Role::maintainer);
  if (!desk) return fail(desk.error());
  const Reader reader = desk->ledger->read();
  const Result<Digest> subject = identify_subject(reader, arguments.text("ID"));
  if (!subject) return fail(subject.error());
  const Result<Digest> successor = identify_subject(reader, arguments.text("--by"));
  if (!successor) return fail_in("--by", successor.error());
  return say(session, *desk, "supersession of", *subject, Supersession{desk->reason, *successor});
}

Result<ExitCode> dispute(Session& session, const Arguments& arguments) {
  Result<Desk> desk = prepare(session, arguments, Role::maintainer);
  if (!desk) return fail(desk.error());
  const Result<Digest> subject = identify_subject(desk->ledger->read(), arguments.text("ID"));
  if (!subject) return fail(subject.error());
  return say(session, *desk, "dispute of", *subject, Dispute{desk->reason});
}

Result<ExitCode> resolve(Session& session, const Arguments& arguments) {
  if (!arguments.given("--outcome")) {
    return fail(ErrorKind::usage, "USAGE", "--outcome", "a resolution says how the dispute ended",
                "give --outcome dismissed or upheld");
  }
  Result<Desk> desk = prepare(session, arguments, Role::maintainer);
  if (!desk) return fail(desk.error());
  const Reader reader = desk->ledger->read();
  const Result<Candidate> named = identify(reader, arguments.text("ID"), {Named::attestation});
  if (!named) return fail(named.error());
  const Result<std::uint64_t> index = attestation_index(reader, named->digest);
  if (!index) return fail(index.error());
  const Result<Attestation> disputed = read_attestation(reader, *index);
  if (!disputed) return fail(disputed.error());
  if (!std::holds_alternative<Dispute>(disputed->predicate)) {
    return fail(ErrorKind::refused, "NO_SUCH_DISPUTE", arguments.text("ID"),
                "entry " + std::to_string(*index) + " is no dispute",
                "`kernelindex provenance ID` lists the disputes of what they are about");
  }
  DisputeResolution resolution;
  resolution.dispute = named->digest;
  resolution.outcome = dispute_outcome_from_name(arguments.text("--outcome")).value();
  resolution.reason = desk->reason;
  return say(session, *desk, "resolution of a dispute of", disputed->subject, resolution);
}

Result<ExitCode> withhold(Session& session, const Arguments& arguments) {
  const std::string text = arguments.text("DIGEST");
  Result<Digest> object = Digest::parse(text);
  if (!object) object = Digest::parse_hex(text);
  if (!object) return fail_in("DIGEST", object.error());
  Result<std::string> reason = required_reason(arguments);
  if (!reason) return fail(reason.error());
  Result<RootDesk> desk = RootDesk::open(session, arguments);
  if (!desk) return fail(desk.error());
  if (desk->key() == nullptr) {
    return desk->write_unsigned(session, {*object, Withholding{std::move(*reason)}});
  }
  const Result<Attested> recorded =
      kernelindex::withhold(desk->ledger(), *object, std::move(*reason), *desk->key());
  if (!recorded) return fail(recorded.error());
  print_attested(session, "bytes withheld of", *object, {*recorded});
  return ExitCode::done;
}

}  // namespace

constexpr Verb kRetractVerb{
    .name = "retract",
    .summary = "say that a manifest, an attestation or a whole import no longer stands",
    .details =
        "A retracted run keeps its history and loses its rank; the claims of a retracted import "
        "count\n"
        "for nothing. Signed by the maintainer.",
    .options = kRetractOptions,
    .examples = kRetractExamples,
    .run = retract,
};

constexpr Verb kSupersedeVerb{
    .name = "supersede",
    .summary = "say that another manifest takes the place of this one",
    .details =
        "Hides the older one as long as its successor is eligible itself. A cycle is refused.",
    .options = kSupersedeOptions,
    .examples = kSupersedeExamples,
    .run = supersede,
};

constexpr Verb kDisputeVerb{
    .name = "dispute",
    .summary = "put a doubt on record",
    .details = "Shown with what it is about until it is resolved; changes no level and no rank.",
    .options = kDisputeOptions,
    .examples = kDisputeExamples,
    .run = dispute,
};

constexpr Verb kResolveVerb{
    .name = "resolve",
    .summary = "say how a dispute ended",
    .details = "An upheld dispute changes nothing by itself: retract what it was about.",
    .options = kResolveOptions,
    .examples = kResolveExamples,
    .run = resolve,
};

constexpr Verb kWithholdVerb{
    .name = "withhold",
    .summary = "remove an object's bytes and keep its digest, leaf and proofs",
    .details =
        "For a licence or a person who requires it. Signed by the root. Every view says that the "
        "bytes\n"
        "are withheld; what rested on them loses the levels that need them.",
    .options = kWithholdOptions,
    .examples = kWithholdExamples,
    .run = withhold,
};

}  // namespace kernelindex::tools
