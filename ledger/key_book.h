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
#include <utility>
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
  std::vector<std::string> hardware;        // products that a runner may measure on; empty: any
  std::vector<Digest> protocols;            // identities of those it may follow; empty: any

  // Whether what the key signed at entry `index` counts.
  bool valid_at(std::uint64_t index) const;
  // Whether it might sign there, as far as was known then: what a later revocation voids was
  // recorded rightly all the same.
  bool could_sign_at(std::uint64_t index) const;
};

// The root's approval of a harness or a protocol.
struct ApprovalRecord {
  DigestApproval::Kind kind{};
  std::uint64_t approved_at = 0;
  std::optional<std::uint64_t> revoked_at;
  std::optional<std::uint64_t> void_from;

  // Whether it stood for what came at entry `index`.
  bool valid_at(std::uint64_t index) const;
};

class KeyBook {
 public:
  // Takes the founding or a key statement at `index`. Requires: in order of index; the signature
  // and the signer were checked. Errors (kind invalid), after which nothing has changed:
  // NO_FOUNDING, ALREADY_FOUNDED, ALREADY_ENROLLED, ALREADY_APPROVED, ALREADY_REVOKED (a revocation
  // that says nothing new), UNKNOWN_KEY (neither key nor approved digest), ROOT_ENROLLED (there is
  // one root, which the founding names), ROOT_REVOKED, VOID_IN_FUTURE.
  Status apply(std::uint64_t index, const Attestation& statement);

  // The book as it stood when the log had `size` entries: what was said of keys later is unsaid.
  KeyBook as_of(std::uint64_t size) const;

  // The record of a key by its id, or null.
  const KeyRecord* find(const Digest& key_id) const;
  // Whether the key counts in one of the roles for what it signed at `index`.
  bool counts(const Digest& key_id, const PredicateType& type, std::uint64_t index) const;
  // The keys of a role that are valid for what comes at `index`, oldest first.
  std::vector<const KeyRecord*> valid(Role role, std::uint64_t index) const;
  const std::map<Digest, KeyRecord>& all() const { return keys_; }
  // Whether the log knows this digest as a key or as something approved.
  bool knows(const Digest& digest) const;
  // Approvals by digest, oldest first: what was revoked may be approved again.
  const std::map<Digest, std::vector<ApprovalRecord>>& approvals() const { return approvals_; }
  bool approved(const Digest& digest, DigestApproval::Kind kind, std::uint64_t index) const;

 private:
  Status change(std::uint64_t index, const Attestation& statement);
  Status approve(std::uint64_t index, const Digest& digest, const DigestApproval& approval);
  Status revoke(std::uint64_t index, const Digest& subject, const Revocation& revocation);

  std::map<Digest, KeyRecord> keys_;  // by key id
  std::map<Digest, std::vector<ApprovalRecord>> approvals_;
  std::vector<std::pair<std::uint64_t, Attestation>> statements_;  // that made the book, in order
};

}  // namespace kernelindex
