// SPDX-License-Identifier: Apache-2.0
// One file of an import, as whoever imports lends it: read piece by piece, as often as asked.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "schema/byte_source.h"
#include "schema/digest.h"
#include "schema/result.h"

namespace kernelindex::ingest {

// Importer and recorder read a file side by side, each with a handle of its own. `locator` is its
// path relative to the argument that named it, or its URL.
struct RecordedFile {
  std::string locator;
  std::string media_type;
  std::string fetched_at;  // empty when supplied as a file
  std::function<Result<std::unique_ptr<ByteSource>>()> open;
  std::string source = {};  // slug of whose bytes they are; empty: the importer's own
  // What the bytes are known to be; other bytes are not recorded (CHANGED_WHILE_READ).
  std::optional<Digest> digest = std::nullopt;
};

// All bytes of a file. Error TOO_LARGE (invalid) beyond limits::kSourceJsonBytes; those of reading.
// The place of each is the locator.
Result<std::string> read_whole(const RecordedFile& file);

// At most the first `bytes` bytes of a file.
Result<std::string> read_beginning(const RecordedFile& file, std::size_t bytes);

// SHA-256 of the bytes as they are now. Errors: those of reading, the place being the locator.
Result<Digest> digest_of(const RecordedFile& file);

}  // namespace kernelindex::ingest
