// SPDX-License-Identifier: Apache-2.0
// Proofs that travel (C2SP tlog-proof v1, files named *.tlog-proof): that an entry is in a log, in
// one file that is checked offline.
//
//   "c2sp.org/tlog-proof@v1" LF
//   ["extra " base64 LF]
//   "index " decimal LF
//   0..63 times: base64 of a hash LF      the sibling of the leaf first, a child of the root last
//   LF
//   the checkpoint with all its signature lines, and nothing after it
//
// Stricter than the specification: at most 1 MiB, canonical base64, and a checkpoint as
// ledger/checkpoint.h reads it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ledger/checkpoint.h"
#include "ledger/proof.h"
#include "ledger/witness_policy.h"
#include "schema/limits.h"
#include "schema/result.h"

namespace kernelindex {

inline constexpr std::size_t kTlogProofBytes = limits::kMiB;
inline constexpr std::string_view kTlogProofHeader = "c2sp.org/tlog-proof@v1";

// Bytes that came with a proof and that nothing in it covers: whoever passed the file on can have
// put them there. Never to be shown or used as something that the log says (PITFALLS 23).
struct UnauthenticatedBytes {
  std::string bytes;

  bool operator==(const UnauthenticatedBytes&) const = default;
};

struct TlogProof {
  std::uint64_t index = 0;  // of the leaf, from 0
  Proof hashes;
  SignedCheckpoint checkpoint;
  std::optional<UnauthenticatedBytes> extra;

  // The bytes of the file. Requires: at most 63 hashes, index <= 2^63 - 1.
  std::string encode() const;
};

// Accepts exactly what encode() gives; nothing is verified yet. Errors (kind invalid):
// PROOF_TOO_LARGE, BAD_TLOG_PROOF, TOO_MANY_HASHES, BAD_HASH, NO_EMPTY_LINE, and those of
// parse_checkpoint() with the place "checkpoint".
Result<TlogProof> parse_tlog_proof(std::string_view bytes);

// What a check of a proof found; not an error.
struct [[nodiscard]] TlogProofVerdict {
  // The arrow that broke: "checkpoint" (its signatures and the policy) or "inclusion". Empty when
  // the proof holds.
  std::string_view arrow;
  std::string_view code;  // as PolicyVerdict::code or ProofVerdict::code
  std::string detail;
  PolicyVerdict policy;  // who signed, and when

  bool ok() const { return arrow.empty(); }
};

// That the entry is leaf `index` of the log whose checkpoint the file holds, and that the log and a
// quorum of witnesses signed this checkpoint. The entry is given as its bytes, never as a hash: an
// interior node would pass for one in a smaller tree (PITFALLS 21); size and root come from the
// signed checkpoint alone (PITFALLS 20).
TlogProofVerdict verify_tlog_proof(const TlogProof& proof, std::string_view entry,
                                   const WitnessPolicy& policy);

}  // namespace kernelindex
