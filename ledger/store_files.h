// SPDX-License-Identifier: Apache-2.0
// The files of a database as other processes see them: who may write, and whether they changed
// while a reader was opening them. Private to ledger/store.cc.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "schema/result.h"

namespace kernelindex {

// Held by the one writer of a database. RocksDB's own lock is a POSIX record lock, which is lost
// when any descriptor of its file is closed in the process; this one goes with its descriptor.
class WriterLock {
 public:
  WriterLock() = default;
  ~WriterLock();
  WriterLock(WriterLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  WriterLock& operator=(WriterLock&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }

  // Error LOCK_HELD (system). A directory that is not there, or on a file system without such
  // locks, gives a lock that holds nothing.
  static Result<WriterLock> take(const std::string& directory);

 private:
  int descriptor_ = -1;
};

Error lock_held();

// What the state that a reader opens is made of. When a writer puts the contents of a log into
// table files, the manifest grows first and the log goes afterwards; a reader between the two would
// miss them without an error. The same files before and after opening: nothing was missed.
struct StoreFiles {
  std::string manifest;
  std::uint64_t manifest_bytes = 0;
  std::vector<std::string> logs;

  static StoreFiles of(const std::string& directory);
  bool operator==(const StoreFiles&) const = default;
};

}  // namespace kernelindex
