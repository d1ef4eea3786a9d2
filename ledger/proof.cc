// SPDX-License-Identifier: Apache-2.0
#include "ledger/proof.h"

#include <bit>
#include <cassert>
#include <optional>
#include <utility>

#include "ledger/text_lines.h"
#include "schema/limits.h"

namespace kernelindex {
namespace {

// ---- Making
// ----------------------------------------------------------------------------------------
//
// All ranges below are subtrees [start, end) whose start is a multiple of the smallest power of two
// that is at least their length: so the split of RFC 6962 falls on boundaries of perfect, stored
// subtrees, and only those on the right edge have to be put together.

std::unexpected<Error> out_of_range(ErrorKind kind, const char* code, std::string message) {
  return fail(kind, code, {}, std::move(message));
}

std::unexpected<Error> bad_size() {
  return out_of_range(ErrorKind::invalid, "SIZE_OUT_OF_RANGE",
                      "sizes go from 1 to 2^63 - 1, and the older is not above the newer");
}

std::unexpected<Error> bad_subtree(const Subtree& subtree) {
  return out_of_range(ErrorKind::invalid, "INVALID_SUBTREE",
                      "[" + std::to_string(subtree.start) + ", " + std::to_string(subtree.end) +
                          ") is not a subtree");
}

// The largest power of two strictly below the length: where RFC 6962 splits. Requires: at least 2.
std::uint64_t split(std::uint64_t length) { return std::bit_floor(length - 1); }

// MTH(D[start : end]).
Result<Digest> range_hash(const Subtree& range, NodeSource& nodes) {
  std::vector<Digest> perfect;  // left to right
  for (std::uint64_t start = range.start; start < range.end;) {
    const std::uint64_t length = std::bit_floor(range.end - start);
    const auto level = static_cast<unsigned>(std::countr_zero(length));
    const Result<Digest> hash = nodes.node(level, start >> level);
    if (!hash) return hash;
    perfect.push_back(*hash);
    start += length;
  }
  assert(!perfect.empty());
  Digest root = perfect.back();
  for (std::size_t i = perfect.size() - 1; i-- > 0;) root = node_hash(perfect[i], root);
  return root;
}

// The hashes of the ranges, in reverse: they were found from the root down, proofs go up.
Result<Proof> hashes_upwards(const std::vector<Subtree>& ranges, NodeSource& nodes) {
  Proof proof;
  for (std::size_t i = ranges.size(); i-- > 0;) {
    const Result<Digest> hash = range_hash(ranges[i], nodes);
    if (!hash) return fail(hash.error());
    proof.push_back(*hash);
  }
  return proof;
}

// SUBTREE_SUBPROOF of draft-ietf-plants-merkle-tree-certs, which is RFC 6962's PATH for a range of
// one leaf and its SUBPROOF for a range from 0: `inner` lies in `outer`, whose hash the verifier
// knows.
std::vector<Subtree> path_to(const Subtree& inner, Subtree outer) {
  std::vector<Subtree> siblings;
  bool known = true;  // whether the verifier knows the hash of `inner` as a node of the tree
  Subtree target = inner;
  while (target != outer) {
    const std::uint64_t middle = outer.start + split(outer.size());
    const Subtree left{outer.start, middle};
    const Subtree right{middle, outer.end};
    if (target.end <= middle) {
      siblings.push_back(right);
      outer = left;
    } else if (target.start >= middle) {
      siblings.push_back(left);
      outer = right;
    } else {
      // The target covers the left part and reaches into the right one: it is no node of this tree.
      assert(target.start == outer.start);
      siblings.push_back(left);
      target.start = middle;
      outer = right;
      known = false;
    }
  }
  if (!known) siblings.push_back(target);
  return siblings;
}

// ---- Checking
// --------------------------------------------------------------------------------------

ProofVerdict refuted(std::string_view code, std::string detail) {
  return {code, std::move(detail), {}, {}, false};
}

ProofVerdict mismatch(std::string_view code, const Digest& expected, const Digest& found) {
  return {code, "the proof leads to the root " + found.text() + ", not to " + expected.text(),
          expected, found, false};
}

ProofVerdict wrong_length(std::size_t expected, std::size_t found) {
  return refuted("PROOF_LENGTH", "the proof has " + std::to_string(found) + " hashes where " +
                                     std::to_string(expected) + " belong");
}

ProofVerdict size_refuted() {
  return refuted("SIZE_OUT_OF_RANGE",
                 "sizes go up to 2^63 - 1, and the older is not above the newer");
}

// A way up the tree, seen at one level: the nodes `start`..`node` are a subtree, and `last` is the
// rightmost node. One step up halves all three.
struct Way {
  std::uint64_t start = 0;
  std::uint64_t node = 0;
  std::uint64_t last = 0;

  void up() {
    start >>= 1;
    node >>= 1;
    last >>= 1;
  }
};

// Goes from `way.node` to the root: RFC 9162 sections 2.1.3.2 and 2.1.4.2, and their common form in
// the draft on subtrees. Calls left(hash, inside) for a sibling on the left, which belongs to the
// subtree when `inside`, and right(hash) for one on the right. False when the proof does not end at
// the root.
template <typename Left, typename Right>
bool climb(Way way, std::span<const Digest> proof, Left&& left, Right&& right) {
  for (const Digest& hash : proof) {
    if (way.last == 0) return false;
    if ((way.node & 1) != 0 || way.node == way.last) {
      left(hash, way.start < way.node);
      // On the right edge a node is its own parent where it is the last, even one.
      while ((way.node & 1) == 0 && way.node != 0) way.up();
    } else {
      right(hash);
    }
    way.up();
  }
  return way.last == 0;
}

// Hashes that the way from leaf `index` to the root of `size` leaves takes. Requires: index < size.
std::size_t inclusion_length(std::uint64_t index, std::uint64_t size) {
  const auto inner = static_cast<unsigned>(std::bit_width(index ^ (size - 1)));
  const std::uint64_t above = inner < 64 ? index >> inner : 0;
  return inner + static_cast<unsigned>(std::popcount(above));
}

ProofVerdict check_path(const Digest& leaf, std::uint64_t index, std::uint64_t size,
                        const Digest& root, std::span<const Digest> proof) {
  const std::size_t length = inclusion_length(index, size);
  if (proof.size() != length) return wrong_length(length, proof.size());
  Digest found = leaf;
  const bool arrived = climb(
      {index, index, size - 1}, proof,
      [&](const Digest& hash, bool) { found = node_hash(hash, found); },
      [&](const Digest& hash) { found = node_hash(found, hash); });
  if (!arrived) return wrong_length(length, proof.size());
  return found == root ? ProofVerdict{} : mismatch("ROOT_MISMATCH", root, found);
}

}  // namespace

bool Subtree::valid() const {
  if (start >= end || end > limits::kTreeSize) return false;
  return start % std::bit_ceil(end - start) ==
         0;  // the length is at most 2^63 - 1: bit_ceil is defined
}

Result<Digest> subtree_root(const Subtree& subtree, NodeSource& nodes) {
  if (!subtree.valid()) return bad_subtree(subtree);
  return range_hash(subtree, nodes);
}

Result<Digest> tree_root(std::uint64_t size, NodeSource& nodes) {
  if (size > limits::kTreeSize) return bad_size();
  if (size == 0) return empty_root();
  return range_hash({0, size}, nodes);
}

Result<Proof> prove_inclusion(std::uint64_t index, std::uint64_t size, NodeSource& nodes) {
  return prove_subtree_inclusion(index, {0, size}, nodes);
}

Result<Proof> prove_consistency(std::uint64_t older, std::uint64_t newer, NodeSource& nodes) {
  if (older == 0 || older > newer || newer > limits::kTreeSize) return bad_size();
  return prove_subtree_consistency({0, older}, newer, nodes);
}

Result<Proof> prove_subtree_inclusion(std::uint64_t index, const Subtree& subtree,
                                      NodeSource& nodes) {
  if (subtree.end > limits::kTreeSize) return bad_size();
  if (index < subtree.start || index >= subtree.end) {
    return out_of_range(ErrorKind::not_found, "INDEX_OUT_OF_RANGE",
                        "there is no leaf " + std::to_string(index) + " in [" +
                            std::to_string(subtree.start) + ", " + std::to_string(subtree.end) +
                            ")");
  }
  if (!subtree.valid()) return bad_subtree(subtree);
  return hashes_upwards(path_to({index, index + 1}, subtree), nodes);
}

Result<Proof> prove_subtree_consistency(const Subtree& subtree, std::uint64_t size,
                                        NodeSource& nodes) {
  if (!subtree.valid()) return bad_subtree(subtree);
  if (subtree.end > size || size > limits::kTreeSize) return bad_size();
  return hashes_upwards(path_to(subtree, {0, size}), nodes);
}

ProofVerdict verify_inclusion(const LeafHash& leaf, std::uint64_t index, const TreeHead& head,
                              std::span<const Digest> proof) {
  if (head.size > limits::kTreeSize) return size_refuted();
  if (index >= head.size) {
    return refuted("INDEX_OUT_OF_RANGE", "there is no leaf " + std::to_string(index) +
                                             " in a tree of " + std::to_string(head.size));
  }
  return check_path(leaf.digest(), index, head.size, head.root, proof);
}

ProofVerdict verify_subtree_inclusion(const LeafHash& leaf, std::uint64_t index,
                                      const Subtree& subtree, const Digest& root,
                                      std::span<const Digest> proof) {
  if (!subtree.valid()) return refuted("INVALID_SUBTREE", "this is not a subtree");
  if (index < subtree.start || index >= subtree.end) {
    return refuted("INDEX_OUT_OF_RANGE", "the leaf does not lie in the subtree");
  }
  return check_path(leaf.digest(), index - subtree.start, subtree.size(), root, proof);
}

ProofVerdict verify_consistency(const TreeHead& older, const TreeHead& newer,
                                std::span<const Digest> proof) {
  if (newer.size > limits::kTreeSize || older.size > newer.size) return size_refuted();
  if (older.size == 0) {
    // No proof exists: any tree begins with nothing. The caller decides what that is worth.
    if (!proof.empty()) return wrong_length(0, proof.size());
    if (older.root != empty_root()) return mismatch("OLD_ROOT_MISMATCH", older.root, empty_root());
    if (newer.size == 0 && newer.root != empty_root()) {
      return mismatch("ROOT_MISMATCH", newer.root, empty_root());
    }
    ProofVerdict verdict;
    verdict.nothing_proved = true;
    return verdict;
  }
  return verify_subtree_consistency({0, older.size}, older.root, newer, proof);
}

ProofVerdict verify_subtree_consistency(const Subtree& subtree, const Digest& root,
                                        const TreeHead& head, std::span<const Digest> proof) {
  if (!subtree.valid()) return refuted("INVALID_SUBTREE", "this is not a subtree");
  if (head.size > limits::kTreeSize || subtree.end > head.size) return size_refuted();
  // Up to the level where the subtree is one node, or else to the lowest where a left node ends it:
  // then the proof begins with the hash of that node, for the subtree is none of the tree's.
  Way way{subtree.start, subtree.end - 1, head.size - 1};
  while (way.start != way.node && (way.node == way.last || (way.node & 1) != 0)) way.up();
  const bool is_node = way.start == way.node;
  const std::size_t length = inclusion_length(way.node, way.last + 1) + (is_node ? 0 : 1);
  if (proof.size() != length) return wrong_length(length, proof.size());
  Digest inside = is_node ? root : proof.front();  // grows to the hash of the subtree,
  Digest whole = inside;                           // and this to the root of the tree
  const bool arrived = climb(
      way, is_node ? proof : proof.subspan(1),
      [&](const Digest& hash, bool belongs) {
        if (belongs) inside = node_hash(hash, inside);
        whole = node_hash(hash, whole);
      },
      [&](const Digest& hash) { whole = node_hash(whole, hash); });
  if (!arrived) return wrong_length(length, proof.size());
  if (inside != root) return mismatch("OLD_ROOT_MISMATCH", root, inside);
  if (whole != head.root) return mismatch("ROOT_MISMATCH", head.root, whole);
  return {};
}

std::vector<std::string> proof_texts(std::span<const Digest> proof) {
  std::vector<std::string> texts;
  texts.reserve(proof.size());
  for (const Digest& hash : proof) texts.push_back(to_base64(hash.raw()));
  return texts;
}

Result<Proof> parse_proof(std::span<const std::string_view> texts) {
  if (texts.size() > limits::kProofHashes) {
    return fail(ErrorKind::invalid, "TOO_MANY_HASHES", {},
                "the proof has " + std::to_string(texts.size()) +
                    " hashes, more than the limit of " + std::to_string(limits::kProofHashes));
  }
  Proof proof;
  for (const std::string_view text : texts) {
    const std::optional<Digest> hash = hash_from_base64(text);
    if (!hash) {
      return fail(ErrorKind::invalid, "BAD_HASH", "hash " + std::to_string(proof.size() + 1),
                  "a hash is the canonical base64 of 32 bytes");
    }
    proof.push_back(*hash);
  }
  return proof;
}

std::string proof_lines(std::span<const Digest> proof) {
  std::string out;
  for (const std::string& text : proof_texts(proof)) out += text + "\n";
  return out + "\n";
}

Result<Proof> take_proof_lines(std::string_view& text) {
  std::vector<std::string_view> lines;
  while (const std::optional<std::string_view> line = take_line(text)) {
    if (line->empty()) return parse_proof(lines);
    if (lines.size() == kProofLines) {
      return fail(
          ErrorKind::invalid, "TOO_MANY_HASHES", {},
          "the proof has more than the limit of " + std::to_string(kProofLines) + " hashes");
    }
    lines.push_back(*line);
  }
  return fail(ErrorKind::invalid, "NO_EMPTY_LINE", {}, "no empty line ends the proof");
}

}  // namespace kernelindex
