// SPDX-License-Identifier: Apache-2.0
// Makes evidence bundles from a ledger: the proof that travels. BUNDLE_FORMAT.md says what is in
// one and why; bundle.h verifies it without a ledger.
#pragma once

#include <cstdint>
#include <string>

#include "ledger/checkpoint.h"
#include "ledger/predicates.h"
#include "ledger/reader.h"
#include "ledger/signing_key.h"
#include "schema/digest.h"
#include "schema/result.h"
#include "verify/bundle_format.h"

namespace kernelindex {

// What a bundle about a run holds as of a size of the log, without its status.
struct RunProof {
  Bundle bundle;
  // What status/v1 says of it: for each subject that the level depends on the index of its last
  // chain entry, and the number of notes about the run.
  StatusStatement status;
};

// Gathers what the level of a run depends on, as of the checkpoint, and proves it. Errors:
//   NO_SUCH_MANIFEST (not_found), NOT_A_RUN (invalid)
//   WITHHELD (refused: no document of the run is held, so there is nothing to prove)
//   OTHER_TREE (refused: the checkpoint is of another log, or of a size above this reader's)
//   NO_LOG_SIGNATURE (refused: no log key that was valid at its size signed the checkpoint)
//   NOT_COVERED (refused: no import statement covers a claim, so that nobody stands for it)
//   those of reading entries and objects: UNKNOWN_ENTRY means that a newer program is needed
Result<RunProof> prove_run(const Reader& reader, const Digest& run,
                           const SignedCheckpoint& checkpoint);

// The bundle, with a status/v1 signed by `status_key` unless that is null. Errors: those of
// prove_run() and Bundle::encode(); KEY_NOT_ENROLLED, WRONG_ROLE, KEY_REVOKED (refused) of the
// status key.
Result<std::string> make_bundle(const Reader& reader, const Digest& run,
                                const SignedCheckpoint& checkpoint, const SigningKey* status_key);

}  // namespace kernelindex
