// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ledger/appender_batch.h"
#include "ledger/key_layout.h"

namespace kernelindex {
namespace {

// Rows in one generation of what is remembered, about 1 KiB each.
constexpr std::size_t kRecentRows = 6'000;

bool is_run(ManifestKind kind) {
  return kind == ManifestKind::benchmark_run || kind == ManifestKind::serving_run;
}

}  // namespace

// ---- rows under the pending batch ----

Result<std::shared_ptr<const SubjectRow>> Appender::Rows::subject(const Digest& identity) {
  const auto changed = position_.find(identity);
  if (changed != position_.end()) return changes_[changed->second].after;
  const auto writing = writing_rows_.find(identity);
  if (writing != writing_rows_.end()) return writing->second;
  const auto recent = recent_.find(identity);
  if (recent != recent_.end()) return recent->second;
  const auto older = older_.find(identity);
  if (older != older_.end()) {
    std::shared_ptr<const SubjectRow> row = std::move(older->second);
    older_.erase(older);
    remember(identity, row);
    return row;
  }
  Result<std::optional<SubjectRow>> row = reader_.subject(identity);
  if (!row) return fail(row.error());
  if (!*row) return std::shared_ptr<const SubjectRow>();
  auto shared = std::make_shared<const SubjectRow>(std::move(**row));
  remember(identity, shared);
  return shared;
}

void Appender::Rows::remember(const Digest& identity, std::shared_ptr<const SubjectRow> row) {
  if (recent_.size() >= kRecentRows) older_ = std::exchange(recent_, {});
  recent_[identity] = std::move(row);
}

Result<bool> Appender::Rows::artifact_held(const Digest& digest) {
  if (batch_->artifacts.contains(digest)) return true;
  if (writing_ != nullptr && writing_->artifacts.contains(digest)) return true;
  const auto known = artifacts_held_.find(digest);
  if (known != artifacts_held_.end()) return known->second;
  Result<bool> held = stored_artifact_held(digest);
  if (held) artifacts_held_.emplace(digest, *held);
  return held;
}

Result<bool> Appender::Rows::stored_artifact_held(const Digest& digest) const {
  // Nearly always there are no such bytes, and this is the cheapest way to know.
  const Result<bool> kept = reader_.object_kept(digest);
  if (!kept || !*kept) return kept;
  Result<std::vector<std::uint64_t>> entries =
      reader_.content_entries(digest, true, limits::kTreeSize);
  if (!entries) return fail(entries.error());
  return !entries->empty();
}

Result<bool> Appender::Rows::object_kept(const Digest& digest) {
  if (batch_->objects.contains(digest)) return true;
  if (writing_ != nullptr && writing_->objects.contains(digest)) return true;
  const auto known = objects_kept_.find(digest);
  if (known != objects_kept_.end()) return known->second;
  Result<bool> kept = reader_.object_kept(digest);
  if (kept) objects_kept_.emplace(digest, *kept);
  return kept;
}

Result<bool> Appender::Rows::superseded(std::string_view external_id) {
  if (!any_superseding_) {
    Result<bool> any = reader_.any_superseding();
    if (!any) return any;
    any_superseding_ = *any;
  }
  for (const Batch* batch : {batch_.get(), writing_.get()}) {
    if (batch == nullptr || batch->superseded.empty()) continue;
    any_superseding_ = true;
    if (batch->superseded.contains(std::string(external_id))) return true;
  }
  if (!*any_superseding_) return false;
  return reader_.superseded(external_id, limits::kTreeSize);
}

Result<bool> Appender::Rows::supplied(const Digest& snapshot) {
  if (last_supplied_ && last_supplied_->first == snapshot) return last_supplied_->second;
  // The newest snapshot entry of these bytes says how they came; pending ones are newer than all.
  for (const Batch* batch : {batch_.get(), writing_.get()}) {
    if (batch == nullptr) continue;
    const auto pending = batch->acquired.find(snapshot);
    if (pending == batch->acquired.end()) continue;
    last_supplied_ = {snapshot, pending->second};
    return pending->second;
  }
  Result<bool> supplied = reader_.supplied(snapshot, limits::kTreeSize);
  if (supplied) last_supplied_ = {snapshot, *supplied};
  return supplied;
}

Result<std::optional<std::uint64_t>> Appender::Rows::chain_head(const Digest& subject) {
  for (const Batch* batch : {batch_.get(), writing_.get()}) {
    if (batch == nullptr) continue;
    const auto pending = batch->chain_heads.find(subject);
    if (pending != batch->chain_heads.end()) return pending->second;
  }
  std::string value;
  const Result<bool> found =
      reader_.view().get(Space::derived, key_layout::chain_head(subject), value);
  if (!found) return fail(found.error());
  if (*found && value.size() == 8) return key_layout::from_big_endian(value);
  // A chain of one entry: the first claim of a manifest, or an attestation about something else.
  Result<std::shared_ptr<const SubjectRow>> row = this->subject(subject);
  if (!row) return fail(row.error());
  if (*row != nullptr) return (*row)->claims.front().index;
  StoreCursor entries = reader_.view().scan(Space::derived, key_layout::subject_entries(subject));
  for (; entries.valid(); entries.next()) {
    if (entries.value() == "c") {
      return key_layout::from_big_endian(entries.key().substr(entries.key().size() - 8));
    }
  }
  if (Status status = entries.status(); !status) return fail(status.error());
  return std::nullopt;
}

void Appender::Rows::fold(std::uint64_t index, const Entry& entry, bool supplied,
                          const Manifest& manifest,
                          const std::shared_ptr<const SubjectRow>& before) {
  auto [at, fresh] = position_.try_emplace(manifest.identity, changes_.size());
  if (fresh) {
    auto after =
        before == nullptr ? std::make_shared<SubjectRow>() : std::make_shared<SubjectRow>(*before);
    changes_.push_back({manifest.identity, before, std::move(after)});
  }
  fold_claim(*changes_[at->second].after, index, entry, supplied, &manifest);
  if (is_run(manifest.kind)) {
    runs_.try_emplace(manifest.identity, Run{manifest.kind, manifest.facts});
  }
}

void Appender::Rows::write(std::shared_ptr<const Batch> batch) {
  writing_ = std::move(batch);
  for (Change& change : changes_) writing_rows_[change.identity] = std::move(change.after);
  changes_.clear();
  position_.clear();
  runs_.clear();
  artifacts_held_.clear();
  objects_kept_.clear();
  last_supplied_.reset();
}

void Appender::Rows::written() {
  for (auto& [identity, row] : writing_rows_) {
    // What is remembered of it is out of date. Nothing refers to a run.
    older_.erase(identity);
    recent_.erase(identity);
    if (!is_run(row->kind)) remember(identity, std::move(row));
  }
  writing_rows_.clear();
  writing_.reset();
}

// ---- deriving ----

Result<std::vector<Digest>> Appender::put_run(const Digest& identity, const SubjectRow& self,
                                              ManifestKind kind, const KindFacts& facts) {
  Result<DerivedRun> run = derive_run(self, kind, facts, *rows_);
  if (!run) return fail(run.error());
  const Result<RunRow> row = decode_run_row(run->bytes);
  if (!row) return fail(row.error());
  for (const auto& [key, value] : run_pairs(identity, *run, *row)) {
    batch_->changes.put(Space::derived, key, value);
  }
  return std::move(run->depends);
}

// A run that was recorded earlier, and now something that it refers to has come or changed.
Result<std::vector<Digest>> Appender::rejoin(const Digest& run) {
  Result<std::shared_ptr<const SubjectRow>> self = rows_->subject(run);
  if (!self) return fail(self.error());
  if (*self == nullptr) {
    return fail(ErrorKind::corrupt, "DAMAGED_ROW", run.text(), "a row of derived data is missing",
                "`kernelindex reindex` makes derived data anew");
  }
  Result<std::optional<Manifest>> document = read_subject_document(rows_->reader(), **self);
  if (!document) return fail_in(run.text(), document.error());
  if (!*document) return std::vector<Digest>();
  return put_run(run, **self, (*document)->kind, (*document)->facts);
}

// What the batch brought that earlier runs may wait for.
std::vector<Digest> Appender::put_subjects() {
  std::vector<Digest> arrived;
  for (const Rows::Change& change : rows_->changes()) {
    batch_->changes.put(Space::derived, key_layout::subject(change.identity),
                        encode_row(*change.after));
    if (is_run(change.after->kind)) continue;
    if (change.before == nullptr || changes_dependents(*change.before, *change.after)) {
      arrived.push_back(change.identity);
    }
  }
  for (const auto& [digest, index] : batch_->artifacts) arrived.push_back(digest);
  return arrived;
}

// Earlier runs that a claim of this batch replaces at their source.
Result<std::vector<Digest>> Appender::superseded_runs() const {
  std::vector<Digest> out;
  for (const std::string& external_id : batch_->superseded) {
    const std::size_t colon = external_id.find(':');
    if (colon == std::string::npos) continue;
    const std::string_view id = external_id;
    StoreCursor cursor = rows_->reader().view().scan(
        Space::derived, key_layout::external_exact(id.substr(0, colon), id.substr(colon + 1)));
    for (; cursor.valid(); cursor.next()) {
      const std::string_view key = cursor.key();
      if (is_run(static_cast<ManifestKind>(key[key.size() - 33]))) {
        out.push_back(key_layout::last_digest(key));
      }
    }
    if (Status status = cursor.status(); !status) return fail(status.error());
  }
  return out;
}

// The rows of what the batch claims.
Status Appender::derive_rows() {
  for (const auto& [identity, run] : rows_->runs()) {
    Result<std::shared_ptr<const SubjectRow>> self = rows_->subject(identity);
    if (!self) return fail(self.error());
    Result<std::vector<Digest>> joined = put_run(identity, **self, run.kind, run.facts);
    if (!joined) return fail(joined.error());
    batch_->depends.emplace(identity, std::move(*joined));
  }
  return {};
}

// Earlier runs that wait for what the batch brought. Requires: the batch before is in the store.
Status Appender::join_waiting() {
  const auto join_again = [&](const Digest& run) -> Status {
    if (batch_->depends.contains(run)) return {};
    Result<std::vector<Digest>> joined = rejoin(run);
    if (!joined) return fail(joined.error());
    batch_->depends.emplace(run, std::move(*joined));
    return {};
  };
  Result<std::vector<Digest>> superseded = superseded_runs();
  if (!superseded) return fail(superseded.error());
  for (const Digest& run : *superseded) {
    if (Status status = join_again(run); !status) return status;
  }
  for (const Digest& digest : put_subjects()) {
    StoreCursor cursor =
        rows_->reader().view().scan(Space::derived, key_layout::dependents(digest));
    for (; cursor.valid(); cursor.next()) {
      const Digest run = key_layout::last_digest(cursor.key());
      if (Status status = join_again(run); !status) return status;
      // It waits no more.
      const std::vector<Digest>& depends = batch_->depends.at(run);
      if (std::ranges::find(depends, digest) == depends.end()) {
        batch_->changes.remove(Space::derived, cursor.key());
      }
    }
    if (Status status = cursor.status(); !status) return status;
  }
  return {};
}

}  // namespace kernelindex
