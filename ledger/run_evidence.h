// SPDX-License-Identifier: Apache-2.0
// From the facts of a run to its evidence level: which import statement covers a claim, and what
// the evidence policy is asked. Pure, so that a ledger and a bundle judge alike. DESIGN section 7.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "ledger/derive.h"
#include "ledger/evidence_policy.h"
#include "ledger/judgements.h"
#include "ledger/key_book.h"
#include "ledger/rows.h"

namespace kernelindex {

// What is known of a log at one size. Looks at its parts, which must outlive it.
struct LogFacts {
  std::span<const ImportRange> imports;  // in order of `first`; may hold some from `size` on
  const KeyBook& keys;
  const Judgements& judgements;  // as of `size`
  std::uint64_t size = 0;
};

// The statement below `size` whose range holds the entry, whoever signed it; null when there is
// none. Requires: in order of `first`. Ranges of a sound log never overlap; of ranges that do the
// one that begins last is asked.
const ImportRange* import_over(std::span<const ImportRange> imports, std::uint64_t index,
                               std::uint64_t size);
// The same by a key that counts, or null. Whether it was taken back is for the judgements.
const ImportRange* covering_import(std::span<const ImportRange> imports, const KeyBook& keys,
                                   std::uint64_t index, std::uint64_t size);

// The row with those of its claims that a valid import covers which was not taken back.
std::shared_ptr<const SubjectRow> counting_claims(const SubjectRow& row, const LogFacts& log);

// What evidence_v1() is asked about a run. Nothing can be judged (`cannot_judge`) past what this
// program does not know on the chains that the row depends on: those of the run, of what its row is
// joined from, and of the statements that cover its claims.
EvidenceFacts evidence_facts(const RunRow& row, const Digest& run, const LogFacts& log);

}  // namespace kernelindex
