// SPDX-License-Identifier: Apache-2.0
#include "tests/acceptance/fault_file_system.h"

namespace kernelindex::test {
namespace {

using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

class FaultFile final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  FaultFile(std::unique_ptr<rocksdb::FSWritableFile> file, const std::string& name,
            FaultFileSystem& system)
      : FSWritableFileOwnerWrapper(std::move(file)),
        files_(name.ends_with(".log") ? DiskFiles::log : DiskFiles::others),
        system_(system) {}

  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* debug) override {
    if (!system_.fails_write(files_))
      return FSWritableFileOwnerWrapper::Append(data, options, debug);
    if (system_.fault() == DiskFault::full) return IOStatus::NoSpace("injected");
    if (system_.fault() == DiskFault::broken) return IOStatus::IOError("injected");
    const bool half = system_.fault() == DiskFault::half_written;
    const Slice piece(data.data(), half ? data.size() / 2 : data.size());
    const IOStatus written = FSWritableFileOwnerWrapper::Append(piece, options, debug);
    if (!written.ok()) return written;
    return half ? IOStatus::NoSpace("injected") : IOStatus::IOError("injected");
  }
  IOStatus Append(const Slice& data, const IOOptions& options, const rocksdb::DataVerificationInfo&,
                  IODebugContext* debug) override {
    return Append(data, options, debug);
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* debug) override {
    if (system_.fails_sync(files_)) return IOStatus::IOError("injected");
    return FSWritableFileOwnerWrapper::Sync(options, debug);
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
    if (system_.fails_sync(files_)) return IOStatus::IOError("injected");
    return FSWritableFileOwnerWrapper::Fsync(options, debug);
  }

 private:
  DiskFiles files_;
  FaultFileSystem& system_;
};

}  // namespace

void FaultFileSystem::fail_at(std::uint64_t number, DiskFault fault, DiskFiles files) {
  fault_ = false;
  files_ = files;
  writes_ = 0;
  syncs_ = 0;
  at_ = number;
  kind_ = fault;
  fault_ = true;
}

bool FaultFileSystem::fails_write(DiskFiles files) {
  if (files != files_) return false;
  const std::uint64_t number = writes_++;
  return fault_ && kind_ != DiskFault::unsynced && number >= at_;
}

bool FaultFileSystem::fails_sync(DiskFiles files) {
  if (files != files_) return false;
  const std::uint64_t number = syncs_++;
  return fault_ && kind_ == DiskFault::unsynced && number >= at_;
}

IOStatus FaultFileSystem::NewWritableFile(const std::string& name,
                                          const rocksdb::FileOptions& options,
                                          std::unique_ptr<rocksdb::FSWritableFile>* file,
                                          IODebugContext* debug) {
  const IOStatus status = FileSystemWrapper::NewWritableFile(name, options, file, debug);
  if (status.ok()) *file = std::make_unique<FaultFile>(std::move(*file), name, *this);
  return status;
}

IOStatus FaultFileSystem::ReopenWritableFile(const std::string& name,
                                             const rocksdb::FileOptions& options,
                                             std::unique_ptr<rocksdb::FSWritableFile>* file,
                                             IODebugContext* debug) {
  const IOStatus status = FileSystemWrapper::ReopenWritableFile(name, options, file, debug);
  if (status.ok()) *file = std::make_unique<FaultFile>(std::move(*file), name, *this);
  return status;
}

IOStatus FaultFileSystem::ReuseWritableFile(const std::string& name, const std::string& old_name,
                                            const rocksdb::FileOptions& options,
                                            std::unique_ptr<rocksdb::FSWritableFile>* file,
                                            IODebugContext* debug) {
  const IOStatus status =
      FileSystemWrapper::ReuseWritableFile(name, old_name, options, file, debug);
  if (status.ok()) *file = std::make_unique<FaultFile>(std::move(*file), name, *this);
  return status;
}

}  // namespace kernelindex::test
