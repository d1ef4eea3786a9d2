// SPDX-License-Identifier: Apache-2.0
// Saying something about what the log holds: signing attestations and recording them, or recording
// envelopes that were made elsewhere.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "ledger/ledger.h"
#include "ledger/predicates.h"
#include "ledger/signing_key.h"
#include "schema/result.h"

namespace kernelindex {

struct Saying {
  Digest subject;
  Predicate predicate;
};

struct Attested {
  std::uint64_t index = 0;  // of the entry
  Digest id;                // attestation id
  bool existing = false;    // it was recorded before; nothing was added
};

// Signs what is said with one key, binds it to this ledger and its head, and records it in one
// batch: all of it or nothing. Errors: those of AttestationRules and Ledger::append_attestations().
Result<std::vector<Attested>> attest(Ledger& ledger, std::span<const Saying> sayings,
                                     const SigningKey& key);
Result<Attested> attest(Ledger& ledger, const Saying& saying, const SigningKey& key);

// For a key that is kept elsewhere: the payload for `signer` (a key id) to sign, bound to this
// ledger and its head, after everything was checked that can be without a signature. As it is
// signed for the tree that is seen now, it can be recorded at any later size. Errors: those of
// AttestationRules, Attestation::encode().
Result<std::string> unsigned_payload(const Reader& reader, UtcMicros now, const Saying& saying,
                                     const Digest& signer);

// Records an envelope from outside in its normalised form; the bytes that a withholding names are
// removed at once, as by withhold(). Errors: those of parse_envelope(), parse_attestation() and
// AttestationRules. Requires: no reader of the ledger is in use when it may be a withholding.
Result<Attested> attest_envelope(Ledger& ledger, std::string_view envelope);

// The import statements that belong to one import as a whole: the one at `index` or that covers the
// entry `index`, and its neighbours of the same parser, version, options and signer, whose ranges
// meet, up to one that names a report. In order. Error NO_SUCH_IMPORT (not_found).
Result<std::vector<ImportRange>> whole_import(const Reader& reader, std::uint64_t index);

// Records that an object's bytes are withheld, then removes them, and makes derived data anew.
// After a crash in between, opening again says what to do. Requires: no reader of the ledger is in
// use. Errors: those of attest().
Result<Attested> withhold(Ledger& ledger, const Digest& object, std::string reason,
                          const SigningKey& root);

}  // namespace kernelindex
