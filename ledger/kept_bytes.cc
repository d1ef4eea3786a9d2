// SPDX-License-Identifier: Apache-2.0
#include "ledger/kept_bytes.h"

#include <algorithm>
#include <cstring>

#include "ledger/key_layout.h"
#include "ledger/stored_object.h"

namespace kernelindex {
namespace {

std::unexpected<Error> damaged(const Digest& digest) {
  return fail(ErrorKind::corrupt, "DAMAGED_OBJECT", digest.text(),
              "the stored bytes have another digest", "run `kernelindex audit`");
}

class KeptBytes final : public ByteSource {
 public:
  // `chunks`: the pieces lie under the chunk keys and `size` says how much there is; else `piece`
  // is all of it.
  KeptBytes(const Reader& reader, const Digest& digest, bool chunks, std::uint64_t size,
            std::string piece)
      : reader_(reader), digest_(digest), chunks_(chunks), size_(size), piece_(std::move(piece)) {}

  Result<std::size_t> read(std::span<char> buffer) override {
    if (offset_ == piece_.size() && done_ < size_ && chunks_) {
      if (Status status = next_chunk(); !status) return fail(status.error());
    }
    const std::size_t count = std::min(buffer.size(), piece_.size() - offset_);
    if (count == 0) {
      if (!buffer.empty() && !checked_) {
        checked_ = true;
        if (hasher_.finish() != digest_) return damaged(digest_);
      }
      return count;
    }
    std::memcpy(buffer.data(), piece_.data() + offset_, count);
    hasher_.update(std::string_view(piece_).substr(offset_, count));
    offset_ += count;
    done_ += count;
    return count;
  }

  Status rewind() override {
    static_cast<void>(hasher_.finish());
    checked_ = false;
    offset_ = 0;
    done_ = 0;
    number_ = 0;
    if (chunks_) piece_.clear();
    return {};
  }

 private:
  Status next_chunk() {
    const Result<bool> found =
        reader_.view().get(Space::evidence, key_layout::chunk(digest_, number_), piece_);
    if (!found) return fail(found.error());
    if (!*found || piece_.empty()) return damaged(digest_);
    ++number_;
    offset_ = 0;
    return {};
  }

  const Reader& reader_;
  const Digest digest_;
  const bool chunks_;
  const std::uint64_t size_;
  std::string piece_;
  std::size_t offset_ = 0;    // in the piece
  std::uint64_t done_ = 0;    // of the object
  std::uint64_t number_ = 0;  // of the next chunk
  Sha256 hasher_;
  bool checked_ = false;
};

}  // namespace

Result<std::unique_ptr<ByteSource>> open_kept_bytes(const Reader& reader, const Digest& digest) {
  std::string value;
  const Result<bool> found = reader.view().get(Space::evidence, key_layout::object(digest), value);
  if (!found) return fail(found.error());
  if (!*found || stored_object::is_withheld(value)) {
    return fail(ErrorKind::not_found, "NOT_HELD", digest.text(), "the bytes are not held");
  }
  if (stored_object::is_whole(value)) {
    const std::uint64_t size = value.size() - 1;
    return std::make_unique<KeptBytes>(reader, digest, false, size, value.substr(1));
  }
  if (stored_object::is_chunked(value)) {
    const std::uint64_t size = key_layout::from_big_endian(std::string_view(value).substr(1));
    return std::make_unique<KeptBytes>(reader, digest, true, size, std::string());
  }
  return damaged(digest);
}

}  // namespace kernelindex
