// SPDX-License-Identifier: Apache-2.0
#include "ingest/recorded_file.h"

#include <algorithm>

#include "schema/limits.h"

namespace kernelindex::ingest {
namespace {

// Files are small as a rule, and many: a larger buffer would cost more than reading one.
constexpr std::size_t kReadBytes = 64 * limits::kKiB;

// Reads until `most` bytes are there or the file ends.
Result<std::string> read_up_to(const RecordedFile& file, std::size_t most) {
  Result<std::unique_ptr<ByteSource>> bytes = file.open();
  if (!bytes) return fail_in(file.locator, std::move(bytes.error()));
  std::string out;
  std::string buffer(std::min(most, kReadBytes), '\0');
  while (out.size() < most) {
    const std::span<char> room =
        std::span(buffer).first(std::min(buffer.size(), most - out.size()));
    const Result<std::size_t> count = (*bytes)->read(room);
    if (!count) return fail_in(file.locator, count.error());
    if (*count == 0) break;
    out.append(buffer, 0, *count);
  }
  return out;
}

}  // namespace

Result<std::string> read_whole(const RecordedFile& file) {
  Result<std::string> bytes = read_up_to(file, limits::kSourceJsonBytes + 1);
  if (bytes && bytes->size() > limits::kSourceJsonBytes) {
    return fail(ErrorKind::invalid, "TOO_LARGE", file.locator,
                "the file is larger than the limit of 64 MiB for one document");
  }
  return bytes;
}

Result<std::string> read_beginning(const RecordedFile& file, std::size_t bytes) {
  return read_up_to(file, bytes);
}

Result<Digest> digest_of(const RecordedFile& file) {
  Result<std::unique_ptr<ByteSource>> bytes = file.open();
  if (!bytes) return fail_in(file.locator, std::move(bytes.error()));
  Sha256 hash;
  std::string buffer(kReadBytes, '\0');
  while (true) {
    const Result<std::size_t> count = (*bytes)->read(buffer);
    if (!count) return fail_in(file.locator, count.error());
    if (*count == 0) return hash.finish();
    hash.update(std::string_view(buffer).substr(0, *count));
  }
}

}  // namespace kernelindex::ingest
