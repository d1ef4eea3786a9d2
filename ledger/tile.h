// SPDX-License-Identifier: Apache-2.0
// The log as C2SP tlog-tiles of height 8: where tiles lie, what they hold, and how they grow.
//
// Tile (level L, index N) holds up to 256 hashes of 32 bytes; hash i is the MTH of the leaves
// [(256 N + i) 256^L, (256 N + i + 1) 256^L). A tile of width below 256 is partial: the right edge
// of its level, floor(size / 256^L) mod 256 wide. Only levels 0, 8, 16, ... of the binary tree are
// kept; the seven between are recomputed. With 64-bit sizes levels 8 and above cannot exist and are
// refused.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/merkle.h"
#include "schema/digest.h"
#include "schema/result.h"

namespace kernelindex {

inline constexpr unsigned kTileHeight = 8;
inline constexpr unsigned kTileWidth = 1u << kTileHeight;  // hashes in a full tile
inline constexpr unsigned kTileLevels = 8;                 // 256^8 leaves exceed 2^63 - 1
inline constexpr std::size_t kHashBytes = 32;
inline constexpr std::size_t kTileBytes = kTileWidth * kHashBytes;

// ---- Where tiles lie
// -------------------------------------------------------------------------------

// A hash tile, or with `entries` a bundle of the 256 entries below a tile of level 0.
struct TilePath {
  bool entries = false;
  unsigned level = 0;  // 0..7; 0 for entries
  std::uint64_t index = 0;
  unsigned width = kTileWidth;  // 1..256

  bool operator==(const TilePath&) const = default;
};

// "tile/0/x001/x234/067.p/8", "tile/entries/000". Requires: level and width in range.
std::string tile_path_text(const TilePath& path);
// Accepts exactly what tile_path_text() prints, for tiles that the largest tree can have. Errors
// BAD_TILE_PATH, TILE_LEVEL (8 and above).
Result<TilePath> parse_tile_path(std::string_view text);

// How many tiles of a level the tree of `size` leaves has in full, and how wide its partial one is
// (0: there is none). Both 0 for level 8 and above.
std::uint64_t full_tiles(unsigned level, std::uint64_t size);
unsigned partial_width(unsigned level, std::uint64_t size);
// Hashes that the tile (level, index) has in the tree of `size` leaves, 0..256.
unsigned tile_width(unsigned level, std::uint64_t index, std::uint64_t size);

// Tiles [first, end) of one level; all are full but the last, which is `last_width` wide.
struct TileRange {
  unsigned level = 0;
  std::uint64_t first = 0;
  std::uint64_t end = 0;
  unsigned last_width = kTileWidth;

  bool operator==(const TileRange&) const = default;
};

// The tiles that are new or wider when the tree grows from `from` to `to` leaves, level 0 first;
// from 0 these are all tiles. At most one range a level. Requires: from <= to <= 2^63 - 1.
std::vector<TileRange> changed_tiles(std::uint64_t from, std::uint64_t to);

// ---- What tiles hold
// -------------------------------------------------------------------------------

// A hash tile with its bytes: width * 32 of them.
struct Tile {
  unsigned level = 0;
  std::uint64_t index = 0;
  unsigned width = 0;  // 1..256
  std::string bytes;
};

// Reads a tile: (level, index, width) to its first width * 32 bytes. More bytes may come back, when
// the stored tile has grown since; whole hashes and at most 256. What is missing is an error.
using TileSource = std::function<Result<std::string>(unsigned, std::uint64_t, unsigned)>;

// The bytes cut to `width` hashes. Error TILE_LENGTH (kind corrupt).
Result<std::string> cut_tile(std::string bytes, unsigned level, std::uint64_t index,
                             unsigned width);

// The hash of a full tile, as its parent holds it. Requires: kTileBytes bytes.
Digest tile_root(std::string_view bytes);

// An entry bundle: for each entry its length as two bytes, big-endian, and its bytes.
// Errors: ENTRY_TOO_LARGE above 65,535 bytes, BUNDLE_WIDTH unless 1..256 entries.
Result<std::string> encode_bundle(std::span<const std::string_view> entries);
// The entries of a bundle of `width`; views into `bytes`. There must be exactly `width` entries,
// and every byte must be used (BAD_BUNDLE).
Result<std::vector<std::string_view>> decode_bundle(std::string_view bytes, unsigned width);

// The frontier of a tree from the bytes of its partial tiles, level 0 first, empty where a level
// has none. Requires: eight of them, each as wide as `size` demands.
CompactRange edge_frontier(std::uint64_t size, std::span<const std::string> edge);

// ---- How they grow
// ---------------------------------------------------------------------------------

// The right edge of the log: takes leaves, gives the tiles to write and the new root. Memory: the
// partial tiles (at most 64 KiB) and what was not yet taken. One owner, one thread.
class TileTree {
 public:
  TileTree() = default;  // the empty log

  // A log of `size` leaves, from its partial tiles. Reads at most 8 tiles. The caller compares
  // root() with what it knows (head, checkpoint): that is what makes the tiles trustworthy. Errors:
  // SIZE_OUT_OF_RANGE, TILE_LENGTH, and those of the source.
  static Result<TileTree> resume(std::uint64_t size, const TileSource& tiles);

  // Requires: size() < 2^63 - 1.
  void append(const LeafHash& leaf);

  // The tiles that changed since the last call, each once, as wide as they are now: completed ones
  // in order of completion, then the partial ones from level 0 up. Afterwards nothing is pending.
  std::vector<Tile> take_changed_tiles();

  std::uint64_t size() const { return frontier_.size(); }
  Digest root() const { return frontier_.root(); }
  TreeHead head() const { return {size(), root()}; }

 private:
  CompactRange frontier_;
  std::array<std::string, kTileLevels> edge_;  // bytes of the partial tile of each level
  std::array<bool, kTileLevels> grown_{};      // the partial tile changed and was not taken
  std::vector<Tile> completed_;                // not yet taken
};

}  // namespace kernelindex
