// SPDX-License-Identifier: Apache-2.0
// Hashes of perfect subtrees read from tiles, each checked before it is used.
//
// The right-edge tiles must lead to the root of the head; every other tile, full by its place, must
// hash to what its parent holds for it, also where the parent was itself a right-edge tile (Go's
// reader skipped that: golang/go 80744). So a source can withhold tiles, but not forge one. C2SP
// tlog-tiles.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ledger/merkle.h"
#include "ledger/proof.h"
#include "ledger/tile.h"
#include "schema/result.h"

namespace kernelindex {

// Not for sharing between threads. Keeps a bounded number of checked tiles (about 16 KiB each).
class TileReader final : public NodeSource {
 public:
  // Reads and checks the right edge. Requires of the caller: `head` is trusted. Errors:
  // ROOT_MISMATCH (kind corrupt), TILE_LENGTH, SIZE_OUT_OF_RANGE, and those of the source.
  static Result<TileReader> open(const TreeHead& head, TileSource tiles);

  // Errors: NODE_OUT_OF_RANGE (the subtree is not inside the tree), TILE_MISMATCH (kind corrupt:
  // the tile is not what its parent says; names both hashes).
  Result<Digest> node(unsigned level, std::uint64_t index) override;

  // That the entry is leaf `index` of the tree. Error LEAF_MISMATCH (kind corrupt).
  Status check_entry(std::uint64_t index, std::string_view entry);

  const TreeHead& head() const { return head_; }

 private:
  // All perfect-subtree hashes inside one tile: rows[r][i] covers hashes [i 2^r, (i + 1) 2^r).
  struct Nodes {
    std::array<std::vector<Digest>, kTileHeight + 1> rows;
  };
  using Place = std::pair<unsigned, std::uint64_t>;  // level, index

  TileReader(const TreeHead& head, TileSource tiles) : head_(head), tiles_(std::move(tiles)) {}
  Result<const Nodes*> checked_tile(unsigned level, std::uint64_t index);
  Result<std::string> read_tile(unsigned level, std::uint64_t index, unsigned width);
  static Nodes nodes_of(std::string_view bytes);
  Status open_edge();

  TreeHead head_;
  TileSource tiles_;
  std::array<std::unique_ptr<Nodes>, kTileLevels>
      edge_;                     // the partial tiles, null where there is none
  std::map<Place, Nodes> full_;  // checked full tiles
};

}  // namespace kernelindex
