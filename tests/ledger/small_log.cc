// SPDX-License-Identifier: Apache-2.0
#include "ledger/small_log.h"

#include "ledger/tile_reader.h"
#include "ledger/vectors.h"

namespace kernelindex::test {

SmallLog::SmallLog(std::uint64_t size, std::string origin, std::uint64_t forged)
    : origin_(std::move(origin)), key_(seeded('l')) {
  TileTree tree;
  for (std::uint64_t i = 0; i < size; ++i) {
    leaves_.push_back(i == forged ? "forged" : entry(i));
    tree.append(leaf_hash(leaves_.back()));
  }
  for (Tile& tile : tree.take_changed_tiles()) {
    tiles_[{tile.level, tile.index}] = std::move(tile.bytes);
  }
}

TileSource SmallLog::tiles() const {
  return [this](unsigned level, std::uint64_t index, unsigned) -> Result<std::string> {
    const auto found = tiles_.find({level, index});
    if (found == tiles_.end()) return fail(ErrorKind::not_found, "NO_TILE", {}, "no tile");
    return found->second;
  };
}

TreeHead SmallLog::head(std::uint64_t size) const {
  CompactRange tree;
  for (std::uint64_t i = 0; i < size; ++i) tree.append(leaf_hash(leaves_.at(i)));
  return {size, tree.root()};
}

SignedCheckpoint SmallLog::checkpoint(std::uint64_t size) const {
  const SigningKey* keys[] = {&key_};
  return sign_checkpoint({origin_, head(size)}, keys);
}

Proof SmallLog::consistency(std::uint64_t older, std::uint64_t newer) const {
  TileReader reader = TileReader::open(head(size()), tiles()).value();
  return prove_consistency(older, newer, reader).value();
}

Proof SmallLog::inclusion(std::uint64_t index, std::uint64_t size) const {
  TileReader reader = TileReader::open(head(this->size()), tiles()).value();
  return prove_inclusion(index, size, reader).value();
}

TileExport SmallLog::at(std::uint64_t size) const {
  TileExport log;
  log.checkpoint = checkpoint(size);
  log.tiles = tiles();
  log.leaf = [this](std::uint64_t index) -> Result<std::string> { return leaves_.at(index); };
  return log;
}

}  // namespace kernelindex::test
