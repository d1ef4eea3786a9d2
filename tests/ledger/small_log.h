// SPDX-License-Identifier: Apache-2.0
// A log in memory with its key: leaves, tiles, checkpoints of any size, proofs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ledger/checkpoint.h"
#include "ledger/proof.h"
#include "ledger/seeded_key.h"
#include "ledger/signing_key.h"
#include "ledger/tile.h"
#include "ledger/tile_export.h"

namespace kernelindex::test {

class SmallLog {
 public:
  // Leaf i is test::entry(i), or "forged" where `forged` says so.
  explicit SmallLog(std::uint64_t size, std::string origin = "example.org/log",
                    std::uint64_t forged = ~std::uint64_t{0});

  const std::string& origin() const { return origin_; }
  const std::vector<std::string>& leaves() const { return leaves_; }
  std::uint64_t size() const { return leaves_.size(); }
  VerifierKey vkey() const { return log_verifier_key(origin_, key_.public_key()); }
  // Tiles as a store has them: as wide as the whole log makes them.
  TileSource tiles() const;
  TreeHead head(std::uint64_t size) const;
  SignedCheckpoint checkpoint(std::uint64_t size) const;
  Proof consistency(std::uint64_t older, std::uint64_t newer) const;
  Proof inclusion(std::uint64_t index, std::uint64_t size) const;
  // An export of it at a size; must not outlive this log.
  TileExport at(std::uint64_t size) const;

  std::vector<std::string>& leaves_to_spoil() { return leaves_; }

 private:
  std::string origin_;
  SigningKey key_;
  std::vector<std::string> leaves_;
  std::map<std::pair<unsigned, std::uint64_t>, std::string> tiles_;
};

}  // namespace kernelindex::test
