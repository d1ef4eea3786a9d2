// SPDX-License-Identifier: Apache-2.0
// Compressed exports read as a stream. The only door to libzstd.
#pragma once

#include <cstdint>
#include <memory>

#include "schema/byte_source.h"

namespace kernelindex::ingest {

// The decompressed bytes of a zstd file, or the bytes themselves when the source is not one: it is
// known by its first bytes, not by its name. Memory is bounded whatever the file claims: a window
// of more than 128 MiB is refused (ZSTD_WINDOW), and so is what grows beyond 64 GiB (TOO_LARGE). A
// file that ends inside a frame is the error ZSTD_TRUNCATED.
class ZstdSource final : public ByteSource {
 public:
  // Requires: `source` stands at its first byte and outlives this object.
  explicit ZstdSource(ByteSource& source);
  ~ZstdSource() override;

  Result<std::size_t> read(std::span<char> buffer) override;
  Status rewind() override;

 private:
  struct Decoder;

  Result<bool> refill();
  Result<std::size_t> read_plain(std::span<char> buffer);
  Result<std::size_t> read_frames(std::span<char> buffer);

  ByteSource& source_;
  std::unique_ptr<Decoder> decoder_;
};

}  // namespace kernelindex::ingest
