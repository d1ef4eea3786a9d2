// SPDX-License-Identifier: Apache-2.0
// Strategy: any bytes as a signed note, a checkpoint, signature lines, a verifier key and a tile
// path: the text formats that strangers send. The seeds are signed by the key whose seed is 32
// times 'k'.
//
// Invariants:
// - what is read prints as the very bytes that were read: each format has one spelling;
// - a note verifies only when its text is one that the key signed;
// - a checkpoint is a note whose text reads back to itself, its size within bounds;
// - errors are of kind invalid and have a code.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/fuzz_check.h"
#include "ledger/checkpoint.h"
#include "ledger/note.h"
#include "ledger/signing_key.h"
#include "ledger/tile.h"
#include "schema/limits.h"

namespace kernelindex {
namespace {

const SigningKey& key() {
  static const SigningKey fixed = SigningKey::from_seed(std::string(32, 'k')).value();
  return fixed;
}

// The texts of the seeds.
bool was_signed(const std::string& text) {
  const std::string empty_tree = Checkpoint{"example.org/ledger", {0, empty_root()}}.text();
  const std::string small_tree = Checkpoint{"example.org/ledger", {7, sha256("seven")}}.text();
  return text == empty_tree || text == small_tree;
}

void check_error(const Error& error) {
  FUZZ_CHECK(error.kind == ErrorKind::invalid);
  FUZZ_CHECK(!error.code.empty() && !error.message.empty());
}

void check_note(std::string_view bytes) {
  const Result<Note> note = parse_note(bytes);
  if (!note) return check_error(note.error());
  FUZZ_CHECK(note->format() == bytes);
  FUZZ_CHECK(note->signatures.size() <= limits::kNoteSignatures);
  const std::vector keys = {
      log_verifier_key("example.org/ledger", key().public_key()),
      VerifierKey{"witness.example", NoteAlgorithm::cosignature, key().public_key()}};
  const NoteVerdict verdict = verify_note(*note, keys);
  FUZZ_CHECK(verdict.ok() == !verdict.verified.empty());
  FUZZ_CHECK(!verdict.ok() || was_signed(note->text));
}

void check_checkpoint(std::string_view bytes) {
  const Result<SignedCheckpoint> checkpoint = parse_checkpoint(bytes);
  if (!checkpoint) return check_error(checkpoint.error());
  FUZZ_CHECK(checkpoint->format() == bytes);
  FUZZ_CHECK(checkpoint->checkpoint.head.size <= limits::kTreeSize);
  const std::string text = checkpoint->checkpoint.text();
  FUZZ_CHECK(parse_checkpoint_text(text).value() == checkpoint->checkpoint);
}

void check_texts(std::string_view bytes) {
  if (const auto lines = parse_signature_lines(bytes)) {
    std::string printed;
    for (const NoteSignature& line : *lines) printed += line.line();
    FUZZ_CHECK(printed == bytes);
  }
  if (const auto vkey = parse_vkey(bytes)) FUZZ_CHECK(vkey->text() == bytes);
  if (const auto path = parse_tile_path(bytes)) {
    FUZZ_CHECK(tile_path_text(*path) == bytes);
    FUZZ_CHECK(tile_width(path->level, path->index, limits::kTreeSize) > 0);
  }
}

}  // namespace
}  // namespace kernelindex

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  kernelindex::check_note(bytes);
  kernelindex::check_checkpoint(bytes);
  kernelindex::check_texts(bytes);
  return 0;
}
