// SPDX-License-Identifier: Apache-2.0
#include "ledger/merkle.h"

#include <charconv>
#include <cstring>
#include <string>

namespace kernelindex {
namespace {

constexpr char kLeafPrefix = 0x00;
constexpr char kNodePrefix = 0x01;

}  // namespace

LeafHash leaf_hash(std::string_view entry) {
  return LeafHash(sha256({std::string_view(&kLeafPrefix, 1), entry}));
}

Digest node_hash(const Digest& left, const Digest& right) {
  // One contiguous message: three small updates cost more than copying 64 bytes.
  std::array<char, 1 + 2 * sizeof(Digest::bytes)> message;
  message[0] = kNodePrefix;
  std::memcpy(message.data() + 1, left.bytes.data(), left.bytes.size());
  std::memcpy(message.data() + 33, right.bytes.data(), right.bytes.size());
  return sha256(std::string_view(message.data(), message.size()));
}

const Digest& empty_root() {
  static const Digest root = sha256(std::string_view());
  return root;
}

std::optional<Digest> hash_from_base64(std::string_view text) {
  if (text.size() != 44) return std::nullopt;  // bounds the decoding; 31 and 33 bytes pass it too
  const std::optional<std::string> raw = from_base64(text);
  if (!raw || raw->size() != sizeof(Digest::bytes)) return std::nullopt;
  return Digest::from_raw(*raw);
}

std::optional<std::uint64_t> size_from_decimal(std::string_view text) {
  std::uint64_t size = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), size);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  if (size > limits::kTreeSize || std::to_string(size) != text) return std::nullopt;
  return size;
}

Result<CompactRange> CompactRange::resume(std::uint64_t size, std::span<const Digest> subtrees) {
  if (size > limits::kTreeSize ||
      subtrees.size() != static_cast<std::size_t>(std::popcount(size))) {
    return fail(ErrorKind::corrupt, "BAD_FRONTIER", {},
                std::to_string(subtrees.size()) + " subtree hashes cannot make a tree of " +
                    std::to_string(size) + " leaves");
  }
  CompactRange range;
  range.size_ = size;
  std::size_t next = subtrees.size();
  for (unsigned level = 0; level < range.subtrees_.size(); ++level) {
    if ((size >> level & 1) != 0) range.subtrees_[level] = subtrees[--next];
  }
  assert(next == 0);
  return range;
}

Digest CompactRange::root() const {
  if (size_ == 0) return empty_root();
  // Fold from the smallest subtree, on the right, to the largest.
  unsigned level = static_cast<unsigned>(std::countr_zero(size_));
  Digest root = subtrees_[level];
  for (++level; level < subtrees_.size(); ++level) {
    if ((size_ >> level & 1) != 0) root = node_hash(subtrees_[level], root);
  }
  return root;
}

Digest range_root(std::span<const LeafHash> leaves) {
  CompactRange range;
  for (const LeafHash& leaf : leaves) range.append(leaf);
  return range.root();
}

}  // namespace kernelindex
