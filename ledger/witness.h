// SPDX-License-Identifier: Apache-2.0
// A witness of logs (C2SP tlog-witness, tlog-cosignature v1): cosigns a checkpoint of a log when it
// continues the last one that it cosigned, and no other.
//
//   POST <prefix>/add-checkpoint
//     "old " decimal LF    0..63 times: base64 of a hash LF    LF    the checkpoint
//
// Decisions are pure: request, memory, keys and time give an answer and the next memory. What is
// remembered between them is a WitnessState, which compares and persists in one step before
// anything is answered: otherwise two requests that cross would roll the memory back (PITFALLS 34).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/checkpoint.h"
#include "ledger/note.h"
#include "ledger/proof.h"
#include "ledger/signing_key.h"
#include "schema/limits.h"
#include "schema/mutex.h"
#include "schema/result.h"

namespace kernelindex {

// The old size, 63 hashes, and the largest note.
inline constexpr std::size_t kAddCheckpointBytes = limits::kNoteBytes + 4 * limits::kKiB;

// Who cosigns. Lends its members; they must outlive it.
struct WitnessIdentity {
  std::string_view name;  // is_note_name(); by custom a URL without its scheme
  const SigningKey& key;  // for this name alone: a cosignature does not say whose it is

  VerifierKey verifier() const {
    return {std::string(name), NoteAlgorithm::cosignature, key.public_key()};
  }
};

// What is remembered of one log: the newest checkpoint that was cosigned, with the lines of the
// log's keys and of the witness, no others.
struct WitnessRecord {
  SignedCheckpoint checkpoint;
  std::uint64_t time = 0;  // of the cosignature, POSIX seconds
};

// A request to cosign.
struct AddCheckpoint {
  std::uint64_t old_size = 0;  // what the log believes the witness has
  Proof proof;                 // from there to the checkpoint
  SignedCheckpoint checkpoint;

  // The body of the request. Requires: at most 63 hashes.
  std::string encode() const;
};

// Reads the body of a request. Limits first: REQUEST_TOO_LARGE, TOO_MANY_HASHES; BAD_REQUEST,
// BAD_HASH, NO_EMPTY_LINE; those of notes and checkpoints. The root of an empty tree may be any
// here: decide_cosignature() judges it. All of kind invalid.
Result<AddCheckpoint> parse_add_checkpoint(std::string_view body);

// What a witness decides about a request; not an error.
struct [[nodiscard]] CosignDecision {
  // Empty: cosigned. In the order of the questions: OLD_SIZE_ABOVE, UNKNOWN_LOG, INVALID_SIGNATURE
  // and its kin (NoteVerdict::code), OLD_SIZE_DIFFERS, EMPTY_ROOT_MISMATCH, PROOF_NOT_EMPTY,
  // ROOT_DIFFERS (same size), or a ProofVerdict::code.
  std::string_view code;
  std::string detail;
  std::uint64_t stored_size = 0;           // 0: never seen
  std::optional<NoteSignature> signature;  // the cosignature
  std::optional<WitnessRecord> next;       // to be remembered before the signature leaves

  bool ok() const { return code.empty(); }
};

// The decision of C2SP tlog-witness in the order of FORMATS section 6. `log_keys` are all keys that
// are trusted; their names are the origins. `now` is in POSIX seconds; the time signed is later
// than that of any smaller tree of this log, whatever the clock says, and at most 2^63 - 1. No line
// of the request is copied but those that verified under a key of the log: a forged one in our own
// name would poison what we remember (PITFALLS 35). Requires: now > 0, fewer than 64 keys of one
// origin.
CosignDecision decide_cosignature(const AddCheckpoint& request,
                                  const std::optional<WitnessRecord>& stored,
                                  std::span<const VerifierKey> log_keys,
                                  const WitnessIdentity& witness, std::uint64_t now);

// What a witness remembers, by origin. Implementations are safe for use from any thread.
class WitnessState {
 public:
  virtual ~WitnessState() = default;
  // Nothing when the log was never seen. Errors: what is kept cannot be read (kind corrupt or
  // system); it must never pass for nothing.
  virtual Result<std::optional<WitnessRecord>> latest(std::string_view origin) = 0;
  // In one step: when what is kept is still of the head `expected` (nothing: never seen), keeps
  // `next` durably and gives true; else changes nothing and gives false. After an error either is
  // kept. Requires: `next` is of this origin.
  virtual Result<bool> advance(std::string_view origin, const std::optional<TreeHead>& expected,
                               const WitnessRecord& next) = 0;
};

// Forgets with the process: for tests.
class MemoryWitnessState final : public WitnessState {
 public:
  Result<std::optional<WitnessRecord>> latest(std::string_view origin) override;
  Result<bool> advance(std::string_view origin, const std::optional<TreeHead>& expected,
                       const WitnessRecord& next) override;

 private:
  Mutex mutex_;
  std::map<std::string, WitnessRecord, std::less<>> records_ GUARDED_BY(mutex_);
};

// Decides, and remembers before it gives the decision; decides again when another request came
// between. Errors: those of the state; TOO_MANY_CHANGES (system) when that happens 16 times.
// Nothing is signed then that anybody sees.
Result<CosignDecision> cosign_checkpoint(const AddCheckpoint& request, WitnessState& state,
                                         std::span<const VerifierKey> log_keys,
                                         const WitnessIdentity& witness, std::uint64_t now);

// An answer in the terms of HTTP.
struct WitnessResponse {
  unsigned status = 0;
  std::string content_type;
  std::string body;
};

// The answer to the body of POST add-checkpoint: 200 with the cosignature line, 400, 403, 404, 409
// with the stored size, 422. Errors are ours, not the client's: a server answers 500 and logs them.
Result<WitnessResponse> add_checkpoint(std::string_view body, WitnessState& state,
                                       std::span<const VerifierKey> log_keys,
                                       const WitnessIdentity& witness, std::uint64_t now);

}  // namespace kernelindex
