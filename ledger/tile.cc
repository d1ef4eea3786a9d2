// SPDX-License-Identifier: Apache-2.0
#include "ledger/tile.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <utility>

#include "schema/limits.h"

namespace kernelindex {
namespace {

constexpr std::string_view kTilePrefix = "tile/";
constexpr std::string_view kEntriesPrefix = "entries/";
constexpr unsigned kSpecifiedLevels = 64;  // the specification's; those that can exist are fewer

std::unexpected<Error> bad_path(std::string_view text) {
  return fail(ErrorKind::invalid, "BAD_TILE_PATH", std::string(text.substr(0, 100)),
              "this is not the path of a tile");
}

// Hashes that the level has in all.
std::uint64_t hashes_at(unsigned level, std::uint64_t size) {
  return level < kTileLevels ? size >> (kTileHeight * level) : 0;  // a wider shift is undefined
}

// 1234067 -> "x001/x234/067"
std::string index_text(std::uint64_t index) {
  const auto group = [](std::uint64_t value) {
    std::string digits = std::to_string(value);
    return std::string(3 - digits.size(), '0') + digits;
  };
  std::string out = group(index % 1000);
  for (index /= 1000; index > 0; index /= 1000) out = "x" + group(index % 1000) + "/" + out;
  return out;
}

// Digits alone, all of them.
std::optional<std::uint64_t> decimal(std::string_view text) {
  std::uint64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

// Reads loosely; the caller prints the result and compares, which refuses all other spellings.
std::optional<std::uint64_t> read_index(std::string_view text) {
  std::uint64_t index = 0;
  for (unsigned groups = 0; groups < 7; ++groups) {  // 18 digits at most: no overflow below
    const bool more = text.starts_with('x');
    const std::optional<std::uint64_t> group = decimal(text.substr(more ? 1 : 0, 3));
    if (!group || groups == 6) return std::nullopt;
    index = index * 1000 + *group;
    if (!more) return text.size() == 3 ? std::optional(index) : std::nullopt;
    if (text.size() < 5 || text[4] != '/') return std::nullopt;
    text.remove_prefix(5);
  }
  return std::nullopt;
}

std::string tile_name(unsigned level, std::uint64_t index) {
  return "tile " + std::to_string(level) + "/" + std::to_string(index);
}

// The root over a power of two of hashes.
Digest perfect_root(std::string_view hashes) {
  std::vector<Digest> row;
  for (std::size_t i = 0; i < hashes.size(); i += kHashBytes) {
    row.push_back(Digest::from_raw(hashes.substr(i, kHashBytes)));
  }
  for (std::size_t count = row.size(); count > 1; count /= 2) {
    for (std::size_t i = 0; i < count / 2; ++i) row[i] = node_hash(row[2 * i], row[2 * i + 1]);
  }
  return row.front();
}

}  // namespace

// ---- Where tiles lie
// -------------------------------------------------------------------------------

std::string tile_path_text(const TilePath& path) {
  assert(path.width >= 1);
  assert(path.width <= kTileWidth);
  std::string out(kTilePrefix);
  out += path.entries ? std::string(kEntriesPrefix) : std::to_string(path.level) + "/";
  out += index_text(path.index);
  if (path.width < kTileWidth) out += ".p/" + std::to_string(path.width);
  return out;
}

Result<TilePath> parse_tile_path(std::string_view text) {
  std::string_view rest = text;
  if (!rest.starts_with(kTilePrefix)) return bad_path(text);
  rest.remove_prefix(kTilePrefix.size());
  TilePath path;
  if (rest.starts_with(kEntriesPrefix)) {
    path.entries = true;
    rest.remove_prefix(kEntriesPrefix.size());
  } else {
    const std::size_t slash = rest.find('/');
    const std::optional<std::uint64_t> level =
        decimal(rest.substr(0, std::min<std::size_t>(slash, 3)));
    if (slash == std::string_view::npos || !level || *level >= kSpecifiedLevels)
      return bad_path(text);
    path.level = static_cast<unsigned>(*level);
    rest.remove_prefix(slash + 1);
  }
  const std::size_t partial = rest.find(".p/");
  if (partial != std::string_view::npos) {
    const std::optional<std::uint64_t> width = decimal(rest.substr(partial + 3));
    if (!width || *width == 0 || *width >= kTileWidth) return bad_path(text);
    path.width = static_cast<unsigned>(*width);
    rest = rest.substr(0, partial);
  }
  const std::optional<std::uint64_t> index = read_index(rest);
  if (!index) return bad_path(text);
  path.index = *index;
  if (tile_path_text(path) != text) return bad_path(text);
  if (path.level >= kTileLevels) {
    return fail(ErrorKind::invalid, "TILE_LEVEL", std::string(text),
                "no tree of 2^63 - 1 leaves has tiles of level 8 or above");
  }
  if (tile_width(path.level, path.index, limits::kTreeSize) == 0) return bad_path(text);
  return path;
}

std::uint64_t full_tiles(unsigned level, std::uint64_t size) {
  return hashes_at(level, size) / kTileWidth;
}

unsigned partial_width(unsigned level, std::uint64_t size) {
  return static_cast<unsigned>(hashes_at(level, size) % kTileWidth);
}

unsigned tile_width(unsigned level, std::uint64_t index, std::uint64_t size) {
  const std::uint64_t full = full_tiles(level, size);
  if (index < full) return kTileWidth;
  return index == full ? partial_width(level, size) : 0;
}

std::vector<TileRange> changed_tiles(std::uint64_t from, std::uint64_t to) {
  assert(from <= to);
  assert(to <= limits::kTreeSize);
  std::vector<TileRange> ranges;
  for (unsigned level = 0; level < kTileLevels; ++level) {
    const std::uint64_t old_hashes = hashes_at(level, from);
    const std::uint64_t new_hashes = hashes_at(level, to);
    if (new_hashes == old_hashes) break;  // nor does any level above grow
    const std::uint64_t last = (new_hashes - 1) / kTileWidth;
    ranges.push_back({level, old_hashes / kTileWidth, last + 1,
                      static_cast<unsigned>(new_hashes - last * kTileWidth)});
  }
  return ranges;
}

// ---- What tiles hold
// -------------------------------------------------------------------------------

Result<std::string> cut_tile(std::string bytes, unsigned level, std::uint64_t index,
                             unsigned width) {
  if (bytes.size() < width * kHashBytes || bytes.size() > kTileBytes ||
      bytes.size() % kHashBytes != 0) {
    return fail(ErrorKind::corrupt, "TILE_LENGTH", tile_name(level, index),
                "the tile has " + std::to_string(bytes.size()) + " bytes where " +
                    std::to_string(width * kHashBytes) + " belong");
  }
  bytes.resize(width * kHashBytes);
  return bytes;
}

Digest tile_root(std::string_view bytes) {
  assert(bytes.size() == kTileBytes);
  return perfect_root(bytes);
}

Result<std::string> encode_bundle(std::span<const std::string_view> entries) {
  if (entries.empty() || entries.size() > kTileWidth) {
    return fail(ErrorKind::usage, "BUNDLE_WIDTH", {}, "a bundle holds 1 to 256 entries");
  }
  std::string out;
  for (const std::string_view entry : entries) {
    if (entry.size() > limits::kEntryBytes) {
      return fail(
          ErrorKind::invalid, "ENTRY_TOO_LARGE", {},
          "an entry has " + std::to_string(entry.size()) + " bytes, more than the limit of 65535");
    }
    out += static_cast<char>(entry.size() >> 8);
    out += static_cast<char>(entry.size() & 0xff);
    out += entry;
  }
  return out;
}

Result<std::vector<std::string_view>> decode_bundle(std::string_view bytes, unsigned width) {
  const auto bad = [](std::string message) {
    return fail(ErrorKind::corrupt, "BAD_BUNDLE", {}, std::move(message));
  };
  if (width < 1 || width > kTileWidth) return bad("a bundle holds 1 to 256 entries");
  std::vector<std::string_view> entries;
  entries.reserve(width);
  for (unsigned i = 0; i < width; ++i) {
    if (bytes.size() < 2) return bad("the bundle ends after " + std::to_string(i) + " entries");
    const std::size_t length = static_cast<std::size_t>(static_cast<std::uint8_t>(bytes[0])) << 8 |
                               static_cast<std::uint8_t>(bytes[1]);
    bytes.remove_prefix(2);
    if (bytes.size() < length) return bad("the bundle ends inside entry " + std::to_string(i));
    entries.push_back(bytes.substr(0, length));
    bytes.remove_prefix(length);
  }
  if (!bytes.empty()) return bad("bytes follow the last entry of the bundle");
  return entries;
}

CompactRange edge_frontier(std::uint64_t size, std::span<const std::string> edge) {
  assert(edge.size() == kTileLevels);
  std::vector<Digest>
      subtrees;  // the largest first: from the highest level down, each left to right
  for (unsigned level = kTileLevels; level-- > 0;) {
    const unsigned width = partial_width(level, size);
    assert(edge[level].size() == width * kHashBytes);
    std::string_view rest = edge[level];
    for (unsigned bit = kTileHeight; bit-- > 0;) {
      if ((width >> bit & 1) == 0) continue;
      const std::size_t bytes = kHashBytes << bit;
      subtrees.push_back(perfect_root(rest.substr(0, bytes)));
      rest.remove_prefix(bytes);
    }
    assert(rest.empty());
  }
  Result<CompactRange> frontier = CompactRange::resume(size, subtrees);
  assert(frontier.has_value());  // one subtree for each set bit of the size, by construction
  return *frontier;
}

// ---- How they grow
// ---------------------------------------------------------------------------------

Result<TileTree> TileTree::resume(std::uint64_t size, const TileSource& tiles) {
  if (size > limits::kTreeSize) {
    return fail(ErrorKind::invalid, "SIZE_OUT_OF_RANGE", {},
                "no tree has more than 2^63 - 1 leaves");
  }
  TileTree tree;
  for (unsigned level = 0; level < kTileLevels; ++level) {
    const unsigned width = partial_width(level, size);
    if (width == 0) continue;
    const std::uint64_t index = full_tiles(level, size);
    Result<std::string> bytes = tiles(level, index, width);
    if (!bytes) return fail_in(tile_name(level, index), bytes.error());
    bytes = cut_tile(std::move(*bytes), level, index, width);
    if (!bytes) return fail(bytes.error());
    tree.edge_[level] = std::move(*bytes);
  }
  tree.frontier_ = edge_frontier(size, tree.edge_);
  return tree;
}

void TileTree::append(const LeafHash& leaf) {
  frontier_.append(leaf, [&](unsigned binary_level, const Digest& hash) {
    if (binary_level % kTileHeight != 0) return;
    const unsigned level = binary_level / kTileHeight;
    std::string& edge = edge_[level];
    edge += hash.raw();
    grown_[level] = edge.size() < kTileBytes;
    if (edge.size() < kTileBytes) return;
    // The frontier has the size before this leaf, which is the last below this tile.
    completed_.push_back({level, frontier_.size() >> (kTileHeight * (level + 1)), kTileWidth,
                          std::exchange(edge, {})});
  });
}

std::vector<Tile> TileTree::take_changed_tiles() {
  std::vector<Tile> changed = std::exchange(completed_, {});
  for (unsigned level = 0; level < kTileLevels; ++level) {
    if (!std::exchange(grown_[level], false)) continue;
    changed.push_back(
        {level, full_tiles(level, size()), partial_width(level, size()), edge_[level]});
    assert(changed.back().bytes.size() == changed.back().width * kHashBytes);
  }
  return changed;
}

}  // namespace kernelindex
