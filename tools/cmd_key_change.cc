// SPDX-License-Identifier: Apache-2.0
// key enrol, revoke, rotate, approve: what only the root may say of keys.
#include <algorithm>

#include "ledger/identify.h"
#include "ledger/key_rotation.h"
#include "ledger/object_reader.h"
#include "tools/key_names.h"
#include "tools/ledger_access.h"
#include "tools/root_desk.h"
#include "tools/table.h"
#include "tools/verbs.h"

namespace kernelindex::tools {
namespace {

constexpr OptionSpec kVoidFromOption = {
    .name = "--void-from",
    .value = "INDEX",
    .help = "after a compromise: what the key signed at this entry or later never counted",
    .kind = ValueKind::count};

constexpr OptionSpec kEnrolOptions[] = {
    {.name = "--owner",
     .value = "SLUG",
     .help = "the person or organisation whose key it is; must be given"},
    {.name = "--hardware",
     .value = "PRODUCT",
     .help = "a product that the runner may measure on; by default any",
     .repeated = true},
    {.name = "--protocol",
     .value = "ID",
     .help = "a protocol that the runner may follow; by default any approved one",
     .repeated = true},
    {.name = "--reason", .value = "TEXT", .help = "kept and shown with it"},
    kKeyOption,
    kUnsignedOption,
    {.name = "ROLE",
     .help = "what the key may sign",
     .kind = ValueKind::choice,
     .choices = "log|importer|contributor|controller|runner|maintainer|status",
     .required = true},
    {.name = "PUBLICKEY", .help = "base64, as `key new` prints it", .required = true},
};
constexpr std::string_view kEnrolExamples[] = {
    "key enrol contributor 11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo= --owner alice",
    "key enrol runner 11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo= --owner lab --hardware "
    "'NVIDIA B200' --unsigned enrol.json",
};

constexpr OptionSpec kRevokeOptions[] = {
    kReasonOption,
    kVoidFromOption,
    kKeyOption,
    kUnsignedOption,
    {.name = "ID",
     .help = "a key id or an approved digest, or a beginning of at least 6 digits",
     .required = true},
};
constexpr std::string_view kRevokeExamples[] = {
    "key revoke 3fb0c81d --reason 'left the project'",
    "key revoke 3fb0c81d --reason 'laptop stolen' --void-from 4120",
};

constexpr OptionSpec kRotateOptions[] = {
    {.name = "--role",
     .value = "ROLE",
     .help = "whose key is replaced; must be given",
     .kind = ValueKind::choice,
     .choices = "log|importer|contributor|controller|runner|maintainer|status"},
    kReasonOption,
    kVoidFromOption,
    kKeyOption,
};
constexpr std::string_view kRotateExamples[] = {"key rotate --role log --reason 'yearly'"};

constexpr OptionSpec kApproveOptions[] = {
    {.name = "--reason", .value = "TEXT", .help = "kept and shown with it"},
    kKeyOption,
    kUnsignedOption,
    {.name = "WHAT",
     .help = "what the digest is of",
     .kind = ValueKind::choice,
     .choices = "harness|protocol",
     .required = true},
    {.name = "DIGEST",
     .help = "the whole digest; of a protocol its identity, or what names it in the ledger",
     .required = true},
};
constexpr std::string_view kApproveExamples[] = {
    "key approve harness "
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"};

template <typename T>
void sort_without_repetitions(std::vector<T>& items) {
  std::ranges::sort(items);
  const auto repeated = std::ranges::unique(items);
  items.erase(repeated.begin(), repeated.end());
}

// A whole digest stands for itself; anything else must name a manifest of the ledger.
Result<Digest> protocol_digest(const Reader& reader, const std::string& text) {
  if (Result<Digest> whole = Digest::parse(text)) return whole;
  if (Result<Digest> hex = Digest::parse_hex(text)) return hex;
  const Result<Candidate> found =
      identify(reader, text, {Named::manifest}, ManifestKind::benchmark_protocol);
  if (!found) return fail(found.error());
  return found->digest;
}

Result<ExitCode> enrol(Session& session, const Arguments& arguments) {
  if (!arguments.given("--owner")) {
    return fail(ErrorKind::usage, "USAGE", "--owner", "an enrolment says whose key it is",
                "give --owner SLUG");
  }
  KeyEnrolment enrolment;
  enrolment.role = role_from_name(arguments.text("ROLE")).value();
  enrolment.owner = arguments.text("--owner");
  enrolment.reason = arguments.text("--reason");
  enrolment.hardware = arguments.list("--hardware");
  sort_without_repetitions(enrolment.hardware);
  const Result<PublicKey> key = public_key_argument(arguments, "PUBLICKEY");
  if (!key) return fail(key.error());
  enrolment.public_key = *key;
  const bool limited = arguments.given("--hardware") || arguments.given("--protocol");
  if (limited && enrolment.role != Role::runner) {
    return fail(ErrorKind::usage, "USAGE",
                arguments.given("--hardware") ? "--hardware" : "--protocol",
                "only runners are limited to hardware and protocols", "leave it out");
  }
  if (!is_slug(enrolment.owner, kSlugBytes)) {
    return fail(ErrorKind::usage, "BAD_OWNER", "--owner",
                "an owner is a slug: lower-case letters, digits and hyphens, at most 100",
                "give something like example-lab");
  }
  Result<RootDesk> desk = RootDesk::open(session, arguments);
  if (!desk) return fail(desk.error());
  {
    const Reader reader = desk->ledger().read();
    for (const std::string& text : arguments.list("--protocol")) {
      const Result<Digest> protocol = protocol_digest(reader, text);
      if (!protocol) return fail_in("--protocol", protocol.error());
      enrolment.protocols.push_back(*protocol);
    }
    sort_without_repetitions(enrolment.protocols);
  }
  return desk->say(session, "enrolment of", {enrolment.public_key.id(), KeyChange{enrolment}});
}

Result<ExitCode> revoke(Session& session, const Arguments& arguments) {
  const Result<std::string> reason = required_reason(arguments);
  if (!reason) return fail(reason.error());
  Result<RootDesk> desk = RootDesk::open(session, arguments);
  if (!desk) return fail(desk.error());
  const Result<Digest> subject =
      find_in_key_book(desk->ledger().read().state().keys, arguments.text("ID"));
  if (!subject) return fail(subject.error());
  return desk->say(session, "revocation of",
                   {*subject, KeyChange{Revocation{*reason, arguments.count("--void-from")}}});
}

Result<ExitCode> approve(Session& session, const Arguments& arguments) {
  DigestApproval approval;
  approval.kind = arguments.text("WHAT") == "protocol" ? DigestApproval::Kind::protocol
                                                       : DigestApproval::Kind::harness;
  approval.reason = arguments.text("--reason");
  Result<RootDesk> desk = RootDesk::open(session, arguments);
  if (!desk) return fail(desk.error());
  const std::string text = arguments.text("DIGEST");
  Result<Digest> digest = Digest::parse(text);
  if (!digest && approval.kind == DigestApproval::Kind::protocol) {
    digest = protocol_digest(desk->ledger().read(), text);
  }
  if (!digest) return fail_in("DIGEST", digest.error());
  return desk->say(session, "approval of", {*digest, KeyChange{approval}});
}

Result<ExitCode> rotate(Session& session, const Arguments& arguments) {
  if (!arguments.given("--role")) {
    return fail(ErrorKind::usage, "USAGE", "--role", "a rotation names the role",
                "give --role ROLE");
  }
  Result<std::string> reason = required_reason(arguments);
  if (!reason) return fail(reason.error());
  const Result<KeyFile> root = signing_key(session, arguments, Role::root);
  if (!root) {
    Error error = root.error();
    if (error.code == "NO_KEY_FILE") {
      error.remedy =
          "name the root key with --key FILE; where it is kept elsewhere, make the new key with "
          "`key new`, have `key enrol --unsigned` and then `key revoke --unsigned` signed";
    }
    return fail(std::move(error));
  }
  const Result<std::unique_ptr<Ledger>> ledger = open_ledger(session, Access::write);
  if (!ledger) return fail(ledger.error());
  RotationOptions options;
  options.role = role_from_name(arguments.text("--role")).value();
  options.reason = std::move(*reason);
  options.void_from = arguments.count("--void-from");
  options.passphrase = (*ledger)->options().passphrase;
  const Result<Rotation> rotated = rotate_key(**ledger, options, root->key);
  if (!rotated) return fail(rotated.error());
  Output& out = session.out();
  if (out.for_people()) {
    FactList facts;
    facts.add("new key", rotated->new_key.id().hex(), Tone::strong);
    facts.add("public key", rotated->new_key.base64());
    facts.add("file", rotated->file.string());
    facts.add("enrolled", "entry " + std::to_string(rotated->enrolment.index));
    facts.add("old key", rotated->old_key.id().hex());
    if (!rotated->kept.empty()) facts.add("kept as", rotated->kept.string());
    facts.add("revoked", "entry " + std::to_string(rotated->revocation.index));
    out.write(facts.text(out.terminal()));
    return ExitCode::done;
  }
  json::Arena arena;
  const JsonOutput json(arena);
  json::ObjectBuilder document = json.object();
  document.add("role", role_name(options.role))
      .add("keyId", json.text(rotated->new_key.id().hex()))
      .add("publicKey", json.text(rotated->new_key.base64()))
      .add("file", json.text(rotated->file.native()))
      .add("enrolledAt", json.count(rotated->enrolment.index))
      .add("oldKeyId", json.text(rotated->old_key.id().hex()))
      .add_if(!rotated->kept.empty(), "oldFile", rotated->kept.native())
      .add("revokedAt", json.count(rotated->revocation.index));
  out.document(document.finish());
  return ExitCode::done;
}

}  // namespace

constexpr Verb kKeyEnrolVerb{
    .name = "key enrol",
    .summary = "let a key sign from the next entry on",
    .details =
        "A public key is enrolled once, in one role, and never again. Signed by the root; with\n"
        "--unsigned the statement is written for whoever keeps the root key.",
    .options = kEnrolOptions,
    .examples = kEnrolExamples,
    .run = enrol,
};

constexpr Verb kKeyRevokeVerb{
    .name = "key revoke",
    .summary = "end what a key may sign, or what was approved",
    .details =
        "What the key signed before stands, unless --void-from says from which entry on it\n"
        "was in other hands: then levels and ranks that rest on it follow. The root itself\n"
        "cannot be revoked, and the last log key only be rotated.",
    .options = kRevokeOptions,
    .examples = kRevokeExamples,
    .run = revoke,
};

constexpr Verb kKeyRotateVerb{
    .name = "key rotate",
    .summary = "replace a key by a new one: enrol, revoke and rename in one step",
    .details =
        "The old file is kept as ROLE-XXXXXXXX.key, with the beginning of its key id. The\n"
        "first checkpoint after a log key was rotated carries the lines of both keys, so\n"
        "that readers who know the old one can follow. A lost key can be rotated too.",
    .options = kRotateOptions,
    .examples = kRotateExamples,
    .run = rotate,
};

constexpr Verb kKeyApproveVerb{
    .name = "key approve",
    .summary = "approve a harness or protocol for controlled runs",
    .details = "`key revoke DIGEST` takes it back.",
    .options = kApproveOptions,
    .examples = kApproveExamples,
    .run = approve,
};

}  // namespace kernelindex::tools
