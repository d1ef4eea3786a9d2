// SPDX-License-Identifier: Apache-2.0
#include "tools/signing.h"

#include "ledger/identify.h"
#include "ledger/role_keys.h"
#include "tools/display_text.h"
#include "tools/ledger_access.h"

namespace kernelindex::tools {

Result<KeyFile> signing_key(const Session& session, const Arguments& arguments, Role role) {
  const Result<LedgerOptions> options = ledger_options(session);
  if (!options) return fail(options.error());
  if (arguments.given("--key")) return read_key_file(arguments.text("--key"), options->passphrase);
  // Where the role has no ROLE.key, the one file that `key new` made for it.
  const std::vector<std::filesystem::path> files = role_key_files(session.keys_path(), role);
  if (files.size() == 1 && files.front() != key_file_path(session.keys_path(), role)) {
    return read_key_file(files.front(), options->passphrase);
  }
  return read_role_key(session.keys_path(), role, options->passphrase);
}

Result<std::string> required_reason(const Arguments& arguments) {
  if (arguments.given("--reason")) return arguments.text("--reason");
  return fail(ErrorKind::usage, "USAGE", "--reason", "a correction says why it is made",
              "give --reason TEXT");
}

Result<Digest> identify_subject(const Reader& reader, const std::string& text) {
  const Result<Candidate> found = identify(reader, text, {Named::manifest, Named::attestation});
  if (!found) return fail(found.error());
  return found->digest;
}

std::string signed_file_name(const std::string& path) {
  constexpr std::string_view kJson = ".json";
  const bool json = path.ends_with(kJson);
  return path.substr(0, json ? path.size() - kJson.size() : path.size()) + ".dsse.json";
}

namespace {

std::string because(const std::string& reason) { return reason.empty() ? "" : ", " + reason; }

// What the root says of keys.
struct ChangeText {
  const Digest& subject;

  std::string operator()(const KeyEnrolment& enrolment) const {
    return "enrols the " + std::string(role_name(enrolment.role)) + " key " + subject.hex() +
           " of " + enrolment.owner + because(enrolment.reason);
  }
  std::string operator()(const DigestApproval& approval) const {
    return "approves the " +
           std::string(approval.kind == DigestApproval::Kind::protocol ? "protocol " : "harness ") +
           subject.text() + because(approval.reason);
  }
  std::string operator()(const Revocation& revocation) const {
    return "revokes " + subject.hex() +
           (revocation.void_from ? ", void from " + std::to_string(*revocation.void_from) : "") +
           because(revocation.reason);
  }
};

}  // namespace

std::string saying_text(const Attestation& said) {
  if (const auto* founding = std::get_if<LedgerFounding>(&said.predicate)) {
    return "founds the ledger " + founding->origin + " of " + founding->owner;
  }
  std::string text =
      std::string(predicate_type(said.predicate).name) + " about " + said.subject.text();
  if (const auto* change = std::get_if<KeyChange>(&said.predicate)) {
    text = std::visit(ChangeText{said.subject}, change->action);
  }
  if (const auto* withholding = std::get_if<Withholding>(&said.predicate)) {
    text = "withholds the bytes of " + said.subject.text() + because(withholding->reason);
  }
  if (said.binding.ledger) text += ", in ledger " + said.binding.ledger->text();
  return text;
}

void print_attested(Session& session, std::string_view what, const Digest& subject,
                    const std::vector<Attested>& attested) {
  Output& out = session.out();
  if (out.for_people()) {
    for (const Attested& one : attested) {
      out.write(std::string(what) + " " + subject.text() +
                (one.existing ? ": recorded before, entry " : ": entry ") +
                std::to_string(one.index) + "\n" + one.id.text() + "\n");
    }
    return;
  }
  json::Arena arena;
  const JsonOutput json(arena);
  std::vector<json::Value> recorded;
  for (const Attested& one : attested) {
    recorded.push_back(json.object()
                           .add("index", json.count(one.index))
                           .add("id", json.digest(one.id))
                           .add("existing", json::Value(one.existing))
                           .finish());
  }
  out.document(json.object()
                   .add("subject", json.digest(subject))
                   .add("attestations", json.array(recorded))
                   .finish());
}

}  // namespace kernelindex::tools
