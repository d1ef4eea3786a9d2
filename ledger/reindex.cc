// SPDX-License-Identifier: Apache-2.0
// Ledger::reindex: all derived data made anew from log and objects, entry by entry and then subject
// by subject, with the same functions that record.
#include <algorithm>

#include "ledger/appender.h"
#include "ledger/key_layout.h"

namespace kernelindex {
namespace {

constexpr std::size_t kBatchBytes = 8 * limits::kMiB;

class Reindexer {
 public:
  Reindexer(Store& store, const Reader& reader) : store_(store), reader_(reader) {}

  Status run() {
    if (Status status = store_.drop_derived(); !status) return status;
    for (std::uint64_t index = 0; index < reader_.head().size; ++index) {
      if (Status status = add_entry(index); !status) return status;
    }
    if (Status status = flush(); !status) return status;
    if (Status status = add_subjects(); !status) return status;
    if (Status status = add_runs(); !status) return status;
    batch_.put(Space::derived, key_layout::derived_state(),
               key_layout::derived_state_of(reader_.head().size));
    return flush();
  }

 private:
  Status add_entry(std::uint64_t index) {
    Result<Entry> entry = reader_.entry(index);
    if (!entry) return fail(entry.error());
    std::optional<Envelope> envelope;
    if (std::holds_alternative<AttestationEntry>(entry->body)) {
      Result<std::optional<std::string>> bytes = reader_.object(entry->content.digest);
      if (!bytes) return fail(bytes.error());
      if (*bytes) {
        Result<Envelope> read = read_stored_envelope(**bytes);
        if (!read) return fail_in("entry " + std::to_string(index), read.error());
        envelope = std::move(*read);
      }
    } else if (const auto* claim = std::get_if<ManifestEntry>(&entry->body)) {
      claims_.emplace_back(claim->subject, index);
    }
    Result<std::vector<DerivedPair>> pairs =
        entry_pairs(index, *entry, envelope ? &*envelope : nullptr);
    if (!pairs) return fail(pairs.error());
    return put(*pairs);
  }

  // The subjects of manifests: their claims lie scattered over the log.
  Status add_subjects() {
    std::ranges::sort(claims_);
    for (std::size_t first = 0; first < claims_.size();) {
      std::vector<std::uint64_t> entries;
      std::size_t next = first;
      for (; next < claims_.size() && claims_[next].first == claims_[first].first; ++next) {
        entries.push_back(claims_[next].second);
      }
      Result<std::shared_ptr<const SubjectRow>> row = derive_subject(reader_, entries);
      if (!row) return fail(row.error());
      if (Status status = put({{key_layout::subject(claims_[first].first), encode_row(**row)}});
          !status) {
        return status;
      }
      first = next;
    }
    return flush();
  }

  Status add_runs() {
    const StoreView view = store_.view();
    StoredRows rows(reader_);
    StoreCursor cursor = view.scan(Space::derived, "s");
    for (; cursor.valid(); cursor.next()) {
      const Digest identity = key_layout::last_digest(cursor.key());
      Result<SubjectRow> self = decode_subject_row(cursor.value());
      if (!self) return fail(self.error());
      if (self->kind != ManifestKind::benchmark_run && self->kind != ManifestKind::serving_run) {
        continue;
      }
      Result<std::optional<Manifest>> document = read_subject_document(reader_, *self);
      if (!document) return fail_in(identity.text(), document.error());
      if (!*document) continue;
      Result<DerivedRun> run = derive_run(*self, (*document)->kind, (*document)->facts, rows);
      if (!run) return fail(run.error());
      const Result<RunRow> row = decode_run_row(run->bytes);
      if (!row) return fail(row.error());
      if (Status status = put(run_pairs(identity, *run, *row)); !status) return status;
    }
    return cursor.status();
  }

  Status put(const std::vector<DerivedPair>& pairs) {
    for (const auto& [key, value] : pairs) batch_.put(Space::derived, key, value);
    return batch_.bytes() < kBatchBytes ? Status() : flush();
  }

  Status flush() { return batch_.empty() ? Status() : store_.write(batch_); }

  Store& store_;
  const Reader& reader_;
  StoreBatch batch_;
  std::vector<std::pair<Digest, std::uint64_t>> claims_;  // subject and index: 40 bytes a claim
};

}  // namespace

Result<std::unique_ptr<Ledger>> Ledger::repair(const LedgerOptions& options) {
  const Status made = Store::repair((options.directory / "db").string());
  if (!made) return fail(made.error());
  Result<std::unique_ptr<Ledger>> ledger = open(options);
  if (!ledger || (*ledger)->read_only_reason()) return ledger;
  if (Status status = (*ledger)->reindex(); !status) return fail(status.error());
  if (Status status = (*ledger)->remove_withheld(); !status) return fail(status.error());
  return ledger;
}

Status Ledger::reindex() {
  if (!store_->has_derived() && !options_.read_only) {
    // Too damaged to be opened: the store comes back with an empty derived space.
    store_.reset();
    StoreOptions store_options;
    store_options.renew_derived = true;
    store_options.file_system = options_.file_system;
    Result<std::unique_ptr<Store>> store =
        Store::open((options_.directory / "db").string(), store_options);
    if (!store) return fail(store.error());
    store_ = std::move(*store);
  }
  if (store_->read_only()) {
    return fail(ErrorKind::refused, "READ_ONLY", options_.directory.string(),
                derived_fault_ ? derived_fault_->message : "the ledger was opened for reading");
  }
  const Reader reader(store_->latest(), state());
  if (Status status = Reindexer(*store_, reader).run(); !status) return status;
  derived_fault_.reset();
  return load(true);
}

}  // namespace kernelindex
