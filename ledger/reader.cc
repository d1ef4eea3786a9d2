// SPDX-License-Identifier: Apache-2.0
#include "ledger/reader.h"

#include <algorithm>

#include "ledger/key_layout.h"
#include "ledger/run_evidence.h"
#include "ledger/stored_object.h"
#include "ledger/tile_reader.h"

namespace kernelindex {
namespace {

constexpr std::size_t kRememberedSubjects = 100'000;

std::string entry_place(std::uint64_t index) { return "entry " + std::to_string(index); }

std::unexpected<Error> damaged_object(const Digest& digest, std::string message) {
  return fail(ErrorKind::corrupt, "DAMAGED_OBJECT", digest.text(), std::move(message),
              "run `kernelindex audit`; the bytes come back with a restore or by importing the "
              "source again");
}

// nullopt when it is withheld.
Result<std::optional<Manifest>> read_document(const Reader& reader, const Digest& digest) {
  Result<std::optional<std::string>> bytes = reader.object(digest);
  if (!bytes) return fail(bytes.error());
  if (!*bytes) {
    const Result<bool> withheld = reader.object_withheld(digest);
    if (!withheld) return fail(withheld.error());
    if (*withheld) return std::nullopt;
    return damaged_object(digest, "the document of a claim is not held");
  }
  Result<Manifest> manifest = read_manifest(**bytes);
  if (!manifest) return fail(manifest.error());
  return std::move(*manifest);
}

}  // namespace

void LogState::judge() {
  judgements = std::make_shared<const Judgements>(*chain_facts, keys, head.size);
  Measurements found;
  for (const ChainFact& fact : *chain_facts) {
    if (fact.kind == ChainFact::Kind::measurement) found[fact.subject].push_back(fact.index);
  }
  measurements = std::make_shared<const Measurements>(std::move(found));
}

// ---- the log ----

Result<std::string> Reader::leaf(std::uint64_t index) const {
  if (index >= head().size) {
    return fail(ErrorKind::not_found, "NO_SUCH_ENTRY", entry_place(index),
                "the log has " + std::to_string(head().size) + " entries");
  }
  Result<std::optional<std::string>> bytes = view_.get(Space::evidence, key_layout::leaf(index));
  if (!bytes) return fail(bytes.error());
  if (!*bytes) {
    return fail(ErrorKind::corrupt, "MISSING_ENTRY", entry_place(index),
                "an entry of the log is lost", "run `kernelindex audit`");
  }
  return std::move(**bytes);
}

Result<Entry> Reader::entry(std::uint64_t index) const {
  Result<std::string> bytes = leaf(index);
  if (!bytes) return fail(bytes.error());
  Result<Entry> entry = decode_entry(*bytes);
  if (!entry) return fail_in(entry_place(index), entry.error());
  return entry;
}

TileSource Reader::tiles() const {
  return [this](unsigned level, std::uint64_t index, unsigned width) -> Result<std::string> {
    Result<std::optional<std::string>> bytes =
        view_.get(Space::evidence, key_layout::tile(level, index));
    if (!bytes) return fail(bytes.error());
    if (!*bytes) {
      return fail(ErrorKind::corrupt, "MISSING_TILE", tile_path_text({false, level, index, width}),
                  "a tile of the tree is lost", "run `kernelindex audit`");
    }
    return std::move(**bytes);
  };
}

Result<Proof> Reader::inclusion_proof(std::uint64_t index, std::uint64_t size) const {
  Result<TileReader> nodes = TileReader::open(head(), tiles());
  if (!nodes) return fail(nodes.error());
  return prove_inclusion(index, size, *nodes);
}

Result<Proof> Reader::consistency_proof(std::uint64_t older, std::uint64_t newer) const {
  Result<TileReader> nodes = TileReader::open(head(), tiles());
  if (!nodes) return fail(nodes.error());
  return prove_consistency(older, newer, *nodes);
}

Result<Digest> Reader::root_at(std::uint64_t size) const {
  if (size == head().size) return head().root;
  if (size > head().size) {
    return fail(ErrorKind::not_found, "SIZE_OUT_OF_RANGE", "size " + std::to_string(size),
                "the log has " + std::to_string(head().size) + " entries");
  }
  Result<TileReader> nodes = TileReader::open(head(), tiles());
  if (!nodes) return fail(nodes.error());
  return tree_root(size, *nodes);
}

// ---- objects ----

Result<bool> Reader::stream_object(const Digest& digest,
                                   const std::function<Status(std::string_view)>& piece) const {
  std::string value;
  const Result<bool> found = view_.get(Space::evidence, key_layout::object(digest), value);
  if (!found || !*found) return found;
  return stream_value(digest, value, piece);
}

// What the value of the object's key stands for.
Result<bool> Reader::stream_value(const Digest& digest, std::string_view value,
                                  const std::function<Status(std::string_view)>& piece) const {
  if (stored_object::is_withheld(value)) return false;
  Sha256 hasher;
  if (stored_object::is_whole(value)) {
    const std::string_view bytes = value.substr(1);
    hasher.update(bytes);
    if (Status status = piece(bytes); !status) return fail(status.error());
  } else if (stored_object::is_chunked(value)) {
    const std::uint64_t size = key_layout::from_big_endian(value.substr(1));
    std::string chunk;
    std::uint64_t done = 0;
    for (std::uint64_t number = 0; done < size; ++number) {
      const Result<bool> found =
          view_.get(Space::evidence, key_layout::chunk(digest, number), chunk);
      if (!found) return fail(found.error());
      if (!*found || chunk.empty()) return damaged_object(digest, "a piece of the object is lost");
      done += chunk.size();
      hasher.update(chunk);
      if (Status status = piece(chunk); !status) return fail(status.error());
    }
  } else {
    return damaged_object(digest, "the object is stored in a form that this program does not know");
  }
  if (hasher.finish() != digest) {
    return damaged_object(digest, "the stored bytes have another digest");
  }
  return true;
}

Result<std::optional<std::string>> Reader::object(const Digest& digest) const {
  std::string value;
  const Result<bool> found = view_.get(Space::evidence, key_layout::object(digest), value);
  if (!found) return fail(found.error());
  if (!*found) return std::nullopt;
  if (stored_object::is_whole(value)) {
    value.erase(0, 1);
    if (sha256(value) != digest) {
      return damaged_object(digest, "the stored bytes have another digest");
    }
    return value;
  }
  std::string bytes;
  Result<bool> held = stream_value(digest, value, [&](std::string_view piece) -> Status {
    if (bytes.size() + piece.size() > kInMemoryObjectBytes) {
      return fail(ErrorKind::refused, "OBJECT_TOO_LARGE", digest.text(),
                  "the object is too large to be read at once",
                  "write it to a file with `kernelindex cat ID -o FILE`");
    }
    bytes += piece;
    return {};
  });
  if (!held) return fail(held.error());
  if (!*held) return std::nullopt;
  return bytes;
}

Result<bool> Reader::object_withheld(const Digest& digest) const {
  std::string value;
  Result<bool> found = view_.get(Space::evidence, key_layout::object(digest), value);
  if (!found) return found;
  return *found && stored_object::is_withheld(value);
}

Result<bool> Reader::object_kept(const Digest& digest) const {
  std::string value;
  Result<bool> found = view_.get(Space::evidence, key_layout::object(digest), value);
  if (!found) return found;
  return *found && !stored_object::is_withheld(value);
}

// ---- derived ----

Result<std::optional<SubjectRow>> Reader::subject(const Digest& identity) const {
  Result<std::optional<std::string>> bytes =
      view_.get(Space::derived, key_layout::subject(identity));
  if (!bytes) return fail(bytes.error());
  if (!*bytes) return std::nullopt;
  Result<SubjectRow> row = decode_subject_row(**bytes);
  if (!row) return fail_in(identity.text(), row.error());
  return std::move(*row);
}

Result<std::optional<std::string>> Reader::run_row(const Digest& identity) const {
  Result<std::optional<std::string>> place = view_.get(Space::derived, key_layout::run(identity));
  // A row is no key of a group: FlatBuffers begin with the offset of their root, a small number.
  if (!place || !*place || !(*place)->starts_with('g') || (*place)->size() != 1 + 32 + 8 + 32) {
    return place;
  }
  Result<std::optional<std::string>> row = view_.get(Space::derived, **place);
  if (row && !*row) {
    return fail(ErrorKind::corrupt, "DAMAGED_ROW", identity.text(),
                "the run is missing in its comparison group",
                "`kernelindex reindex` makes derived data anew");
  }
  return row;
}

Result<std::vector<std::uint64_t>> Reader::subject_entries(const Digest& subject,
                                                           std::uint64_t size) const {
  Result<std::optional<SubjectRow>> row = this->subject(subject);
  if (!row) return fail(row.error());
  return subject_entries(subject, *row ? &**row : nullptr, size);
}

Result<std::vector<std::uint64_t>> Reader::subject_entries(const Digest& subject,
                                                           const SubjectRow* row,
                                                           std::uint64_t size) const {
  std::vector<std::uint64_t> out;
  if (row != nullptr) {
    for (const ClaimRow& claim : row->claims) {
      if (claim.index < size) out.push_back(claim.index);
    }
  }
  StoreCursor cursor = view_.scan(Space::derived, key_layout::subject_entries(subject));
  for (; cursor.valid(); cursor.next()) {
    const std::uint64_t index =
        key_layout::from_big_endian(cursor.key().substr(cursor.key().size() - 8));
    if (index >= size) break;
    out.push_back(index);
  }
  if (Status status = cursor.status(); !status) return fail(status.error());
  std::ranges::sort(out);
  return out;
}

Result<std::vector<std::uint64_t>> Reader::content_entries(const Digest& content, bool artifacts,
                                                           std::uint64_t size) const {
  std::vector<std::uint64_t> out;
  StoreCursor cursor = view_.scan(Space::derived, key_layout::content_entries(content));
  for (; cursor.valid(); cursor.next()) {
    const std::uint64_t index =
        key_layout::from_big_endian(cursor.key().substr(cursor.key().size() - 8));
    if (index >= size) break;
    if ((cursor.value() == "a") == artifacts) out.push_back(index);
  }
  if (Status status = cursor.status(); !status) return fail(status.error());
  return out;
}

Result<bool> Reader::supplied(const Digest& snapshot, std::uint64_t index) const {
  bool supplied = true;
  StoreCursor cursor = view_.scan(Space::derived, key_layout::content_entries(snapshot));
  for (; cursor.valid(); cursor.next()) {
    const std::uint64_t at =
        key_layout::from_big_endian(cursor.key().substr(cursor.key().size() - 8));
    if (at >= index) break;
    if (cursor.value() != "a") supplied = cursor.value() == "ss";
  }
  if (Status status = cursor.status(); !status) return fail(status.error());
  return supplied;
}

Result<bool> Reader::any_superseding() const {
  StoreCursor cursor = view_.scan(Space::derived, "j");
  const bool any = cursor.valid();
  if (Status status = cursor.status(); !status) return fail(status.error());
  return any;
}

Result<bool> Reader::superseded(std::string_view external_id, std::uint64_t size) const {
  StoreCursor cursor = view_.scan(Space::derived, key_layout::superseding(external_id));
  const bool found = cursor.valid() && key_layout::from_big_endian(
                                           cursor.key().substr(cursor.key().size() - 8)) < size;
  if (Status status = cursor.status(); !status) return fail(status.error());
  return found;
}

const ImportRange* Reader::covering_import(std::uint64_t index, std::uint64_t size) const {
  return kernelindex::covering_import(state_->imports, *keys(size), index, size);
}

void Reader::bring_to(Earlier& earlier, std::uint64_t size) const {
  if (earlier.keys != nullptr && earlier.size == size) return;
  earlier.size = size;
  earlier.keys = std::make_shared<const KeyBook>(state_->keys.as_of(size));
  earlier.judgements =
      std::make_shared<const Judgements>(*state_->chain_facts, *earlier.keys, size);
}

std::shared_ptr<const KeyBook> Reader::keys(std::uint64_t size) const {
  if (size >= state_->head.size) return {state_, &state_->keys};
  Earlier& earlier = *earlier_;
  const MutexLock lock(earlier.mutex);
  bring_to(earlier, size);
  return earlier.keys;
}

std::shared_ptr<const Judgements> Reader::judgements(std::uint64_t size) const {
  if (size >= state_->head.size) return state_->judgements;
  Earlier& earlier = *earlier_;
  const MutexLock lock(earlier.mutex);
  bring_to(earlier, size);
  return earlier.judgements;
}

// ---- rows as stored ----

Result<std::shared_ptr<const SubjectRow>> StoredRows::subject(const Digest& identity) {
  const auto known = subjects_.find(identity);
  if (known != subjects_.end()) return known->second;
  Result<std::optional<SubjectRow>> row = reader_.subject(identity);
  if (!row) return fail(row.error());
  if (subjects_.size() >= kRememberedSubjects) subjects_.clear();
  auto shared = *row ? std::make_shared<const SubjectRow>(std::move(**row)) : nullptr;
  subjects_.emplace(identity, shared);
  return shared;
}

Result<bool> StoredRows::artifact_held(const Digest& digest) {
  const Result<bool> kept = reader_.object_kept(digest);
  if (!kept || !*kept) return kept;
  Result<std::vector<std::uint64_t>> entries =
      reader_.content_entries(digest, true, reader_.head().size);
  if (!entries) return fail(entries.error());
  return !entries->empty();
}

Result<bool> StoredRows::object_kept(const Digest& digest) {
  if (last_kept_ && last_kept_->first == digest) return last_kept_->second;
  Result<bool> kept = reader_.object_kept(digest);
  if (kept) last_kept_ = {digest, *kept};
  return kept;
}

Result<bool> StoredRows::superseded(std::string_view external_id) {
  if (!any_superseding_) {
    Result<bool> any = reader_.any_superseding();
    if (!any) return any;
    any_superseding_ = *any;
  }
  if (!*any_superseding_) return false;
  return reader_.superseded(external_id, reader_.head().size);
}

// ---- rows as of an earlier size ----

Result<std::optional<Manifest>> read_subject_document(const Reader& reader, const SubjectRow& row) {
  for (const ClaimRow& claim : row.claims) {
    Result<std::optional<Manifest>> document = read_document(reader, claim.document);
    if (!document || *document) return document;
  }
  return std::nullopt;
}

Result<std::shared_ptr<const SubjectRow>> derive_subject(
    const Reader& reader, const std::vector<std::uint64_t>& entries) {
  auto row = std::make_shared<SubjectRow>();
  for (const std::uint64_t index : entries) {
    Result<Entry> entry = reader.entry(index);
    if (!entry) return fail(entry.error());
    const auto* claim = std::get_if<ManifestEntry>(&entry->body);
    if (claim == nullptr) continue;
    Result<std::optional<Manifest>> document = read_document(reader, entry->content.digest);
    if (!document) return fail_in(entry_place(index), document.error());
    Result<bool> supplied = claim->snapshot ? reader.supplied(*claim->snapshot, index) : true;
    if (!supplied) return fail(supplied.error());
    fold_claim(*row, index, *entry, *supplied, *document ? &**document : nullptr);
  }
  if (row->claims.empty()) return std::shared_ptr<const SubjectRow>();
  return row;
}

Result<std::shared_ptr<const SubjectRow>> RowsAsOf::subject(const Digest& identity) {
  const auto known = subjects_.find(identity);
  if (known != subjects_.end()) return known->second;
  Result<std::vector<std::uint64_t>> entries = reader_.subject_entries(identity, size_);
  if (!entries) return fail(entries.error());
  Result<std::shared_ptr<const SubjectRow>> row = derive_subject(reader_, *entries);
  if (!row) return row;
  if (subjects_.size() >= kRememberedSubjects) subjects_.clear();
  subjects_.emplace(identity, *row);
  return row;
}

Result<bool> RowsAsOf::artifact_held(const Digest& digest) {
  Result<std::vector<std::uint64_t>> entries = reader_.content_entries(digest, true, size_);
  if (!entries) return fail(entries.error());
  if (entries->empty()) return false;
  return reader_.object_kept(digest);
}

Result<bool> RowsAsOf::object_kept(const Digest& digest) { return reader_.object_kept(digest); }

Result<bool> RowsAsOf::superseded(std::string_view external_id) {
  return reader_.superseded(external_id, size_);
}

Result<std::optional<DerivedRun>> RowsAsOf::run(const Digest& identity) {
  Result<std::shared_ptr<const SubjectRow>> self = subject(identity);
  if (!self) return fail(self.error());
  if (*self == nullptr) return std::nullopt;
  Result<std::optional<Manifest>> document = read_subject_document(reader_, **self);
  if (!document) return fail(document.error());
  if (!*document) return std::nullopt;
  Result<DerivedRun> run = derive_run(**self, (*document)->kind, (*document)->facts, *this);
  if (!run) return fail(run.error());
  return std::move(*run);
}

}  // namespace kernelindex
