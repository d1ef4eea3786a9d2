// SPDX-License-Identifier: Apache-2.0
#include "ledger/dsse.h"

#include <cassert>
#include <optional>
#include <utility>

#include "schema/canonical_json.h"
#include "schema/json_reader.h"
#include "schema/json_value.h"
#include "schema/limits.h"

namespace kernelindex {
namespace {

// A statement is read as a manifest is: at most 1 MiB.
constexpr std::size_t kPayloadBytes = limits::kManifestBytes;
constexpr std::size_t kKeyHintBytes = 1024;

constexpr std::size_t base64_size(std::size_t bytes) { return (bytes + 2) / 3 * 4; }
static_assert(base64_size(kPayloadBytes) < limits::kEnvelopeBytes);

std::unexpected<Error> bad(std::string code, std::string place, std::string message) {
  return fail(ErrorKind::invalid, std::move(code), std::move(place), std::move(message));
}

// Standard or URL-safe base64, one of the two. DSSE demands that verifiers take both.
std::optional<std::string> either_base64(std::string_view text) {
  if (std::optional<std::string> bytes = from_base64(text)) return bytes;
  if (text.find_first_of("+/") != std::string_view::npos) return std::nullopt;
  std::string standard(text);
  for (char& c : standard) c = c == '-' ? '+' : c == '_' ? '/' : c;
  return from_base64(standard);
}

const json::Value* text_member(const json::Value& object, std::string_view name) {
  const json::Value* value = object.find(name);
  return value != nullptr && value->is_string() ? value : nullptr;
}

Status check_payload(std::string_view payload) {
  if (payload.size() > kPayloadBytes) {
    return bad("PAYLOAD_TOO_LARGE", "payload",
               "the payload has more than " + std::to_string(kPayloadBytes) + " bytes");
  }
  json::Arena arena;
  const Result<json::Value> value = json::parse(payload, arena);
  if (!value) return fail_in("payload", value.error());
  // One statement, one spelling, so that it has one digest.
  if (json::canonical(*value) != payload) {
    return bad("PAYLOAD_NOT_CANONICAL", "payload", "the payload is not canonical JSON (RFC 8785)");
  }
  return {};
}

Result<std::string> read_payload(const json::Value& envelope) {
  const json::Value* type = text_member(envelope, "payloadType");
  if (type == nullptr || type->string() != kPayloadType) {
    return bad("PAYLOAD_TYPE", "payloadType",
               "the payload type must be " + std::string(kPayloadType));
  }
  const json::Value* payload = text_member(envelope, "payload");
  if (payload == nullptr) return bad("BAD_ENVELOPE", "payload", "this must be base64");
  if (payload->string().size() > base64_size(kPayloadBytes)) {
    return bad("PAYLOAD_TOO_LARGE", "payload",
               "the payload has more than " + std::to_string(kPayloadBytes) + " bytes");
  }
  std::optional<std::string> decoded = either_base64(payload->string());
  if (!decoded) return bad("BAD_ENVELOPE", "payload", "this must be padded base64");
  if (Status ok = check_payload(*decoded); !ok) return fail(ok.error());
  return std::move(*decoded);
}

Status read_signature(const json::Value& envelope, Envelope& out) {
  const json::Value* list = envelope.find("signatures");
  if (list == nullptr || !list->is_array() || list->array().size() != 1) {
    return bad("SIGNATURE_COUNT", "signatures", "there must be exactly one signature");
  }
  const json::Value& item = list->array().front();
  const json::Value* sig = text_member(item, "sig");
  std::optional<std::string> signature;
  if (sig != nullptr && sig->string().size() == base64_size(kSignatureBytes)) {
    signature = either_base64(sig->string());
  }
  if (!signature || signature->size() != kSignatureBytes) {
    return bad("BAD_ENVELOPE", "signatures[0].sig", "this must be padded base64 of 64 bytes");
  }
  const json::Value* hint = item.find("keyid");
  if (hint != nullptr && (!hint->is_string() || hint->string().size() > kKeyHintBytes)) {
    return bad("BAD_ENVELOPE", "signatures[0].keyid",
               "this must be a text of at most " + std::to_string(kKeyHintBytes) + " bytes");
  }
  out.signature = std::move(*signature);
  if (hint != nullptr) out.key_id = hint->string();
  return {};
}

}  // namespace

std::string pae(std::string_view payload_type, std::string_view body) {
  std::string out = "DSSEv1 " + std::to_string(payload_type.size()) + " ";
  out.append(payload_type).append(" ").append(std::to_string(body.size())).append(" ");
  return out.append(body);
}

Digest Envelope::id() const { return sha256(pae(kPayloadType, payload)); }

bool Envelope::verify(const PublicKey& key) const {
  return verify_signature(key, pae(kPayloadType, payload), signature);
}

std::string Envelope::encode() const {
  json::Arena arena;
  const json::Value item =
      arena.object({{"keyid", arena.string(key_id)}, {"sig", arena.string(to_base64(signature))}});
  return json::canonical(arena.object({{"payload", arena.string(to_base64(payload))},
                                       {"payloadType", json::Value(kPayloadType)},
                                       {"signatures", arena.array({item})}}));
}

Result<Envelope> parse_envelope(std::string_view bytes) {
  if (bytes.size() > limits::kEnvelopeBytes) {
    return bad("ENVELOPE_TOO_LARGE", {},
               "the envelope has " + std::to_string(bytes.size()) +
                   " bytes, more than the limit of " + std::to_string(limits::kEnvelopeBytes));
  }
  json::Arena arena;
  const Result<json::Value> value = json::parse(bytes, arena, {.bytes = limits::kEnvelopeBytes});
  if (!value) return fail(value.error());
  Envelope envelope;
  if (Status ok = read_signature(*value, envelope); !ok) return fail(ok.error());
  Result<std::string> payload = read_payload(*value);
  if (!payload) return fail(payload.error());
  envelope.payload = std::move(*payload);
  return envelope;
}

Envelope normalised(Envelope envelope, const PublicKey& signer) {
  envelope.key_id = signer.id().hex();
  return envelope;
}

Result<Envelope> read_stored_envelope(std::string_view bytes) {
  Result<Envelope> envelope = parse_envelope(bytes);
  if (!envelope) return envelope;
  if (!Digest::parse_hex(envelope->key_id) || envelope->encode() != bytes) {
    return fail(ErrorKind::corrupt, "NOT_NORMALISED", {},
                "the kept envelope is not in its normalised form");
  }
  return envelope;
}

Result<Envelope> sign_envelope(std::string payload, const SigningKey& key) {
  if (Status ok = check_payload(payload); !ok) return fail(ok.error());
  Envelope envelope;
  envelope.signature = key.sign(pae(kPayloadType, payload));
  envelope.payload = std::move(payload);
  envelope.key_id = key.public_key().id().hex();
  assert(envelope.verify(key.public_key()));
  return envelope;
}

}  // namespace kernelindex
