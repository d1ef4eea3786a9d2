// SPDX-License-Identifier: Apache-2.0
#include "ledger/file_steps.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

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

// The folder that holds a path; "." for a bare name.
std::filesystem::path folder_of(const std::filesystem::path& path) {
  const std::filesystem::path folder = path.parent_path();
  return folder.empty() ? std::filesystem::path(".") : folder;
}

}  // namespace

Status FileSteps::make_folder(const std::filesystem::path& path) {
  std::vector<std::filesystem::path> missing;
  std::filesystem::path at = path.lexically_normal();
  if (!at.has_filename()) at = at.parent_path();  // "DIR/" names DIR
  for (std::error_code ignored; !at.empty() && !std::filesystem::exists(at, ignored);
       at = at.parent_path()) {
    missing.push_back(at);
  }
  for (; !missing.empty(); missing.pop_back()) {
    const std::filesystem::path& folder = missing.back();
    if (::mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST) {
      return system_error(folder, "cannot make the folder");
    }
    if (Status synced = sync_folder(folder_of(folder)); !synced) return synced;
  }
  std::error_code ignored;
  if (!std::filesystem::is_directory(path, ignored)) {
    errno = ENOTDIR;
    return system_error(path, "cannot make the folder");
  }
  return {};
}

Status FileSteps::write_synced(const std::filesystem::path& path, const ByteProducer& content) {
  const File file(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (!file.open()) return system_error(path, "cannot create the file");
  const Status written = content([&](std::string_view bytes) -> Status {
    if (!file.write(bytes)) return system_error(path, "cannot write the file");
    return {};
  });
  if (!written) return written;
  if (!file.sync()) return system_error(path, "cannot sync the file");
  return {};
}

Status FileSteps::rename(const std::filesystem::path& from, const std::filesystem::path& to) {
  if (std::rename(from.c_str(), to.c_str()) != 0) {
    return system_error(to, "cannot replace the file");
  }
  return {};
}

Status FileSteps::sync_folder(const std::filesystem::path& path) {
  const File folder(path, O_RDONLY | O_DIRECTORY);
  if (!folder.open() || !folder.sync()) return system_error(path, "cannot sync the folder");
  return {};
}

FileSteps& system_file_steps() {
  static FileSteps steps;
  return steps;
}

std::filesystem::path temporary_path(const std::filesystem::path& path) {
  return path.string() + ".new";
}

Status replace_file(const std::filesystem::path& path, const ByteProducer& content,
                    FileSteps& steps) {
  const std::filesystem::path temporary = temporary_path(path);
  if (Status written = steps.write_synced(temporary, content); !written) return written;
  return steps.rename(temporary, path);
}

Status write_file_durably(const std::filesystem::path& path, std::string_view bytes,
                          FileSteps& steps) {
  const ByteProducer content = [&](const ByteSink& sink) { return sink(bytes); };
  if (Status replaced = replace_file(path, content, steps); !replaced) return replaced;
  return steps.sync_folder(folder_of(path));
}

}  // namespace kernelindex
