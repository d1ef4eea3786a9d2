// SPDX-License-Identifier: Apache-2.0
// The keys of logs that a person trusts, as options like `--key VKEY` name them.
#pragma once

#include <string_view>
#include <vector>

#include "ledger/note.h"
#include "tools/command_line.h"

namespace kernelindex::tools {

// All that an option names, perhaps none. Errors: those of parse_vkey(); USAGE (usage) for the key
// of a witness.
Result<std::vector<VerifierKey>> read_log_keys(const Arguments& arguments, std::string_view option);
// Those of `--key`, at least one. Errors: the same; USAGE (usage) when none is given. `verb` is for
// the message.
Result<std::vector<VerifierKey>> trusted_log_keys(const Arguments& arguments,
                                                  std::string_view verb);

}  // namespace kernelindex::tools
