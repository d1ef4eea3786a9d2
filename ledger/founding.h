// SPDX-License-Identifier: Apache-2.0
// Founding a ledger: what the root says first, also when the root key is kept on another machine.
// DESIGN section 6, "Entry 0".
//
// All founding statements can be made, and signed, before there is a ledger: the ledger id is the
// attestation id of the first, which does not depend on its signature, and the enrolments have seen
// the empty tree.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ledger/dsse.h"
#include "ledger/predicates.h"
#include "ledger/role.h"
#include "ledger/signing_key.h"
#include "schema/digest.h"
#include "schema/result.h"

namespace kernelindex {

struct FoundingOptions {
  std::string origin;  // empty: kernelindex.local/<8 hex digits of the root key id>
  std::string owner = "local";
  std::int64_t notes_per_day = 100;  // allowed to each contributor
};

// Enrolled by the founding beside the root: entries 1 to 6, in this order.
inline constexpr std::array kFoundingRoles = {Role::log,        Role::importer,   Role::contributor,
                                              Role::controller, Role::maintainer, Role::status};

// The statements in the order of their entries: ledger/v1, then an enrolment for each of the keys,
// which are those of kFoundingRoles in that order. Errors: BAD_ORIGIN (usage), those of
// Attestation::encode().
Result<std::vector<Attestation>> founding_statements(
    const FoundingOptions& options, const PublicKey& root,
    const std::array<PublicKey, kFoundingRoles.size()>& keys);

// A founding statement with its envelope, normalised.
struct FoundingEntry {
  Envelope envelope;
  Attestation said;
};

struct Founding {
  Digest ledger_id;
  LedgerFounding terms;
  std::vector<FoundingEntry> entries;  // in order of the log
};

// Reads signed founding statements, given in order. Every signature is checked here. Errors:
//   INCOMPLETE_FOUNDING (invalid: not one for the founding and for each of kFoundingRoles)
//   BAD_FOUNDING (invalid: one is not what stands at its place, or was signed for another ledger)
//   INVALID_SIGNATURE (invalid: not signed by the root key that the first names)
//   ALREADY_ENROLLED (invalid: one key in two roles), those of parse_attestation()
Result<Founding> read_founding(std::span<const Envelope> envelopes);

}  // namespace kernelindex
