// SPDX-License-Identifier: Apache-2.0
// The keys of a log that a person trusts, as `--key VKEY` names them.
#pragma once

#include <string_view>
#include <vector>

#include "ledger/note.h"
#include "tools/command_line.h"

namespace kernelindex::tools {

// At least one. Errors: those of parse_vkey(); USAGE (usage) for the key of a witness, and when
// none is given. `verb` is for the message.
Result<std::vector<VerifierKey>> trusted_log_keys(const Arguments& arguments,
                                                  std::string_view verb);

}  // namespace kernelindex::tools
