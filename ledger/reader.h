// SPDX-License-Identifier: Apache-2.0
// A consistent view of a ledger: everything that queries, checks and exports read.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ledger/derive.h"
#include "ledger/entry.h"
#include "ledger/judgements.h"
#include "ledger/key_book.h"
#include "ledger/merkle.h"
#include "ledger/proof.h"
#include "ledger/rows.h"
#include "ledger/store.h"
#include "ledger/tile.h"
#include "schema/digest.h"
#include "schema/mutex.h"
#include "schema/result.h"

namespace kernelindex {

// What never changes in a ledger's life. Kept in the store, and derived from entry 0.
struct LedgerFormat {
  std::string origin;
  std::string owner;
  Digest ledger_id;  // the attestation id of entry 0
};

// What follows from the log at one size, made once for all readers of it.
struct LogState {
  LedgerFormat format;
  TreeHead head;
  KeyBook keys;
  std::vector<ImportRange> imports;  // in order of `first`
  // Of attestations on chains, in order of index, and what they come to. Never null.
  std::shared_ptr<const std::vector<ChainFact>> chain_facts =
      std::make_shared<const std::vector<ChainFact>>();
  std::shared_ptr<const Judgements> judgements = std::make_shared<const Judgements>();
  // Entries of jobs, controlled runs and acceptances by their subject, in order, counting or not:
  // of nearly all subjects none. Never null.
  using Measurements = std::unordered_map<Digest, std::vector<std::uint64_t>>;
  std::shared_ptr<const Measurements> measurements = std::make_shared<const Measurements>();

  // Makes `judgements` and `measurements` anew from the facts and the keys.
  void judge();
};

// Requires: the log holds this kind of thing in memory only up to this size.
inline constexpr std::uint64_t kInMemoryObjectBytes = 64 * limits::kMiB;

// A view of one state. Cheap to copy a pointer of; must not outlive its ledger. Safe to read from
// several threads.
class Reader {
 public:
  Reader(StoreView view, std::shared_ptr<const LogState> state)
      : view_(std::move(view)), state_(std::move(state)) {}

  const TreeHead& head() const { return state_->head; }
  const LedgerFormat& format() const { return state_->format; }
  const LogState& state() const { return *state_; }
  const StoreView& view() const { return view_; }

  // ---- the log ----
  // Error NO_SUCH_ENTRY (not_found) at and above the size.
  Result<std::string> leaf(std::uint64_t index) const;
  Result<Entry> entry(std::uint64_t index) const;
  // Tiles as stored; valid as long as this reader.
  TileSource tiles() const;
  Result<Proof> inclusion_proof(std::uint64_t index, std::uint64_t size) const;
  Result<Proof> consistency_proof(std::uint64_t older, std::uint64_t newer) const;
  // The root of the first `size` entries, from the tiles.
  Result<Digest> root_at(std::uint64_t size) const;

  // ---- objects ----
  // The bytes, their digest checked again; nullopt when they are not held. Errors: DAMAGED_OBJECT
  // (corrupt), OBJECT_TOO_LARGE above kInMemoryObjectBytes.
  Result<std::optional<std::string>> object(const Digest& digest) const;
  // The same piece by piece for objects of any size; false when the bytes are not held. The digest
  // is known to be right only when this returns.
  Result<bool> stream_object(const Digest& digest,
                             const std::function<Status(std::string_view)>& piece) const;
  // Whether the bytes were held once and were withheld since.
  Result<bool> object_withheld(const Digest& digest) const;
  // Whether the bytes are held, without reading them.
  Result<bool> object_kept(const Digest& digest) const;

  // ---- derived ----
  Result<std::optional<SubjectRow>> subject(const Digest& identity) const;
  // The bytes of a RunRow; decode_run_row() reads them in place.
  Result<std::optional<std::string>> run_row(const Digest& identity) const;
  // Entries about a subject below `size`, in order.
  Result<std::vector<std::uint64_t>> subject_entries(const Digest& subject,
                                                     std::uint64_t size) const;
  // The same for one who has the subject's row, or knows that there is none (null).
  Result<std::vector<std::uint64_t>> subject_entries(const Digest& subject, const SubjectRow* row,
                                                     std::uint64_t size) const;
  // Artifact or snapshot entries of an object below `size`; `artifacts` picks which.
  Result<std::vector<std::uint64_t>> content_entries(const Digest& content, bool artifacts,
                                                     std::uint64_t size) const;
  // Whether the snapshot that a claim at `index` names came as a file: its last entry before it.
  Result<bool> supplied(const Digest& snapshot, std::uint64_t index) const;
  // Whether any claim says that it replaces another: nearly always none does.
  Result<bool> any_superseding() const;
  // Whether a claim below `size` says that it replaces what has this external id.
  Result<bool> superseded(std::string_view external_id, std::uint64_t size) const;
  // Who may sign what, as of `size`: a revocation that came later changes nothing before it. Never
  // null.
  std::shared_ptr<const KeyBook> keys(std::uint64_t size) const;
  // The import statement that covers a claim, by a key that counts, as of `size`; null when there
  // is none. Whether it was taken back: judgements().
  const ImportRange* covering_import(std::uint64_t index, std::uint64_t size) const;
  // What was said on chains, as of `size`. Never null.
  std::shared_ptr<const Judgements> judgements(std::uint64_t size) const;

 private:
  // What follows for the last earlier size that was asked for.
  struct Earlier {
    Mutex mutex;
    std::uint64_t size GUARDED_BY(mutex) = 0;
    std::shared_ptr<const KeyBook> keys GUARDED_BY(mutex);
    std::shared_ptr<const Judgements> judgements GUARDED_BY(mutex);
  };
  // Brings what is given to `size`, which lies below the head's.
  void bring_to(Earlier& earlier, std::uint64_t size) const REQUIRES_LOCK(earlier.mutex);

  Result<bool> stream_value(const Digest& digest, std::string_view value,
                            const std::function<Status(std::string_view)>& piece) const;

  StoreView view_;
  std::shared_ptr<const LogState> state_;
  std::shared_ptr<Earlier> earlier_ = std::make_shared<Earlier>();
};

// Rows as the store has them; not for sharing between threads. Remembers a bounded number.
class StoredRows final : public RowSource {
 public:
  explicit StoredRows(const Reader& reader) : reader_(reader) {}
  Result<std::shared_ptr<const SubjectRow>> subject(const Digest& identity) override;
  Result<bool> artifact_held(const Digest& digest) override;
  Result<bool> object_kept(const Digest& digest) override;
  Result<bool> superseded(std::string_view external_id) override;

 private:
  const Reader& reader_;
  std::unordered_map<Digest, std::shared_ptr<const SubjectRow>> subjects_;
  std::optional<std::pair<Digest, bool>> last_kept_;
  std::optional<bool> any_superseding_;
};

// Rows as they stood when the log had `size` entries, derived again from log and objects.
class RowsAsOf final : public RowSource {
 public:
  RowsAsOf(const Reader& reader, std::uint64_t size) : reader_(reader), size_(size) {}
  Result<std::shared_ptr<const SubjectRow>> subject(const Digest& identity) override;
  Result<bool> artifact_held(const Digest& digest) override;
  Result<bool> object_kept(const Digest& digest) override;
  Result<bool> superseded(std::string_view external_id) override;
  // The joined row of a run; nullopt when no claim of it lay below the size.
  Result<std::optional<DerivedRun>> run(const Digest& identity);

 private:
  const Reader& reader_;
  std::uint64_t size_;
  std::unordered_map<Digest, std::shared_ptr<const SubjectRow>> subjects_;
};

// A document of a subject whose bytes are held, the earliest claimed; nullopt when all are
// withheld. Errors: MISSING_OBJECT (corrupt), those of read_manifest().
Result<std::optional<Manifest>> read_subject_document(const Reader& reader, const SubjectRow& row);

// The row of a subject from its entries, in order; attestations among them add nothing. Null when
// no claim is among them.
Result<std::shared_ptr<const SubjectRow>> derive_subject(const Reader& reader,
                                                         const std::vector<std::uint64_t>& entries);

}  // namespace kernelindex
