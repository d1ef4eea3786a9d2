// SPDX-License-Identifier: Apache-2.0
// DSSE envelopes (v1.0.2) with exactly one Ed25519 signature around an in-toto statement.
//
//   PAE(type, body) = "DSSEv1" SP bytes(type) SP type SP bytes(body) SP body
//
// The identity of an attestation is SHA-256(PAE): base64 alphabet, member order, unknown members
// and key hints are not signed, so the bytes of an envelope name nothing. What is kept is the
// normalised form:
//
//   {"payload": base64, "payloadType": "application/vnd.in-toto+json",
//    "signatures": [{"keyid": 64 hex digits, "sig": base64}]}
//
// in canonical JSON, standard base64.
#pragma once

#include <string>
#include <string_view>

#include "ledger/signing_key.h"
#include "schema/digest.h"
#include "schema/result.h"

namespace kernelindex {

inline constexpr std::string_view kPayloadType = "application/vnd.in-toto+json";

// DSSE pre-authentication encoding; lengths count bytes.
std::string pae(std::string_view payload_type, std::string_view body);

struct Envelope {
  std::string payload;    // a statement in canonical JSON: the bytes that are signed
  std::string key_id;     // a hint of no authority; empty when absent
  std::string signature;  // 64 bytes

  // The attestation id: SHA-256 of the PAE.
  Digest id() const;
  // Whether the key signed it. The key comes from an enrolment, never from `key_id`.
  [[nodiscard]] bool verify(const PublicKey& key) const;
  // Canonical JSON of the envelope as it is.
  std::string encode() const;
};

// Reads an envelope from outside: standard or URL-safe base64, padded; unknown members are ignored.
// Refused (kind invalid): ENVELOPE_TOO_LARGE above 4 MiB, what is no strict JSON, SIGNATURE_COUNT
// unless exactly one, PAYLOAD_TYPE, PAYLOAD_TOO_LARGE above 1 MiB, PAYLOAD_NOT_CANONICAL,
// BAD_ENVELOPE.
Result<Envelope> parse_envelope(std::string_view bytes);

// The form that is kept, once `signer` has been found to have signed it: the hint becomes its key
// id.
Envelope normalised(Envelope envelope, const PublicKey& signer);

// Reads a kept envelope: the bytes must be exactly what encode() of a normalised one gives
// (NOT_NORMALISED, kind corrupt).
Result<Envelope> read_stored_envelope(std::string_view bytes);

// Signs a statement. Error PAYLOAD_NOT_CANONICAL, PAYLOAD_TOO_LARGE.
Result<Envelope> sign_envelope(std::string payload, const SigningKey& key);

}  // namespace kernelindex
