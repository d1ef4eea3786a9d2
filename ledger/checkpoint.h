// SPDX-License-Identifier: Apache-2.0
// Checkpoints (C2SP tlog-checkpoint v1.0.0): the signed statement of a log's size and root.
//
//   origin LF  size in decimal LF  base64 of the root LF        and then a signed note's lines
//
// Stricter than the specification: no extension lines, sizes up to 2^63 - 1 in their one spelling,
// the empty tree has the empty root, and the key that signs is named by the origin.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/merkle.h"
#include "ledger/note.h"
#include "ledger/signing_key.h"
#include "schema/result.h"

namespace kernelindex {

struct Checkpoint {
  std::string origin;
  TreeHead head;

  // The signed text.
  std::string text() const;
  bool operator==(const Checkpoint&) const = default;
};

// Accepts exactly what Checkpoint::text() gives. Error BAD_CHECKPOINT.
Result<Checkpoint> parse_checkpoint_text(std::string_view text);
// The same but for one rule: the root of an empty tree may be any. Only for witnesses, who owe the
// log another answer to that than to a malformed text.
Result<Checkpoint> parse_checkpoint_lines(std::string_view text);

// A checkpoint with its signature lines, known and unknown ones alike.
struct SignedCheckpoint {
  Checkpoint checkpoint;
  std::vector<NoteSignature> signatures;

  Note note() const { return {checkpoint.text(), signatures}; }
  // The bytes of the note.
  std::string format() const { return note().format(); }
};

// Reads a note whose text is a checkpoint. Nothing is verified yet.
Result<SignedCheckpoint> parse_checkpoint(std::string_view bytes);

// Signs with each key under the name of the origin: one key, or both around a change of log keys.
// Requires: is_note_name(origin), size <= 2^63 - 1, at least one key, none twice.
SignedCheckpoint sign_checkpoint(const Checkpoint& checkpoint,
                                 std::span<const SigningKey* const> log_keys);

// The verifier key of a log: `key export --role log` prints its text().
VerifierKey log_verifier_key(std::string_view origin, const PublicKey& key);

// What a check of a checkpoint found: `note.verified` and the parts of it.
struct [[nodiscard]] CheckpointVerdict {
  std::string_view code;  // as NoteVerdict::code
  std::string detail;
  std::size_t log_signatures = 0;  // lines that verified under a log key, at least 1 when ok

  // Cosignatures that verified, each by another witness key.
  struct Cosignature {
    std::size_t witness = 0;  // index among the witnesses given
    std::uint64_t time = 0;   // POSIX seconds
  };
  std::vector<Cosignature> cosignatures;

  bool ok() const { return code.empty(); }
};

// That a key of the log signed the checkpoint: all of `log_keys` are named by its origin (else
// ORIGIN_MISMATCH), at least one of them signed, and no line of a known key, log or witness, fails.
// Missing cosignatures are no fault here: how many are needed is the reader's policy.
CheckpointVerdict verify_checkpoint(const SignedCheckpoint& checkpoint,
                                    std::span<const VerifierKey> log_keys,
                                    std::span<const VerifierKey> witnesses = {});

}  // namespace kernelindex
