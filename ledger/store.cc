// SPDX-License-Identifier: Apache-2.0
#include "ledger/store.h"

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/file_checksum.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/checkpoint.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <filesystem>
#include <thread>

#include "ledger/store_files.h"
#include "schema/digest.h"
#include "schema/limits.h"
#include "schema/mutex.h"

namespace kernelindex {
namespace {

// A reader comes back to the same blocks; a writer hardly reads, and its memory is for its batches.
constexpr std::size_t kReaderCacheBytes = 64 * limits::kMiB;
constexpr std::size_t kWriterCacheBytes = 8 * limits::kMiB;
// As large as memory allows: each flush makes one file of each space more, and files of overlapping
// keys are merged when there are too many of them, which costs as much as writing them.
constexpr std::size_t kWriteBufferBytes = 16 * limits::kMiB;
constexpr int kUnsortedFiles = 6;
constexpr int kReadOnlyAttempts = 10;
// A write-ahead log above this is turned into table files when the store is closed: every opening
// would replay it.
constexpr std::size_t kReplayedBytes = limits::kMiB;

std::string_view view(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }
rocksdb::Slice slice(std::string_view text) { return {text.data(), text.size()}; }

// Keeps RocksDB's diary out of the directory: it is no evidence, and a reader may not write there.
class NoLog final : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char*, va_list) override {}
};

Error to_error(const rocksdb::Status& status) {
  const std::string what = status.ToString();
  if (status.IsNoSpace() || status.subcode() == rocksdb::Status::kSpaceLimit) {
    return {ErrorKind::system,
            "DISK_FULL",
            {},
            "the disk is full: " + what,
            "free some space and run the command again: it continues where it stopped"};
  }
  // A founding that was cut off, or a lost space.
  const bool space_missing = what.find("Column family not found") != std::string::npos;
  if (status.IsCorruption() || space_missing) {
    return {ErrorKind::corrupt,
            "DAMAGED_STORE",
            {},
            "stored bytes are damaged: " + what,
            "run `kernelindex audit`; derived data comes back with `kernelindex reindex`, evidence "
            "with `kernelindex restore`"};
  }
  if (what.find("lock") != std::string::npos && status.IsIOError()) {
    return lock_held();
  }
  if (what.find("ermission denied") != std::string::npos ||
      what.find("ead-only file system") != std::string::npos) {
    return {ErrorKind::system,
            "PERMISSION",
            {},
            "the ledger directory cannot be written: " + what,
            "check its owner and mode"};
  }
  return {ErrorKind::system, "IO", {}, "the store failed: " + what, {}};
}

// SHA-256 of whole files: in hardware twice as fast as RocksDB's own CRC32c as Debian builds it.
class FileDigest final : public rocksdb::FileChecksumGenerator {
 public:
  void Update(const char* data, std::size_t size) override { hasher_.update({data, size}); }
  void Finalize() override { digest_ = hasher_.finish().raw(); }
  std::string GetChecksum() const override { return digest_; }
  const char* Name() const override { return "SHA-256"; }

 private:
  Sha256 hasher_;
  std::string digest_;
};

class FileDigests final : public rocksdb::FileChecksumGenFactory {
 public:
  const char* Name() const override { return "FileDigests"; }
  std::unique_ptr<rocksdb::FileChecksumGenerator> CreateFileChecksumGenerator(
      const rocksdb::FileChecksumGenContext& context) override {
    const std::string& wanted = context.requested_checksum_func_name;
    if (!wanted.empty() && wanted != "SHA-256") return nullptr;
    return std::make_unique<FileDigest>();
  }
};

// Scans of what belongs to one digest mostly find nothing. Filters hold these beginnings of keys
// too, so that such a scan reads no block.
class DigestPrefix final : public rocksdb::SliceTransform {
 public:
  static constexpr std::size_t kBytes = 1 + 32;  // table and digest
  static bool covers(std::string_view key) {
    return key.size() >= kBytes && std::string_view("dnp").contains(key.front());
  }
  const char* Name() const override { return "kernelindex.DigestPrefix"; }
  bool InDomain(const rocksdb::Slice& key) const override { return covers(view(key)); }
  rocksdb::Slice Transform(const rocksdb::Slice& key) const override {
    return {key.data(), kBytes};
  }
};

rocksdb::Options database_options(const StoreOptions& options, rocksdb::Env* env) {
  rocksdb::Options out;
  out.env = env;
  out.create_if_missing = options.create;
  out.create_missing_column_families = options.create;
  out.info_log = std::make_shared<NoLog>();
  // A torn tail after a kill is normal; what it cannot tell from loss, the released marks tell.
  out.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;
  out.track_and_verify_wals_in_manifest = true;
  out.atomic_flush = true;
  out.paranoid_checks = true;
  // Full-file checksums in RocksDB's manifest let the audit see every byte of every table file.
  out.file_checksum_gen_factory = std::make_shared<FileDigests>();
  out.max_open_files = -1;
  out.max_background_jobs = 2;
  out.skip_stats_update_on_db_open = true;
  return out;
}

rocksdb::ColumnFamilyOptions space_options(const rocksdb::Options& database,
                                           const std::shared_ptr<rocksdb::Cache>& cache) {
  rocksdb::ColumnFamilyOptions out(database);
  out.write_buffer_size = kWriteBufferBytes;
  out.level0_file_num_compaction_trigger = kUnsortedFiles;
  out.prefix_extractor = std::make_shared<DigestPrefix>();
  out.compression = rocksdb::kLZ4Compression;
  // Most look-ups of an import are for what is not there yet.
  out.memtable_prefix_bloom_size_ratio = 0.05;
  out.memtable_whole_key_filtering = true;
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = cache;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  // Against the usual 4 KiB: files are a fifth smaller and scans take half the time.
  table.block_size = 16 * limits::kKiB;
  // Such a block holds a hundred keys. A hash of them finds one without a search, and few keys
  // between restarts leave little to walk.
  table.data_block_index_type = rocksdb::BlockBasedTableOptions::kDataBlockBinaryAndHash;
  table.block_restart_interval = 4;
  table.checksum = rocksdb::kXXH3;
  table.format_version = 5;
  out.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return out;
}

// The smallest key above all that start with `prefix`.
std::string prefix_end(std::string_view prefix) {
  std::string end(prefix);
  while (!end.empty() && end.back() == '\xff') end.pop_back();
  assert(!end.empty());
  end.back() = static_cast<char>(static_cast<std::uint8_t>(end.back()) + 1);
  return end;
}

constexpr std::string_view kDerivedSpace = "derived";

// Drops the derived space whatever its files look like. Damage to the others is not this function's
// business: opening the database afterwards finds it.
rocksdb::Status remove_derived(rocksdb::Options options, const std::string& directory,
                               const std::vector<rocksdb::ColumnFamilyDescriptor>& spaces) {
  options.paranoid_checks = false;
  rocksdb::DB* db = nullptr;
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::Status status = rocksdb::DB::Open(options, directory, spaces, &handles, &db);
  if (!status.ok()) return status;
  for (rocksdb::ColumnFamilyHandle* handle : handles) {
    if (handle->GetName() == kDerivedSpace) status = db->DropColumnFamily(handle);
    db->DestroyColumnFamilyHandle(handle);
  }
  const rocksdb::Status closed = db->Close();
  delete db;
  return status.ok() ? closed : status;
}

}  // namespace

// ---- batches ----

// One flat buffer: an import makes some ten changes a claim, and an allocation for each would show.
struct StoreBatch::Changes {
  struct Header {
    std::uint32_t key = 0;    // bytes
    std::uint32_t value = 0;  // bytes
    Space space{};
    bool removal = false;
  };
  std::string buffer;     // header, key, value; and so on
  std::size_t bytes = 0;  // of keys and values
  std::size_t count = 0;  // of changes

  struct Change {
    std::uint64_t order = 0;  // space and first bytes of the key: nearly always enough
    Space space{};
    bool removal = false;
    std::string_view key;
    std::string_view value;
  };
  static std::uint64_t order_of(Space space, std::string_view key) {
    std::uint64_t order = static_cast<std::uint64_t>(space);
    for (std::size_t i = 0; i < 7; ++i) {
      order = order << 8 | (i < key.size() ? static_cast<std::uint8_t>(key[i]) : 0u);
    }
    return order;
  }
  // The changes sorted by space and key, those of one key in order of addition. Neighbours in the
  // batch are then neighbours in the memory table, which makes inserting them much cheaper.
  std::vector<Change> in_key_order() const {
    std::vector<Change> out;
    out.reserve(count);
    std::string_view rest = buffer;
    while (!rest.empty()) {
      Header header;
      std::memcpy(&header, rest.data(), sizeof header);
      const std::string_view key = rest.substr(sizeof header, header.key);
      out.push_back({order_of(header.space, key), header.space, header.removal, key,
                     rest.substr(sizeof header + header.key, header.value)});
      rest.remove_prefix(sizeof header + header.key + header.value);
    }
    std::ranges::stable_sort(out, [](const Change& a, const Change& b) {
      return a.order != b.order ? a.order < b.order : a.key < b.key;
    });
    return out;
  }

  void add(const Header& header, std::string_view key, std::string_view value) {
    buffer.append(reinterpret_cast<const char*>(&header), sizeof header);
    buffer.append(key).append(value);
    bytes += key.size() + value.size();
    ++count;
  }
};

StoreBatch::StoreBatch() : changes_(std::make_unique<Changes>()) {}
StoreBatch::~StoreBatch() = default;
StoreBatch::StoreBatch(StoreBatch&&) noexcept = default;
StoreBatch& StoreBatch::operator=(StoreBatch&&) noexcept = default;

void StoreBatch::put(Space space, std::string_view key, std::string_view value) {
  changes_->add({static_cast<std::uint32_t>(key.size()), static_cast<std::uint32_t>(value.size()),
                 space, false},
                key, value);
}

void StoreBatch::remove(Space space, std::string_view key) {
  changes_->add({static_cast<std::uint32_t>(key.size()), 0, space, true}, key, {});
}

std::size_t StoreBatch::bytes() const { return changes_->bytes; }
bool StoreBatch::empty() const { return changes_->buffer.empty(); }
void StoreBatch::clear() {
  changes_->buffer.clear();
  changes_->bytes = 0;
  changes_->count = 0;
}

// ---- the database ----

struct Store::Database {
  WriterLock lock;
  std::shared_ptr<rocksdb::FileSystem> file_system;
  std::unique_ptr<rocksdb::Env> env;  // only with a file system of its own
  rocksdb::DB* db = nullptr;
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  bool read_only = false;
  mutable Mutex mutex;                            // chunks are written beside a batch
  std::size_t written GUARDED_BY(mutex) = 0;      // bytes since opening
  std::optional<Error> failed GUARDED_BY(mutex);  // the first failed write; nothing follows it

  ~Database() { close(); }
  void close() {
    if (db == nullptr) return;
    for (rocksdb::ColumnFamilyHandle* handle : handles) db->DestroyColumnFamilyHandle(handle);
    handles.clear();
    db->Close().PermitUncheckedError();
    delete std::exchange(db, nullptr);
  }
  rocksdb::ColumnFamilyHandle* handle(Space space) const {
    const auto number = static_cast<std::size_t>(space);
    assert(number < handles.size());
    return handles[number];
  }
};

Store::Store(std::unique_ptr<Database> database) : database_(std::move(database)) {}

// What flush() cannot write stays in the write-ahead log.
Store::~Store() {
  {
    const MutexLock lock(database_->mutex);
    if (database_->written <= kReplayedBytes || database_->failed) return;
  }
  const Status flushed = flush();
  static_cast<void>(flushed.has_value());
}

namespace {

// Table files and logs: what a database can be made from.
bool holds_data(const std::string& directory) {
  std::error_code error;
  for (const auto& file : std::filesystem::directory_iterator(directory, error)) {
    const std::string extension = file.path().extension().string();
    if (extension == ".sst" || extension == ".log") return true;
  }
  return false;
}

}  // namespace

Result<std::unique_ptr<Store>> Store::open(const std::string& directory,
                                           const StoreOptions& options) {
  std::error_code ignored;
  if (!options.create && !std::filesystem::exists(directory + "/CURRENT", ignored)) {
    if (holds_data(directory)) {
      return fail(ErrorKind::corrupt, "DAMAGED_STORE", directory,
                  "the file CURRENT of the database is lost",
                  "copy the directory, then `kernelindex repair`");
    }
    return fail(ErrorKind::not_found, "NO_LEDGER", directory, "there is no ledger here",
                "make one with `kernelindex init`, or name another with --ledger");
  }
  auto database = std::make_unique<Database>();
  database->read_only = options.read_only || options.evidence_only;
  rocksdb::Env* env = rocksdb::Env::Default();
  if (options.file_system != nullptr) {
    database->file_system = options.file_system;
    database->env = rocksdb::NewCompositeEnv(options.file_system);
    env = database->env.get();
  }
  rocksdb::Options database_wide = database_options(options, env);
  const auto cache =
      rocksdb::NewLRUCache(database->read_only ? kReaderCacheBytes : kWriterCacheBytes);
  const rocksdb::ColumnFamilyOptions per_space = space_options(database_wide, cache);
  std::vector<rocksdb::ColumnFamilyDescriptor> spaces = {
      {rocksdb::kDefaultColumnFamilyName, per_space}};
  if (!options.evidence_only) spaces.push_back({std::string(kDerivedSpace), per_space});
  if (!database->read_only) {
    if (options.create) std::filesystem::create_directory(directory, ignored);
    Result<WriterLock> lock = WriterLock::take(directory);
    if (!lock) return fail(lock.error());
    database->lock = std::move(*lock);
  }
  rocksdb::Status status;
  if (options.renew_derived) {
    status = remove_derived(database_wide, directory, spaces);
    if (!status.ok()) {
      Error error = to_error(status);
      error.place = directory;
      return fail(std::move(error));
    }
    database_wide.create_missing_column_families = true;
  }
  if (!database->read_only) {
    status = rocksdb::DB::Open(database_wide, directory, spaces, &database->handles, &database->db);
    if (status.ok()) return std::unique_ptr<Store>(new Store(std::move(database)));
  }
  // A writer may replace files while a reader opens them: try again.
  for (int attempt = 0; database->read_only && attempt < kReadOnlyAttempts; ++attempt) {
    if (attempt > 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const StoreFiles before = StoreFiles::of(directory);
    status = rocksdb::DB::OpenForReadOnly(database_wide, directory, spaces, &database->handles,
                                          &database->db);
    if (status.ok() && StoreFiles::of(directory) == before) {
      return std::unique_ptr<Store>(new Store(std::move(database)));
    }
    if (status.ok()) status = rocksdb::Status::Busy("its files change faster than they are read");
    database->close();
    if (!status.IsPathNotFound() && !status.IsIOError() && !status.IsCorruption() &&
        !status.IsBusy()) {
      break;
    }
  }
  if (status.IsInvalidArgument() &&
      status.ToString().find("Column family not found") != std::string::npos) {
    return fail(ErrorKind::not_found, "NO_LEDGER", directory,
                "the ledger was never founded: `init` did not finish",
                "remove the directory and run `kernelindex init` again");
  }
  Error error = to_error(status);
  error.place = directory;
  return fail(std::move(error));
}

namespace {

// Requires: `options` create what is missing.
rocksdb::Status create_spaces(const rocksdb::Options& options, const std::string& directory,
                              const std::vector<rocksdb::ColumnFamilyDescriptor>& spaces) {
  rocksdb::DB* db = nullptr;
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::Status status = rocksdb::DB::Open(options, directory, spaces, &handles, &db);
  if (!status.ok()) return status;
  for (rocksdb::ColumnFamilyHandle* handle : handles) db->DestroyColumnFamilyHandle(handle);
  status = db->Close();
  delete db;
  return status;
}

}  // namespace

Status Store::repair(const std::string& directory) {
  if (!holds_data(directory)) {
    return fail(ErrorKind::not_found, "NO_LEDGER", directory,
                "there are no table files and no logs here to make a database from",
                "restore a backup: `kernelindex restore`");
  }
  const Result<WriterLock> lock = WriterLock::take(directory);
  if (!lock) return fail(lock.error());
  StoreOptions options;
  options.create = true;
  const rocksdb::Options database_wide = database_options(options, rocksdb::Env::Default());
  const rocksdb::ColumnFamilyOptions per_space =
      space_options(database_wide, rocksdb::NewLRUCache(kWriterCacheBytes));
  const std::vector<rocksdb::ColumnFamilyDescriptor> spaces = {
      {rocksdb::kDefaultColumnFamilyName, per_space}, {std::string(kDerivedSpace), per_space}};
  rocksdb::Status repaired = rocksdb::RepairDB(directory, database_wide, spaces, per_space);
  // A space that had no table file yet is not known any more: it comes back empty.
  if (repaired.ok()) repaired = create_spaces(database_wide, directory, spaces);
  if (repaired.ok()) return {};
  Error error = to_error(repaired);
  error.place = directory;
  return fail(std::move(error));
}

Status Store::write(StoreBatch& batch) { return write(batch, true); }
Status Store::write_ahead(StoreBatch& batch) { return write(batch, false); }

Status Store::write(StoreBatch& batch, bool sync) {
  assert(!database_->read_only);
  {
    const MutexLock lock(database_->mutex);
    if (database_->failed) return fail(*database_->failed);
  }
  rocksdb::WriteBatch changes(batch.changes_->buffer.size());
  for (const StoreBatch::Changes::Change& change : batch.changes_->in_key_order()) {
    rocksdb::ColumnFamilyHandle* handle = database_->handle(change.space);
    const rocksdb::Status added = change.removal
                                      ? changes.Delete(handle, slice(change.key))
                                      : changes.Put(handle, slice(change.key), slice(change.value));
    assert(added.ok());
  }
  rocksdb::WriteOptions how;
  how.sync = sync;
  how.memtable_insert_hint_per_batch = true;
  const rocksdb::Status status = database_->db->Write(how, &changes);
  const MutexLock lock(database_->mutex);
  if (!status.ok()) {
    if (!database_->failed) database_->failed = to_error(status);
    return fail(*database_->failed);
  }
  database_->written += batch.bytes();
  batch.clear();
  return {};
}

Status Store::drop_derived() {
  assert(!database_->read_only);
  rocksdb::ColumnFamilyHandle* handle = database_->handle(Space::derived);
  rocksdb::WriteOptions how;
  how.sync = true;
  const rocksdb::Status status =
      database_->db->DeleteRange(how, handle, slice(""), slice(std::string(1, '\x7f')));
  if (!status.ok()) return fail(to_error(status));
  return {};
}

Status Store::verify_files() const {
  const rocksdb::Status files = database_->db->VerifyFileChecksums(rocksdb::ReadOptions());
  if (!files.ok()) return fail(to_error(files));
  return {};
}

Status Store::purge_deleted() {
  if (Status status = flush(); !status) return status;
  rocksdb::CompactRangeOptions how;
  how.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
  const rocksdb::Status status =
      database_->db->CompactRange(how, database_->handle(Space::evidence), nullptr, nullptr);
  if (!status.ok()) return fail(to_error(status));
  return {};
}

Status Store::flush() {
  const rocksdb::Status status = database_->db->Flush(rocksdb::FlushOptions(), database_->handles);
  if (!status.ok()) return fail(to_error(status));
  return {};
}

namespace {

constexpr std::size_t kCopyBytes = 4 * limits::kMiB;  // written at once

rocksdb::Status copy_space(rocksdb::DB* from, rocksdb::ColumnFamilyHandle* space, rocksdb::DB* to,
                           rocksdb::ColumnFamilyHandle* target) {
  rocksdb::ReadOptions how;
  how.verify_checksums = true;
  how.fill_cache = false;
  rocksdb::WriteOptions unlogged;
  unlogged.disableWAL = true;  // flushed before it counts
  const std::unique_ptr<rocksdb::Iterator> key(from->NewIterator(how, space));
  rocksdb::WriteBatch batch;
  for (key->SeekToFirst(); key->Valid(); key->Next()) {
    rocksdb::Status status = batch.Put(target, key->key(), key->value());
    if (status.ok() && batch.GetDataSize() >= kCopyBytes) {
      status = to->Write(unlogged, &batch);
      batch.Clear();
    }
    if (!status.ok()) return status;
  }
  if (!key->status().ok()) return key->status();
  return to->Write(unlogged, &batch);
}

}  // namespace

Status Store::copy_to(const std::string& directory) const {
  if (!database_->read_only) {
    rocksdb::Checkpoint* raw = nullptr;
    rocksdb::Status status = rocksdb::Checkpoint::Create(database_->db, &raw);
    const std::unique_ptr<rocksdb::Checkpoint> checkpoint(raw);
    if (status.ok()) status = checkpoint->CreateCheckpoint(directory);
    if (!status.ok()) return fail(to_error(status));
    return {};
  }
  StoreOptions options;
  options.create = true;
  const Result<std::unique_ptr<Store>> copy = open(directory, options);
  if (!copy) return fail(copy.error());
  const Database& target = *(*copy)->database_;
  for (std::size_t space = 0; space < database_->handles.size(); ++space) {
    const rocksdb::Status status =
        copy_space(database_->db, database_->handles[space], target.db, target.handles[space]);
    if (!status.ok()) return fail(to_error(status));
  }
  return (*copy)->flush();
}

bool Store::read_only() const { return database_->read_only; }
bool Store::has_derived() const { return database_->handles.size() > 1; }

// ---- views and cursors ----

namespace {

rocksdb::ReadOptions read_options(const void* snapshot) {
  rocksdb::ReadOptions options;
  options.snapshot = static_cast<const rocksdb::Snapshot*>(snapshot);
  return options;
}

}  // namespace

StoreView::StoreView(const Store& store, bool pinned) : store_(&store) {
  if (pinned && !store.read_only()) snapshot_ = store.database_->db->GetSnapshot();
}

StoreView::~StoreView() {
  if (snapshot_ != nullptr) {
    store_->database_->db->ReleaseSnapshot(static_cast<const rocksdb::Snapshot*>(snapshot_));
  }
}

StoreView::StoreView(StoreView&& other) noexcept
    : store_(other.store_), snapshot_(std::exchange(other.snapshot_, nullptr)) {}

Result<bool> StoreView::get(Space space, std::string_view key, std::string& value) const {
  rocksdb::PinnableSlice pinned;
  const rocksdb::Status status = store_->database_->db->Get(
      read_options(snapshot_), store_->database_->handle(space), slice(key), &pinned);
  if (status.IsNotFound()) return false;
  if (!status.ok()) return fail(to_error(status));
  value.assign(pinned.data(), pinned.size());
  return true;
}

Result<std::optional<std::string>> StoreView::get(Space space, std::string_view key) const {
  std::string value;
  const Result<bool> found = get(space, key, value);
  if (!found) return fail(found.error());
  if (!*found) return std::nullopt;
  return value;
}

struct StoreCursorState {
  std::string upper;
  rocksdb::Slice upper_slice;
  std::unique_ptr<rocksdb::Iterator> iterator;
};

StoreCursor::StoreCursor(std::unique_ptr<StoreCursorState> state) : state_(std::move(state)) {}
StoreCursor::~StoreCursor() = default;
StoreCursor::StoreCursor(StoreCursor&&) noexcept = default;
bool StoreCursor::valid() const { return state_->iterator->Valid(); }
void StoreCursor::next() { state_->iterator->Next(); }
std::string_view StoreCursor::key() const { return view(state_->iterator->key()); }
std::string_view StoreCursor::value() const { return view(state_->iterator->value()); }

Status StoreCursor::status() const {
  const rocksdb::Status status = state_->iterator->status();
  if (!status.ok()) return fail(to_error(status));
  return {};
}

StoreCursor StoreView::scan(Space space, std::string_view prefix, std::string_view from) const {
  return scan(space, prefix, from, true);
}

StoreCursor StoreView::scan_once(Space space, std::string_view prefix,
                                 std::string_view from) const {
  return scan(space, prefix, from, false);
}

StoreCursor StoreView::scan(Space space, std::string_view prefix, std::string_view from,
                            bool cached) const {
  auto state = std::make_unique<StoreCursorState>();
  state->upper = prefix_end(prefix);
  state->upper_slice = slice(state->upper);
  rocksdb::ReadOptions options = read_options(snapshot_);
  options.iterate_upper_bound = &state->upper_slice;
  options.prefix_same_as_start = DigestPrefix::covers(prefix);
  options.total_order_seek = !options.prefix_same_as_start;
  options.fill_cache = cached;
  state->iterator.reset(
      store_->database_->db->NewIterator(options, store_->database_->handle(space)));
  state->iterator->Seek(std::string(prefix) + std::string(from));
  return StoreCursor(std::move(state));
}

Result<std::optional<std::string>> StoreView::last_key(Space space, std::string_view prefix) const {
  rocksdb::ReadOptions options = read_options(snapshot_);
  options.total_order_seek = true;
  const std::unique_ptr<rocksdb::Iterator> iterator(
      store_->database_->db->NewIterator(options, store_->database_->handle(space)));
  const std::string end = prefix_end(prefix);
  iterator->SeekForPrev(end);
  if (iterator->Valid() && view(iterator->key()) == end) iterator->Prev();
  if (!iterator->status().ok()) return fail(to_error(iterator->status()));
  if (!iterator->Valid() || !view(iterator->key()).starts_with(prefix)) return std::nullopt;
  return std::string(view(iterator->key()));
}

}  // namespace kernelindex
