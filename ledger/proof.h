// SPDX-License-Identifier: Apache-2.0
// Inclusion and consistency proofs, made and checked: RFC 6962 sections 2.1.1 and 2.1.2, RFC 9162
// sections 2.1.3 and 2.1.4, and the subtree proofs of draft-ietf-plants-merkle-tree-certs.
//
// Making a proof reads stored hashes of perfect subtrees; what lies on the right edge of the size
// asked for is recomputed for that size, never stored. Checking is pure arithmetic: the number of
// hashes is settled by the sizes before anything is hashed. Sizes above 2^63 - 1 are refused
// everywhere.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/merkle.h"
#include "schema/digest.h"
#include "schema/result.h"

namespace kernelindex {

// Hashes from the sibling of the leaf to the child of the root; at most 64.
using Proof = std::vector<Digest>;

// Where the hashes of perfect subtrees come from: the tiles of a store or a mirror, or a test's
// array.
class NodeSource {
 public:
  virtual ~NodeSource() = default;
  // MTH(D[index * 2^level : (index + 1) * 2^level]). Requires: the subtree lies inside the tree.
  virtual Result<Digest> node(unsigned level, std::uint64_t index) = 0;
};

// A subtree [start, end) of the log. Valid when start < end and start is a multiple of the smallest
// power of two that is at least end - start.
struct Subtree {
  std::uint64_t start = 0;
  std::uint64_t end = 0;

  std::uint64_t size() const { return end - start; }
  bool valid() const;
  bool operator==(const Subtree&) const = default;
};

// MTH of a valid subtree. Error INVALID_SUBTREE.
Result<Digest> subtree_root(const Subtree& subtree, NodeSource& nodes);
// MTH of the first `size` leaves; the empty root for 0.
Result<Digest> tree_root(std::uint64_t size, NodeSource& nodes);

// PATH(index, D[size]). Error INDEX_OUT_OF_RANGE (kind not_found) unless index < size <= 2^63 - 1.
Result<Proof> prove_inclusion(std::uint64_t index, std::uint64_t size, NodeSource& nodes);
// PROOF(older, D[newer]). Error SIZE_OUT_OF_RANGE unless 0 < older <= newer: from the empty tree
// there is nothing to prove.
Result<Proof> prove_consistency(std::uint64_t older, std::uint64_t newer, NodeSource& nodes);
// The path of the leaf `index` inside a valid subtree.
Result<Proof> prove_subtree_inclusion(std::uint64_t index, const Subtree& subtree,
                                      NodeSource& nodes);
// Ties a valid subtree to the tree of `size` leaves. [0, end) is the consistency proof, [i, i + 1)
// the inclusion proof.
Result<Proof> prove_subtree_consistency(const Subtree& subtree, std::uint64_t size,
                                        NodeSource& nodes);

// What a check found. Not an error: the check did its work and the proof is false.
struct [[nodiscard]] ProofVerdict {
  // Empty when the proof holds. SIZE_OUT_OF_RANGE, INDEX_OUT_OF_RANGE, INVALID_SUBTREE,
  // PROOF_LENGTH, ROOT_MISMATCH (of the newer or only tree), OLD_ROOT_MISMATCH (of the older tree
  // or the subtree).
  std::string_view code;
  std::string detail;           // one sentence
  Digest expected;              // of the two MISMATCH codes: the root that was claimed,
  Digest found;                 // and the one that the proof leads to
  bool nothing_proved = false;  // holds, because the older tree was empty

  bool ok() const { return code.empty(); }
};

// That the entry is leaf `index` of the tree. Requires of the caller: `head` comes from one
// verified checkpoint, never from whoever gave the proof.
ProofVerdict verify_inclusion(const LeafHash& leaf, std::uint64_t index, const TreeHead& head,
                              std::span<const Digest> proof);
// That the newer tree begins with the leaves of the older one. From the empty tree it holds only
// with an empty proof and the empty root, and then proves nothing.
ProofVerdict verify_consistency(const TreeHead& older, const TreeHead& newer,
                                std::span<const Digest> proof);
// That the entry is leaf `index` of the log and lies in the subtree whose hash is `root`.
ProofVerdict verify_subtree_inclusion(const LeafHash& leaf, std::uint64_t index,
                                      const Subtree& subtree, const Digest& root,
                                      std::span<const Digest> proof);
// That the subtree whose hash is `root` lies in the tree.
ProofVerdict verify_subtree_consistency(const Subtree& subtree, const Digest& root,
                                        const TreeHead& head, std::span<const Digest> proof);

// Proofs as base64 texts, one a hash. Reading refuses more than 64 of them before it decodes any
// (TOO_MANY_HASHES), and what is not canonical base64 of 32 bytes (BAD_HASH).
std::vector<std::string> proof_texts(std::span<const Digest> proof);
Result<Proof> parse_proof(std::span<const std::string_view> texts);

// The same as lines, in files and requests: each hash on a line of its own, an empty line after the
// last. The protocols allow 63 (C2SP tlog-witness, tlog-proof).
inline constexpr std::size_t kProofLines = 63;
std::string proof_lines(std::span<const Digest> proof);
// Takes such lines and the empty one off the front of `text`. Errors: TOO_MANY_HASHES before any is
// decoded, BAD_HASH, NO_EMPTY_LINE.
Result<Proof> take_proof_lines(std::string_view& text);

}  // namespace kernelindex
