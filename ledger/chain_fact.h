// SPDX-License-Identifier: Apache-2.0
// What an attestation on a chain says, as far as a judgement needs it: one row of derived data for
// each. Notes, calibrations and import statements have none; nor have key statements, which are the
// key book's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ledger/predicates.h"
#include "schema/digest.h"
#include "schema/result.h"

namespace kernelindex {

struct ChainFact {
  // The letters are stored and never change.
  enum class Kind : char {
    retraction = 'r',
    supersession = 's',
    dispute = 'd',
    dispute_resolution = 'o',
    withdrawal = 'w',
    withholding = 'h',
    measurement = 'm',  // jobs, controlled runs and acceptances
    unknown = '?',      // of a type that this program does not know: nothing can be judged past it
  };

  std::uint64_t index = 0;  // of its entry
  Kind kind = Kind::unknown;
  Digest id;         // attestation id
  Digest subject;    // what it is about
  Digest signer;     // key id
  Digest other;      // supersession: the successor; dispute_resolution: the dispute
  std::string text;  // withdrawal: external id "source:id"; dispute_resolution: the outcome

  bool operator==(const ChainFact&) const = default;
};

// The fact of an attestation entry; null when it has none. `said` is null when its type is unknown
// or its envelope is withheld: if it lies on a chain, nothing can be judged past it.
std::optional<ChainFact> chain_fact(std::uint64_t index, const Digest& id, const Digest& subject,
                                    const Digest& signer, std::string_view predicate_type,
                                    const Attestation* said);

std::string encode_chain_fact(const ChainFact& fact);
// Error DAMAGED_ROW (corrupt).
Result<ChainFact> decode_chain_fact(std::uint64_t index, std::string_view value);

}  // namespace kernelindex
