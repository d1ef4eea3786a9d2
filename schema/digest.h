// SPDX-License-Identifier: Apache-2.0
// SHA-256 digests: the 32-byte value type that names everything, and the only door to OpenSSL's
// hashing.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "schema/result.h"

namespace kernelindex {

struct Digest {
  std::array<std::uint8_t, 32> bytes{};

  // "sha256:" + 64 lower-case hex digits: the form in documents and in all output.
  std::string text() const;
  // Appends text().
  void append_text(std::string& out) const;
  // The 64 lower-case hex digits alone.
  std::string hex() const;
  // The 32 raw bytes, as stored. The view lives as long as this value.
  std::string_view raw() const {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  // Accepts exactly what text() prints. Upper-case hex is refused: one digest, one spelling.
  static Result<Digest> parse(std::string_view text);
  static Result<Digest> parse_hex(std::string_view hex);
  // Requires: raw.size() == 32.
  static Digest from_raw(std::string_view raw);

  auto operator<=>(const Digest&) const = default;
};

// Incremental SHA-256. Not for sharing between threads; reusable after finish().
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;
  Sha256& update(std::string_view data);
  // The digest of everything since construction or the last finish(); starts over.
  Digest finish();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

// SHA-256 of the concatenation of the pieces.
Digest sha256(std::string_view data);
Digest sha256(std::initializer_list<std::string_view> pieces);

std::string to_hex(std::string_view bytes);
// Lower-case hex of even length only.
std::optional<std::string> from_hex(std::string_view hex);
// RFC 4648 section 4, padded. Decoding is canonical: what does not re-encode to itself is refused.
std::string to_base64(std::string_view bytes);
std::optional<std::string> from_base64(std::string_view text);

}  // namespace kernelindex

template <>
struct std::hash<kernelindex::Digest> {
  std::size_t operator()(const kernelindex::Digest& digest) const noexcept {
    std::size_t value;  // SHA-256 output is uniform: any eight bytes are a hash
    __builtin_memcpy(&value, digest.bytes.data(), sizeof value);
    return value;
  }
};
