// SPDX-License-Identifier: Apache-2.0
#include "tools/root_desk.h"

#include "tools/display_text.h"
#include "tools/ledger_access.h"
#include "tools/output_file.h"

namespace kernelindex::tools {

Result<RootDesk> RootDesk::open(const Session& session, const Arguments& arguments) {
  RootDesk desk;
  if (arguments.given("--unsigned")) {
    if (arguments.given("--key")) {
      return fail(ErrorKind::usage, "USAGE", "--unsigned",
                  "--unsigned needs no key, and --key signs at once", "give one of them");
    }
    desk.unsigned_file_ = arguments.text("--unsigned");
  } else {
    Result<KeyFile> key = signing_key(session, arguments, Role::root);
    if (!key) {
      Error error = key.error();
      if (error.code == "NO_KEY_FILE") {
        error.remedy =
            "name the root key with --key FILE, or have the statement signed where it is kept: "
            "--unsigned FILE";
      }
      return fail(std::move(error));
    }
    desk.key_ = std::move(*key);
  }
  Result<std::unique_ptr<Ledger>> ledger =
      open_ledger(session, desk.key_ ? Access::write : Access::query);
  if (!ledger) return fail(ledger.error());
  desk.ledger_ = std::move(*ledger);
  return desk;
}

Result<ExitCode> RootDesk::say(Session& session, std::string_view what, const Saying& saying) {
  if (!key_) return write_unsigned(session, saying);
  const Result<Attested> recorded = attest(*ledger_, saying, key_->key);
  if (!recorded) return fail(recorded.error());
  print_attested(session, what, saying.subject, {*recorded});
  return ExitCode::done;
}

Result<ExitCode> RootDesk::write_unsigned(Session& session, const Saying& saying) {
  const Reader reader = ledger_->read();
  const Digest root = reader.state().keys.valid(Role::root, reader.head().size).front()->key.id();
  const Result<std::string> payload = unsigned_payload(reader, session.now(), saying, root);
  if (!payload) return fail(payload.error());
  OutputFile file(unsigned_file_);
  if (Status status = file.open(); !status) return fail(status.error());
  if (Status status = file.write(*payload); !status) return fail(status.error());
  if (Status status = file.commit(); !status) return fail(status.error());
  Output& out = session.out();
  if (out.for_people()) {
    out.write(escape_text(unsigned_file_) + ": to be signed by the root key " + root.hex() + "\n");
    session.note(
        "Where that key is: kernelindex key sign FILE --key ROOTKEY -o ENVELOPE\n"
        "And here: kernelindex attest --envelope ENVELOPE");
    return ExitCode::done;
  }
  json::Arena arena;
  const JsonOutput json(arena);
  out.document(json.object()
                   .add("file", unsigned_file_)
                   .add("signer", json.text(root.hex()))
                   .add("subject", json.digest(saying.subject))
                   .add("attestation", json.digest(sha256(pae(kPayloadType, *payload))))
                   .finish());
  return ExitCode::done;
}

}  // namespace kernelindex::tools
