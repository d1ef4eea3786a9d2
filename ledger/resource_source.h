// SPDX-License-Identifier: Apache-2.0
// Where the files of a static log lie: a folder here, a web server elsewhere. C2SP tlog-tiles calls
// them resources, by their path below the log's prefix.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "ledger/file_steps.h"
#include "schema/result.h"

namespace kernelindex {

// Nothing that comes from a source is trusted: whoever asks checks it.
class ResourceSource {
 public:
  virtual ~ResourceSource() = default;

  // Hands the bytes of a resource to `piece`, in order. False, and nothing handed over, when it is
  // not there: the only absence; all else is an error. Requires: a relative path without "." and
  // "..", which the caller made. Errors: RESOURCE_TOO_LARGE (invalid) as soon as it is known to
  // have more than `limit` bytes, of which at most `limit` were handed over; NO_FILE (invalid): not
  // a regular file; IO and PERMISSION (system); those of `piece`.
  virtual Result<bool> stream(const std::string& path, std::uint64_t limit,
                              const ByteSink& piece) = 0;

  // All bytes at once; nothing when the resource is not there. Errors: the same.
  Result<std::optional<std::string>> get(const std::string& path, std::uint64_t limit);
};

class DirectorySource final : public ResourceSource {
 public:
  explicit DirectorySource(std::filesystem::path directory) : directory_(std::move(directory)) {}

  Result<bool> stream(const std::string& path, std::uint64_t limit, const ByteSink& piece) override;

 private:
  std::filesystem::path directory_;
};

}  // namespace kernelindex
