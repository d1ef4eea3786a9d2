// SPDX-License-Identifier: Apache-2.0
// The folder that is fetched into: its files and the record of them, kept so that a fetch that
// breaks off at any instant goes on where it was.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "schema/result.h"
#include "tools/fetch/fetch_record.h"

namespace kernelindex::tools {

class FetchFolder {
 public:
  // Makes the folder when it is not there, and begins a session, or goes on with one that did not
  // come to its end. Errors: usage OTHER_SOURCE (the folder holds what was fetched of another),
  // NOT_EMPTY (it holds files that nothing fetched); FETCH_RECORD_MALFORMED; those of files.
  static Result<FetchFolder> open(std::filesystem::path folder, std::string_view source,
                                  UtcMicros now);

  bool resumed() const { return resumed_; }
  std::uint64_t session() const { return record_.session; }
  // What is known of a file whose bytes are still what was fetched; null otherwise.
  const FetchedFile* known(const std::string& path);
  // Whether the file was fetched or confirmed in this session.
  bool done(const std::string& path);
  Result<std::string> read(const std::string& path) const;

  // Writes the bytes, then the line of the record. Fills in session, digest and size; when the
  // bytes are those that were there, `fetched_at` stays that of before.
  Status keep(FetchedFile file, std::string_view bytes);
  // The source says that the bytes are still its own.
  Status confirm(const std::string& path, UtcMicros at);

  // The session is at its end; the record is written anew, complete. When all of the source was
  // asked for (`whole`), files that were fetched before and not now are removed, since the source
  // has them no more. What was removed.
  Result<std::vector<std::string>> finish(bool whole, UtcMicros at);

 private:
  FetchFolder(std::filesystem::path folder, FetchRecord record)
      : folder_(std::move(folder)), record_(std::move(record)) {}
  Status begin(UtcMicros now);
  Status append(std::string_view line);

  std::filesystem::path folder_;
  FetchRecord record_;
  bool resumed_ = false;
};

}  // namespace kernelindex::tools
