// SPDX-License-Identifier: Apache-2.0
// A tensor in host memory: name, number format, shape, and contiguous bytes in row-major order.
#pragma once

#include <cassert>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/number_format.h"

namespace kernelindex::runner {

// Beyond these a tensor is refused before memory is asked for.
inline constexpr std::size_t kTensorDimensions = 8;
inline constexpr std::int64_t kTensorElements = std::int64_t{1} << 34;

class HostTensor {
 public:
  HostTensor() = default;
  // Zeros. Requires: at most kTensorDimensions extents of at least 0, at most kTensorElements in
  // all.
  HostTensor(std::string name, Dtype dtype, std::vector<std::int64_t> shape);

  const std::string& name() const { return name_; }
  Dtype dtype() const { return dtype_; }
  std::span<const std::int64_t> shape() const { return shape_; }
  std::int64_t count() const { return count_; }
  // Extent of the last dimension, 1 for a tensor without any; and how many such rows there are.
  std::int64_t row_length() const { return shape_.empty() ? 1 : shape_.back(); }
  std::int64_t rows() const { return row_length() == 0 ? 0 : count_ / row_length(); }

  std::span<std::uint8_t> bytes() { return bytes_; }
  std::span<const std::uint8_t> bytes() const { return bytes_; }
  std::string_view text() const {
    return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()};
  }

  // The stored bits of an element, and its exact value.
  std::uint64_t bits(std::int64_t index) const;
  double value(std::int64_t index) const { return decode_number(dtype_, bits(index)); }
  void set_bits(std::int64_t index, std::uint64_t bits);
  // Rounds once.
  void set(std::int64_t index, double value) { set_bits(index, encode_number(dtype_, value)); }

 private:
  std::string name_;
  Dtype dtype_ = Dtype::f32;
  std::vector<std::int64_t> shape_;
  std::int64_t count_ = 0;
  std::vector<std::uint8_t> bytes_;
};

// Product of the extents; nothing when there are too many, one is negative or the product is above
// kTensorElements.
std::optional<std::int64_t> element_count(std::span<const std::int64_t> shape);

inline std::uint64_t HostTensor::bits(std::int64_t index) const {
  assert(index >= 0 && index < count_);
  const auto at = static_cast<std::size_t>(index);
  switch (dtype_bits(dtype_)) {
    case 4: {
      const std::uint8_t both = bytes_[at / 2];
      return at % 2 == 0 ? both & 15 : both >> 4;
    }
    case 8:
      return bytes_[at];
    case 16: {
      std::uint16_t word;
      std::memcpy(&word, bytes_.data() + 2 * at, 2);
      return word;
    }
    case 32: {
      std::uint32_t word;
      std::memcpy(&word, bytes_.data() + 4 * at, 4);
      return word;
    }
    default: {
      std::uint64_t word;
      std::memcpy(&word, bytes_.data() + 8 * at, 8);
      return word;
    }
  }
}

}  // namespace kernelindex::runner
