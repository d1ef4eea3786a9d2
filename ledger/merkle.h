// SPDX-License-Identifier: Apache-2.0
// The Merkle tree hashes of the log: RFC 6962 section 2.1 (and RFC 9162 section 2.1) with SHA-256.
//
//   leaf(d)    = SHA-256(0x00 || d)
//   node(l, r) = SHA-256(0x01 || l || r)
//   MTH([])    = SHA-256("")
//   MTH(D[n])  = node(MTH(D[0:k]), MTH(D[k:n])), k the largest power of two strictly below n
#pragma once

#include <array>
#include <bit>
#include <cassert>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "schema/digest.h"
#include "schema/limits.h"
#include "schema/result.h"

namespace kernelindex {

// The size of a tree and its root. Trustworthy only from a verified checkpoint; `seen` in
// predicates claims one.
struct TreeHead {
  std::uint64_t size = 0;
  Digest root;

  bool operator==(const TreeHead&) const = default;
};

// The hash of a leaf. Made from entry bytes and in no other way: an interior node that is handed in
// as a "leaf hash" would verify in a smaller tree (PITFALLS 21).
class LeafHash {
 public:
  const Digest& digest() const { return digest_; }
  auto operator<=>(const LeafHash&) const = default;

 private:
  friend LeafHash leaf_hash(std::string_view entry);
  friend struct LeafHashForTest;  // known answers that publish no entry bytes
  explicit LeafHash(const Digest& digest) : digest_(digest) {}

  Digest digest_;
};

LeafHash leaf_hash(std::string_view entry);
Digest node_hash(const Digest& left, const Digest& right);
// The root of the tree without leaves.
const Digest& empty_root();

// A hash as checkpoints and proofs write it: the canonical base64 of exactly 32 bytes.
std::optional<Digest> hash_from_base64(std::string_view text);

// A size or an index as checkpoints, proofs and witnesses write it: decimal digits without leading
// zeros, at most 2^63 - 1.
std::optional<std::uint64_t> size_from_decimal(std::string_view text);

// The frontier of a growing tree: the hashes of its perfect subtrees, one for each set bit of the
// size (at most 63). Enough to append and to know the root; never the only copy of anything.
// Copyable; not for sharing between threads while it changes.
//
// It also hashes a range of a log as a tree of its own, as import statements do: append the leaves
// [first, end) to an empty CompactRange and take the root.
class CompactRange {
 public:
  CompactRange() = default;

  // A tree of `size` leaves from the hashes of its perfect subtrees, the largest (leftmost) first.
  // Error: as many hashes as `size` has set bits are needed, and size <= 2^63 - 1 (BAD_FRONTIER).
  static Result<CompactRange> resume(std::uint64_t size, std::span<const Digest> subtrees);

  void append(const LeafHash& leaf) {
    append(leaf, [](unsigned, const Digest&) {});
  }

  // As above, and calls node(level, hash) for the leaf (level 0) and then for each perfect subtree
  // of 2^level leaves that the leaf completes. Requires: size() < 2^63 - 1.
  template <typename OnNode>
  void append(const LeafHash& leaf, OnNode&& node);

  std::uint64_t size() const { return size_; }
  // RFC 6962 section 2.1 MTH of all leaves so far; the empty root for none. Hashes popcount(size) -
  // 1 nodes.
  Digest root() const;

 private:
  std::uint64_t size_ = 0;
  std::array<Digest, 64> subtrees_{};  // [b] is valid when bit b of size_ is set
};

// The root of the leaves as a tree of their own.
Digest range_root(std::span<const LeafHash> leaves);

template <typename OnNode>
void CompactRange::append(const LeafHash& leaf, OnNode&& node) {
  assert(size_ < limits::kTreeSize);
  Digest hash = leaf.digest();
  unsigned level = 0;
  node(level, std::as_const(hash));
  // Leaf number size_ completes one subtree for each trailing one bit of size_.
  for (; (size_ >> level & 1) != 0; ++level) {
    hash = node_hash(subtrees_[level], hash);
    node(level + 1, std::as_const(hash));
  }
  subtrees_[level] = hash;
  ++size_;
}

}  // namespace kernelindex
