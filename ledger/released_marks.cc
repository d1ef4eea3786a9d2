// SPDX-License-Identifier: Apache-2.0
#include "ledger/released_marks.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>

namespace kernelindex {
namespace {

std::unexpected<Error> system_error(const std::filesystem::path& path, std::string_view what) {
  const int code = errno;
  const bool full = code == ENOSPC || code == EDQUOT;
  const bool denied = code == EACCES || code == EPERM || code == EROFS;
  return fail(ErrorKind::system,
              full     ? "DISK_FULL"
              : denied ? "PERMISSION"
                       : "IO",
              path.string(), std::string(what) + ": " + std::strerror(code));
}

// An open file descriptor.
class File {
 public:
  File(const std::filesystem::path& path, int flags, mode_t mode = 0)
      : descriptor_(::open(path.c_str(), flags | O_CLOEXEC, mode)) {}
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  bool open() const { return descriptor_ >= 0; }
  bool sync() const { return ::fsync(descriptor_) == 0; }
  bool write(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
  }

 private:
  int descriptor_;
};

std::optional<std::string> read_small_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string bytes(limits::kNoteBytes + 1, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return bytes;
}

}  // namespace

std::filesystem::path user_state_directory() {
  if (const char* state = std::getenv("XDG_STATE_HOME"); state != nullptr && *state == '/') {
    return state;
  }
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/') {
    return std::filesystem::path(home) / ".local" / "state";
  }
  return {};
}

std::vector<std::filesystem::path> MarkPlaces::files(const Digest& ledger_id) const {
  std::vector<std::filesystem::path> out = {directory / "checkpoint", keys / "log.key.released"};
  if (!state.empty()) out.push_back(state / "kernelindex" / ledger_id.hex());
  return out;
}

std::vector<ReleasedMark> read_marks(const MarkPlaces& places, const Digest& ledger_id) {
  std::vector<ReleasedMark> out;
  for (const std::filesystem::path& path : places.files(ledger_id)) {
    const std::optional<std::string> bytes = read_small_file(path);
    if (!bytes) continue;
    ReleasedMark mark{path, std::nullopt};
    if (Result<SignedCheckpoint> checkpoint = parse_checkpoint(*bytes)) {
      mark.checkpoint = std::move(*checkpoint);
    }
    out.push_back(std::move(mark));
  }
  return out;
}

Status write_file_durably(const std::filesystem::path& path, std::string_view bytes) {
  const std::filesystem::path temporary = path.string() + ".new";
  {
    const File file(temporary, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (!file.open()) return system_error(temporary, "cannot create the file");
    if (!file.write(bytes) || !file.sync()) {
      return system_error(temporary, "cannot write the file");
    }
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    return system_error(path, "cannot replace the file");
  }
  // Without this the rename itself may be lost in a crash.
  const File folder(path.parent_path(), O_RDONLY | O_DIRECTORY);
  if (!folder.open() || !folder.sync()) {
    return system_error(path.parent_path(), "cannot sync the folder");
  }
  return {};
}

Status write_marks(const MarkPlaces& places, const Digest& ledger_id,
                   const SignedCheckpoint& checkpoint) {
  const std::string bytes = checkpoint.format();
  if (Status status = write_file_durably(places.directory / "checkpoint", bytes); !status) {
    return status;
  }
  std::error_code ignored;
  if (std::filesystem::exists(places.keys / "log.key", ignored)) {
    if (Status status = write_file_durably(places.keys / "log.key.released", bytes); !status) {
      return status;
    }
  }
  if (places.state.empty()) return {};
  const std::filesystem::path folder = places.state / "kernelindex";
  std::filesystem::create_directories(folder, ignored);
  // A mark that cannot be written here leaves the other two: less protection, no fault.
  const Status extra = write_file_durably(folder / ledger_id.hex(), bytes);
  static_cast<void>(extra.has_value());
  return {};
}

}  // namespace kernelindex
