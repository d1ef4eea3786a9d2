// SPDX-License-Identifier: Apache-2.0
// Public test vectors as JSON, and the trees that the Merkle ones are over.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/merkle.h"
#include "ledger/proof.h"
#include "schema/digest.h"
#include "schema/json_value.h"

namespace kernelindex {

// Known answers publish leaf hashes without their entries; only tests may take those.
struct LeafHashForTest {
  static LeafHash make(const Digest& digest) { return LeafHash(digest); }
};

namespace test {

struct Vectors {
  json::Arena arena;
  json::Value root;

  std::span<const json::Value> cases(std::string_view name) const {
    return root.find(name)->array();
  }
};

// "rfc6962/inclusion.json" below vectors/. Throws when it cannot be read.
Vectors load_vectors(std::string_view name);

// A number, or a text of digits; what is beyond 2^64 - 1 as a double is that.
std::uint64_t u64(const json::Value& value);
std::string base64(const json::Value& value);  // throws unless canonical
Digest hex_digest(const json::Value& value);
// 32 bytes in base64; nothing for other lengths, which Digest cannot even hold.
std::optional<Digest> base64_digest(const json::Value* value);
// An array of such, or null for none; nothing when one of them has another length.
std::optional<Proof> base64_proof(const json::Value* value);

// The log whose leaf i is the single byte i (mod 256, with its index in front beyond that).
std::string entry(std::uint64_t index);

// All hashes of a small tree in memory.
class MemoryNodes final : public NodeSource {
 public:
  explicit MemoryNodes(std::uint64_t size);
  Result<Digest> node(unsigned level, std::uint64_t index) override;
  // Requires: index < size.
  const LeafHash& leaf(std::uint64_t index) const { return leaves_[index]; }

 private:
  std::vector<LeafHash> leaves_;
  std::vector<std::vector<Digest>> rows_;
};

}  // namespace test
}  // namespace kernelindex
