// SPDX-License-Identifier: Apache-2.0
// A status statement against the ledger that it speaks of. A statement that leaves something out is
// disproved by one entry of the log and its inclusion proof, which anyone can check.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/dsse.h"
#include "ledger/merkle.h"
#include "ledger/proof.h"
#include "ledger/reader.h"
#include "schema/digest.h"
#include "schema/result.h"

namespace kernelindex {

// A head that is not as the statement says.
struct StatusLie {
  Digest subject;
  std::optional<std::uint64_t> stated;  // absent: the statement names no entry
  std::optional<std::uint64_t> actual;  // absent: the log has no entry on its chain
  // What disproves the statement: a later entry about the subject, or the stated one, which is not
  // about it or not on its chain.
  std::uint64_t index = 0;
  std::string leaf;
  Proof proof;  // in the tree of the statement's size
};

struct StatusReport {
  Digest run;       // what the statement is about
  TreeHead stated;  // the tree that it speaks of
  Digest signer;    // key id
  // Why it is no statement of this ledger, or of a tree that the ledger never had: WRONG_LEDGER,
  // KEY_NOT_ENROLLED, WRONG_ROLE, KEY_REVOKED, INVALID_SIGNATURE, OTHER_TREE (two logs of one name,
  // or one that lost entries). Then nothing else was compared. Empty otherwise.
  std::string code;
  std::string detail;
  std::vector<StatusLie> lies;
  std::uint64_t notes_stated = 0;
  std::uint64_t notes_actual = 0;

  bool ok() const { return code.empty() && lies.empty() && notes_stated == notes_actual; }
};

// The envelope of a status: the bytes of one, or of a bundle that holds one. Errors (invalid):
// those of parse_envelope(), parse_bundle(); NO_STATUS of a bundle without one, and of an envelope
// that says something else.
Result<Envelope> read_status(std::string_view bytes);

// Judges it as the log stood at its size. The heads of the keys that signed its checkpoint are
// compared when the statement names them: which these are is not in it. Errors: as prove_run(),
// when the ledger does not hold what the statement is about.
Result<StatusReport> check_status(const Reader& reader, const Envelope& status);

}  // namespace kernelindex
