// SPDX-License-Identifier: Apache-2.0
#include "ledger/checkpoint.h"

#include <algorithm>
#include <cassert>
#include <optional>
#include <utility>

#include "ledger/text_lines.h"
#include "schema/limits.h"

namespace kernelindex {
namespace {

std::unexpected<Error> bad(std::string message) {
  return fail(ErrorKind::invalid, "BAD_CHECKPOINT", {}, std::move(message));
}

}  // namespace

std::string Checkpoint::text() const {
  return origin + "\n" + std::to_string(head.size) + "\n" + to_base64(head.root.raw()) + "\n";
}

Result<Checkpoint> parse_checkpoint_lines(std::string_view text) {
  const std::optional<std::string_view> origin = take_line(text);
  const std::optional<std::string_view> size_line = take_line(text);
  const std::optional<std::string_view> root_line = take_line(text);
  if (!root_line) return bad("a checkpoint has three lines: origin, size and root");
  if (!text.empty()) return bad("a checkpoint here has no lines after its root");
  Checkpoint checkpoint;
  checkpoint.origin = *origin;
  if (checkpoint.origin.empty() || checkpoint.origin.size() > limits::kNoteNameBytes) {
    return bad("the origin must have 1 to 255 bytes");
  }
  const std::optional<std::uint64_t> size = size_from_decimal(*size_line);
  if (!size) return bad("the size must be a decimal of at most 2^63 - 1, without leading zeros");
  const std::optional<Digest> root = hash_from_base64(*root_line);
  if (!root) return bad("the root must be the canonical base64 of 32 bytes");
  checkpoint.head = {*size, *root};
  return checkpoint;
}

Result<Checkpoint> parse_checkpoint_text(std::string_view text) {
  Result<Checkpoint> checkpoint = parse_checkpoint_lines(text);
  if (checkpoint && checkpoint->head.size == 0 && checkpoint->head.root != empty_root()) {
    return bad("the empty tree has one root, and this is another");
  }
  return checkpoint;
}

Result<SignedCheckpoint> parse_checkpoint(std::string_view bytes) {
  Result<Note> note = parse_note(bytes);
  if (!note) return fail(note.error());
  Result<Checkpoint> checkpoint = parse_checkpoint_text(note->text);
  if (!checkpoint) return fail(checkpoint.error());
  assert(checkpoint->text() == note->text);
  return SignedCheckpoint{std::move(*checkpoint), std::move(note->signatures)};
}

SignedCheckpoint sign_checkpoint(const Checkpoint& checkpoint,
                                 std::span<const SigningKey* const> log_keys) {
  assert(!log_keys.empty());
  assert(checkpoint.head.size <= limits::kTreeSize);
  assert(checkpoint.head.size > 0 || checkpoint.head.root == empty_root());
  SignedCheckpoint out{checkpoint, {}};
  std::vector<VerifierKey> verifiers;
  for (const SigningKey* key : log_keys) {
    out.signatures.push_back(sign_note(checkpoint.text(), checkpoint.origin, *key));
    verifiers.push_back(log_verifier_key(checkpoint.origin, key->public_key()));
  }
  assert(verify_checkpoint(out, verifiers).log_signatures == log_keys.size());
  return out;
}

VerifierKey log_verifier_key(std::string_view origin, const PublicKey& key) {
  return {std::string(origin), NoteAlgorithm::ed25519, key};
}

CheckpointVerdict verify_checkpoint(const SignedCheckpoint& checkpoint,
                                    std::span<const VerifierKey> log_keys,
                                    std::span<const VerifierKey> witnesses) {
  CheckpointVerdict verdict;
  for (const VerifierKey& key : log_keys) {
    if (key.name == checkpoint.checkpoint.origin && key.algorithm == NoteAlgorithm::ed25519)
      continue;
    verdict.code = "ORIGIN_MISMATCH";
    verdict.detail =
        "the key " + key.name + " cannot sign for the origin " + checkpoint.checkpoint.origin;
    return verdict;
  }
  std::vector<VerifierKey> keys(log_keys.begin(), log_keys.end());
  keys.insert(keys.end(), witnesses.begin(), witnesses.end());
  const NoteVerdict note = verify_note(checkpoint.note(), keys);
  if (!note.ok()) {
    verdict.code = note.code;
    verdict.detail = note.detail;
    return verdict;
  }
  for (const VerifiedSignature& signature : note.verified) {
    if (signature.key < log_keys.size()) {
      ++verdict.log_signatures;
    } else if (keys[signature.key].algorithm == NoteAlgorithm::cosignature) {
      verdict.cosignatures.push_back({signature.key - log_keys.size(), signature.time});
    }
  }
  if (verdict.log_signatures == 0) {
    verdict = {};
    verdict.code = "NOT_SIGNED";
    verdict.detail = "no key of the log signed the checkpoint";
  }
  return verdict;
}

}  // namespace kernelindex
