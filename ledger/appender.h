// SPDX-License-Identifier: Apache-2.0
// Recording: claims, snapshots, artifacts and attestations become entries, in atomic batches.
//
// A batch is cut by the position of what is offered (at most 999 offers or 8 MiB), whether or not
// it is known already, and ends with an import statement that signs the batch's leaves. So an
// import that was killed and run again gives the same entries, and with a fixed clock the same
// root.
#pragma once

#include <cstdint>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ledger/ledger.h"
#include "schema/byte_source.h"

namespace kernelindex {

// What signs itself as the maker of claims in import statements.
struct ImportIdentity {
  std::string parser;  // slug: "sol-execbench"
  std::string parser_version;
  std::string options = "{}";  // canonical JSON of an object
};

struct Recorded {
  std::uint64_t index = 0;    // of the entry, old or new
  Digest content;             // of the object it is about
  bool existing = false;      // it was recorded before; nothing was added
  bool new_document = false;  // the object was not held before
};

struct AppendCounts {
  std::uint64_t manifests = 0;
  std::uint64_t artifacts = 0;
  std::uint64_t snapshots = 0;
  std::uint64_t attestations = 0;
};

// Made by Ledger::append(); must not outlive its ledger. After an error nothing more can be added;
// what was committed before stays.
class Appender {
 public:
  ~Appender();

  // Keeps the bytes of a source file and records where they came from. The source is read twice.
  Result<Recorded> snapshot(const SnapshotEntry& entry, const std::string& media_type,
                            ByteSource& bytes);
  // Keeps other bytes by digest. A source is read twice.
  Result<Recorded> artifact(std::string_view bytes, const std::string& media_type);
  Result<Recorded> artifact(ByteSource& bytes, const std::string& media_type);
  // Records that a source claims a manifest. Requires: made with an identity. `claim.kind`,
  // `subject` and `previous` are filled in here; external ids are sorted here. Requires:
  // claim.snapshot was recorded before. Error NO_SNAPSHOT (usage) when it names none.
  Result<Recorded> claim(ManifestEntry claim, const Manifest& manifest);

  // Signs that a source no longer stands by a run that is recorded. Requires: made with an
  // identity. Errors: NO_IDENTITY (usage), those of encoding the statement.
  Result<Recorded> withdraw(const Digest& run, const Withdrawal& withdrawal);
  // Records an attestation with its normalised envelope; one that is recorded already adds nothing.
  // Requires: attestation rules allowed it, and the signature was checked. `said` is null for a
  // type that this program does not know.
  Result<Recorded> attestation(const Envelope& envelope, const Digest& subject,
                               const std::string& predicate_type, const Digest& signer,
                               const Attestation* said);

  // Commits what is pending. With a report, its bytes become an object that the last import
  // statement names. Adds nothing when nothing new was recorded and the report is known. Ends this
  // object: nothing more can be added.
  Status finish(const std::optional<std::string>& report);

  // New entries and old ones met since the beginning.
  const AppendCounts& recorded() const { return recorded_; }
  const AppendCounts& existing() const { return existing_; }
  // Called after each commit point with the new size.
  void on_commit(std::function<void(std::uint64_t)> callback) { on_commit_ = std::move(callback); }

 private:
  friend class Ledger;
  struct Batch;
  class Rows;

  Appender(Ledger& ledger, ImportIdentity identity);

  Status open();
  Status found(const std::string& format);
  Status make_room();
  Result<std::optional<std::uint64_t>> known(const Digest& fingerprint) const;
  Result<std::optional<std::uint64_t>> known_attestation(const Digest& id) const;
  Result<bool> holds_object(const Digest& digest) const;
  Status keep_object(const Digest& digest, std::string_view bytes);
  Status keep_stream(const Digest& digest, std::uint64_t size, ByteSource& bytes);
  Result<std::uint64_t> add_entry(Entry entry, const Envelope* envelope,
                                  const Attestation* said = nullptr);
  Result<std::uint64_t> attest(const Attestation& statement, const SigningKey& key);
  Result<std::uint64_t> add_attestation(const Envelope& envelope, const Digest& subject,
                                        const std::string& predicate_type, const Digest& signer,
                                        const Attestation* said);
  Status sign_import(const std::optional<Digest>& report);
  Status derive_rows();
  Status join_waiting();
  std::vector<Digest> put_subjects();
  Result<std::vector<Digest>> superseded_runs() const;
  // Both give what the run's row depends on from now on.
  Result<std::vector<Digest>> rejoin(const Digest& run);
  Result<std::vector<Digest>> put_run(const Digest& identity, const SubjectRow& self,
                                      ManifestKind kind, const KindFacts& facts);
  Status check_written(const Batch& batch) const;
  Status commit(const std::optional<std::string>& report);
  // Hands the pending batch to a thread of its own, which makes it durable and releases its
  // checkpoint while the next batch is built. At most one is on its way.
  void start_writing(std::shared_ptr<const LogState> next);
  Status write(Batch& batch, const std::shared_ptr<const LogState>& next) const;
  // Waits for it.
  Status finish_writing();

  Ledger& ledger_;
  ImportIdentity identity_;
  std::optional<KeyFile> importer_;
  std::optional<KeyFile> log_;  // of the state that a batch leads to; else read at its commit
  TileTree tree_;
  std::shared_ptr<Batch> batch_;    // being built
  std::shared_ptr<Batch> writing_;  // on its way into the store, or null
  std::unique_ptr<Rows> rows_;
  StoreBatch spare_changes_;  // empty, with the memory of one that was written
  std::optional<Digest> last_snapshot_;
  AppendCounts recorded_;
  AppendCounts existing_;
  bool ended_ = false;         // finished, or a write failed
  bool holds_writer_ = false;  // Ledger::writer_, until this ends
  std::function<void(std::uint64_t)> on_commit_;
  std::future<Status> written_;  // of writing_; last, so that it is waited for first
};

}  // namespace kernelindex
