// SPDX-License-Identifier: Apache-2.0
// What a runner's side hands to the controller's: a folder.
//
//   FOLDER/statement.dsse.json   the signed controlled-run/v1 or calibration/v1
//   FOLDER/result.json           the document: kernelindex.result/1 or kernelindex.calibration/1
//   FOLDER/objects/<64 hex>      each artifact that the document names, by its SHA-256
//
// Names in it are digests, never paths from outside. A reader looks for what the document names and
// at nothing else.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "schema/byte_source.h"
#include "schema/digest.h"
#include "schema/result.h"

namespace kernelindex {

inline constexpr std::uint64_t kResultObjectBytes = std::uint64_t{257} << 20;

// A folder that is being written. Errors of all: CANNOT_WRITE (system).
class ResultWriter {
 public:
  // Makes the folder; one that holds anything is refused: FOLDER_NOT_EMPTY (usage).
  static Result<ResultWriter> make(const std::filesystem::path& folder);

  Status object(std::string_view bytes);
  // The statement comes last: a folder without one is not finished.
  Status document(std::string_view text);
  Status statement(std::string_view envelope);

 private:
  explicit ResultWriter(std::filesystem::path folder) : folder_(std::move(folder)) {}

  std::filesystem::path folder_;
};

class ResultFolder {
 public:
  // Reads statement and document. Errors: NO_RESULT (not_found: no such folder, or not finished),
  // NOT_A_FILE, TOO_LARGE (invalid), CANNOT_READ (system).
  static Result<ResultFolder> open(const std::filesystem::path& folder);

  const std::string& statement() const { return statement_; }
  const std::string& document() const { return document_; }
  // The bytes of an object, read piece by piece; null when it is not there. Whether they have that
  // digest shows when they are read: the one who keeps them checks. Errors: NOT_A_FILE (invalid: a
  // link, or something that waits), TOO_LARGE, CANNOT_READ,
  // OBJECT_DIFFERS (invalid: other bytes lie under this name).
  Result<std::unique_ptr<ByteSource>> object(const Digest& digest) const;

 private:
  explicit ResultFolder(std::filesystem::path folder) : folder_(std::move(folder)) {}

  std::filesystem::path folder_;
  std::string statement_;
  std::string document_;
};

}  // namespace kernelindex
