// SPDX-License-Identifier: Apache-2.0
#include "tools/input_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace kernelindex::tools {
namespace {

std::unexpected<Error> unreadable(const std::string& path, int error) {
  const bool missing = error == ENOENT || error == ENOTDIR;
  return fail(missing ? ErrorKind::not_found : ErrorKind::system,
              missing ? "NO_SUCH_FILE" : "CANNOT_READ", input_name(path),
              std::generic_category().message(error));
}

class Descriptor {
 public:
  explicit Descriptor(const std::string& path)
      : number_(path == "-" ? STDIN_FILENO
                            : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    // A named pipe that nobody writes to is opened as an empty file, not waited for.
    if (number_ > STDERR_FILENO) ::fcntl(number_, F_SETFL, O_RDONLY);
  }
  ~Descriptor() {
    if (number_ > STDERR_FILENO) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

}  // namespace

std::string input_name(const std::string& path) { return path == "-" ? "standard input" : path; }

Result<std::string> read_input(const std::string& path, std::size_t limit) {
  const Descriptor file(path);
  if (file.number() < 0) return unreadable(path, errno);
  constexpr std::size_t kBlockBytes = 64 * 1024;
  std::string bytes;
  while (bytes.size() <= limit) {
    const std::size_t size = bytes.size();
    bytes.resize(size + kBlockBytes);
    const ssize_t count = ::read(file.number(), bytes.data() + size, kBlockBytes);
    if (count < 0 && errno != EINTR) return unreadable(path, errno);
    bytes.resize(size + (count > 0 ? static_cast<std::size_t>(count) : 0));
    if (count == 0) return bytes;
  }
  return fail(ErrorKind::invalid, "TOO_LARGE", input_name(path),
              fmt::format("the document is larger than {} bytes", limit));
}

ManifestSyntax manifest_syntax(const std::string& path) {
  if (path.ends_with(".yaml") || path.ends_with(".yml")) return ManifestSyntax::yaml;
  return path.ends_with(".json") ? ManifestSyntax::json : ManifestSyntax::detect;
}

}  // namespace kernelindex::tools
