// SPDX-License-Identifier: Apache-2.0
// A disk that fails on request: the real file system, until a chosen write of RocksDB.
#pragma once

#include <rocksdb/file_system.h>

#include <atomic>
#include <cstdint>
#include <memory>

namespace kernelindex::test {

enum class DiskFault {
  full,           // ENOSPC, nothing written
  broken,         // EIO, nothing written
  half_written,   // ENOSPC after the first half of the bytes
  indeterminate,  // the bytes are written, and EIO is returned all the same
  unsynced,       // writing goes well, syncing does not
};

// Which files fail: the write-ahead log, in which a commit succeeds or does not, or those that are
// written behind it.
enum class DiskFiles { log, others };

class FaultFileSystem final : public rocksdb::FileSystemWrapper {
 public:
  FaultFileSystem() : FileSystemWrapper(rocksdb::FileSystem::Default()) {}

  // From the write (of `unsynced`: the sync) of that number on, counted from now, all fail.
  void fail_at(std::uint64_t number, DiskFault fault, DiskFiles files = DiskFiles::log);
  void heal() { fault_ = false; }
  // Writes and syncs of those files since the last call of fail_at().
  std::uint64_t writes() const { return writes_; }
  std::uint64_t syncs() const { return syncs_; }

  // For the files: whether this write or sync is to fail.
  bool fails_write(DiskFiles files);
  bool fails_sync(DiskFiles files);
  DiskFault fault() const { return kind_; }

  const char* Name() const override { return "FaultFileSystem"; }
  rocksdb::IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* file,
                                    rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus ReopenWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                       std::unique_ptr<rocksdb::FSWritableFile>* file,
                                       rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus ReuseWritableFile(const std::string& name, const std::string& old_name,
                                      const rocksdb::FileOptions& options,
                                      std::unique_ptr<rocksdb::FSWritableFile>* file,
                                      rocksdb::IODebugContext* debug) override;

 private:
  std::atomic<bool> fault_ = false;
  std::atomic<DiskFault> kind_ = DiskFault::full;
  std::atomic<DiskFiles> files_ = DiskFiles::log;
  std::atomic<std::uint64_t> at_ = 0;
  std::atomic<std::uint64_t> writes_ = 0;
  std::atomic<std::uint64_t> syncs_ = 0;
};

}  // namespace kernelindex::test
