// SPDX-License-Identifier: Apache-2.0
// The steps by which a file is replaced so that a crash at any instant leaves the old bytes or the
// new ones: temporary file, fsync, rename, fsync of the folder.
//
// A failed fsync is final for the bytes it was about: the kernel may drop them and report success
// to the next call (PITFALLS 9). So the file is not renamed, the temporary one stays aside, and the
// caller gives up; the next attempt writes all bytes again.
#pragma once

#include <filesystem>
#include <functional>
#include <string_view>

#include "schema/result.h"

namespace kernelindex {

// Takes the next bytes of something; an error stops whoever gives them.
using ByteSink = std::function<Status(std::string_view)>;
// Gives all bytes to a sink, in order, and passes on its errors.
using ByteProducer = std::function<Status(const ByteSink&)>;

// The system's own steps; tests put in others that fail one by one. Stateless; for any thread.
// Errors (kind system): DISK_FULL, PERMISSION, IO, with the path as their place.
class FileSteps {
 public:
  virtual ~FileSteps() = default;

  // Makes a folder and those above it, and syncs every folder in which one was made. No error when
  // it is there.
  virtual Status make_folder(const std::filesystem::path& path);
  // Creates or empties a file (mode 0644), writes what `content` gives and syncs it, all through
  // one descriptor: only that one is sure to hear of a write that failed. After an error the file
  // may be there with any bytes.
  virtual Status write_synced(const std::filesystem::path& path, const ByteProducer& content);
  virtual Status rename(const std::filesystem::path& from, const std::filesystem::path& to);
  // Without this a rename may be lost in a crash.
  virtual Status sync_folder(const std::filesystem::path& path);
};

FileSteps& system_file_steps();

// PATH.new, where bytes lie until they are known to be on the disk.
std::filesystem::path temporary_path(const std::filesystem::path& path);

// Writes beside the file and renames; the folder is left to be synced by the caller, once for many
// files. Requires: the folder exists, nobody else writes the same file.
Status replace_file(const std::filesystem::path& path, const ByteProducer& content,
                    FileSteps& steps = system_file_steps());

// The whole series for one small file. Requires: as above.
Status write_file_durably(const std::filesystem::path& path, std::string_view bytes,
                          FileSteps& steps = system_file_steps());

}  // namespace kernelindex
