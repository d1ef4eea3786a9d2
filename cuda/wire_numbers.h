// SPDX-License-Identifier: Apache-2.0
// Numbers and texts one after the other, little-endian: the payload of frames between parent and
// child. A reader that runs out gives zeros and says so at the end.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace kernelindex::runner {

class WireWriter {
 public:
  WireWriter& number(std::uint64_t value) {
    for (int i = 0; i < 8; ++i) bytes_ += static_cast<char>(value >> (8 * i) & 0xff);
    return *this;
  }
  WireWriter& signed_number(std::int64_t value) {
    return number(static_cast<std::uint64_t>(value));
  }
  WireWriter& real(double value) {
    std::uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return number(bits);
  }
  WireWriter& text(std::string_view value) {
    number(value.size());
    bytes_ += value;
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : bytes_(bytes) {}
  std::uint64_t number() {
    if (bytes_.size() < 8) {
      sound_ = false;
      bytes_ = {};
      return 0;
    }
    std::uint64_t value = 0;
    for (std::size_t i = 8; i-- > 0;) value = value << 8 | static_cast<std::uint8_t>(bytes_[i]);
    bytes_.remove_prefix(8);
    return value;
  }
  std::int64_t signed_number() { return static_cast<std::int64_t>(number()); }
  double real() {
    const std::uint64_t bits = number();
    double value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
  std::string text() {
    const std::uint64_t size = number();
    if (size > bytes_.size()) {
      sound_ = false;
      return {};
    }
    std::string value(bytes_.substr(0, size));
    bytes_.remove_prefix(size);
    return value;
  }
  // A count of things to come, each of at least eight bytes.
  std::uint64_t count() {
    const std::uint64_t value = number();
    if (value <= bytes_.size() / 8) return value;
    sound_ = false;
    return 0;
  }
  // Whether all that was read was there and nothing is left.
  bool finish() const { return sound_ && bytes_.empty(); }

 private:
  std::string_view bytes_;
  bool sound_ = true;
};

}  // namespace kernelindex::runner
