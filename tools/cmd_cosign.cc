// SPDX-License-Identifier: Apache-2.0
// cosign: be a witness of somebody's log, by hand.
#include <optional>

#include "ledger/text_lines.h"
#include "ledger/witness.h"
#include "ledger/witness_state_file.h"
#include "schema/json_reader.h"
#include "tools/cosigning.h"
#include "tools/input_file.h"
#include "tools/json_output.h"
#include "tools/log_keys.h"
#include "tools/output_file.h"
#include "tools/verbs.h"

namespace kernelindex::tools {
namespace {

constexpr std::size_t kProofFileBytes = 16 * limits::kKiB;

constexpr OptionSpec kOptions[] = {
    {.name = "--checkpoint",
     .value = "FILE",
     .help = "the log's checkpoint; - for standard input",
     .kind = ValueKind::file},
    {.name = "--state",
     .value = "DIR",
     .help = "what was cosigned before, by log; made when it is not there, and kept up to date",
     .kind = ValueKind::folder},
    {.name = "--old",
     .value = "FILE|0",
     .help = "instead of --state: the checkpoint of this log that you cosigned last, as this verb "
             "wrote it, or 0 when there is none",
     .kind = ValueKind::file},
    {.name = "--proof",
     .value = "FILE",
     .help = "that the old log is a prefix: hashes in base64, one a line, or what 'checkpoint "
             "--since OLD --json' prints",
     .kind = ValueKind::file},
    {.name = "--key", .value = "FILE", .help = "your key file", .kind = ValueKind::file},
    {.name = "--name",
     .value = "NAME",
     .help = "your name as a witness, by custom a URL without its scheme; by default the owner "
             "that the key file names"},
    {.name = "--log-key",
     .value = "VKEY",
     .help = "a key of the log, name+hex+base64; repeat it for each key of a log that changed keys",
     .repeated = true},
    {.name = "-o",
     .value = "FILE",
     .help = "write the cosigned checkpoint to a file",
     .kind = ValueKind::output},
};
constexpr std::string_view kExamples[] = {
    "cosign --checkpoint log.txt --state witness --key w.key --log-key \"$(cat log.vkey)\" -o "
    "cosigned.txt",
    "cosign --checkpoint log.txt --old 0 --key w.key --log-key \"$(cat log.vkey)\"",
};

std::unexpected<Error> usage(std::string message) {
  return fail(ErrorKind::usage, "USAGE", "", "cosign: " + std::move(message),
              "Try 'kernelindex cosign --help'");
}

Status check_words(const Arguments& arguments) {
  for (const char* name : {"--checkpoint", "--key", "--log-key"}) {
    if (!arguments.given(name)) return usage(std::string(name) + " is required");
  }
  if (arguments.given("--state") == arguments.given("--old")) {
    return usage("one of --state and --old is required");
  }
  return {};
}

Result<SignedCheckpoint> read_checkpoint(const std::string& path) {
  const Result<std::string> bytes = read_input(path, limits::kNoteBytes);
  if (!bytes) return fail(bytes.error());
  Result<SignedCheckpoint> checkpoint = parse_checkpoint(*bytes);
  if (!checkpoint) return fail_in(input_name(path), checkpoint.error());
  return checkpoint;
}

// The member `proof` of a document, or lines, with or without the empty one that ends a proof.
Result<Proof> parse_proof_file(const std::string& text) {
  if (!text.starts_with('{')) {
    std::string ended = text.ends_with('\n') ? text : text + "\n";
    if (ended != "\n" && !ended.ends_with("\n\n")) ended += "\n";
    std::string_view lines = ended;
    Result<Proof> proof = take_proof_lines(lines);
    if (proof && !lines.empty()) {
      return fail(ErrorKind::invalid, "BAD_PROOF_FILE", "", "lines follow the end of the proof");
    }
    return proof;
  }
  json::Arena arena;
  const Result<json::Value> document = json::parse(text, arena, {.bytes = kProofFileBytes});
  if (!document) return fail(document.error());
  const json::Value* member = document->find("proof");
  if (member == nullptr || !member->is_array()) {
    return fail(ErrorKind::invalid, "BAD_PROOF_FILE", "/proof", "there is no array of hashes");
  }
  std::vector<std::string_view> texts;
  for (const json::Value& hash : member->array()) {
    if (!hash.is_string()) {
      return fail(ErrorKind::invalid, "BAD_PROOF_FILE", "/proof", "a hash is a text");
    }
    texts.push_back(hash.string());
  }
  return parse_proof(texts);
}

Result<Proof> read_proof(const Arguments& arguments) {
  if (!arguments.given("--proof")) return Proof();
  const std::string path = arguments.text("--proof");
  const Result<std::string> bytes = read_input(path, kProofFileBytes);
  if (!bytes) return fail(bytes.error());
  Result<Proof> proof = parse_proof_file(*bytes);
  if (!proof) return fail_in(input_name(path), proof.error());
  return proof;
}

// What --old names: our last cosignature is on it, and it is of this log.
Result<std::optional<WitnessRecord>> read_old(const std::string& path, const std::string& origin,
                                              const WitnessIdentity& witness) {
  if (path == "0") return std::nullopt;
  Result<SignedCheckpoint> old = read_checkpoint(path);
  if (!old) return fail(old.error());
  const std::vector<VerifierKey> own = {witness.verifier()};
  const NoteVerdict ours = verify_note(old->note(), own);
  if (!ours.ok() || old->checkpoint.origin != origin) {
    return fail(ErrorKind::invalid, "NOT_OURS", input_name(path),
                ours.ok() ? "it is a checkpoint of another log" : ours.detail,
                "name the checkpoint of this log that this verb wrote last");
  }
  return WitnessRecord{std::move(*old), ours.verified.front().time};
}

Result<CosignDecision> decide(const Session& session, const Arguments& arguments,
                              AddCheckpoint request, const std::vector<VerifierKey>& keys,
                              const WitnessIdentity& witness) {
  const std::string& origin = request.checkpoint.checkpoint.origin;
  const std::uint64_t now = witness_time(session.now());
  const auto size_of = [](const std::optional<WitnessRecord>& record) {
    return record ? record->checkpoint.checkpoint.head.size : 0;
  };
  if (arguments.given("--old")) {
    const Result<std::optional<WitnessRecord>> old =
        read_old(arguments.text("--old"), origin, witness);
    if (!old) return fail(old.error());
    request.old_size = size_of(*old);
    return decide_cosignature(request, *old, keys, witness, now);
  }
  Result<WitnessStateFile> state =
      WitnessStateFile::open(arguments.text("--state"), witness.verifier());
  if (!state) return fail(state.error());
  const Result<std::optional<WitnessRecord>> stored = state->latest(origin);
  if (!stored) return fail(stored.error());
  request.old_size = size_of(*stored);
  return cosign_checkpoint(request, *state, keys, witness, now);
}

Status deliver(Session& session, const Arguments& arguments, const SignedCheckpoint& checkpoint,
               const NoteSignature& ours) {
  const std::string note = cosigned_note(checkpoint, ours);
  if (arguments.given("-o")) {
    OutputFile file(arguments.text("-o"));
    Status status = file.open();
    if (status) status = file.write(note);
    if (status) status = file.commit();
    if (!status) return status;
  }
  if (session.out().for_people()) {
    if (!arguments.given("-o")) session.out().write(note);
    return {};
  }
  json::Arena arena;
  const JsonOutput json(arena);
  session.out().document(json.object()
                             .add("ok", json::Value(true))
                             .add("origin", json.text(checkpoint.checkpoint.origin))
                             .add("size", json.count(checkpoint.checkpoint.head.size))
                             .add("root", json.digest(checkpoint.checkpoint.head.root))
                             .add("time", json.count(cosignature_time(ours)))
                             .add("line", json.text(ours.line()))
                             .add("note", json.text(note))
                             .finish());
  return {};
}

void refuse(Session& session, const CosignDecision& decision) {
  if (session.out().for_people()) {
    session.out().write(refusal_text(session.out().terminal(), decision));
    return;
  }
  json::Arena arena;
  session.out().document(refusal_document(JsonOutput(arena), decision));
}

Result<ExitCode> run(Session& session, const Arguments& arguments) {
  if (Status words = check_words(arguments); !words) return fail(words.error());
  const Result<std::vector<VerifierKey>> keys = read_log_keys(arguments, "--log-key");
  if (!keys) return fail(keys.error());
  Result<SignedCheckpoint> checkpoint = read_checkpoint(arguments.text("--checkpoint"));
  if (!checkpoint) return fail(checkpoint.error());
  if (Status room = check_room(*checkpoint); !room) {
    return fail_in(input_name(arguments.text("--checkpoint")), room.error());
  }
  Result<Proof> proof = read_proof(arguments);
  if (!proof) return fail(proof.error());
  const Result<WitnessKey> key = read_witness_key(session, arguments, "--key", "--name", *keys);
  if (!key) return fail(key.error());
  const Result<CosignDecision> decision =
      decide(session, arguments, {0, std::move(*proof), *checkpoint}, *keys, key->identity());
  if (!decision) return fail(decision.error());
  if (!decision->ok()) {
    refuse(session, *decision);
    return ExitCode::check_failed;
  }
  const Status delivered = deliver(session, arguments, *checkpoint, *decision->signature);
  if (!delivered) return fail(delivered.error());
  return ExitCode::done;
}

}  // namespace

constexpr Verb kCosignVerb{
    .name = "cosign",
    .summary = "add your cosignature to the checkpoint of a log that you watch",
    .details =
        "A C2SP tlog-cosignature: as of now, this is the largest tree of the log that you saw, and "
        "it\n"
        "continues the last one that you cosigned. It is made only when the log signed the "
        "checkpoint\n"
        "and the consistency proof holds; else exit 1. Whoever holds two checkpoints of one log "
        "with\n"
        "your line on both knows that no other history was shown in between.",
    .options = kOptions,
    .examples = kExamples,
    .run = run,
};

}  // namespace kernelindex::tools
