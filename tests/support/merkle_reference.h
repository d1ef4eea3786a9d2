// SPDX-License-Identifier: Apache-2.0
// RFC 6962 section 2.1 word for word: slow recursions over lists, to cross-check the fast code.
//
// It shares nothing with ledger/ but SHA-256.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "schema/digest.h"

namespace kernelindex::test::reference {

// D[n]: the entries of the log.
using List = std::vector<std::string>;

inline List slice(const List& d, std::size_t from, std::size_t to) {
  return {d.begin() + static_cast<std::ptrdiff_t>(from),
          d.begin() + static_cast<std::ptrdiff_t>(to)};
}

// "Let k be the largest power of two smaller than n."
inline std::size_t largest_power_below(std::size_t n) {
  std::size_t k = 1;
  while (k * 2 < n) k *= 2;
  return k;
}

inline Digest mth(const List& d) {
  if (d.empty()) return sha256("");
  if (d.size() == 1) return sha256(std::string(1, '\0') + d[0]);
  const std::size_t k = largest_power_below(d.size());
  return sha256("\x01" + std::string(mth(slice(d, 0, k)).raw()) +
                std::string(mth(slice(d, k, d.size())).raw()));
}

inline std::vector<Digest> operator+(std::vector<Digest> a, const Digest& b) {
  a.push_back(b);
  return a;
}

// PATH(m, D[n])
inline std::vector<Digest> path(std::size_t m, const List& d) {
  const std::size_t n = d.size();
  if (n == 1) return {};
  const std::size_t k = largest_power_below(n);
  if (m < k) return path(m, slice(d, 0, k)) + mth(slice(d, k, n));
  return path(m - k, slice(d, k, n)) + mth(slice(d, 0, k));
}

// SUBPROOF(m, D[n], b)
inline std::vector<Digest> subproof(std::size_t m, const List& d, bool b) {
  const std::size_t n = d.size();
  if (m == n) return b ? std::vector<Digest>{} : std::vector<Digest>{mth(d)};
  const std::size_t k = largest_power_below(n);
  if (m <= k) return subproof(m, slice(d, 0, k), b) + mth(slice(d, k, n));
  return subproof(m - k, slice(d, k, n), false) + mth(slice(d, 0, k));
}

// PROOF(m, D[n])
inline std::vector<Digest> proof(std::size_t m, const List& d) { return subproof(m, d, true); }

// SUBTREE_SUBPROOF(start, end, D[n], b) of draft-ietf-plants-merkle-tree-certs.
inline std::vector<Digest> subtree_subproof(std::size_t start, std::size_t end, const List& d,
                                            bool b) {
  const std::size_t n = d.size();
  if (start == 0 && end == n) return b ? std::vector<Digest>{} : std::vector<Digest>{mth(d)};
  const std::size_t k = largest_power_below(n);
  if (end <= k) return subtree_subproof(start, end, slice(d, 0, k), b) + mth(slice(d, k, n));
  if (k <= start)
    return subtree_subproof(start - k, end - k, slice(d, k, n), b) + mth(slice(d, 0, k));
  return subtree_subproof(0, end - k, slice(d, k, n), false) + mth(slice(d, 0, k));
}

// "start is a multiple of BIT_CEIL(end - start)"
inline bool valid_subtree(std::size_t start, std::size_t end) {
  return start < end && start % std::bit_ceil(end - start) == 0;
}

}  // namespace kernelindex::test::reference
