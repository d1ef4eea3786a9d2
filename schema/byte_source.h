// SPDX-License-Identifier: Apache-2.0
// Bytes that are read piece by piece, so that a large file never has to lie in memory at once.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>

#include "schema/result.h"

namespace kernelindex {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Fills the front of `buffer`; the number of bytes read, 0 at the end.
  virtual Result<std::size_t> read(std::span<char> buffer) = 0;
  // Back to the first byte.
  virtual Status rewind() = 0;
};

// Bytes in memory, owned by the caller.
class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::string_view bytes) : bytes_(bytes) {}
  Result<std::size_t> read(std::span<char> buffer) override {
    const std::string_view piece = bytes_.substr(offset_, buffer.size());
    std::memcpy(buffer.data(), piece.data(), piece.size());
    offset_ += piece.size();
    return piece.size();
  }
  Status rewind() override {
    offset_ = 0;
    return {};
  }

 private:
  std::string_view bytes_;
  std::size_t offset_ = 0;
};

}  // namespace kernelindex
