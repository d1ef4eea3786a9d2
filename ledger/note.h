// SPDX-License-Identifier: Apache-2.0
// Signed notes (C2SP signed-note v1.0.0): a text, and lines of signatures below it.
//
//   note    = text LF 1*line          the separator is the last empty line
//   line    = "— " name SP base64(key id, 4 bytes || signature) LF
//   vkey    = name "+" 8 hex digits of the key id "+" base64(type || public key)
//   key id  = first 4 bytes of SHA-256(name || LF || type || public key)
//
// Stricter than the specification: names are printable ASCII without space and "+" of 1..255 bytes,
// base64 is canonical, a note has at most 256 KiB and 64 lines, a line at most 5 KiB decoded, and a
// repeated line of a known key is refused.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/signing_key.h"
#include "schema/limits.h"
#include "schema/result.h"

namespace kernelindex {

inline constexpr std::size_t kNoteLineBytes = 5 * limits::kKiB;  // decoded

using NoteKeyId = std::array<std::uint8_t, 4>;

// Only these two are verified here; lines of other algorithms are carried and ignored.
enum class NoteAlgorithm : std::uint8_t {
  ed25519 = 0x01,      // over the text
  cosignature = 0x04,  // timestamped Ed25519 over a checkpoint: C2SP tlog-cosignature v1
};

struct NoteSignature {
  std::string name;
  NoteKeyId key_id{};
  std::string bytes;  // after the key id; for a cosignature 8 bytes of time and 64 of signature

  // "— name base64\n"
  std::string line() const;
  bool operator==(const NoteSignature&) const = default;
};

struct Note {
  std::string text;  // ends with a newline
  std::vector<NoteSignature> signatures;

  std::string format() const;
};

// Reads a note. Sizes and counts are checked before anything is decoded. Errors (kind invalid):
// NOTE_TOO_LARGE, TOO_MANY_SIGNATURES, NOTE_BASE64 (a signature in another spelling than the
// canonical one, or in none), BAD_NOTE.
Result<Note> parse_note(std::string_view bytes);
// Reads signature lines alone, as a witness returns them; at most 64.
Result<std::vector<NoteSignature>> parse_signature_lines(std::string_view bytes);

bool is_note_name(std::string_view name);

// A public key by which notes are verified.
struct VerifierKey {
  std::string name;
  NoteAlgorithm algorithm = NoteAlgorithm::ed25519;
  PublicKey public_key;

  NoteKeyId key_id() const;
  // "name+hex+base64"
  std::string text() const;
  bool operator==(const VerifierKey&) const = default;
};

// Errors: BAD_VKEY; UNKNOWN_KEY_TYPE for algorithms that are not verified here.
Result<VerifierKey> parse_vkey(std::string_view text);

// Signs. Requires: is_note_name(name), a text that ends with a newline.
NoteSignature sign_note(std::string_view text, std::string_view name, const SigningKey& key);
// A cosignature of a checkpoint's text. `time` is in POSIX seconds, 1..2^63 - 1.
NoteSignature cosign_note(std::string_view text, std::string_view name, std::uint64_t time,
                          const SigningKey& key);
// What a cosignature signs: "cosignature/v1\ntime <time>\n" and the text.
std::string cosignature_message(std::string_view text, std::uint64_t time);
// The time of a cosignature line; nothing when it has not the shape of one (72 bytes, time in
// range).
std::optional<std::uint64_t> cosignature_time(const NoteSignature& signature);

struct VerifiedSignature {
  std::size_t key = 0;        // index among the keys given
  std::size_t signature = 0;  // index among the lines of the note
  std::uint64_t time = 0;     // of a cosignature, POSIX seconds
};

// What a check found; not an error.
struct [[nodiscard]] NoteVerdict {
  // Empty when at least one known key signed and no line of a known key fails. Else NOT_SIGNED (no
  // line of a known key), INVALID_SIGNATURE, REPEATED_SIGNATURE, AMBIGUOUS_KEY (two of the keys
  // given have the name and key id of a line), ORIGIN_MISMATCH (checkpoints only).
  std::string_view code;
  std::string detail;
  std::vector<VerifiedSignature> verified;  // empty unless ok

  bool ok() const { return code.empty(); }
};

// Checks every line whose name and key id are those of a key given; all other lines are ignored.
NoteVerdict verify_note(const Note& note, std::span<const VerifierKey> keys);

}  // namespace kernelindex
