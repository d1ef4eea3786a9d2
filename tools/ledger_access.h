// SPDX-License-Identifier: Apache-2.0
// Opening the ledger that a command line names.
#pragma once

#include <memory>

#include "ledger/ledger.h"
#include "schema/result.h"
#include "tools/session.h"

namespace kernelindex::tools {

enum class Access {
  log,    // the log and objects alone: derived data may be damaged
  query,  // derived data as well: damage is an error (exit 4)
  write,
};

// What the session says of directory, keys, passphrase and clock. Reads the passphrase file.
Result<LedgerOptions> ledger_options(const Session& session);

// Opens it and remarks on standard error when it can only be read although nobody asked for that.
// Errors: those of Ledger::open(), and with Access::query the derived fault.
Result<std::unique_ptr<Ledger>> open_ledger(const Session& session, Access access);

}  // namespace kernelindex::tools
