// SPDX-License-Identifier: Apache-2.0
// How rows and index keys follow from the log: the only definition, used when something is
// recorded, by `reindex`, by `audit`, and to answer as of an earlier size.
//
// A subject's row is a fold over its claims in order of index. A run's row joins its own claims and
// spec with the rows of what it refers to. Both only ever gain facts as the log grows, so index
// keys are added and never removed, and order of arrival never shows. Withheld bytes alone take
// facts away; all derived data is then made anew.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ledger/chain_fact.h"
#include "ledger/dsse.h"
#include "ledger/entry.h"
#include "ledger/predicates.h"
#include "ledger/rows.h"
#include "schema/manifest.h"
#include "schema/result.h"

namespace kernelindex {

// Where a join finds the rows of what a run refers to.
class RowSource {
 public:
  virtual ~RowSource() = default;
  // Null when the log holds no claim of it.
  virtual Result<std::shared_ptr<const SubjectRow>> subject(const Digest& identity) = 0;
  // Whether the log has an artifact entry for these bytes.
  virtual Result<bool> artifact_held(const Digest& digest) = 0;
  // Whether the bytes of a snapshot are kept (not withheld).
  virtual Result<bool> object_kept(const Digest& digest) = 0;
  // Whether a source says that another run replaces the one with this external id.
  virtual Result<bool> superseded(std::string_view external_id) = 0;
};

// Adds one claim to a subject's row. `document` is null when its bytes are withheld: then the claim
// stands without a label, and facts come from the first document that is held. Requires: claims
// come in order of index.
void fold_claim(SubjectRow& row, std::uint64_t index, const Entry& entry, bool supplied,
                const Manifest* document);

// Whether the join of a run that depends on this subject can differ between the two rows.
bool changes_dependents(const SubjectRow& before, const SubjectRow& after);

struct DerivedRun {
  std::string bytes;  // an encoded RunRow
  // By what the run can be found again: its operation and implementation, and all that it refers to
  // and is not there yet, whose arrival changes the row.
  std::vector<Digest> depends;
};

// Joins a run. Requires: the facts are of a benchmark or serving run, `self` has its claims.
Result<DerivedRun> derive_run(const SubjectRow& self, ManifestKind kind, const KindFacts& facts,
                              RowSource& rows);

// One key and value of the derived space.
using DerivedPair = std::pair<std::string, std::string>;

// The keys that a run's row puts into the derived space. Requires: `row` decoded from run.bytes.
std::vector<DerivedPair> run_pairs(const Digest& identity, const DerivedRun& run,
                                   const RunRow& row);

// The claim that is the same when it is recorded again: document, source, via, external ids
// (sorted) and how its snapshot was acquired. Null when the row has none. DESIGN section 5,
// idempotence.
const ClaimRow* find_claim(const SubjectRow& row, const Digest& document, std::string_view source,
                           std::string_view via, const std::vector<std::string>& external_ids,
                           bool supplied);
// One name for all of that.
Digest claim_fingerprint(const Digest& document, std::string_view source, std::string_view via,
                         const std::vector<std::string>& external_ids, bool supplied);
// The same for a snapshot entry.
Digest snapshot_fingerprint(const Digest& content, const SnapshotEntry& snapshot);

// The keys that follow from one entry alone, without its subject's row. `envelope` is the kept
// envelope of an attestation entry, null otherwise, and for one whose bytes are withheld; `said` is
// what it says, when the caller has read it already.
// Errors: those of reading a statement of a type that this program knows.
Result<std::vector<DerivedPair>> entry_pairs(std::uint64_t index, const Entry& entry,
                                             const Envelope* envelope,
                                             const Attestation* said = nullptr);

// An import statement as the derived space keeps it.
struct ImportRange {
  std::uint64_t index = 0;  // of the statement's entry
  std::uint64_t first = 0;
  std::uint64_t end = 0;
  Digest signer;  // key id
  Digest id;      // attestation id
};
std::string encode_import_range(const ImportRange& range);
Result<ImportRange> decode_import_range(std::uint64_t index, std::string_view value);

}  // namespace kernelindex
