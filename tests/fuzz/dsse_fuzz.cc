// SPDX-License-Identifier: Apache-2.0
// Strategy: any bytes as an envelope, as the payload of one, and as a key file: the JSON documents
// on which trust hangs. The seeds are signed by the key whose seed is 32 times 'k'.
//
// Invariants:
// - an envelope that is read keeps its id and payload through its kept form, whose reading is
// exact;
// - a statement or attestation that is read prints as the very bytes that were read;
// - an envelope verifies only when its payload is that of a seed;
// - a plain key file that is read prints as the very bytes, and no passphrase is spent without one.
#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/fuzz_check.h"
#include "ledger/dsse.h"
#include "ledger/key_file.h"
#include "ledger/predicates.h"
#include "ledger/signing_key.h"
#include "ledger/statement.h"

namespace kernelindex {
namespace {

// SHA-256 of the payload that both envelope seeds carry.
constexpr std::string_view kSeedPayload =
    "5dd11b72dc92014298f7af0f43a443158962ff5847208a58ce31635b56eee8bb";

const SigningKey& key() {
  static const SigningKey fixed = SigningKey::from_seed(std::string(32, 'k')).value();
  return fixed;
}

void check_payload(std::string_view payload) {
  json::Arena arena;
  const Result<Statement> statement = parse_statement(payload, arena);
  const Result<Attestation> attestation = parse_attestation(payload);
  if (!statement) {
    FUZZ_CHECK(!attestation && !statement.error().code.empty());
    return;
  }
  FUZZ_CHECK(statement->encode() == payload);
  if (!attestation) return;
  FUZZ_CHECK(attestation->encode().value() == payload);
  FUZZ_CHECK(attestation->subject == statement->subject);
}

void check_envelope(std::string_view bytes) {
  const Result<Envelope> envelope = parse_envelope(bytes);
  if (!envelope) {
    FUZZ_CHECK(envelope.error().kind == ErrorKind::invalid && !envelope.error().code.empty());
    return;
  }
  const Envelope kept = normalised(*envelope, key().public_key());
  const Result<Envelope> again = read_stored_envelope(kept.encode());
  FUZZ_CHECK(again.has_value());
  FUZZ_CHECK(again->id() == envelope->id() && again->payload == envelope->payload);
  if (envelope->verify(key().public_key())) {
    FUZZ_CHECK(sha256(envelope->payload).hex() == kSeedPayload);
  }
  check_payload(envelope->payload);
}

void check_key_file(std::string_view bytes) {
  const Result<KeyFile> file = decode_key_file(bytes, {});
  if (file) FUZZ_CHECK(encode_key_file(*file, {}).value().view() == bytes);
}

}  // namespace
}  // namespace kernelindex

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  kernelindex::check_envelope(bytes);
  kernelindex::check_payload(bytes);
  kernelindex::check_key_file(bytes);
  return 0;
}
