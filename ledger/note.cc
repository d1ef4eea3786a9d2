// SPDX-License-Identifier: Apache-2.0
#include "ledger/note.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

#include "schema/digest.h"

namespace kernelindex {
namespace {

constexpr std::string_view kLineStart = "\u2014 ";  // an em dash and a space
constexpr std::size_t kTimeBytes = 8;
constexpr std::uint64_t kLastTime = 0x7fff'ffff'ffff'ffff;

std::unexpected<Error> bad(std::string code, std::string message) {
  return fail(ErrorKind::invalid, std::move(code), {}, std::move(message));
}

std::unexpected<Error> bad_line(std::size_t number, const char* what) {
  return fail(ErrorKind::invalid, "BAD_NOTE", "signature line " + std::to_string(number), what);
}

// The length of the valid UTF-8 sequence at the front (RFC 3629), or 0.
std::size_t utf8_length(std::string_view text) {
  const auto at = [&](std::size_t i) {
    return i < text.size() ? static_cast<std::uint8_t>(text[i]) : std::uint8_t{0};
  };
  const auto within = [&](std::size_t i, unsigned low, unsigned high) {
    return at(i) >= low && at(i) <= high;
  };
  const unsigned lead = at(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return within(1, 0x80, 0xBF) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {  // neither overlong nor a surrogate
    const unsigned low = lead == 0xE0 ? 0xA0 : 0x80;
    const unsigned high = lead == 0xED ? 0x9F : 0xBF;
    return within(1, low, high) && within(2, 0x80, 0xBF) ? 3 : 0;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {  // neither overlong nor above U+10FFFF
    const unsigned low = lead == 0xF0 ? 0x90 : 0x80;
    const unsigned high = lead == 0xF4 ? 0x8F : 0xBF;
    return within(1, low, high) && within(2, 0x80, 0xBF) && within(3, 0x80, 0xBF) ? 4 : 0;
  }
  return 0;
}

Status check_characters(std::string_view bytes) {
  for (std::size_t i = 0; i < bytes.size();) {
    const std::size_t length = utf8_length(bytes.substr(i));
    if (length == 0) return bad("BAD_NOTE", "byte " + std::to_string(i) + " is not UTF-8");
    if (static_cast<std::uint8_t>(bytes[i]) < 0x20 && bytes[i] != '\n') {
      return bad("BAD_NOTE", "byte " + std::to_string(i) + " is a control character");
    }
    i += length;
  }
  return {};
}

// One line without its newline.
Result<NoteSignature> parse_line(std::string_view line, std::size_t number) {
  if (!line.starts_with(kLineStart)) return bad_line(number, "it does not start with a dash");
  line.remove_prefix(kLineStart.size());
  const std::size_t space = line.find(' ');
  if (space == std::string_view::npos) return bad_line(number, "it has no signature");
  NoteSignature signature;
  signature.name = line.substr(0, space);
  if (!is_note_name(signature.name)) return bad_line(number, "the name is malformed");
  const std::string_view base64 = line.substr(space + 1);
  if (base64.size() > (kNoteLineBytes + 2) / 3 * 4) return bad_line(number, "it is too long");
  const std::optional<std::string> bytes = from_base64(base64);
  if (!bytes) {
    return fail(ErrorKind::invalid, "NOTE_BASE64", "signature line " + std::to_string(number),
                "the signature is not canonical base64");
  }
  if (bytes->size() > kNoteLineBytes) return bad_line(number, "it is too long");
  if (bytes->size() <= signature.key_id.size()) return bad_line(number, "the signature is empty");
  std::memcpy(signature.key_id.data(), bytes->data(), signature.key_id.size());
  signature.bytes = bytes->substr(signature.key_id.size());
  return signature;
}

bool line_verifies(const Note& note, const NoteSignature& signature, const VerifierKey& key) {
  if (key.algorithm == NoteAlgorithm::ed25519) {
    return verify_signature(key.public_key, note.text, signature.bytes);
  }
  const std::optional<std::uint64_t> time = cosignature_time(signature);
  return time && verify_signature(key.public_key, cosignature_message(note.text, *time),
                                  std::string_view(signature.bytes).substr(kTimeBytes));
}

NoteVerdict refuted(std::string_view code, std::string detail) {
  return {code, std::move(detail), {}};
}

std::string named(const NoteSignature& signature) {
  return signature.name + "+" +
         to_hex({reinterpret_cast<const char*>(signature.key_id.data()), signature.key_id.size()});
}

}  // namespace

bool is_note_name(std::string_view name) {
  return !name.empty() && name.size() <= limits::kNoteNameBytes &&
         std::ranges::all_of(name, [](char c) { return c > ' ' && c < 0x7f && c != '+'; });
}

// ---- Reading and writing
// ---------------------------------------------------------------------------

std::string NoteSignature::line() const {
  std::string raw(reinterpret_cast<const char*>(key_id.data()), key_id.size());
  raw += bytes;
  return std::string(kLineStart) + name + " " + to_base64(raw) + "\n";
}

std::string Note::format() const {
  std::string out = text + "\n";
  for (const NoteSignature& signature : signatures) out += signature.line();
  return out;
}

Result<std::vector<NoteSignature>> parse_signature_lines(std::string_view bytes) {
  if (bytes.empty() || bytes.back() != '\n') {
    return bad("BAD_NOTE", "there are no signature lines, or the last one has no newline");
  }
  const auto count = static_cast<std::size_t>(std::ranges::count(bytes, '\n'));
  if (count > limits::kNoteSignatures) {
    return bad("TOO_MANY_SIGNATURES", "there are " + std::to_string(count) +
                                          " signature lines, more than the limit of " +
                                          std::to_string(limits::kNoteSignatures));
  }
  std::vector<NoteSignature> signatures;
  signatures.reserve(count);
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    Result<NoteSignature> signature = parse_line(bytes.substr(0, end), signatures.size() + 1);
    if (!signature) return fail(signature.error());
    signatures.push_back(std::move(*signature));
    bytes.remove_prefix(end + 1);
  }
  return signatures;
}

Result<Note> parse_note(std::string_view bytes) {
  if (bytes.size() > limits::kNoteBytes) {
    return bad("NOTE_TOO_LARGE", "the note has " + std::to_string(bytes.size()) +
                                     " bytes, more than the limit of " +
                                     std::to_string(limits::kNoteBytes));
  }
  // The text may hold empty lines; the last one of the note ends it.
  const std::size_t separator = bytes.rfind("\n\n");
  if (separator == std::string_view::npos) {
    return bad("BAD_NOTE", "no empty line separates the text from the signatures");
  }
  if (Status ok = check_characters(bytes); !ok) return fail(ok.error());
  Result<std::vector<NoteSignature>> signatures =
      parse_signature_lines(bytes.substr(separator + 2));
  if (!signatures) return fail(signatures.error());
  return Note{std::string(bytes.substr(0, separator + 1)), std::move(*signatures)};
}

// ---- Keys
// ------------------------------------------------------------------------------------------

NoteKeyId VerifierKey::key_id() const {
  const char type = static_cast<char>(algorithm);
  const Digest digest = sha256({name, "\n", std::string_view(&type, 1), public_key.raw()});
  NoteKeyId id;
  std::memcpy(id.data(), digest.bytes.data(), id.size());
  return id;
}

std::string VerifierKey::text() const {
  const NoteKeyId id = key_id();
  std::string typed(1, static_cast<char>(algorithm));
  typed += public_key.raw();
  return name + "+" + to_hex({reinterpret_cast<const char*>(id.data()), id.size()}) + "+" +
         to_base64(typed);
}

Result<VerifierKey> parse_vkey(std::string_view text) {
  constexpr std::size_t kTypedKeyText = (1 + kPublicKeyBytes + 2) / 3 * 4;
  // base64 may hold a plus sign itself: only the first two separate.
  const std::size_t first = text.find('+');
  const std::size_t second = first == std::string_view::npos ? first : text.find('+', first + 1);
  if (second == std::string_view::npos || text.size() > limits::kNoteBytes) {
    return bad("BAD_VKEY", "a verifier key is written name+8 hex digits+base64");
  }
  VerifierKey key;
  key.name = text.substr(0, first);
  if (!is_note_name(key.name)) return bad("BAD_VKEY", "the name of the key is malformed");
  const std::string_view hex = text.substr(first + 1, second - first - 1);
  const std::string_view base64 = text.substr(second + 1);
  const std::optional<std::string> typed = from_base64(base64);
  if (!typed || typed->empty()) return bad("BAD_VKEY", "the key is not canonical base64");
  const auto type = static_cast<std::uint8_t>(typed->front());
  if (type != static_cast<std::uint8_t>(NoteAlgorithm::ed25519) &&
      type != static_cast<std::uint8_t>(NoteAlgorithm::cosignature)) {
    return bad("UNKNOWN_KEY_TYPE",
               "keys of type " + std::to_string(type) + " are not verified by this program");
  }
  if (base64.size() != kTypedKeyText) return bad("BAD_VKEY", "an Ed25519 key has 32 bytes");
  key.algorithm = NoteAlgorithm{type};
  const Result<PublicKey> public_key = PublicKey::from_raw(std::string_view(*typed).substr(1));
  if (!public_key) return fail(public_key.error());
  key.public_key = *public_key;
  if (key.text() != text) {
    return bad("BAD_VKEY", "the key id " + std::string(hex.substr(0, 16)) +
                               " is not that of this name and key");
  }
  return key;
}

// ---- Signing and verifying
// -------------------------------------------------------------------------

NoteSignature sign_note(std::string_view text, std::string_view name, const SigningKey& key) {
  assert(is_note_name(name));
  assert(text.ends_with('\n'));
  const VerifierKey verifier{std::string(name), NoteAlgorithm::ed25519, key.public_key()};
  return {verifier.name, verifier.key_id(), key.sign(text)};
}

NoteSignature cosign_note(std::string_view text, std::string_view name, std::uint64_t time,
                          const SigningKey& key) {
  assert(is_note_name(name));
  assert(text.ends_with('\n'));
  assert(time > 0);
  assert(time <= kLastTime);
  const VerifierKey verifier{std::string(name), NoteAlgorithm::cosignature, key.public_key()};
  std::string bytes(kTimeBytes, '\0');
  for (std::size_t i = 0; i < kTimeBytes; ++i) {
    bytes[i] = static_cast<char>(time >> (8 * (kTimeBytes - 1 - i)) & 0xff);
  }
  bytes += key.sign(cosignature_message(text, time));
  return {verifier.name, verifier.key_id(), std::move(bytes)};
}

std::string cosignature_message(std::string_view text, std::uint64_t time) {
  return "cosignature/v1\ntime " + std::to_string(time) + "\n" + std::string(text);
}

std::optional<std::uint64_t> cosignature_time(const NoteSignature& signature) {
  if (signature.bytes.size() != kTimeBytes + kSignatureBytes) return std::nullopt;
  std::uint64_t time = 0;
  for (std::size_t i = 0; i < kTimeBytes; ++i) {
    time = time << 8 | static_cast<std::uint8_t>(signature.bytes[i]);
  }
  // A witness never answers with time 0 (tlog-cosignature), nor beyond int64.
  if (time == 0 || time > kLastTime) return std::nullopt;
  return time;
}

NoteVerdict verify_note(const Note& note, std::span<const VerifierKey> keys) {
  std::vector<NoteKeyId> ids;
  ids.reserve(keys.size());
  for (const VerifierKey& key : keys) ids.push_back(key.key_id());
  std::vector<bool> used(keys.size());
  NoteVerdict verdict;
  for (std::size_t line = 0; line < note.signatures.size(); ++line) {
    const NoteSignature& signature = note.signatures[line];
    std::optional<std::size_t> match;
    for (std::size_t k = 0; k < keys.size(); ++k) {
      if (ids[k] != signature.key_id || keys[k].name != signature.name) continue;
      if (match) return refuted("AMBIGUOUS_KEY", "two keys are known as " + named(signature));
      match = k;
    }
    if (!match) continue;
    // A second line of a known key would travel unverified with readers that stop at the first.
    if (used[*match]) {
      return refuted("REPEATED_SIGNATURE", "two lines are of the key " + named(signature));
    }
    used[*match] = true;
    if (!line_verifies(note, signature, keys[*match])) {
      return refuted("INVALID_SIGNATURE", "the line of " + named(signature) + " does not verify");
    }
    const bool timed = keys[*match].algorithm == NoteAlgorithm::cosignature;
    verdict.verified.push_back({*match, line, timed ? *cosignature_time(signature) : 0});
  }
  if (verdict.verified.empty()) return refuted("NOT_SIGNED", "no line is of a key that is known");
  return verdict;
}

}  // namespace kernelindex
