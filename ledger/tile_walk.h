// SPDX-License-Identifier: Apache-2.0
// Every hash tile of a log, each checked before it is handed out, in the order of the leaves.
//
// The tiles of the right edge must lead to the root; every other tile, full by its place, must hash
// to what its parent holds for it, also below a parent that is itself of the right edge (PITFALLS
// 22). A parent comes before its children. C2SP tlog-tiles, RFC 6962 section 2.1.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "ledger/merkle.h"
#include "ledger/tile.h"
#include "schema/result.h"

namespace kernelindex {

struct TileWalk {
  // The bytes of a tile: of `path.width` hashes exactly. Not trusted. An error of kind `system`
  // ends the walk; all others mean that the tile is not there as it should be.
  std::function<Result<std::string>(const TilePath& path)> fetch;
  // A tile that was found to be of the log. An error ends the walk.
  std::function<Status(const TilePath& path, std::string_view bytes)> tile;
  // A tile that is missing (the error of `fetch`) or false (TILE_MISMATCH, ROOT_MISMATCH, both kind
  // corrupt), the hashes expected and found, and how many leaves lie below it, whose tiles are left
  // out. For the root `path` is null, and the walk ends. An error ends the walk too.
  std::function<Status(const TilePath* path, const Error& error, const Digest& expected,
                       const Digest& found, std::uint64_t leaves)>
      fault;
};

// Memory: one tile a level and those of the right edge, together at most 128 KiB. Requires of the
// caller: `head` comes from a verified checkpoint. Error SIZE_OUT_OF_RANGE, and those above.
Status walk_tiles(const TreeHead& head, const TileWalk& walk);

}  // namespace kernelindex
