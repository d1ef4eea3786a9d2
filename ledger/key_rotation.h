// SPDX-License-Identifier: Apache-2.0
// Replacing a key in one step: a new key file, its enrolment and the revocation of the old key in
// one batch of the log, and the files renamed. DESIGN section 6.
//
//   1. KEYS/<role>-<8 hex of the new>.key is made
//   2. enrolment and revocation are recorded: all of it or nothing
//   3. KEYS/<role>.key -> KEYS/<role>-<8 hex of the old>.key, and the new one to KEYS/<role>.key
//
// Cut off before 2 nothing has changed but for a key that nobody enrolled; cut off after it, the
// key book already says which file signs (ledger/role_keys.h). The old file is kept: of a log key
// it signs the first checkpoint after the change together with the new one.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "ledger/attest.h"
#include "ledger/ledger.h"
#include "ledger/role.h"
#include "ledger/signing_key.h"
#include "schema/result.h"

namespace kernelindex {

struct RotationOptions {
  Role role{};
  std::string reason;
  std::optional<std::uint64_t> void_from;  // after a compromise, as in Revocation
  std::string passphrase;                  // of the new file; empty: not encrypted
};

struct Rotation {
  PublicKey old_key;
  PublicKey new_key;
  Attested enrolment;
  Attested revocation;
  std::filesystem::path file;  // of the new key
  std::filesystem::path kept;  // of the old one; empty when it was not at hand
};

// Replaces the valid key of the role whose file is at hand, or, when the file is gone, the one
// valid key of the role. The new key has its owner, hardware and protocols. Errors: ROOT_REVOKED
// (refused: a root is never replaced), NO_KEY_TO_ROTATE (not_found), SEVERAL_KEYS (ambiguous: the
// file is gone and the role has several), those of attest() and of the key files. After an error in
// the renaming (KEY_FILE_IO) the log has the change and the files still do.
Result<Rotation> rotate_key(Ledger& ledger, const RotationOptions& options, const SigningKey& root);

}  // namespace kernelindex
