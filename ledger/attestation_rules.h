// SPDX-License-Identifier: Apache-2.0
// Whether an attestation may be recorded, as the log stands. DESIGN section 6.
//
// What is wrong is refused before anything is written; what is recorded can lose its force later
// (revocation, retraction), which is for judgements.h.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "ledger/dsse.h"
#include "ledger/key_book.h"
#include "ledger/predicates.h"
#include "ledger/reader.h"
#include "schema/result.h"
#include "schema/utc_time.h"

namespace kernelindex {

// Judges attestations one after the other, each as if those before it had been recorded, so that
// several can go into one batch. Must not outlive the reader.
class AttestationRules {
 public:
  AttestationRules(const Reader& reader, UtcMicros now);

  // Errors:
  //   WRONG_LEDGER, FORK_SEEN (refused: it was signed for another log, or for a fork of this one)
  //   KEY_NOT_ENROLLED, WRONG_ROLE, KEY_REVOKED (refused)
  //   INVALID_SIGNATURE (invalid)
  //   NO_SUCH_SUBJECT (not_found: neither manifest nor attestation)
  //   SUBJECT_IS_KEY (refused: a key or an approved digest, of which only key/v1 speaks)
  //   NOT_RECORDED (refused: import/v1 comes from imports, ledger/v1 from founding, status/v1
  //     stands in bundles)
  //   NOT_A_RUN, RUNNER_NOT_ENROLLED, WRONG_SUBJECT, JOB_NOT_BOUND (refused: jobs, results and
  //     acceptances that are not about each other)
  //   KIND_DIFFERS, SUPERSESSION_CYCLE, NO_SUCH_DISPUTE, NOT_HELD, NEEDED_BY_LOG (refused)
  //   LAST_LOG_KEY (refused: a revocation after which no key could sign a checkpoint)
  //   NOTES_CAP (refused: the contributor's notes of the day, over all keys of one owner)
  //   those of KeyBook::apply (refused)
  // After an error this object is spent.
  Status allow(const Envelope& envelope, const Attestation& said);
  // The same of a statement that is not signed yet: all but INVALID_SIGNATURE.
  Status allow_unsigned(const Attestation& said);

 private:
  Result<std::uint64_t> notes_allowed();
  Status check_binding(const Binding& binding) const;
  Status check_signer(const Attestation& said) const;
  Status check_subject(const Attestation& said) const;
  Status check(const Attestation& said, const CommunityNote& note);
  Status check(const Attestation& said, const Supersession& supersession);
  Status check(const Attestation& said, const DisputeResolution& resolution) const;
  Status check(const Attestation& said, const Withholding& withholding) const;
  Status check(const Attestation& said, const KeyChange& change);
  Status check(const Attestation& said, const MeasurementJob& job) const;
  Status check(const Attestation& said, const ControlledRun& result) const;
  Status check(const Attestation& said, const Acceptance& acceptance) const;
  // The statement that it is about. Error WRONG_SUBJECT.
  Result<Attestation> subject_statement(const Attestation& said) const;
  template <typename Other>
  Status check(const Attestation&, const Other&) const;

  const Reader& reader_;
  UtcMicros now_;
  KeyBook keys_;
  std::uint64_t next_;                                // index of the next entry
  std::multimap<Digest, Digest> pending_successors_;  // of supersessions allowed here
  std::optional<std::uint64_t> notes_allowed_;        // a day, by entry 0
  std::map<std::string, std::uint64_t> notes_today_;  // by owner, with those allowed here
};

// The index of the entry of an attestation; nullopt when there is none.
Result<std::optional<std::uint64_t>> find_attestation(const Reader& reader, const Digest& id);

}  // namespace kernelindex
