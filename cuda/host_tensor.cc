// SPDX-License-Identifier: Apache-2.0
#include "cuda/host_tensor.h"

#include <utility>

namespace kernelindex::runner {

std::optional<std::int64_t> element_count(std::span<const std::int64_t> shape) {
  if (shape.size() > kTensorDimensions) return std::nullopt;
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) {
    if (extent < 0 || extent > kTensorElements) return std::nullopt;
    if (extent != 0 && count > kTensorElements / extent) return std::nullopt;
    count *= extent;
  }
  return count;
}

HostTensor::HostTensor(std::string name, Dtype dtype, std::vector<std::int64_t> shape)
    : name_(std::move(name)), dtype_(dtype), shape_(std::move(shape)) {
  const std::optional<std::int64_t> count = element_count(shape_);
  assert(count.has_value());
  count_ = *count;
  bytes_.resize((static_cast<std::size_t>(count_) * dtype_bits(dtype_) + 7) / 8);
}

void HostTensor::set_bits(std::int64_t index, std::uint64_t bits) {
  assert(index >= 0 && index < count_);
  const auto at = static_cast<std::size_t>(index);
  const unsigned width = dtype_bits(dtype_);
  if (width == 4) {
    std::uint8_t& both = bytes_[at / 2];
    both = static_cast<std::uint8_t>(at % 2 == 0 ? (both & 0xf0) | (bits & 15)
                                                 : (both & 0x0f) | (bits & 15) << 4);
    return;
  }
  std::memcpy(bytes_.data() + at * width / 8, &bits, width / 8);  // little-endian
}

}  // namespace kernelindex::runner
