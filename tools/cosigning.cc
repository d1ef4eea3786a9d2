// SPDX-License-Identifier: Apache-2.0
#include "tools/cosigning.h"

#include <algorithm>

#include "ledger/key_file.h"
#include "tools/display_text.h"
#include "tools/ledger_access.h"

namespace kernelindex::tools {

Result<WitnessKey> read_witness_key(const Session& session, const Arguments& arguments,
                                    std::string_view key_option, std::string_view name_option,
                                    std::span<const VerifierKey> log_keys) {
  const Result<LedgerOptions> options = ledger_options(session);
  if (!options) return fail(options.error());
  Result<KeyFile> file = read_key_file(arguments.text(key_option), options->passphrase);
  if (!file) return fail(file.error());
  std::string name = arguments.given(name_option) ? arguments.text(name_option) : file->owner;
  if (!is_note_name(name)) {
    return fail(ErrorKind::usage, "USAGE", std::string(name_option),
                "a name is 1 to 255 printable characters without space, +");
  }
  if (std::ranges::any_of(log_keys, [&](const VerifierKey& key) {
        return key.public_key == file->key.public_key();
      })) {
    return fail(ErrorKind::refused, "COSIGN_OWN_LOG", std::string(key_option),
                "this is the key of the log itself", "a witness has a key of its own");
  }
  return WitnessKey{std::move(name), std::move(file->key)};
}

std::uint64_t witness_time(UtcMicros now) {
  constexpr UtcMicros kMicrosPerSecond = 1'000'000;
  return static_cast<std::uint64_t>(std::max<UtcMicros>(1, now / kMicrosPerSecond));
}

Status check_room(const SignedCheckpoint& checkpoint) {
  if (checkpoint.signatures.size() < limits::kNoteSignatures) return {};
  return fail(ErrorKind::invalid, "TOO_MANY_SIGNATURES", "",
              "the checkpoint has no room for another line");
}

std::string cosigned_note(const SignedCheckpoint& checkpoint, const NoteSignature& ours) {
  SignedCheckpoint out = checkpoint;
  std::erase_if(out.signatures, [&](const NoteSignature& line) {
    return line.name == ours.name && line.key_id == ours.key_id;
  });
  out.signatures.push_back(ours);
  return out.format();
}

std::string refusal_text(const Terminal& terminal, const CosignDecision& decision) {
  return terminal.tinted("NOT cosigned", Tone::bad) + ": " + escape_text(decision.detail) + " (" +
         std::string(decision.code) + ")\n";
}

json::Value refusal_document(const JsonOutput& json, const CosignDecision& decision) {
  return json.object()
      .add("ok", json::Value(false))
      .add("code", json.text(decision.code))
      .add("detail", json.text(decision.detail))
      .add("storedSize", json.count(decision.stored_size))
      .finish();
}

}  // namespace kernelindex::tools
