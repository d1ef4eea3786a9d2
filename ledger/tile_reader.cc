// SPDX-License-Identifier: Apache-2.0
#include "ledger/tile_reader.h"

#include <cassert>
#include <utility>

#include "schema/limits.h"

namespace kernelindex {
namespace {

constexpr std::size_t kKeptTiles = 64;  // about 1 MiB

std::string tile_name(unsigned level, std::uint64_t index) {
  return "tile " + std::to_string(level) + "/" + std::to_string(index);
}

}  // namespace

Result<TileReader> TileReader::open(const TreeHead& head, TileSource tiles) {
  if (head.size > limits::kTreeSize) {
    return fail(ErrorKind::invalid, "SIZE_OUT_OF_RANGE", {},
                "no tree has more than 2^63 - 1 leaves");
  }
  TileReader reader(head, std::move(tiles));
  if (Status ok = reader.open_edge(); !ok) return fail(ok.error());
  return reader;
}

Status TileReader::open_edge() {
  std::array<std::string, kTileLevels> bytes;
  for (unsigned level = 0; level < kTileLevels; ++level) {
    const unsigned width = partial_width(level, head_.size);
    if (width == 0) continue;
    Result<std::string> tile = read_tile(level, full_tiles(level, head_.size), width);
    if (!tile) return fail(tile.error());
    bytes[level] = std::move(*tile);
  }
  const Digest root = edge_frontier(head_.size, bytes).root();
  if (root != head_.root) {
    return fail(ErrorKind::corrupt, "ROOT_MISMATCH", {},
                "the tiles of the right edge lead to the root " + root.text() + ", not to " +
                    head_.root.text());
  }
  for (unsigned level = 0; level < kTileLevels; ++level) {
    if (!bytes[level].empty()) edge_[level] = std::make_unique<Nodes>(nodes_of(bytes[level]));
  }
  return {};
}

Result<std::string> TileReader::read_tile(unsigned level, std::uint64_t index, unsigned width) {
  Result<std::string> bytes = tiles_(level, index, width);
  if (!bytes) return fail_in(tile_name(level, index), bytes.error());
  return cut_tile(std::move(*bytes), level, index, width);
}

TileReader::Nodes TileReader::nodes_of(std::string_view bytes) {
  Nodes nodes;
  for (std::size_t i = 0; i < bytes.size(); i += kHashBytes) {
    nodes.rows[0].push_back(Digest::from_raw(bytes.substr(i, kHashBytes)));
  }
  for (unsigned row = 1; row <= kTileHeight; ++row) {
    const std::vector<Digest>& below = nodes.rows[row - 1];
    for (std::size_t i = 0; i + 1 < below.size(); i += 2) {
      nodes.rows[row].push_back(node_hash(below[i], below[i + 1]));
    }
  }
  return nodes;
}

Result<const TileReader::Nodes*> TileReader::checked_tile(unsigned level, std::uint64_t index) {
  if (index == full_tiles(level, head_.size)) {
    assert(edge_[level] != nullptr);
    return edge_[level].get();
  }
  if (const auto kept = full_.find({level, index}); kept != full_.end()) return &kept->second;
  // A full tile is what its parent says, or nothing. The parent is checked first, at most 7 levels
  // up.
  const Result<Digest> expected = node((level + 1) * kTileHeight, index);
  if (!expected) return fail(expected.error());
  const Result<std::string> bytes = read_tile(level, index, kTileWidth);
  if (!bytes) return fail(bytes.error());
  Nodes nodes = nodes_of(*bytes);
  const Digest& found = nodes.rows[kTileHeight].front();
  if (found != *expected) {
    return fail(ErrorKind::corrupt, "TILE_MISMATCH", tile_name(level, index),
                "the tile hashes to " + found.text() + ", its parent says " + expected->text());
  }
  if (full_.size() >= kKeptTiles) full_.clear();
  return &full_.emplace(Place{level, index}, std::move(nodes)).first->second;
}

Result<Digest> TileReader::node(unsigned level, std::uint64_t index) {
  // The subtree [index 2^level, (index + 1) 2^level) lies inside the tree?
  if (level >= kTileLevels * kTileHeight || index >= head_.size >> level) {
    return fail(ErrorKind::not_found, "NODE_OUT_OF_RANGE", {},
                "there is no node " + std::to_string(level) + "/" + std::to_string(index) +
                    " in a tree of " + std::to_string(head_.size) + " leaves");
  }
  const unsigned row = level % kTileHeight;
  const unsigned tile_level = level / kTileHeight;
  const unsigned in_tile = kTileHeight - row;  // a tile has 2^in_tile nodes of this row
  const Result<const Nodes*> tile = checked_tile(tile_level, index >> in_tile);
  if (!tile) return fail(tile.error());
  return (*tile)->rows[row][index & ((std::uint64_t{1} << in_tile) - 1)];
}

Status TileReader::check_entry(std::uint64_t index, std::string_view entry) {
  const Result<Digest> expected = node(0, index);
  if (!expected) return fail(expected.error());
  const LeafHash found = leaf_hash(entry);
  if (found.digest() != *expected) {
    return fail(
        ErrorKind::corrupt, "LEAF_MISMATCH", "entry " + std::to_string(index),
        "the entry hashes to " + found.digest().text() + ", the log says " + expected->text());
  }
  return {};
}

}  // namespace kernelindex
