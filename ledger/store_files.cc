// SPDX-License-Identifier: Apache-2.0
#include "ledger/store_files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>

namespace kernelindex {

Error lock_held() {
  return {ErrorKind::system,
          "LOCK_HELD",
          {},
          "another process is writing to this ledger",
          "wait for it to end; reading is possible meanwhile"};
}

WriterLock::~WriterLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<WriterLock> WriterLock::take(const std::string& directory) {
  WriterLock lock;
  lock.descriptor_ = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock.descriptor_ < 0) return lock;
  while (::flock(lock.descriptor_, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) {
      Error error = lock_held();
      error.place = directory;
      return fail(std::move(error));
    }
    if (errno != EINTR) break;
  }
  return lock;
}

StoreFiles StoreFiles::of(const std::string& directory) {
  StoreFiles files;
  std::error_code error;
  std::ifstream current(directory + "/CURRENT");
  std::getline(current, files.manifest);
  const auto size = std::filesystem::file_size(directory + "/" + files.manifest, error);
  files.manifest_bytes = error ? 0 : size;
  for (std::filesystem::directory_iterator file(directory, error), end; !error && file != end;
       file.increment(error)) {
    if (file->path().extension() == ".log") files.logs.push_back(file->path().filename());
  }
  std::ranges::sort(files.logs);
  return files;
}

}  // namespace kernelindex
