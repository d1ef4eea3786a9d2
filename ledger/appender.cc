// SPDX-License-Identifier: Apache-2.0
#include "ledger/appender.h"

#include <algorithm>
#include <cassert>

#include "ledger/appender_batch.h"
#include "ledger/key_layout.h"
#include "ledger/stored_object.h"

namespace kernelindex {
namespace {

// Claims of one batch; the import statement is the one entry more.
constexpr std::size_t kBatchOffers = limits::kBatchEntries - 1;
constexpr std::uint64_t kInlineObjectBytes = limits::kObjectChunkBytes;
// Most sources are small files, many of them: a larger buffer would cost more than reading one.
constexpr std::size_t kReadBytes = 64 * limits::kKiB;

Result<std::pair<Digest, std::uint64_t>> hash_source(ByteSource& bytes) {
  Sha256 hasher;
  std::string buffer(kReadBytes, '\0');
  std::uint64_t size = 0;
  if (Status status = bytes.rewind(); !status) return fail(status.error());
  while (true) {
    const Result<std::size_t> count = bytes.read(buffer);
    if (!count) return fail(count.error());
    if (*count == 0) break;
    hasher.update(std::string_view(buffer).substr(0, *count));
    size += *count;
    if (size > limits::kObjectBytes) {
      return fail(ErrorKind::invalid, "OBJECT_TOO_LARGE", {},
                  "the file is larger than the limit of 2 GiB for one object");
    }
  }
  return std::pair(hasher.finish(), size);
}

// Reads exactly `size` bytes, or fewer at the end.
Result<std::string> read_piece(ByteSource& bytes, std::size_t size) {
  std::string piece(size, '\0');
  std::size_t done = 0;
  while (done < size) {
    const Result<std::size_t> count = bytes.read(std::span(piece).subspan(done));
    if (!count) return fail(count.error());
    if (*count == 0) break;
    done += *count;
  }
  piece.resize(done);
  return piece;
}

}  // namespace

Appender::Appender(Ledger& ledger, ImportIdentity identity)
    : ledger_(ledger), identity_(std::move(identity)) {}

Appender::~Appender() {
  if (written_.valid()) written_.wait();
  if (holds_writer_) ledger_.release_writer();
}

// ---- what is offered ----

Result<Recorded> Appender::snapshot(const SnapshotEntry& entry, const std::string& media_type,
                                    ByteSource& bytes) {
  if (Status status = make_room(); !status) return fail(status.error());
  Result<std::pair<Digest, std::uint64_t>> hashed = hash_source(bytes);
  if (!hashed) return fail(hashed.error());
  const auto& [digest, size] = *hashed;
  last_snapshot_ = digest;
  batch_->offered += 1;
  batch_->offered_bytes += std::min<std::uint64_t>(size, kInlineObjectBytes);
  const Digest fingerprint = snapshot_fingerprint(digest, entry);
  Result<std::optional<std::uint64_t>> before = known(fingerprint);
  if (!before) return fail(before.error());
  const Result<bool> held = holds_object(digest);
  if (!held) return fail(held.error());
  if (*before) {
    ++existing_.snapshots;
    return Recorded{**before, digest, true, false};
  }
  if (!*held) {
    if (Status status = keep_stream(digest, size, bytes); !status) return fail(status.error());
  }
  const Result<std::uint64_t> index = add_entry(
      Entry{ledger_.options().clock(), Content{digest, media_type, size}, entry}, nullptr);
  if (!index) return fail(index.error());
  batch_->acquired[digest] = entry.acquired == "supplied";
  rows_->forget_supplied();
  ++recorded_.snapshots;
  ++batch_->counts["snapshots"];
  batch_->name_snapshot(digest);
  return Recorded{*index, digest, false, !*held};
}

Result<Recorded> Appender::artifact(std::string_view bytes, const std::string& media_type) {
  MemorySource source(bytes);
  return artifact(source, media_type);
}

Result<Recorded> Appender::artifact(ByteSource& bytes, const std::string& media_type) {
  if (Status status = make_room(); !status) return fail(status.error());
  const Result<std::pair<Digest, std::uint64_t>> hashed = hash_source(bytes);
  if (!hashed) return fail(hashed.error());
  const auto& [digest, size] = *hashed;
  batch_->offered += 1;
  batch_->offered_bytes += size;
  const Result<bool> held = holds_object(digest);
  if (!held) return fail(held.error());
  for (const Batch* batch : {batch_.get(), writing_.get()}) {
    if (batch == nullptr || !batch->artifacts.contains(digest)) continue;
    ++existing_.artifacts;
    return Recorded{batch->artifacts.at(digest), digest, true, false};
  }
  Result<std::vector<std::uint64_t>> entries =
      rows_->reader().content_entries(digest, true, limits::kTreeSize);
  if (!entries) return fail(entries.error());
  if (!entries->empty()) {
    ++existing_.artifacts;
    return Recorded{entries->front(), digest, true, false};
  }
  if (!*held) {
    if (Status status = keep_stream(digest, size, bytes); !status) return fail(status.error());
  }
  const Result<std::uint64_t> index = add_entry(
      Entry{ledger_.options().clock(), Content{digest, media_type, size}, ArtifactEntry{}},
      nullptr);
  if (!index) return fail(index.error());
  batch_->artifacts.emplace(digest, *index);
  ++recorded_.artifacts;
  ++batch_->counts["artifacts"];
  return Recorded{*index, digest, false, !*held};
}

Result<Recorded> Appender::claim(ManifestEntry claim, const Manifest& manifest) {
  if (Status status = make_room(); !status) return fail(status.error());
  if (!importer_) {
    return fail(ErrorKind::usage, "NO_IDENTITY", claim.item,
                "claims are signed by an importer; this appender has none",
                "make it with Ledger::append()");
  }
  claim.kind = manifest.kind;
  claim.subject = manifest.identity;
  std::ranges::sort(claim.external_ids);
  const auto repeated = std::ranges::unique(claim.external_ids);
  claim.external_ids.erase(repeated.begin(), repeated.end());
  if (!claim.snapshot) {
    return fail(ErrorKind::usage, "NO_SNAPSHOT", claim.item,
                "a claim names the bytes that it was read from",
                "record them with snapshot() first");
  }
  batch_->offered += 1;
  batch_->offered_bytes += manifest.bytes.size();
  batch_->name_snapshot(*claim.snapshot);

  Result<bool> supplied = rows_->supplied(*claim.snapshot);
  if (!supplied) return fail(supplied.error());
  Result<std::shared_ptr<const SubjectRow>> row = rows_->subject(manifest.identity);
  if (!row) return fail(row.error());
  if (*row != nullptr) {
    const ClaimRow* before = find_claim(**row, manifest.document, claim.source, claim.via,
                                        claim.external_ids, *supplied);
    if (before != nullptr) {
      ++existing_.manifests;
      return Recorded{before->index, manifest.document, true, false};
    }
  }
  // Of a manifest that is new here only the root can have spoken before: it approves protocols by
  // their identities.
  if (*row != nullptr || ledger_.state()->keys.knows(manifest.identity)) {
    Result<std::optional<std::uint64_t>> head = rows_->chain_head(manifest.identity);
    if (!head) return fail(head.error());
    claim.previous = *head;
  }
  const Result<bool> held = holds_object(manifest.document);
  if (!held) return fail(held.error());
  if (!*held) {
    if (Status status = keep_object(manifest.document, manifest.bytes); !status) {
      return fail(status.error());
    }
    ++batch_->counts["documents"];
  }
  const Entry entry{
      ledger_.options().clock(),
      Content{manifest.document, std::string(kManifestMediaType), manifest.bytes.size()},
      std::move(claim)};
  const Result<std::uint64_t> index = add_entry(entry, nullptr);
  if (!index) return fail(index.error());
  const ClaimFacts& facts = std::get<ManifestEntry>(entry.body).facts;
  if (!facts.supersedes.empty()) batch_->superseded.insert(facts.supersedes);
  rows_->fold(*index, entry, *supplied, manifest, *row);
  ++recorded_.manifests;
  ++batch_->counts["manifests"];
  return Recorded{*index, manifest.document, false, !*held};
}

Status Appender::finish(const std::optional<std::string>& report) {
  Status status = commit(report);
  if (status) status = finish_writing();
  ended_ = true;
  if (std::exchange(holds_writer_, false)) ledger_.release_writer();
  return status;
}

Result<Recorded> Appender::withdraw(const Digest& run, const Withdrawal& withdrawal) {
  if (!importer_) {
    return fail(ErrorKind::usage, "NO_IDENTITY", run.text(),
                "withdrawals are signed by an importer; this appender has none",
                "make it with Ledger::append()");
  }
  const std::shared_ptr<const LogState> state = ledger_.state();
  const SigningKey& key = importer_->key;
  const Attestation said{run, Binding{state->format.ledger_id, key.public_key().id(), state->head},
                         withdrawal};
  Result<std::string> payload = said.encode();
  if (!payload) return fail(payload.error());
  Result<Envelope> envelope = sign_envelope(std::move(*payload), key);
  if (!envelope) return fail(envelope.error());
  return attestation(normalised(std::move(*envelope), key.public_key()), run,
                     predicate_type(said.predicate).uri(), key.public_key().id(), &said);
}

Result<Recorded> Appender::attestation(const Envelope& envelope, const Digest& subject,
                                       const std::string& predicate_type, const Digest& signer,
                                       const Attestation* said) {
  if (Status status = make_room(); !status) return fail(status.error());
  batch_->offered += 1;
  batch_->offered_bytes += envelope.payload.size();
  const Digest id = envelope.id();
  const Digest content = sha256(envelope.encode());
  const Result<std::optional<std::uint64_t>> before = known_attestation(id);
  if (!before) return fail(before.error());
  if (*before) {
    ++existing_.attestations;
    return Recorded{**before, content, true, false};
  }
  const Result<std::uint64_t> index =
      add_attestation(envelope, subject, predicate_type, signer, said);
  if (!index) return fail(index.error());
  ++recorded_.attestations;
  return Recorded{*index, content, false, true};
}

// ---- keeping bytes ----

Result<std::optional<std::uint64_t>> Appender::known_attestation(const Digest& id) const {
  for (const Batch* batch : {batch_.get(), writing_.get()}) {
    if (batch == nullptr) continue;
    const auto pending = batch->attestations.find(id);
    if (pending != batch->attestations.end()) return pending->second;
  }
  std::string value;
  const Result<bool> found =
      ledger_.store_->latest().get(Space::derived, key_layout::attestation(id), value);
  if (!found) return fail(found.error());
  if (!*found || value.size() != 8) return std::nullopt;
  return key_layout::from_big_endian(value);
}

Result<std::optional<std::uint64_t>> Appender::known(const Digest& fingerprint) const {
  for (const Batch* batch : {batch_.get(), writing_.get()}) {
    if (batch == nullptr) continue;
    const auto pending = batch->fingerprints.find(fingerprint);
    if (pending != batch->fingerprints.end()) return pending->second;
  }
  std::string value;
  const Result<bool> found = ledger_.store_->latest().get(
      Space::derived, key_layout::snapshot_fingerprint(fingerprint), value);
  if (!found) return fail(found.error());
  if (!*found || value.size() != 8) return std::nullopt;
  return key_layout::from_big_endian(value);
}

// A withheld object counts as held: its bytes are not to come back by an import.
Result<bool> Appender::holds_object(const Digest& digest) const {
  if (batch_->objects.contains(digest)) return true;
  if (writing_ != nullptr && writing_->objects.contains(digest)) return true;
  std::string value;
  return ledger_.store_->latest().get(Space::evidence, key_layout::object(digest), value);
}

Status Appender::keep_object(const Digest& digest, std::string_view bytes) {
  assert(bytes.size() <= kInlineObjectBytes);
  batch_->changes.put(Space::evidence, key_layout::object(digest), stored_object::whole(bytes));
  batch_->objects.insert(digest);
  return {};
}

// Large objects are written ahead in chunks that nothing names yet; the batch names them. The
// marker lets the next open collect chunks whose batch never came.
Status Appender::keep_stream(const Digest& digest, std::uint64_t size, ByteSource& bytes) {
  if (Status status = bytes.rewind(); !status) return status;
  if (size <= kInlineObjectBytes) {
    Result<std::string> whole = read_piece(bytes, static_cast<std::size_t>(size));
    if (!whole) return fail(whole.error());
    if (sha256(*whole) != digest) return fail(changed_while_read());
    return keep_object(digest, *whole);
  }
  StoreBatch ahead;
  ahead.put(Space::evidence, key_layout::unnamed(digest), "");
  Sha256 hasher;
  for (std::uint64_t number = 0;; ++number) {
    Result<std::string> chunk = read_piece(bytes, limits::kObjectChunkBytes);
    if (!chunk) return fail(chunk.error());
    if (chunk->empty()) break;
    hasher.update(*chunk);
    ahead.put(Space::evidence, key_layout::chunk(digest, number), *chunk);
    if (Status status = ledger_.store_->write_ahead(ahead); !status) return status;
  }
  if (hasher.finish() != digest) return fail(changed_while_read());
  batch_->changes.put(Space::evidence, key_layout::object(digest), stored_object::chunked(size));
  batch_->changes.remove(Space::evidence, key_layout::unnamed(digest));
  batch_->objects.insert(digest);
  return {};
}

// ---- entries ----

Result<std::uint64_t> Appender::add_entry(Entry entry, const Envelope* envelope,
                                          const Attestation* said) {
  Result<std::string> leaf = encode_entry(entry);
  if (!leaf) return fail(leaf.error());
  const std::uint64_t index = batch_->end();
  Result<std::vector<DerivedPair>> pairs = entry_pairs(index, entry, envelope, said);
  if (!pairs) return fail(pairs.error());
  for (const auto& [key, value] : *pairs) {
    batch_->changes.put(Space::derived, key, value);
    if (key.front() == 'q') {
      batch_->fingerprints.emplace(Digest::from_raw(std::string_view(key).substr(1)), index);
    }
  }
  if (const Digest* subject = entry.subject(); subject != nullptr && entry.on_chain()) {
    batch_->chain_heads[*subject] = index;
  }
  batch_->changes.put(Space::evidence, key_layout::leaf(index), *leaf);
  batch_->hashes.push_back(leaf_hash(*leaf));
  return index;
}

Result<std::uint64_t> Appender::attest(const Attestation& statement, const SigningKey& key) {
  Result<std::string> payload = statement.encode();
  if (!payload) return fail(payload.error());
  Result<Envelope> signed_envelope = sign_envelope(std::move(*payload), key);
  if (!signed_envelope) return fail(signed_envelope.error());
  const Envelope envelope = normalised(std::move(*signed_envelope), key.public_key());
  return add_attestation(envelope, statement.subject, predicate_type(statement.predicate).uri(),
                         key.public_key().id(), &statement);
}

Result<std::uint64_t> Appender::add_attestation(const Envelope& envelope, const Digest& subject,
                                                const std::string& predicate_type,
                                                const Digest& signer, const Attestation* said) {
  const std::string bytes = envelope.encode();
  const Digest digest = sha256(bytes);
  if (Status status = keep_object(digest, bytes); !status) return fail(status.error());
  Result<std::optional<std::uint64_t>> head = rows_->chain_head(subject);
  if (!head) return fail(head.error());
  AttestationEntry body{subject, *head, predicate_type, signer.hex()};
  const Result<std::uint64_t> index = add_entry(
      Entry{ledger_.options().clock(),
            Content{digest, std::string(kEnvelopeMediaType), bytes.size()}, std::move(body)},
      &envelope, said);
  if (!index) return index;
  const Digest id = envelope.id();
  batch_->attestations.emplace(id, *index);
  if (std::optional<ChainFact> fact =
          chain_fact(*index, id, subject, signer, predicate_type, said)) {
    batch_->chain_facts.push_back(std::move(*fact));
  } else if (said == nullptr) {
    return index;
  } else if (const auto* import = std::get_if<ImportStatement>(&said->predicate)) {
    batch_->import = ImportRange{*index, import->first, import->end, signer, id};
  } else if (std::holds_alternative<LedgerFounding>(said->predicate) ||
             std::holds_alternative<KeyChange>(said->predicate)) {
    batch_->key_statements.emplace_back(*index, *said);
  }
  return index;
}

Status Appender::sign_import(const std::optional<Digest>& report) {
  const std::shared_ptr<const LogState> state = ledger_.state();
  const Digest subject = batch_->snapshots.back();
  CompactRange leaves;
  for (const LeafHash& hash : batch_->hashes) leaves.append(hash);
  ImportStatement import;
  import.first = batch_->first;
  import.end = batch_->end();
  import.leaves = leaves.root();
  import.parser = identity_.parser;
  import.parser_version = identity_.parser_version;
  import.options = identity_.options;
  import.snapshots = batch_->snapshots;
  import.counts = batch_->counts;
  import.report = report;
  const SigningKey& key = importer_->key;
  const Attestation statement{subject,
                              Binding{state->format.ledger_id, key.public_key().id(), state->head},
                              std::move(import)};
  const Result<std::uint64_t> index = attest(statement, key);
  if (!index) return fail(index.error());
  ++recorded_.attestations;
  return {};
}

// ---- batches ----

Status Appender::open() {
  if (Status status = ledger_.require_writable(); !status) return status;
  const StoreView view = ledger_.store_->latest();
  const std::shared_ptr<const LogState> state = ledger_.state();
  const Reader reader(ledger_.store_->latest(), state);
  Result<TileTree> tree = TileTree::resume(state->head.size, reader.tiles());
  if (!tree) return fail(tree.error());
  if (tree->root() != state->head.root) {
    return fail(ErrorKind::corrupt, "ROOT_MISMATCH", {},
                "the tiles of the tree do not give the root of the head",
                "run `kernelindex audit`");
  }
  tree_ = std::move(*tree);
  rows_ = std::make_unique<Rows>(ledger_);
  batch_ = std::make_shared<Batch>();
  batch_->first = state->head.size;
  rows_->begin(batch_);
  return {};
}

// The first batch of a ledger: it also writes what the ledger is.
Status Appender::found(const std::string& format) {
  batch_->changes.put(Space::evidence, key_layout::format(), format);
  return finish(std::nullopt);
}

Status Appender::make_room() {
  if (ended_) {
    return fail(ErrorKind::refused, "APPEND_ENDED", {},
                "this series of batches has ended, by finish() or by a write that failed",
                "start another; after a failed write, open the ledger again");
  }
  if (batch_->offered < kBatchOffers && batch_->offered_bytes < limits::kBatchBytes) return {};
  return commit(std::nullopt);
}

Status Appender::commit(const std::optional<std::string>& report) {
  Status status = [&]() -> Status {
    std::optional<Digest> report_digest;
    bool report_known = true;
    if (report) {
      report_digest = sha256(*report);
      const Result<bool> held = holds_object(*report_digest);
      if (!held) return fail(held.error());
      report_known = *held;
    }
    if (!batch_->hashes.empty() || !report_known) {
      if (!report_known) {
        MemorySource bytes(*report);
        Status kept = keep_stream(*report_digest, report->size(), bytes);
        if (!kept) return kept;
        if (last_snapshot_) batch_->name_snapshot(*last_snapshot_);
      }
      if (Status derived = derive_rows(); !derived) return derived;
      // From here on what the batch before changed must be in the store.
      if (Status written = finish_writing(); !written) return written;
      if (Status joined = join_waiting(); !joined) return joined;
      // A batch of artifacts alone claims nothing that would have to be signed.
      if (importer_ && !batch_->snapshots.empty()) {
        Status signed_import = sign_import(report_digest);
        if (!signed_import) return signed_import;
      }
      for (const LeafHash& hash : batch_->hashes) tree_.append(hash);
      for (const Tile& tile : tree_.take_changed_tiles()) {
        batch_->changes.put(Space::evidence, key_layout::tile(tile.level, tile.index), tile.bytes);
      }
      batch_->changes.put(Space::evidence, key_layout::head(), encode_head(tree_.head()));
      batch_->changes.put(Space::derived, key_layout::derived_state(),
                          key_layout::derived_state_of(tree_.size()));
      Result<std::shared_ptr<const LogState>> next =
          batch_->next_state(*ledger_.state(), tree_.head());
      if (!next) return fail(next.error());
      // Who will sign the checkpoint must be there before anything is written.
      if (!log_ || !batch_->key_statements.empty()) {
        Result<KeyFile> log = ledger_.log_key(**next);
        if (!log) return fail(log.error());
        log_ = std::move(*log);
      }
      start_writing(std::move(*next));
    }
    batch_ = std::make_shared<Batch>();
    batch_->first = tree_.size();
    batch_->changes = std::exchange(spare_changes_, {});
    rows_->begin(batch_);
    return {};
  }();
  if (!status) ended_ = true;
  return status;
}

void Appender::start_writing(std::shared_ptr<const LogState> next) {
  writing_ = std::move(batch_);
  rows_->write(writing_);
  written_ = std::async(std::launch::async, [this, batch = writing_, next = std::move(next)] {
    return write(*batch, next);
  });
}

Status Appender::write(Batch& batch, const std::shared_ptr<const LogState>& next) const {
  if (Status status = ledger_.commit(batch.changes, next); !status) return status;
  if (Status status = check_written(batch); !status) return status;
  const Result<SignedCheckpoint> released = ledger_.checkpoint(log_ ? &*log_ : nullptr);
  if (!released) return fail(released.error());
  return {};
}

Status Appender::finish_writing() {
  if (!written_.valid()) return {};
  Status status = written_.get();
  if (!status) {
    ended_ = true;
    return status;
  }
  if (on_commit_) on_commit_(writing_->end());
  rows_->written();
  spare_changes_ = std::move(writing_->changes);
  writing_.reset();
  return {};
}

// A bit that flips between hashing and storing must not be signed into the tree: what the store
// gives back is hashed again before the checkpoint is made.
Status Appender::check_written(const Batch& batch) const {
  const StoreView view = ledger_.store_->latest();
  StoreCursor cursor = view.scan(Space::evidence, "e", key_layout::big_endian(batch.first));
  std::size_t checked = 0;
  for (; cursor.valid() && checked < batch.hashes.size(); cursor.next(), ++checked) {
    if (leaf_hash(cursor.value()) != batch.hashes[checked]) break;
  }
  if (Status status = cursor.status(); !status) return status;
  if (checked == batch.hashes.size()) return {};
  return fail(ErrorKind::corrupt, "WRITE_NOT_KEPT",
              "entry " + std::to_string(batch.first + checked),
              "the store gives back other bytes than were written",
              "check memory and disk of this machine");
}

}  // namespace kernelindex
