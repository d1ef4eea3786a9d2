// SPDX-License-Identifier: Apache-2.0
// The log as strangers know it: its keys, and the checkpoint that it released last.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ledger/checkpoint.h"
#include "ledger/ledger.h"

namespace kernelindex::tools {

// All log keys that were ever valid: an older checkpoint may be signed by a key that was replaced.
std::vector<VerifierKey> log_keys(const Reader& reader);

// The verifier key of the newest valid log key, "name+hex+base64"; empty when there is none.
std::string log_key_text(const Reader& reader);

// The checkpoint in DIR/checkpoint, when the log signed it and it is of this reader's tree, at its
// size or a smaller one; nothing otherwise. A writer may be ahead of the reader.
std::optional<SignedCheckpoint> released_checkpoint(const Ledger& ledger, const Reader& reader);

}  // namespace kernelindex::tools
