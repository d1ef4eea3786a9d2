// SPDX-License-Identifier: Apache-2.0
#include "ledger/predicate_members.h"

#include <string>

namespace kernelindex::predicates {
namespace {

constexpr std::size_t kPublicKeyText = 44;  // base64 of 32 bytes

// C0, DEL, and C1, which in UTF-8 is 0xC2 and a byte from 0x80 to 0x9F.
bool is_control_at(std::string_view text, std::size_t i) {
  const auto byte = static_cast<std::uint8_t>(text[i]);
  if (byte < 0x20 || byte == 0x7F) return true;
  return byte == 0xC2 && i + 1 < text.size() && static_cast<std::uint8_t>(text[i + 1]) < 0xA0;
}

}  // namespace

bool is_plain_text(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\n' && text[i] != '\t' && is_control_at(text, i)) return false;
  }
  return true;
}

bool is_plain_line(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_control_at(text, i)) return false;
  }
  return true;
}

std::size_t code_points(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<std::uint8_t>(c) & 0xC0) != 0x80; }));
}

void adopt(ObjectReader& reader, const Status& inner) {
  if (!inner) reader.fault(inner.error());
}

PublicKey read_public_key(ObjectReader& reader, std::string_view name) {
  const Result<PublicKey> key = PublicKey::parse(reader.text(name, kPublicKeyText));
  if (key) return *key;
  reader.fault(name, "BAD_MEMBER", key.error().message);
  return {};
}

std::vector<Digest> read_digests(ObjectReader& reader, std::string_view name, std::size_t most,
                                 bool required) {
  std::vector<Digest> digests;
  for (const json::Value& item : reader.array(name, most, required)) {
    const Result<Digest> digest = Digest::parse(item.is_string() ? item.string() : "");
    if (!digest) {
      reader.fault(name, "BAD_DIGEST", digest.error().message);
      return {};
    }
    digests.push_back(*digest);
  }
  return digests;
}

void require_plain_text(ObjectReader& reader, std::string_view name, std::string_view text) {
  if (is_plain_text(text)) return;
  reader.fault(name, "BAD_MEMBER", "a text holds no control characters other than newline and tab",
               "remove them; a carriage return is one");
}

std::string read_reason(ObjectReader& reader) {
  std::string reason = reader.text("reason", kReasonBytes);
  require_plain_text(reader, "reason", reason);
  return reason;
}

std::string read_optional_reason(ObjectReader& reader) {
  std::string reason = reader.optional_text("reason", kReasonBytes);
  require_plain_text(reader, "reason", reason);
  return reason;
}

std::string read_line(ObjectReader& reader, std::string_view name, std::size_t bytes) {
  std::string line = reader.text(name, bytes);
  if (!is_plain_line(line)) {
    reader.fault(name, "BAD_MEMBER", "this must be one line without control characters");
  }
  return line;
}

}  // namespace kernelindex::predicates
