// SPDX-License-Identifier: Apache-2.0
#include "schema/number_sequence.h"

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "schema/canonical_json.h"

namespace kernelindex::test {
namespace {

constexpr std::uint64_t kSmallestNormal = 0x0010'0000'0000'0000;
constexpr std::size_t kBorderCount = 2000;
constexpr std::size_t kDoublesPerBlock = 4;

}  // namespace

NumberSequence::NumberSequence(std::vector<std::uint64_t> fixed)
    : fixed_(std::move(fixed)), block_(32, '\0'), used_(kDoublesPerBlock) {}

std::uint64_t NumberSequence::next() {
  const std::size_t index = index_++;
  if (index < fixed_.size()) return fixed_[index];
  if (index < fixed_.size() + kBorderCount) return kSmallestNormal + (index - fixed_.size());
  while (true) {
    if (used_ == kDoublesPerBlock) {
      block_ = sha256(block_).raw();
      used_ = 0;
    }
    std::uint64_t bits = 0;
    std::memcpy(&bits, block_.data() + 8 * used_++, sizeof bits);  // little-endian, as the host is
    const double number = std::bit_cast<double>(bits);
    if (number != 0 && std::isfinite(number)) return bits;
  }
}

void NumberSequence::append_line(std::string& out) {
  const std::uint64_t bits = next();
  char hex[20];
  const int size = std::snprintf(hex, sizeof hex, "%llx,", static_cast<unsigned long long>(bits));
  out.append(hex, static_cast<std::size_t>(size));
  json::append_number(std::bit_cast<double>(bits), out);
  out += '\n';
}

}  // namespace kernelindex::test
