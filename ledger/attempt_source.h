// SPDX-License-Identifier: Apache-2.0
// What the judgement of controlled attempts asks of a log, so that the same code judges for a
// ledger and for a bundle. DESIGN section 8.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/countability.h"
#include "ledger/judgements.h"
#include "ledger/key_book.h"
#include "ledger/rows.h"
#include "schema/manifest.h"
#include "schema/result.h"

namespace kernelindex {

// Where the facts of attempts come from, as of one size of a log.
class AttemptSource {
 public:
  virtual ~AttemptSource() = default;
  // Attestations on the chain of a subject that are jobs, results or acceptances, in order.
  virtual Result<std::vector<SaidAt>> said_about(const Digest& subject) = 0;
  // An attestation by its id; nothing when the log has none.
  virtual Result<std::optional<SaidAt>> attestation(const Digest& id) = 0;
  // Calibrations that a runner key signed, in order.
  virtual Result<std::vector<SaidAt>> calibrations(const Digest& runner) = 0;
  // Kept bytes; nothing when they are not held.
  virtual Result<std::optional<std::string>> object(const Digest& digest) = 0;
  // Whether bytes that no judgement reads are kept: logs, what was built.
  virtual Result<bool> held(const Digest& digest) = 0;
  // The row of a manifest; null when the log has no claim of it.
  virtual Result<std::shared_ptr<const SubjectRow>> subject(const Digest& identity) = 0;
  // A claimed document of it; nothing when its bytes are not held.
  virtual Result<std::optional<Manifest>> document(const Digest& identity) = 0;
};

// What is judged with. Whose runners count, and which loosened gates, is the reader's choice.
struct AttemptContext {
  const KeyBook& keys;              // as of the size
  const Judgements& judgements;     // as of the size
  UtcMicros now = 0;                // the latest instant that is known: which jobs have expired
  std::string_view operator_owner;  // the ledger's own owner
  // Whether the runner of this key id and owner counts; empty: all that are enrolled do.
  std::function<bool(const Digest& runner, std::string_view owner)> counts_runner;
  std::vector<std::string> allow;  // switches of acceptances that count
};

}  // namespace kernelindex
