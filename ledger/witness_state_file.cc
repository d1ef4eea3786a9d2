// SPDX-License-Identifier: Apache-2.0
#include "ledger/witness_state_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <utility>

#include "ledger/resource_source.h"
#include "schema/digest.h"

namespace kernelindex {
namespace {

// Holds DIR/lock until it goes.
class FolderLock {
 public:
  explicit FolderLock(const std::filesystem::path& path)
      : descriptor_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
    while (descriptor_ >= 0 && ::flock(descriptor_, LOCK_EX) != 0) {
      if (errno == EINTR) continue;
      ::close(std::exchange(descriptor_, -1));
    }
  }
  ~FolderLock() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  bool held() const { return descriptor_ >= 0; }

 private:
  int descriptor_;
};

std::unexpected<Error> damaged(const std::filesystem::path& path, const std::string& what) {
  return fail(ErrorKind::corrupt, "STATE_DAMAGED", path.string(), what,
              "bring the file back from a copy: a witness that forgets can cosign a fork");
}

}  // namespace

Result<WitnessStateFile> WitnessStateFile::open(std::filesystem::path directory, VerifierKey own,
                                                FileSteps& steps) {
  assert(own.algorithm == NoteAlgorithm::cosignature);
  if (Status made = steps.make_folder(directory); !made) return fail(made.error());
  return WitnessStateFile(std::move(directory), std::move(own), steps);
}

std::filesystem::path WitnessStateFile::file_of(std::string_view origin) const {
  return directory_ / sha256(origin).hex();
}

Result<std::optional<WitnessRecord>> WitnessStateFile::latest(std::string_view origin) {
  const std::filesystem::path path = file_of(origin);
  DirectorySource folder(directory_);
  const Result<std::optional<std::string>> bytes =
      folder.get(path.filename().string(), limits::kNoteBytes);
  if (!bytes) {
    if (bytes.error().kind == ErrorKind::system) return fail(bytes.error());
    return damaged(path, bytes.error().message);
  }
  if (!*bytes) return std::nullopt;
  Result<SignedCheckpoint> checkpoint = parse_checkpoint(**bytes);
  if (!checkpoint) return damaged(path, checkpoint.error().message);
  if (checkpoint->checkpoint.origin != origin) return damaged(path, "it is of another log");
  const std::array keys = {own_};
  const NoteVerdict ours = verify_note(checkpoint->note(), keys);
  if (!ours.ok()) return damaged(path, "our own cosignature is not on it: " + ours.detail);
  return WitnessRecord{std::move(*checkpoint), ours.verified.front().time};
}

Result<bool> WitnessStateFile::advance(std::string_view origin,
                                       const std::optional<TreeHead>& expected,
                                       const WitnessRecord& next) {
  assert(next.checkpoint.checkpoint.origin == origin);
  const FolderLock lock(directory_ / "lock");
  if (!lock.held()) {
    return fail(ErrorKind::system, "LOCK", (directory_ / "lock").string(),
                "cannot lock the state: " + std::string(std::strerror(errno)));
  }
  const Result<std::optional<WitnessRecord>> kept = latest(origin);
  if (!kept) return fail(kept.error());
  std::optional<TreeHead> found;
  if (*kept) found = (*kept)->checkpoint.checkpoint.head;
  if (found != expected) return false;
  const Status written = write_file_durably(file_of(origin), next.checkpoint.format(), *steps_);
  if (!written) return fail(written.error());
  return true;
}

}  // namespace kernelindex
