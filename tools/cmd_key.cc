// SPDX-License-Identifier: Apache-2.0
// key new, list, show, export: making keys, and who may sign. Nothing here reads a secret.
#include <algorithm>
#include <filesystem>

#include "ledger/attest.h"
#include "ledger/object_reader.h"
#include "ledger/role_keys.h"
#include "tools/display_text.h"
#include "tools/key_names.h"
#include "tools/ledger_access.h"
#include "tools/table.h"
#include "tools/verbs.h"

namespace kernelindex::tools {
namespace {

constexpr OptionSpec kNewOptions[] = {
    {.name = "--owner",
     .value = "SLUG",
     .help = "the person or organisation whose key it is; by default local"},
    {.name = "-o",
     .value = "FILE",
     .help = "the new file; by default ROLE-XXXXXXXX.key in the folder of keys, with the beginning "
             "of the key id",
     .kind = ValueKind::output},
    {.name = "ROLE",
     .help = "what the key is for",
     .kind = ValueKind::choice,
     .choices = kRoleChoices,
     .required = true},
};
constexpr std::string_view kNewExamples[] = {
    "key new root --owner example -o /media/safe/root.key",
    "key new runner --owner example --passphrase-file phrase.txt",
};

constexpr std::string_view kListExamples[] = {"key list", "key list --json"};

constexpr OptionSpec kShowOptions[] = {
    {.name = "ID",
     .help = "a key id or an approved digest, or a beginning of at least 6 digits",
     .required = true},
};
constexpr std::string_view kShowExamples[] = {"key show 3fb0c81d"};

constexpr OptionSpec kExportOptions[] = {
    {.name = "--role",
     .value = "ROLE",
     .help = "which keys; by default log",
     .kind = ValueKind::choice,
     .choices = kRoleChoices},
    {.name = "--all", .help = "those that were revoked as well"},
};
constexpr std::string_view kExportExamples[] = {"key export --role log > log.vkey"};

Result<std::filesystem::path> new_key_path(const Session& session, const Arguments& arguments,
                                           const KeyFile& file) {
  if (arguments.given("-o")) return std::filesystem::path(arguments.text("-o"));
  const std::filesystem::path folder = session.keys_path();
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error)) {
    return fail(ErrorKind::not_found, "NO_KEY_FOLDER", folder.string(),
                "there is no folder of keys",
                "name the new file with -o FILE, or a folder with --keys DIR");
  }
  return replaced_key_path(folder, file.role, file.key.public_key());
}

Result<ExitCode> make_key(Session& session, const Arguments& arguments) {
  const Result<LedgerOptions> options = ledger_options(session);
  if (!options) return fail(options.error());
  const std::string owner = arguments.given("--owner") ? arguments.text("--owner") : "local";
  const Role role = role_from_name(arguments.text("ROLE")).value();
  const KeyFile file{role, owner, SigningKey::generate()};
  if (!is_slug(owner, kSlugBytes)) {
    return fail(ErrorKind::usage, "BAD_OWNER", "--owner",
                "an owner is a slug: lower-case letters, digits and hyphens, at most 100",
                "give something like example-lab");
  }
  const Result<std::filesystem::path> path = new_key_path(session, arguments, file);
  if (!path) return fail(path.error());
  if (Status status = create_key_file(*path, file, options->passphrase); !status) {
    return fail(status.error());
  }
  const PublicKey& key = file.key.public_key();
  Output& out = session.out();
  if (out.for_people()) {
    FactList facts;
    facts.add("file", path->string(), Tone::strong);
    facts.add("role", std::string(role_name(role)));
    facts.add("owner", owner);
    facts.add("public key", key.base64());
    facts.add("key id", key.id().hex());
    facts.add("passphrase", options->passphrase.empty() ? "none" : "needed");
    out.write(facts.text(out.terminal()));
    return ExitCode::done;
  }
  json::Arena arena;
  const JsonOutput json(arena);
  out.document(json.object()
                   .add("file", path->native())
                   .add("role", role_name(role))
                   .add("owner", owner)
                   .add("publicKey", json.text(key.base64()))
                   .add("keyId", json.text(key.id().hex()))
                   .add("encrypted", json::Value(!options->passphrase.empty()))
                   .finish());
  return ExitCode::done;
}

void print_list(Output& out, const KeyBook& book) {
  Table keys(
      {{"KEY"}, {"OWNER", Align::left, 8}, {"ENROLLED", Align::right}, {"STATE"}, {"KEY ID"}});
  for (const Role role : kRoles) {
    for (const auto& [id, key] : book.all()) {
      if (key.role != role) continue;
      keys.add({{std::string(role_name(role))},
                {key.owner},
                {std::to_string(key.enrolled_at)},
                {key_state(key), key.revoked_at ? Tone::warning : Tone::plain},
                {id.hex(), Tone::dim}});
    }
  }
  out.write(keys.text(out.terminal()));
  Table approvals({{"APPROVED"}, {"ENTRY", Align::right}, {"STATE"}, {"DIGEST"}});
  for (const auto& [digest, records] : book.approvals()) {
    for (const ApprovalRecord& record : records) {
      approvals.add({{std::string(approval_kind_name(record.kind))},
                     {std::to_string(record.approved_at)},
                     {approval_state(record), record.revoked_at ? Tone::warning : Tone::plain},
                     {digest.text(), Tone::dim}});
    }
  }
  if (!approvals.empty()) out.write("\n" + approvals.text(out.terminal()));
}

Result<ExitCode> list(Session& session, const Arguments&) {
  const Result<std::unique_ptr<Ledger>> ledger = open_ledger(session, Access::query);
  if (!ledger) return fail(ledger.error());
  const Reader reader = (*ledger)->read();
  const KeyBook& book = reader.state().keys;
  Output& out = session.out();
  if (out.for_people()) {
    print_list(out, book);
    return ExitCode::done;
  }
  json::Arena arena;
  const JsonOutput json(arena);
  std::vector<json::Value> keys;
  for (const auto& [id, key] : book.all()) keys.push_back(key_document(json, id, key));
  std::vector<json::Value> approvals;
  for (const auto& [digest, records] : book.approvals()) {
    for (const ApprovalRecord& record : records) {
      approvals.push_back(approval_document(json, digest, record));
    }
  }
  out.document(
      json.object().add("keys", json.array(keys)).add("approvals", json.array(approvals)).finish());
  return ExitCode::done;
}

// Why the root said what it said at an entry; empty when it gave no reason.
Result<std::string> reason_at(const Reader& reader, std::uint64_t index) {
  const Result<Attestation> said = read_attestation(reader, index);
  if (!said) return fail(said.error());
  const auto* change = std::get_if<KeyChange>(&said->predicate);
  if (change == nullptr) return std::string();
  return std::visit([](const auto& action) { return action.reason; }, change->action);
}

// A key or an approved digest as facts: what, when, and why.
class Shown {
 public:
  Shown(const Reader& reader, const JsonOutput& json) : reader_(reader), json_(json) {}

  void fact(std::string name, std::string text, Tone tone = Tone::plain) {
    facts.add(std::move(name), std::move(text), tone);
  }
  Status changes(std::string_view first_word, std::uint64_t first,
                 const std::optional<std::uint64_t>& revoked,
                 const std::optional<std::uint64_t>& void_from) {
    if (Status status = entry(std::string(first_word), first); !status) return status;
    if (revoked) {
      if (Status status = entry("revoked", *revoked); !status) return status;
    }
    if (void_from) fact("void", "what came at entry " + std::to_string(*void_from) + " or later");
    return {};
  }

  FactList facts;
  std::vector<json::Value> entries;

 private:
  Status entry(std::string name, std::uint64_t index) {
    const Result<std::string> reason = reason_at(reader_, index);
    if (!reason) return fail(reason.error());
    json::ObjectBuilder document = json_.object();
    document.add("what", json_.text(name)).add("index", json_.count(index));
    document.add_if(!reason->empty(), "reason", *reason);
    entries.push_back(document.finish());
    fact(std::move(name),
         "entry " + std::to_string(index) + (reason->empty() ? "" : ": " + *reason));
    return {};
  }

  const Reader& reader_;
  const JsonOutput& json_;
};

Status show_key(const Session& session, const Reader& reader, const Digest& id,
                const KeyRecord& key, Shown& shown) {
  shown.fact("key id", id.hex(), Tone::strong);
  shown.fact("role", std::string(role_name(key.role)));
  shown.fact("owner", key.owner);
  shown.fact("public key", key.key.base64());
  if (key.role == Role::log) {
    shown.fact("verifier", log_verifier_key(reader.format().origin, key.key).text());
  }
  shown.fact("state", key_state(key), key.revoked_at ? Tone::warning : Tone::plain);
  if (Status status = shown.changes(key.role == Role::root ? "founding" : "enrolled",
                                    key.enrolled_at, key.revoked_at, key.void_from);
      !status) {
    return status;
  }
  for (const std::string& product : key.hardware) shown.fact("hardware", product);
  for (const Digest& protocol : key.protocols) shown.fact("protocol", protocol.text());
  if (const auto path = find_key_file(session.keys_path(), key.role, key.key)) {
    shown.fact("key file", path->string());
  }
  return {};
}

Result<ExitCode> show(Session& session, const Arguments& arguments) {
  const Result<std::unique_ptr<Ledger>> ledger = open_ledger(session, Access::query);
  if (!ledger) return fail(ledger.error());
  const Reader reader = (*ledger)->read();
  const KeyBook& book = reader.state().keys;
  const Result<Digest> named = find_in_key_book(book, arguments.text("ID"));
  if (!named) return fail(named.error());
  json::Arena arena;
  const JsonOutput json(arena);
  Shown shown(reader, json);
  json::ObjectBuilder document = json.object();
  if (const KeyRecord* key = book.find(*named)) {
    if (Status status = show_key(session, reader, *named, *key, shown); !status) {
      return fail(status.error());
    }
    document.add("key", key_document(json, *named, *key));
  }
  if (const auto found = book.approvals().find(*named); found != book.approvals().end()) {
    std::vector<json::Value> approvals;
    shown.fact("digest", named->text(), Tone::strong);
    for (const ApprovalRecord& record : found->second) {
      shown.fact("approved as", std::string(approval_kind_name(record.kind)));
      if (Status status =
              shown.changes("approved", record.approved_at, record.revoked_at, record.void_from);
          !status) {
        return fail(status.error());
      }
      approvals.push_back(approval_document(json, *named, record));
    }
    document.add("approvals", json.array(approvals));
  }
  Output& out = session.out();
  if (out.for_people()) {
    out.write(shown.facts.text(out.terminal()));
  } else {
    out.document(document.add("entries", json.array(shown.entries)).finish());
  }
  return ExitCode::done;
}

Result<ExitCode> export_keys(Session& session, const Arguments& arguments) {
  const Role role =
      arguments.given("--role") ? role_from_name(arguments.text("--role")).value() : Role::log;
  const Result<std::unique_ptr<Ledger>> ledger = open_ledger(session, Access::query);
  if (!ledger) return fail(ledger.error());
  const Reader reader = (*ledger)->read();
  std::vector<const KeyRecord*> keys;
  for (const auto& [id, key] : reader.state().keys.all()) {
    if (key.role != role) continue;
    if (arguments.given("--all") || key.valid_at(reader.head().size)) keys.push_back(&key);
  }
  std::ranges::sort(keys, {}, &KeyRecord::enrolled_at);
  if (keys.empty()) {
    return fail(ErrorKind::not_found, "NO_SUCH_KEY", std::string(role_name(role)),
                "the ledger has no valid key of this role",
                "`kernelindex key list` shows all; --all gives revoked ones too");
  }
  json::Arena arena;
  const JsonOutput json(arena);
  std::vector<json::Value> list;
  Output& out = session.out();
  for (const KeyRecord* key : keys) {
    const std::string text = role == Role::log
                                 ? log_verifier_key(reader.format().origin, key->key).text()
                                 : key->key.base64();
    if (out.for_people()) out.write(text + "\n");
    list.push_back(json.object()
                       .add("role", role_name(role))
                       .add("owner", key->owner)
                       .add("keyId", json.text(key->key.id().hex()))
                       .add(role == Role::log ? "verifierKey" : "publicKey", json.text(text))
                       .finish());
  }
  if (!out.for_people()) out.document(json.object().add("keys", json.array(list)).finish());
  return ExitCode::done;
}

}  // namespace

constexpr Verb kKeyNewVerb{
    .name = "key new",
    .summary = "make a private key in a file of its own",
    .details =
        "Prints the public key and its id, never the secret. The file is readable by its\n"
        "owner alone; with --passphrase-file it is encrypted. A key may sign nothing before\n"
        "the root enrols it.",
    .options = kNewOptions,
    .examples = kNewExamples,
    .run = make_key,
};

constexpr Verb kKeyListVerb{
    .name = "key list",
    .summary = "list who may sign, and what is approved",
    .details =
        "Keys by role, with the entry that enrolled each and the one that revoked it, and\n"
        "the approved harnesses and protocols.",
    .examples = kListExamples,
    .run = list,
};

constexpr Verb kKeyShowVerb{
    .name = "key show",
    .summary = "show what the log says of one key or approved digest",
    .options = kShowOptions,
    .examples = kShowExamples,
    .run = show,
};

constexpr Verb kKeyExportVerb{
    .name = "key export",
    .summary = "print public keys, one a line",
    .details =
        "Log keys as verifier keys of signed notes, name+hex+base64, which readers give to\n"
        "--key; other roles as the base64 of the key. Private keys are never exported: copy\n"
        "the key file.",
    .options = kExportOptions,
    .examples = kExportExamples,
    .run = export_keys,
};

}  // namespace kernelindex::tools
