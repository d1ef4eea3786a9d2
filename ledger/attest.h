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

// Records an envelope from outside in its normalised form. Errors: those of parse_envelope(),
// parse_attestation() and AttestationRules.
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
