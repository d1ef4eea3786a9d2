// SPDX-License-Identifier: Apache-2.0
#include "tools/signing.h"

#include "ledger/identify.h"
#include "tools/display_text.h"
#include "tools/ledger_access.h"

namespace kernelindex::tools {

Result<KeyFile> signing_key(const Session& session, const Arguments& arguments, Role role) {
  const Result<LedgerOptions> options = ledger_options(session);
  if (!options) return fail(options.error());
  if (arguments.given("--key")) return read_key_file(arguments.text("--key"), options->passphrase);
  return read_role_key(session.keys_path(), role, options->passphrase);
}

Result<std::string> required_reason(const Arguments& arguments) {
  if (arguments.given("--reason")) return arguments.text("--reason");
  return fail(ErrorKind::usage, "USAGE", "--reason", "a correction says why it is made",
              "give --reason TEXT");
}

Result<Digest> identify_subject(const Reader& reader, const std::string& text) {
  const Result<Candidate> found = identify(reader, text, {Named::manifest, Named::attestation});
  if (found) return found->digest;
  const Result<Digest> whole = Digest::parse(text);
  const Result<Digest> hex = Digest::parse_hex(text);
  if (whole && reader.state().keys.knows(*whole)) return *whole;
  if (hex && reader.state().keys.knows(*hex)) return *hex;
  return fail(found.error());
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
