// SPDX-License-Identifier: Apache-2.0
#include "tools/http/address_rules.h"

#include <algorithm>
#include <cstddef>

namespace kernelindex::tools {
namespace {

template <std::size_t size>
struct Block {
  std::array<std::uint8_t, size> first;
  unsigned bits;
};

// https://www.iana.org/assignments/iana-ipv4-special-registry, the blocks that are not globally
// reachable, with multicast (RFC 5771) and the relays of 6to4 that RFC 7526 retired.
constexpr Block<4> kSpecialIpv4[] = {
    {{0, 0, 0, 0}, 8},      {{10, 0, 0, 0}, 8},     {{100, 64, 0, 0}, 10}, {{127, 0, 0, 0}, 8},
    {{169, 254, 0, 0}, 16}, {{172, 16, 0, 0}, 12},  {{192, 0, 0, 0}, 24},  {{192, 0, 2, 0}, 24},
    {{192, 88, 99, 0}, 24}, {{192, 168, 0, 0}, 16}, {{198, 18, 0, 0}, 15}, {{198, 51, 100, 0}, 24},
    {{203, 0, 113, 0}, 24}, {{224, 0, 0, 0}, 4},    {{240, 0, 0, 0}, 4},
};

constexpr Block<16> kGlobalUnicast = {{0x20}, 3};
constexpr Block<16> kMapped = {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, 96};
constexpr Block<16> kTranslated = {{0x00, 0x64, 0xff, 0x9b}, 96};
// https://www.iana.org/assignments/iana-ipv6-special-registry, inside global unicast.
constexpr Block<16> kSpecialIpv6[] = {
    {{0x20, 0x01}, 23},              // protocol assignments: Teredo, benchmarking, ORCHID
    {{0x20, 0x01, 0x0d, 0xb8}, 32},  // documentation
    {{0x20, 0x02}, 16},              // 6to4
    {{0x3f, 0xff}, 20},              // documentation
};

template <std::size_t size>
bool contains(const Block<size>& block, const std::array<std::uint8_t, size>& address) {
  for (unsigned bit = 0; bit < block.bits; ++bit) {
    const unsigned mask = 0x80u >> (bit % 8);
    if (((block.first[bit / 8] ^ address[bit / 8]) & mask) != 0) return false;
  }
  return true;
}

}  // namespace

bool is_public_address(const Ipv4Bytes& address) {
  return std::ranges::none_of(kSpecialIpv4,
                              [&](const Block<4>& block) { return contains(block, address); });
}

bool is_public_address(const Ipv6Bytes& address) {
  if (contains(kMapped, address) || contains(kTranslated, address)) {
    return is_public_address(Ipv4Bytes{address[12], address[13], address[14], address[15]});
  }
  return contains(kGlobalUnicast, address) &&
         std::ranges::none_of(kSpecialIpv6,
                              [&](const Block<16>& block) { return contains(block, address); });
}

}  // namespace kernelindex::tools
