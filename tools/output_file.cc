// SPDX-License-Identifier: Apache-2.0
#include "tools/output_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <system_error>

namespace kernelindex::tools {

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

Status OutputFile::open() {
  std::string pattern = path_ + ".XXXXXX";
  descriptor_ = ::mkstemp(pattern.data());
  if (descriptor_ < 0) return failed(errno);
  temporary_ = pattern;
  const mode_t mask = ::umask(0);
  ::umask(mask);
  if (::fchmod(descriptor_, 0666 & ~mask) != 0) return failed(errno);
  return {};
}

Status OutputFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR) return failed(errno);
    if (count > 0) bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

Status OutputFile::commit() {
  if (::fsync(descriptor_) != 0) return failed(errno);
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) return failed(errno);
  temporary_.clear();
  return {};
}

std::unexpected<Error> OutputFile::failed(int error) const {
  return fail(ErrorKind::system, "CANNOT_WRITE", path_, std::generic_category().message(error));
}

}  // namespace kernelindex::tools
