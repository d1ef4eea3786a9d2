// SPDX-License-Identifier: Apache-2.0
// The audit of a whole ledger: everything recomputed, nothing trusted.
//
//   leaves      each is a canonical entry; their hashes give every tile, the root, the head, the
//               checkpoint (its signature checked) and every released mark
//   objects     each has its digest; each manifest is valid and canonical and has the identity,
//   kind
//               and size that its entries say; nothing is missing, nothing lies there unnamed
//   statements  each envelope is signed by a key that was enrolled for it then, in this ledger,
//   over
//               a root that the log had; each claim is covered by exactly one import statement
//   derived     each row and index key is derived again and compared, both ways
//   files       RocksDB's checksums of its table files, and the key files beside the ledger
//
// What is damaged becomes a fault of the report, never an error. Files without evidence (`LOG*`,
// `OPTIONS*`, `IDENTITY`, `LOCK`) are outside the promise, and so is the sealed part of an
// encrypted key file when its passphrase is not given.
//
// Memory: about 2.5 KiB for each entry, the block cache of the store (at most 64 MiB), and one
// object of at most 1 MiB for each thread; documents are read one by one and not kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "ledger/checkpoint.h"
#include "ledger/ledger.h"
#include "verify/audit_report.h"

namespace kernelindex {

struct AuditOptions {
  // A checkpoint from outside, for example one that the reader kept: the log must be a continuation
  // of it. Then documents, artifacts and statements of older entries are not read again, and
  // derived data is not compared; the log itself is checked whole.
  std::optional<SignedCheckpoint> since;
  std::size_t faults_max = 1000;
  unsigned threads = 2;
  // Told now and then how far the work is. From any of the threads, never from two at once.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;
};

// Opens the ledger for reading, also one that is so damaged that Ledger::open() refuses it, and
// audits it. A writer may be at work meanwhile. Uses directory, keys, state, passphrase and
// expect_origin of the options. Errors: NO_LEDGER (not_found) when there is no database here,
// PERMISSION (system), ORIGIN_DIFFERS (refused).
Result<AuditReport> audit_directory(const LedgerOptions& ledger, const AuditOptions& options = {});

// The same for a ledger that is open already. Requires: nothing is written meanwhile.
AuditReport audit(const Ledger& ledger, const AuditOptions& options = {});

}  // namespace kernelindex
