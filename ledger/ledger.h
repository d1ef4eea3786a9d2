// SPDX-License-Identifier: Apache-2.0
// A ledger: one directory, append-only, content-addressed, inside a Merkle log with signed
// checkpoints. This is the header that an embedding program needs; queries are in ledger/query.h.
//
//   DIR/db/         the RocksDB database
//   DIR/keys/       private keys, unless they are kept elsewhere
//   DIR/checkpoint  the newest signed checkpoint
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <semaphore>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "ledger/checkpoint.h"
#include "ledger/founding.h"
#include "ledger/key_file.h"
#include "ledger/reader.h"
#include "ledger/released_marks.h"
#include "ledger/store.h"
#include "schema/mutex.h"
#include "schema/result.h"
#include "schema/utc_time.h"

namespace kernelindex {

class Appender;
struct ImportIdentity;

using Clock = std::function<UtcMicros()>;
Clock system_clock();
// Always the same instant: with the same input and key files it gives the same root.
Clock fixed_clock(UtcMicros time);

struct LedgerOptions {
  std::filesystem::path directory;
  std::filesystem::path keys;   // empty: directory / "keys"
  std::filesystem::path state;  // for the third released mark; empty: user_state_directory()
  std::string passphrase;       // of encrypted key files
  Clock clock;                  // empty: system_clock()
  bool read_only = false;
  std::string expect_origin;  // not empty: refuse a ledger of another origin (ORIGIN_DIFFERS)
  std::shared_ptr<rocksdb::FileSystem> file_system;  // for tests that inject faults
};

// Why a ledger can only be read.
struct ReadOnlyReason {
  std::string code;            // RECORDS_LOST, FORKED
  std::string message;         // with the sizes
  std::uint64_t size = 0;      // of the head
  std::uint64_t released = 0;  // the largest size that a mark names
};

// Safe to use from several threads. One Appender is at work at a time: the next waits for it.
class Ledger {
 public:
  // Makes the directory, the keys that are not there yet, the founding entry and the enrolments,
  // and the first checkpoint. Error LEDGER_EXISTS (refused) when one is there.
  static Result<std::unique_ptr<Ledger>> create(const LedgerOptions& options,
                                                const FoundingOptions& founding);
  // For a root key that is kept elsewhere: makes the directory and the keys of all other roles that
  // are not there yet, and gives the statements that the root has to sign. Nothing is founded yet.
  // Error LEDGER_EXISTS, those of founding_statements() and of the key files.
  static Result<std::vector<Attestation>> prepare(const LedgerOptions& options,
                                                  const FoundingOptions& founding,
                                                  const PublicKey& root);
  // Makes the ledger from what prepare() gave, signed and in the same order. Errors: LEDGER_EXISTS,
  // those of read_founding(), KEY_DIFFERS (refused) when the log key at hand is another than the
  // founding's.
  static Result<std::unique_ptr<Ledger>> create_from(const LedgerOptions& options,
                                                     std::span<const Envelope> founding);
  // Errors: NO_LEDGER (not_found), UNKNOWN_FORMAT (invalid), ORIGIN_DIFFERS (refused), IS_BACKUP
  // (refused: it may only be read), those of Store::open. Damaged derived data is no error here:
  // see derived_fault().
  static Result<std::unique_ptr<Ledger>> open(const LedgerOptions& options);
  // A ledger whose database cannot be opened: made openable from the files that are there, what was
  // withheld removed again, derived data made anew. What it lost the released marks tell:
  // read_only_reason(). Errors: those of Store::repair() and open().
  static Result<std::unique_ptr<Ledger>> repair(const LedgerOptions& options);
  ~Ledger();

  Reader read() const;
  const LedgerFormat& format() const { return format_; }
  const LedgerOptions& options() const { return options_; }

  // Set when derived data is missing, damaged or of another size: queries would be wrong, the log
  // is readable, `reindex` cures it.
  const std::optional<Error>& derived_fault() const { return derived_fault_; }
  // Set when a released mark names more than the store has, or another tree: nothing is signed.
  const std::optional<ReadOnlyReason>& read_only_reason() const { return read_only_reason_; }

  // Starts a series of batches; waits while an unfinished Appender of another thread is at work.
  // Errors: READ_ONLY, KEY_NOT_ENROLLED (refused), WRITER_BUSY (usage: this thread has one), those
  // of the key files.
  Result<std::unique_ptr<Appender>> append(ImportIdentity identity);
  // The same for attestations and artifacts alone: it claims nothing and needs no importer key. The
  // log key is asked for when something is committed: it is that of the state which then holds, so
  // that the root can replace a log key that was lost.
  Result<std::unique_ptr<Appender>> append_attestations();

  // The signed checkpoint of the head; signs it when the newest one is of a smaller size. Without a
  // log key the kept one, if it is of the head's size; else the error of the key file.
  //
  // The first checkpoint after a change of log keys carries the lines of both: when the newest
  // released checkpoint bears no line of the key that signs now, the keys that did sign it sign
  // this one as well, if their files are at hand (ledger/role_keys.h). A reader who knows only the
  // old key follows by that.
  Result<SignedCheckpoint> checkpoint();

  // Makes all derived data anew from log and objects, also when its files are too damaged to be
  // opened. Requires: no reader of this ledger is in use. After an error the ledger is to be opened
  // again.
  Status reindex();

  // Removes the bytes of objects that statements of the root withhold, and makes derived data anew
  // when there were any. Requires: no reader of this ledger is in use.
  Status remove_withheld();

  const Store& store() const { return *store_; }

 private:
  friend class Appender;
  Ledger(LedgerOptions options, std::unique_ptr<Store> store);

  static Result<LedgerOptions> complete(LedgerOptions options);
  Status found(const Founding& founding);
  Status load(bool derived);
  Status load_derived_state(const StoreView& view, LogState& state);
  void compare_marks();
  Status collect_unnamed_chunks();
  Status require_writable() const;
  Status acquire_writer();
  void release_writer();
  Result<std::unique_ptr<Appender>> start_appender(ImportIdentity identity, bool imports);
  // checkpoint(), with the log key when the caller holds it already; else it is read when needed.
  Result<SignedCheckpoint> checkpoint(const KeyFile* held);
  // The key that signs checkpoints of this state. Errors: those of read_valid_key().
  Result<KeyFile> log_key(const LogState& state) const;
  // KEY_NOT_ENROLLED (refused) when the key does not sign checkpoints of this state.
  Status check_log_key(const KeyFile& log, const LogState& state) const;
  // The keys that signed the newest released checkpoint in place of `current`, and are at hand.
  std::vector<KeyFile> replaced_log_keys(const LogState& state, const PublicKey& current) const;
  MarkPlaces mark_places() const;
  // One synced batch, and the state that readers see, together.
  Status commit(StoreBatch& batch, std::shared_ptr<const LogState> next);
  std::shared_ptr<const LogState> state() const;
  void set_state(std::shared_ptr<const LogState> state);

  LedgerOptions options_;
  std::unique_ptr<Store> store_;
  LedgerFormat format_;
  std::optional<Error> derived_fault_;
  std::optional<ReadOnlyReason> read_only_reason_;
  std::binary_semaphore writer_{1};  // held by an Appender, which another thread may finish
  std::atomic<std::thread::id> writing_thread_;
  mutable Mutex mutex_;  // also orders commits with new readers
  std::shared_ptr<const LogState> state_ GUARDED_BY(mutex_);
};

// What the attestation at an entry says. Errors (corrupt): MISSING_OBJECT, and those of reading it.
Result<Attestation> read_attestation(const Reader& reader, std::uint64_t index);

// The texts under the two fixed keys of the evidence space.
std::string encode_head(const TreeHead& head);
Result<TreeHead> decode_head(std::string_view text);
std::string encode_format(const LedgerFormat& format);
Result<LedgerFormat> decode_format(std::string_view text);

}  // namespace kernelindex
