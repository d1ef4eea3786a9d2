// SPDX-License-Identifier: Apache-2.0
#include "ledger/tile_walk.h"

#include <array>
#include <cassert>
#include <utility>

#include "schema/limits.h"

namespace kernelindex {
namespace {

class Walker {
 public:
  Walker(const TreeHead& head, const TileWalk& walk) : head_(head), walk_(walk) {}

  Status run() {
    const Result<bool> whole = read_edge();
    if (!whole) return fail(whole.error());
    if (!*whole) return {};
    // From the highest level down, a partial tile's leaves come before those of the level below.
    for (unsigned level = kTileLevels; level-- > 0;) {
      if (edge_[level].empty()) continue;
      if (Status done = checked(edge_path(level), edge_[level]); !done) return done;
    }
    return {};
  }

 private:
  TilePath edge_path(unsigned level) const {
    return {false, level, full_tiles(level, head_.size), partial_width(level, head_.size)};
  }

  // False when the walk cannot go on: without the edge there is nothing to compare with.
  Result<bool> read_edge() {
    for (unsigned level = 0; level < kTileLevels; ++level) {
      const TilePath path = edge_path(level);
      if (path.width == 0) continue;
      Result<std::string> bytes = walk_.fetch(path);
      if (!bytes) return stop(&path, bytes.error(), {}, {}, head_.size);
      assert(bytes->size() == path.width * kHashBytes);
      edge_[level] = std::move(*bytes);
    }
    const Digest root = edge_frontier(head_.size, edge_).root();
    if (root == head_.root) return true;
    const Error error{ErrorKind::corrupt,
                      "ROOT_MISMATCH",
                      {},
                      "the tiles of the right edge do not lead to the root of the checkpoint",
                      {}};
    return stop(nullptr, error, head_.root, root, head_.size);
  }

  Result<bool> stop(const TilePath* path, const Error& error, const Digest& expected,
                    const Digest& found, std::uint64_t leaves) {
    const Status status = report(path, error, expected, found, leaves);
    if (!status) return fail(status.error());
    return false;
  }

  Status report(const TilePath* path, const Error& error, const Digest& expected,
                const Digest& found, std::uint64_t leaves) {
    if (error.kind == ErrorKind::system) return fail(error);
    return walk_.fault(path, error, expected, found, leaves);
  }

  // A tile that is known to be right: hands it out and goes down. At most 8 calls deep.
  Status checked(const TilePath& path, std::string_view bytes) {
    if (Status taken = walk_.tile(path, bytes); !taken) return taken;
    if (path.level == 0) return {};
    for (unsigned i = 0; i < path.width; ++i) {
      const Digest expected = Digest::from_raw(bytes.substr(i * kHashBytes, kHashBytes));
      if (Status done = full({false, path.level - 1, path.index * kTileWidth + i}, expected);
          !done) {
        return done;
      }
    }
    return {};
  }

  Status full(const TilePath& path, const Digest& expected) {
    assert(path.width == kTileWidth);
    const std::uint64_t leaves = std::uint64_t{1} << (kTileHeight * (path.level + 1));
    const Result<std::string> bytes = walk_.fetch(path);
    if (!bytes) return report(&path, bytes.error(), {}, {}, leaves);
    assert(bytes->size() == kTileBytes);
    const Digest found = tile_root(*bytes);
    if (found == expected) return checked(path, *bytes);
    const Error error{ErrorKind::corrupt,
                      "TILE_MISMATCH",
                      {},
                      "the tile does not hash to what its parent holds for it",
                      {}};
    return report(&path, error, expected, found, leaves);
  }

  const TreeHead& head_;
  const TileWalk& walk_;
  std::array<std::string, kTileLevels> edge_;  // empty where a level has no partial tile
};

}  // namespace

Status walk_tiles(const TreeHead& head, const TileWalk& walk) {
  if (head.size > limits::kTreeSize) {
    return fail(ErrorKind::invalid, "SIZE_OUT_OF_RANGE", {},
                "no tree has more than 2^63 - 1 leaves");
  }
  return Walker(head, walk).run();
}

}  // namespace kernelindex
