// SPDX-License-Identifier: Apache-2.0
// key sign: on the machine where a key is kept, statements that another machine wrote.
#include "ledger/dsse.h"
#include "tools/display_text.h"
#include "tools/input_file.h"
#include "tools/json_output.h"
#include "tools/ledger_access.h"
#include "tools/output_file.h"
#include "tools/signing.h"
#include "tools/verbs.h"

namespace kernelindex::tools {
namespace {

constexpr std::size_t kPayloadBytes = limits::kMiB;

constexpr OptionSpec kOptions[] = {
    {.name = "--key",
     .value = "FILE",
     .help = "the key file that signs; must be given",
     .kind = ValueKind::file},
    {.name = "-o",
     .value = "ENVELOPE",
     .help = "where the signed envelope goes; by default beside FILE, ending in .dsse.json",
     .kind = ValueKind::output},
    {.name = "FILE",
     .help = "statements that --unsigned or `init --root` wrote",
     .kind = ValueKind::file,
     .required = true,
     .repeated = true},
};
constexpr std::string_view kExamples[] = {
    "key sign revoke.json --key /media/safe/root.key -o revoke.dsse.json",
    "key sign founding/?-*.json --key /media/safe/root.key",
};

struct Signed {
  std::string file;
  std::string envelope_file;
  Envelope envelope;
  Attestation said;
};

Result<Signed> sign(const std::string& path, const KeyFile& key) {
  Result<std::string> payload = read_input(path, kPayloadBytes);
  if (!payload) return fail(payload.error());
  Result<Attestation> said = parse_attestation(*payload);
  if (!said) return fail_in(input_name(path), said.error());
  const Digest own = key.key.public_key().id();
  if (said->binding.signer != own) {
    return fail(ErrorKind::refused, "SIGNER_MISMATCH", input_name(path),
                "it is to be signed by the key " + said->binding.signer.hex() +
                    ", and the key given is " + own.hex(),
                "name the right key file with --key");
  }
  Result<Envelope> envelope = sign_envelope(std::move(*payload), key.key);
  if (!envelope) return fail_in(input_name(path), envelope.error());
  return Signed{path, signed_file_name(path),
                normalised(std::move(*envelope), key.key.public_key()), std::move(*said)};
}

Status write(const Signed& one) {
  OutputFile file(one.envelope_file);
  if (Status status = file.open(); !status) return status;
  if (Status status = file.write(one.envelope.encode()); !status) return status;
  return file.commit();
}

Result<ExitCode> run(Session& session, const Arguments& arguments) {
  const std::vector<std::string>& files = arguments.list("FILE");
  if (!arguments.given("--key")) {
    return fail(ErrorKind::usage, "USAGE", "--key", "the key that signs must be named",
                "give --key FILE");
  }
  if (arguments.given("-o") && files.size() > 1) {
    return fail(ErrorKind::usage, "USAGE", "-o", "one envelope holds one statement",
                "leave -o out, or sign one file at a time");
  }
  const Result<LedgerOptions> options = ledger_options(session);
  if (!options) return fail(options.error());
  const Result<KeyFile> key = read_key_file(arguments.text("--key"), options->passphrase);
  if (!key) return fail(key.error());
  // All are checked before the first is written.
  std::vector<Signed> all;
  for (const std::string& path : files) {
    Result<Signed> one = sign(path, *key);
    if (!one) return fail(one.error());
    if (arguments.given("-o")) one->envelope_file = arguments.text("-o");
    all.push_back(std::move(*one));
  }
  json::Arena arena;
  const JsonOutput json(arena);
  std::vector<json::Value> list;
  Output& out = session.out();
  for (const Signed& one : all) {
    if (Status status = write(one); !status) return fail(status.error());
    if (out.for_people()) {
      out.write(escape_text(one.envelope_file) + ": " + escape_text(saying_text(one.said)) + "\n");
    }
    list.push_back(json.object()
                       .add("file", one.file)
                       .add("envelope", one.envelope_file)
                       .add("attestation", json.digest(one.envelope.id()))
                       .add("predicateType", json.text(predicate_type(one.said.predicate).uri()))
                       .add("subject", json.digest(one.said.subject))
                       .finish());
  }
  if (!out.for_people()) out.document(json.object().add("signed", json.array(list)).finish());
  return ExitCode::done;
}

}  // namespace

constexpr Verb kKeySignVerb{
    .name = "key sign",
    .summary = "sign statements that were written elsewhere, where the key is kept",
    .details =
        "Needs no ledger. Says what it signs; a statement for another key, or of a type that\n"
        "this program does not know, is refused. `attest --envelope` records the result,\n"
        "`init --resume` that of a founding.",
    .options = kOptions,
    .examples = kExamples,
    .run = run,
};

}  // namespace kernelindex::tools
