// SPDX-License-Identifier: Apache-2.0
// Who may sign what, as of each entry of the log. DESIGN section 6.
//
// A key is valid from the entry after its enrolment until its revocation; a revocation for
// compromise voids from a stated entry on what the key signed. Only the root enrols and revokes,
// and what the root signed is never void.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ledger/predicates.h"
#include "ledger/role.h"
#include "ledger/signing_key.h"
#include "schema/result.h"

namespace kernelindex {

struct KeyRecord {
  PublicKey key;
  Role role{};
  std::string owner;
  std::uint64_t enrolled_at = 0;            // index of the enrolling entry
  std::optional<std::uint64_t> revoked_at;  // index of the revoking entry
  std::optional<std::uint64_t> void_from;   // of a revocation for compromise

  // Whether what the key signed at entry `index` counts.
  bool valid_at(std::uint64_t index) const;
};

class KeyBook {
 public:
  // Takes the founding or a key statement at `index`. Requires: in order of index; the signature
  // and the signer were checked. Errors (kind invalid): ALREADY_ENROLLED, UNKNOWN_KEY, NO_FOUNDING.
  Status apply(std::uint64_t index, const Attestation& statement);

  // The record of a key by its id, or null.
  const KeyRecord* find(const Digest& key_id) const;
  // Whether the key counts in one of the roles for what it signed at `index`.
  bool counts(const Digest& key_id, const PredicateType& type, std::uint64_t index) const;
  // The keys of a role that are valid for what comes at `index`, oldest first.
  std::vector<const KeyRecord*> valid(Role role, std::uint64_t index) const;
  const std::map<Digest, KeyRecord>& all() const { return keys_; }

 private:
  std::map<Digest, KeyRecord> keys_;  // by key id
};

}  // namespace kernelindex
