// SPDX-License-Identifier: Apache-2.0
// Memory that a child sees as a descriptor: inputs go in, outputs come out, and no path leads to
// it.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

namespace kernelindex::runner {

class SharedMemory {
 public:
  explicit SharedMemory(std::size_t bytes)
      : descriptor_(::memfd_create("kernelindex", MFD_CLOEXEC)) {
    if (descriptor_ >= 0 && ::ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0) {
      ::close(std::exchange(descriptor_, -1));
    }
    // The child runs as another user.
    if (descriptor_ >= 0) ::fchmod(descriptor_, 0666);
  }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  bool made() const { return descriptor_ >= 0; }
  int duplicate() const { return ::fcntl(descriptor_, F_DUPFD_CLOEXEC, 3); }
  bool write(off_t at, std::string_view bytes) const {
    return ::pwrite(descriptor_, bytes.data(), bytes.size(), at) ==
           static_cast<ssize_t>(bytes.size());
  }
  bool read(off_t at, std::span<std::uint8_t> bytes) const {
    return ::pread(descriptor_, bytes.data(), bytes.size(), at) ==
           static_cast<ssize_t>(bytes.size());
  }

 private:
  int descriptor_;
};

}  // namespace kernelindex::runner
