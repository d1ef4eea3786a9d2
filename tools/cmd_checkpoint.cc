// SPDX-License-Identifier: Apache-2.0
#include "ledger/proof.h"
#include "tools/input_file.h"
#include "tools/json_output.h"
#include "tools/ledger_access.h"
#include "tools/log_identity.h"
#include "tools/verbs.h"

namespace kernelindex::tools {
namespace {

constexpr OptionSpec kOptions[] = {
    {.name = "--since",
     .value = "FILE",
     .help = "an older checkpoint of this log: prove that it is a prefix (exit 1 when it is not)",
     .kind = ValueKind::file},
};
constexpr std::string_view kExamples[] = {"checkpoint > checkpoint.txt",
                                          "checkpoint --since checkpoint.txt"};

struct Comparison {
  TreeHead older;
  Proof proof;
  std::string fault;  // empty when the older log is a prefix
};

Result<Comparison> compare(const Reader& reader, const std::string& path) {
  const Result<std::string> bytes = read_input(path, limits::kNoteBytes);
  if (!bytes) return fail(bytes.error());
  const Result<SignedCheckpoint> older = parse_checkpoint(*bytes);
  if (!older) return fail_in(input_name(path), older.error());
  Comparison result{older->checkpoint.head, {}, {}};
  const CheckpointVerdict signature = verify_checkpoint(*older, log_keys(reader));
  const TreeHead& head = reader.head();
  if (!signature.ok()) {
    result.fault = signature.detail + " (" + std::string(signature.code) + ")";
  } else if (result.older.size > head.size) {
    result.fault = "the older checkpoint is larger: this ledger lost entries";
  } else if (result.older.size > 0) {
    const Result<Proof> proof = reader.consistency_proof(result.older.size, head.size);
    if (!proof) return fail(proof.error());
    const ProofVerdict verdict = verify_consistency(result.older, head, *proof);
    result.proof = *proof;
    if (!verdict.ok()) {
      result.fault = verdict.detail + " (" + std::string(verdict.code) + "): expected " +
                     verdict.expected.text() + ", found " + verdict.found.text();
    }
  }
  return result;
}

void print_comparison(Session& session, const Reader& reader, const Comparison& comparison) {
  Output& out = session.out();
  if (out.for_people()) {
    const std::string sizes = "size " + std::to_string(comparison.older.size) + " and size " +
                              std::to_string(reader.head().size);
    out.write(comparison.fault.empty() ? sizes + ": the older log is a prefix of this one\n"
                                       : sizes + ": NOT a prefix: " + comparison.fault + "\n");
    return;
  }
  json::Arena arena;
  const JsonOutput json(arena);
  json::ObjectBuilder document = json.object();
  document.add("ok", json::Value(comparison.fault.empty()))
      .add("from", json.object()
                       .add("size", json.count(comparison.older.size))
                       .add("root", json.digest(comparison.older.root))
                       .finish())
      .add("to", json.object()
                     .add("size", json.count(reader.head().size))
                     .add("root", json.digest(reader.head().root))
                     .finish())
      .add("proof", json.texts(proof_texts(comparison.proof)))
      .add_if(!comparison.fault.empty(), "fault", comparison.fault);
  out.document(document.finish());
}

Result<ExitCode> run(Session& session, const Arguments& arguments) {
  const bool since = arguments.given("--since");
  const Result<std::unique_ptr<Ledger>> ledger =
      open_ledger(session, since ? Access::log : Access::write);
  if (!ledger) return fail(ledger.error());
  const Reader reader = (*ledger)->read();
  if (since) {
    const Result<Comparison> comparison = compare(reader, arguments.text("--since"));
    if (!comparison) return fail(comparison.error());
    print_comparison(session, reader, *comparison);
    return comparison->fault.empty() ? ExitCode::done : ExitCode::check_failed;
  }
  const Result<SignedCheckpoint> checkpoint = (*ledger)->checkpoint();
  if (!checkpoint) return fail(checkpoint.error());
  if (session.out().for_people()) {
    session.out().write(checkpoint->format());
    return ExitCode::done;
  }
  json::Arena arena;
  const JsonOutput json(arena);
  session.out().document(json.object()
                             .add("origin", checkpoint->checkpoint.origin)
                             .add("size", json.count(checkpoint->checkpoint.head.size))
                             .add("root", json.digest(checkpoint->checkpoint.head.root))
                             .add("note", json.text(checkpoint->format()))
                             .finish());
  return ExitCode::done;
}

}  // namespace

constexpr Verb kCheckpointVerb{
    .name = "checkpoint",
    .summary = "print the signed checkpoint of the log",
    .details =
        "A C2SP tlog-checkpoint in a signed note. Keep one elsewhere: with --since, or audit "
        "--since,\n"
        "it shows later that nothing before it was changed or lost.",
    .options = kOptions,
    .examples = kExamples,
    .run = run,
};

}  // namespace kernelindex::tools
