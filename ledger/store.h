// SPDX-License-Identifier: Apache-2.0
// The door to RocksDB: two spaces of sorted keys, atomic synced batches, consistent views.
//
// A RocksDB status becomes an Error here and nowhere else. `evidence` holds what the log is,
// `derived` what can be made anew from it; they are two column families of one database, so that
// one batch changes both and damage to derived data leaves the log readable.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schema/result.h"

namespace rocksdb {
class FileSystem;
}

namespace kernelindex {

enum class Space : std::uint8_t { evidence, derived };

// Changes that become durable together or not at all.
class StoreBatch {
 public:
  StoreBatch();
  ~StoreBatch();
  StoreBatch(StoreBatch&&) noexcept;
  StoreBatch& operator=(StoreBatch&&) noexcept;
  void put(Space space, std::string_view key, std::string_view value);
  void remove(Space space, std::string_view key);
  std::size_t bytes() const;
  bool empty() const;
  void clear();

 private:
  friend class Store;
  struct Changes;
  std::unique_ptr<Changes> changes_;
};

// A position in the sorted keys of one space, within [lower, upper). Must not outlive its store.
class StoreCursor {
 public:
  explicit StoreCursor(std::unique_ptr<struct StoreCursorState> state);
  ~StoreCursor();
  StoreCursor(StoreCursor&&) noexcept;
  bool valid() const;
  void next();
  std::string_view key() const;    // until the next move
  std::string_view value() const;  // until the next move
  // Not ok when the cursor stopped at damage instead of the end.
  Status status() const;

 private:
  std::unique_ptr<struct StoreCursorState> state_;
};

// A consistent state of the store. Cheap; must not outlive its store. Safe to read from several
// threads.
class StoreView {
 public:
  StoreView(const class Store& store, bool pinned);
  ~StoreView();
  StoreView(StoreView&&) noexcept;

  // nullopt when there is no such key.
  Result<std::optional<std::string>> get(Space space, std::string_view key) const;
  // The same into a caller's buffer, which is reused; false when there is no such key.
  Result<bool> get(Space space, std::string_view key, std::string& value) const;
  // All keys that start with `prefix`, from `prefix` + `from` on.
  StoreCursor scan(Space space, std::string_view prefix, std::string_view from = {}) const;
  // The same for one who reads much and comes back to none of it: what others need soon stays in
  // the cache.
  StoreCursor scan_once(Space space, std::string_view prefix, std::string_view from = {}) const;
  // The last key that starts with `prefix`.
  Result<std::optional<std::string>> last_key(Space space, std::string_view prefix) const;

 private:
  StoreCursor scan(Space space, std::string_view prefix, std::string_view from, bool cached) const;

  const Store* store_;
  const void* snapshot_ = nullptr;
};

struct StoreOptions {
  bool read_only = false;
  bool create = false;
  // Only the evidence: for a ledger whose derived data is damaged. Read-only.
  bool evidence_only = false;
  // The derived space anew and empty, also when its files are too damaged to be opened.
  bool renew_derived = false;
  // For tests that inject faults; not owned, outlives the store; null means the real one.
  std::shared_ptr<rocksdb::FileSystem> file_system;
};

// One database. One writer process at a time; any number of readers.
class Store {
 public:
  // Errors: LOCK_HELD, DISK_FULL, PERMISSION, IO (system); DAMAGED_STORE (corrupt); NO_LEDGER
  // (not_found) when nothing is there and `create` is not set.
  static Result<std::unique_ptr<Store>> open(const std::string& directory,
                                             const StoreOptions& options);
  ~Store();

  // Makes a database that cannot be opened openable again from the table files and logs that are
  // there; what cannot be read is moved to `lost/` in it. Keys that were removed may come back.
  // Errors: LOCK_HELD (system), NO_LEDGER (not_found) when there is nothing to make it from, those
  // of open().
  static Status repair(const std::string& directory);

  // Writes and syncs. An error is final for this object: the bytes may have reached the disk all
  // the same, so nothing more is written, and the next open reads the head and decides.
  Status write(StoreBatch& batch);
  // The same without the sync: for chunks that a later synced batch names.
  Status write_ahead(StoreBatch& batch);

  StoreView view() const { return StoreView(*this, true); }
  // Reads whatever is newest; for the writer, which knows what it wrote.
  StoreView latest() const { return StoreView(*this, false); }

  // Removes every key of the derived space.
  Status drop_derived();
  // Every byte of every file against the checksums kept in the manifest of RocksDB.
  Status verify_files() const;
  // Rewrites the evidence files, so that bytes that were removed or replaced are gone from the
  // disk.
  Status purge_deleted();
  // Flushes what is in memory to files; not needed for durability.
  Status flush();
  // Makes a database in a new folder that holds what this one holds at some instant during the
  // call, synced, while others read and write on. Open for writing: a checkpoint of RocksDB, whose
  // table files are links to this one's where the file system allows it. Open for reading, which is
  // beside a writer of another process: copied key by key, what is read being checked; a derived
  // space that could not be opened becomes an empty one. Requires: the folder is not there, and
  // what it lies in is.
  Status copy_to(const std::string& directory) const;
  bool read_only() const;
  bool has_derived() const;

 private:
  friend class StoreView;
  struct Database;
  explicit Store(std::unique_ptr<Database> database);
  Status write(StoreBatch& batch, bool sync);
  std::unique_ptr<Database> database_;
};

}  // namespace kernelindex
