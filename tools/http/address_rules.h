// SPDX-License-Identifier: Apache-2.0
// Which network addresses belong to the public internet.
//
// A name that an outsider controls can point anywhere, at this machine and its neighbours too. So a
// connection is judged by the address that it goes to, after the name is resolved; rebinding the
// name later changes nothing.
#pragma once

#include <array>
#include <cstdint>

namespace kernelindex::tools {

using Ipv4Bytes = std::array<std::uint8_t, 4>;  // in network order
using Ipv6Bytes = std::array<std::uint8_t, 16>;

// False for what the IANA IPv4 Special-Purpose Address Registry (RFC 6890) does not call globally
// reachable: this host, private and shared networks, loopback, link-local, documentation,
// benchmarking, multicast, reserved, broadcast.
bool is_public_address(const Ipv4Bytes& address);

// False outside global unicast (2000::/3) and for its special blocks: protocol assignments with
// Teredo, documentation, 6to4. An IPv4 address in an IPv6 one, mapped (::ffff:0:0/96) or translated
// (64:ff9b::/96, RFC 6052), is judged as the IPv4 address.
bool is_public_address(const Ipv6Bytes& address);

}  // namespace kernelindex::tools
