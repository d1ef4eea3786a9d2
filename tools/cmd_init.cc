// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include "tools/input_file.h"
#include "tools/json_output.h"
#include "tools/key_names.h"
#include "tools/ledger_access.h"
#include "tools/log_identity.h"
#include "tools/output_file.h"
#include "tools/signing.h"
#include "tools/table.h"
#include "tools/verbs.h"

namespace kernelindex::tools {
namespace {

constexpr std::size_t kEnvelopeBytes = 4 * limits::kMiB;

constexpr OptionSpec kOptions[] = {
    {.name = "--origin",
     .value = "NAME",
     .help = "the name that checkpoints carry; by default kernelindex.local/ and 8 digits of the "
             "root key's id"},
    {.name = "--owner", .value = "SLUG", .help = "who runs this ledger; by default local"},
    {.name = "--root",
     .value = "PUBLICKEY",
     .help = "the root key is kept elsewhere: make all else, and write what it has to sign"},
    {.name = "--resume", .help = "found the ledger with what the root has signed since"},
};
constexpr std::string_view kExamples[] = {
    "init",
    "init --ledger results.ledger --origin example.org/kernels --owner example",
    "init --root 11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=",
    "init --resume",
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

// DIR/founding: the statements that wait for a root kept elsewhere, and their envelopes.
std::filesystem::path waiting_folder(const Session& session) {
  return session.ledger_path() / "founding";
}

// "0-ledger.json", "1-log.json", ... in the order of the entries.
std::vector<std::filesystem::path> waiting_files(const Session& session) {
  const std::filesystem::path folder = waiting_folder(session);
  std::vector<std::filesystem::path> out = {folder / "0-ledger.json"};
  for (std::size_t i = 0; i < kFoundingRoles.size(); ++i) {
    out.push_back(folder / (std::to_string(i + 1) + "-" +
                            std::string(role_name(kFoundingRoles[i])) + ".json"));
  }
  return out;
}

Status write_statement(const std::filesystem::path& path, const Attestation& statement) {
  const Result<std::string> payload = statement.encode();
  if (!payload) return fail(payload.error());
  OutputFile file(path.string());
  if (Status status = file.open(); !status) return status;
  if (Status status = file.write(*payload); !status) return status;
  return file.commit();
}

Result<ExitCode> prepare(Session& session, const Arguments& arguments, const LedgerOptions& options,
                         const FoundingOptions& founding) {
  const Result<PublicKey> root = public_key_argument(arguments, "--root");
  if (!root) return fail(root.error());
  const std::filesystem::path folder = waiting_folder(session);
  std::error_code error;
  if (std::filesystem::exists(folder, error)) {
    return fail(ErrorKind::refused, "FOUNDING_WAITS", folder.string(),
                "a founding waits here for the signatures of its root already",
                "sign its statements and run `kernelindex init --resume`, or remove the folder");
  }
  const Result<std::vector<Attestation>> statements = Ledger::prepare(options, founding, *root);
  if (!statements) return fail(statements.error());
  std::filesystem::create_directory(folder, error);
  const std::vector<std::filesystem::path> files = waiting_files(session);
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (Status status = write_statement(files[i], (*statements)[i]); !status) {
      return fail(status.error());
    }
  }
  const Digest ledger_id = *(*statements)[1].binding.ledger;
  Output& out = session.out();
  if (out.for_people()) {
    FactList facts;
    facts.add("ledger", session.ledger_path().native(), Tone::strong);
    facts.add("ledger id", ledger_id.text());
    facts.add("root key", root->id().hex());
    for (const std::filesystem::path& file : files) facts.add("to sign", file.string());
    out.write(facts.text(out.terminal()));
  } else {
    json::Arena arena;
    const JsonOutput json(arena);
    std::vector<std::string> names;
    for (const std::filesystem::path& file : files) names.push_back(file.string());
    out.document(json.object()
                     .add("ledger", session.ledger_path().native())
                     .add("ledgerId", json.digest(ledger_id))
                     .add("rootKeyId", json.text(root->id().hex()))
                     .add("toSign", json.texts(names))
                     .finish());
  }
  session.note(
      "\nNothing is founded yet. Where the root key is: kernelindex key sign FILE... --key "
      "ROOTKEY\nPut the envelopes beside the statements, and here: kernelindex init "
      "--resume");
  return ExitCode::done;
}

Result<ExitCode> resume(Session& session, const LedgerOptions& options) {
  std::vector<Envelope> envelopes;
  for (const std::filesystem::path& file : waiting_files(session)) {
    const std::string signed_file = signed_file_name(file.string());
    const Result<std::string> bytes = read_input(signed_file, kEnvelopeBytes);
    if (!bytes) {
      Error error = bytes.error();
      if (error.kind == ErrorKind::not_found) {
        error.code = "NOT_SIGNED";
        error.message = "the root has not signed this statement yet, or its envelope is not here";
        error.remedy =
            "run `kernelindex init --root PUBLICKEY` first, then `kernelindex key sign` "
            "where the root key is kept";
      }
      return fail(std::move(error));
    }
    Result<Envelope> envelope = parse_envelope(*bytes);
    if (!envelope) return fail_in(signed_file, envelope.error());
    envelopes.push_back(std::move(*envelope));
  }
  const Result<std::unique_ptr<Ledger>> ledger = Ledger::create_from(options, envelopes);
  if (!ledger) return fail(ledger.error());
  // What stood there is in the log now.
  std::error_code ignored;
  for (const std::filesystem::path& file : waiting_files(session)) {
    std::filesystem::remove(file, ignored);
    std::filesystem::remove(signed_file_name(file.string()), ignored);
  }
  std::filesystem::remove(waiting_folder(session), ignored);
  print(session, **ledger, (*ledger)->read());
  session.note("\nThe ledger id above is what a reader pins.");
  return ExitCode::done;
}

Result<ExitCode> run(Session& session, const Arguments& arguments) {
  const Result<LedgerOptions> options = ledger_options(session);
  if (!options) return fail(options.error());
  if (arguments.given("--resume")) {
    for (const std::string_view other : {"--origin", "--owner", "--root"}) {
      if (!arguments.given(other)) continue;
      return fail(ErrorKind::usage, "USAGE", std::string(other),
                  "what the root has signed says it already", "give --resume alone");
    }
    return resume(session, *options);
  }
  FoundingOptions founding;
  founding.origin = arguments.text("--origin");
  if (arguments.given("--owner")) founding.owner = arguments.text("--owner");
  if (arguments.given("--root")) return prepare(session, arguments, *options, founding);
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
        "Entry 0 founds the ledger and is signed by the root key; the next entries enrol\n"
        "the other keys. With --passphrase-file the key files are encrypted. With --root\n"
        "nothing secret of the root is ever here: its statements are written to DIR/founding,\n"
        "signed elsewhere with `key sign`, and `init --resume` founds the ledger with the\n"
        "envelopes.",
    .options = kOptions,
    .examples = kExamples,
    .run = run,
};

}  // namespace kernelindex::tools
