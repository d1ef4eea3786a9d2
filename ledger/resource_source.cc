// SPDX-License-Identifier: Apache-2.0
#include "ledger/resource_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <utility>

#include "schema/limits.h"

namespace kernelindex {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return value_; }

 private:
  int value_;
};

std::unexpected<Error> cannot_read(const std::filesystem::path& path) {
  const bool denied = errno == EACCES || errno == EPERM;
  return fail(ErrorKind::system, denied ? "PERMISSION" : "IO", path.string(),
              "cannot read the file: " + std::string(std::strerror(errno)));
}

[[maybe_unused]] bool is_plain(const std::filesystem::path& path) {
  return path.is_relative() && std::ranges::none_of(path, [](const std::filesystem::path& part) {
           return part == "." || part == "..";
         });
}

}  // namespace

Result<std::optional<std::string>> ResourceSource::get(const std::string& path,
                                                       std::uint64_t limit) {
  std::string bytes;
  const Result<bool> there = stream(path, limit, [&](std::string_view piece) -> Status {
    bytes += piece;
    return {};
  });
  if (!there) return fail(there.error());
  if (!*there) return std::nullopt;
  return std::optional(std::move(bytes));
}

Result<bool> DirectorySource::stream(const std::string& path, std::uint64_t limit,
                                     const ByteSink& piece) {
  assert(is_plain(path));
  const std::filesystem::path whole = directory_ / path;
  // A pipe in the folder of a stranger must not hang the reader.
  const Descriptor file(::open(whole.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) {
    if (errno == ENOENT || errno == ENOTDIR) return false;
    return cannot_read(whole);
  }
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return cannot_read(whole);
  if (!S_ISREG(status.st_mode)) {
    return fail(ErrorKind::invalid, "NO_FILE", whole.string(), "this is not a regular file");
  }
  std::array<char, 64 * limits::kKiB> buffer;
  while (true) {
    const ssize_t count = ::read(file.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return cannot_read(whole);
    if (count == 0) return true;
    if (static_cast<std::uint64_t>(count) > limit) {
      return fail(ErrorKind::invalid, "RESOURCE_TOO_LARGE", whole.string(),
                  "the file has more bytes than the limit for it");
    }
    limit -= static_cast<std::uint64_t>(count);
    const Status taken = piece({buffer.data(), static_cast<std::size_t>(count)});
    if (!taken) return fail(taken.error());
  }
}

}  // namespace kernelindex
