// SPDX-License-Identifier: Apache-2.0
#include "ledger/tile.h"

#include <gtest/gtest.h>

#include <map>
#include <tuple>

#include "ledger/proof.h"
#include "ledger/vectors.h"
#include "support/corpus.h"
#include "support/merkle_reference.h"

namespace kernelindex {
namespace {

constexpr std::uint64_t kSizes[] = {1,
                                    255,
                                    256,
                                    257,
                                    65'535,
                                    65'536,
                                    65'537,
                                    (1ull << 24) - 1,
                                    1ull << 24,
                                    (1ull << 24) + 1,
                                    (1ull << 32) - 1,
                                    1ull << 32,
                                    (1ull << 32) + 1,
                                    (1ull << 40) - 1,
                                    (1ull << 40) + 1,
                                    (1ull << 53) - 1,
                                    (1ull << 53) + 1,
                                    limits::kTreeSize};

// What a store does with tiles: the latest bytes by place.
class Shelf {
 public:
  void put(std::vector<Tile> tiles) {
    for (Tile& tile : tiles) {
      EXPECT_EQ(tile.bytes.size(), tile.width * kHashBytes);
      tiles_[{tile.level, tile.index}] = std::move(tile.bytes);
    }
  }
  TileSource source() const {
    return [this](unsigned level, std::uint64_t index, unsigned) -> Result<std::string> {
      const auto found = tiles_.find({level, index});
      if (found == tiles_.end()) return fail(ErrorKind::not_found, "NO_TILE", {}, "no tile");
      return found->second;
    };
  }
  const std::map<std::pair<unsigned, std::uint64_t>, std::string>& tiles() const { return tiles_; }

 private:
  std::map<std::pair<unsigned, std::uint64_t>, std::string> tiles_;
};

// ---- Paths
// -----------------------------------------------------------------------------------------

TEST(TilePath, EncodesAsPublished) {
  KERNELINDEX_REQUIRE_CORPUS();
  const test::Vectors vectors = test::load_vectors("tiles/paths.json");
  for (const json::Value& item : vectors.cases("encode")) {
    TilePath path;
    path.entries = item.find("level")->is_string();
    if (!path.entries) path.level = static_cast<unsigned>(item.find("level")->number());
    path.index = test::u64(*item.find("index"));
    path.width = static_cast<unsigned>(item.find("width")->number());
    EXPECT_EQ(tile_path_text(path), item.text("path"));
    // One of them, tile 5/123456078, would lie far beyond 2^63 - 1 leaves: no path of ours.
    const bool exists = tile_width(path.level, path.index, limits::kTreeSize) > 0;
    const Result<TilePath> parsed = parse_tile_path(item.text("path"));
    ASSERT_EQ(parsed.has_value(), exists) << item.text("path");
    if (exists) {
      EXPECT_EQ(*parsed, path);
    }
  }
  for (const json::Value& item : vectors.cases("entry_location")) {
    const std::uint64_t index = test::u64(*item.find("index"));
    const std::uint64_t size = test::u64(*item.find("log_size"));
    const TilePath path{true, 0, index / kTileWidth, tile_width(0, index / kTileWidth, size)};
    EXPECT_EQ(tile_path_text(path), item.text("path"));
  }
}

TEST(TilePath, ParsesAsPublishedAndRefusesLevelsThatCannotBe) {
  KERNELINDEX_REQUIRE_CORPUS();
  const test::Vectors vectors = test::load_vectors("tiles/paths.json");
  for (const json::Value& item : vectors.cases("parse")) {
    const std::string text =
        "tile/" + std::string(item.text("level")) + "/" + std::string(item.text("index"));
    const Result<TilePath> path = parse_tile_path(text);
    if (!item.find("ok")->boolean()) {
      EXPECT_EQ(path.error().code, "BAD_TILE_PATH") << text;
    } else if (test::u64(*item.find("want_level")) >= kTileLevels) {
      EXPECT_EQ(path.error().code, "TILE_LEVEL") << text;
    } else {
      ASSERT_TRUE(path.has_value()) << text;
      EXPECT_EQ(path->level, test::u64(*item.find("want_level")));
      EXPECT_EQ(path->index, test::u64(*item.find("want_index")));
      EXPECT_EQ(path->width % kTileWidth, test::u64(*item.find("want_partial")));
    }
  }
}

TEST(TilePath, HasOneSpelling) {
  for (const char* text : {"",
                           "tile/",
                           "tile/0",
                           "tile/0/",
                           "/tile/0/000",
                           "tile/0/000/",
                           "tile/00/000",
                           "tile/+0/000",
                           "tile/0/00",
                           "tile/0/0000",
                           "tile/0/0001",
                           "tile/0/x000/001",
                           "tile/0/x1/234",
                           "tile/0/1/00",
                           "tile/0/X001/000",
                           "tile/0/x001000",
                           "tile/0/x001/x234",
                           "tile/0/000.p/0",
                           "tile/0/000.p/256",
                           "tile/0/000.p/01",
                           "tile/0/000.p/",
                           "tile/0/000.p",
                           "tile/0/000.p/8/",
                           "tile/0/000.p/ 8",
                           "tile/0/000.p/8.p/8",
                           "tile/0/-01",
                           "tile/0/0 1",
                           "tile/entries",
                           "tile/entries/",
                           "tile/entries/0",
                           "tile/entries/0/000",
                           "tile/data/000",
                           "tile/8/000 ",
                           "tile/64/000",
                           "tile/18446744073709551616/000",
                           "tile/0/x999/x999/x999/x999/x999/x999/999"}) {
    EXPECT_EQ(parse_tile_path(text).error().code, "BAD_TILE_PATH") << text;
  }
  EXPECT_EQ(parse_tile_path("tile/8/000").error().code, "TILE_LEVEL");
  EXPECT_EQ(parse_tile_path("tile/63/000").error().code, "TILE_LEVEL");
}

TEST(TilePath, RoundTripsAtTheEdgesOfEverySize) {
  for (const std::uint64_t size : kSizes) {
    for (const TileRange& range : changed_tiles(0, size)) {
      for (const std::uint64_t index : {range.first, (range.end - 1) / 2, range.end - 1}) {
        const TilePath path{false, range.level, index, tile_width(range.level, index, size)};
        EXPECT_EQ(parse_tile_path(tile_path_text(path)).value(), path) << tile_path_text(path);
      }
    }
  }
  // The last tile of the largest tree, and the one after it.
  const TilePath last{false, 0, (1ull << 55) - 1, 255};
  EXPECT_EQ(tile_path_text(last), "tile/0/x036/x028/x797/x018/x963/967.p/255");
  EXPECT_TRUE(parse_tile_path(tile_path_text(last)).has_value());
  EXPECT_FALSE(parse_tile_path("tile/0/x036/x028/x797/x018/x963/968").has_value());
}

// ---- Geometry
// --------------------------------------------------------------------------------------

TEST(TileGeometry, AsPublished) {
  KERNELINDEX_REQUIRE_CORPUS();
  const test::Vectors vectors = test::load_vectors("tiles/paths.json");
  for (const json::Value& item : vectors.cases("geometry")) {
    const std::uint64_t size = test::u64(*item.find("size"));
    for (unsigned level = 0; level < 3; ++level) {
      const std::string prefix = "level" + std::to_string(level);
      if (const json::Value* full = item.find(prefix + "_full")) {
        EXPECT_EQ(full_tiles(level, size), test::u64(*full));
      }
      if (const json::Value* partial = item.find(prefix + "_partial")) {
        EXPECT_EQ(partial_width(level, size), test::u64(*partial));
      }
    }
  }
}

TEST(TileGeometry, EveryHashOfALevelHasItsPlace) {
  for (const std::uint64_t size : kSizes) {
    for (unsigned level = 0; level < kTileLevels; ++level) {
      std::uint64_t hashes = size;
      for (unsigned i = 0; i < level; ++i) hashes /= kTileWidth;
      EXPECT_EQ(full_tiles(level, size) * kTileWidth + partial_width(level, size), hashes);
      EXPECT_EQ(tile_width(level, full_tiles(level, size), size), partial_width(level, size));
      EXPECT_EQ(tile_width(level, full_tiles(level, size) + 1, size), 0u);
      EXPECT_EQ(tile_width(level, 0, size) == kTileWidth, hashes >= kTileWidth);
    }
    for (const unsigned level : {8u, 9u, 63u, 64u, 1000u}) {
      EXPECT_EQ(full_tiles(level, size), 0u);
      EXPECT_EQ(partial_width(level, size), 0u);
      EXPECT_EQ(tile_width(level, 0, size), 0u);
    }
  }
}

TEST(TileGeometry, ChangedTilesAreThoseThatGrew) {
  using Ranges = std::vector<TileRange>;
  EXPECT_EQ(changed_tiles(0, 0), Ranges());
  EXPECT_EQ(changed_tiles(300, 300), Ranges());
  EXPECT_EQ(changed_tiles(0, 1), (Ranges{{0, 0, 1, 1}}));
  EXPECT_EQ(changed_tiles(255, 256), (Ranges{{0, 0, 1, 256}, {1, 0, 1, 1}}));
  EXPECT_EQ(changed_tiles(256, 257), (Ranges{{0, 1, 2, 1}}));
  EXPECT_EQ(changed_tiles(0, 70'000), (Ranges{{0, 0, 274, 112}, {1, 0, 2, 17}, {2, 0, 1, 1}}));
  EXPECT_EQ(changed_tiles(0, limits::kTreeSize).size(), 8u);
  EXPECT_EQ(changed_tiles(0, limits::kTreeSize).back(), (TileRange{7, 0, 1, 127}));
  // Against the definition: a tile changed when its width did.
  for (std::uint64_t from = 0; from < 800; from += 37) {
    for (std::uint64_t to = from; to < 1200; to += 41) {
      std::map<std::pair<unsigned, std::uint64_t>, unsigned> changed;
      for (const TileRange& range : changed_tiles(from, to)) {
        for (std::uint64_t i = range.first; i < range.end; ++i) {
          changed[{range.level, i}] = i + 1 < range.end ? kTileWidth : range.last_width;
        }
      }
      for (unsigned level = 0; level < 3; ++level) {
        for (std::uint64_t i = 0; i < 8; ++i) {
          const unsigned width = tile_width(level, i, to);
          const bool grew = width != tile_width(level, i, from);
          EXPECT_EQ(changed.contains({level, i}), grew)
              << from << " " << to << " " << level << "/" << i;
          if (grew) {
            EXPECT_EQ((changed[{level, i}]), width);
          }
        }
      }
    }
  }
}

// ---- Bundles
// ---------------------------------------------------------------------------------------

TEST(EntryBundle, RoundTripsAndUsesEveryByte) {
  const std::string longest(limits::kEntryBytes, 'x');
  const std::vector<std::string_view> entries = {"one", "", longest, std::string_view("\0", 1)};
  const std::string bytes = encode_bundle(entries).value();
  EXPECT_EQ(bytes.size(), 4 * 2 + 3 + limits::kEntryBytes + 1);
  EXPECT_EQ(bytes.substr(0, 7), std::string("\0\3one\0\0", 7));
  EXPECT_EQ(decode_bundle(bytes, 4).value(), entries);
  EXPECT_EQ(decode_bundle(bytes, 3).error().code, "BAD_BUNDLE");
  EXPECT_EQ(decode_bundle(bytes, 5).error().code, "BAD_BUNDLE");
  EXPECT_EQ(decode_bundle(bytes + "\0", 4).has_value(), true)
      << "a C string literal ends at its NUL";
  EXPECT_EQ(decode_bundle(bytes + '\0', 4).error().code, "BAD_BUNDLE");
  for (const std::size_t cut : {std::size_t{1}, std::size_t{6}, bytes.size() - 1}) {
    EXPECT_EQ(decode_bundle(std::string_view(bytes).substr(0, cut), 4).error().code, "BAD_BUNDLE");
  }
  EXPECT_EQ(decode_bundle("", 0).error().code, "BAD_BUNDLE");
  EXPECT_EQ(decode_bundle("", 257).error().code, "BAD_BUNDLE");
  const std::string too_long(limits::kEntryBytes + 1, 'x');
  EXPECT_EQ(encode_bundle(std::vector<std::string_view>{too_long}).error().code, "ENTRY_TOO_LARGE");
  EXPECT_EQ(encode_bundle({}).error().code, "BUNDLE_WIDTH");
  EXPECT_EQ(encode_bundle(std::vector<std::string_view>(257)).error().code, "BUNDLE_WIDTH");
}

// ---- TileTree
// --------------------------------------------------------------------------------------

TEST(TileTree, HasTheRootOfTheRecursionAtEverySizeAndResumesThere) {
  test::reference::List list;
  Shelf shelf;
  TileTree tree;
  for (std::uint64_t size = 0; size <= 1000; ++size) {
    ASSERT_EQ(tree.size(), size);
    if (size % 7 == 0 || (size & (size - 1)) == 0 || size % 256 < 3) {
      ASSERT_EQ(tree.root(), test::reference::mth(list)) << "size " << size;
    }
    const Result<TileTree> resumed = TileTree::resume(size, shelf.source());
    ASSERT_TRUE(resumed.has_value()) << resumed.error().text();
    ASSERT_EQ(resumed->head(), tree.head());
    list.push_back(test::entry(size));
    tree.append(leaf_hash(list.back()));
    shelf.put(tree.take_changed_tiles());
  }
}

TEST(TileTree, GoesOnAfterResumingAsIfItHadNeverStopped) {
  test::MemoryNodes nodes(1001);
  for (const std::uint64_t stop : {1u, 200u, 255u, 256u, 257u, 511u, 512u, 700u}) {
    Shelf shelf;
    TileTree first;
    for (std::uint64_t i = 0; i < stop; ++i) first.append(nodes.leaf(i));
    shelf.put(first.take_changed_tiles());
    Result<TileTree> second = TileTree::resume(stop, shelf.source());
    ASSERT_TRUE(second.has_value());
    EXPECT_TRUE(second->take_changed_tiles().empty()) << "nothing changed by reading";
    for (std::uint64_t i = stop; i < 1000; ++i) second->append(nodes.leaf(i));
    shelf.put(second->take_changed_tiles());
    EXPECT_EQ(second->root(), tree_root(1000, nodes).value());
    Shelf whole;
    TileTree straight;
    for (std::uint64_t i = 0; i < 1000; ++i) straight.append(nodes.leaf(i));
    whole.put(straight.take_changed_tiles());
    EXPECT_EQ(shelf.tiles(), whole.tiles());
  }
}

TEST(TileTree, GivesEachBatchExactlyTheTilesThatChanged) {
  const std::uint64_t sizes[] = {1, 2, 254, 256, 257, 300, 513, 514, 1023, 1024, 66'000};
  TileTree tree;
  std::uint64_t from = 0;
  for (const std::uint64_t to : sizes) {
    while (tree.size() < to) tree.append(leaf_hash(test::entry(tree.size())));
    std::map<std::pair<unsigned, std::uint64_t>, unsigned> given;
    for (const Tile& tile : tree.take_changed_tiles()) {
      EXPECT_TRUE(given.emplace(std::pair{tile.level, tile.index}, tile.width).second)
          << "given twice";
      EXPECT_EQ(tile.bytes.size(), tile.width * kHashBytes);
    }
    std::map<std::pair<unsigned, std::uint64_t>, unsigned> expected;
    for (const TileRange& range : changed_tiles(from, to)) {
      for (std::uint64_t i = range.first; i < range.end; ++i) {
        expected[{range.level, i}] = i + 1 < range.end ? kTileWidth : range.last_width;
      }
    }
    EXPECT_EQ(given, expected) << from << " to " << to;
    EXPECT_TRUE(tree.take_changed_tiles().empty());
    from = to;
  }
}

TEST(TileTree, TilesHoldTheHashesOfTheirPlace) {
  test::MemoryNodes nodes(70'000);
  TileTree tree;
  for (std::uint64_t i = 0; i < 70'000; ++i) tree.append(nodes.leaf(i));
  EXPECT_EQ(tree.root(), tree_root(70'000, nodes).value());
  std::size_t hashes = 0;
  for (const Tile& tile : tree.take_changed_tiles()) {
    EXPECT_EQ(tile.width, tile_width(tile.level, tile.index, 70'000));
    for (unsigned i = 0; i < tile.width; ++i, ++hashes) {
      const Digest expected = nodes.node(tile.level * 8, tile.index * 256 + i).value();
      ASSERT_EQ(tile.bytes.substr(i * kHashBytes, kHashBytes), expected.raw());
    }
  }
  EXPECT_EQ(hashes, 70'000u + 273 + 1);
}

TEST(TileTree, ResumesTheLargestTreesThereAre) {
  for (const std::uint64_t size : kSizes) {
    std::size_t reads = 0;
    const TileSource source = [&](unsigned level, std::uint64_t index, unsigned width) {
      ++reads;
      EXPECT_EQ(index, full_tiles(level, size));
      EXPECT_EQ(width, partial_width(level, size));
      return Result<std::string>(std::string(width * kHashBytes, 'h'));
    };
    Result<TileTree> tree = TileTree::resume(size, source);
    ASSERT_TRUE(tree.has_value());
    EXPECT_LE(reads, kTileLevels);
    if (size == limits::kTreeSize) continue;
    tree->append(leaf_hash("next"));
    EXPECT_EQ(tree->size(), size + 1);
    std::vector<Tile> tiles = tree->take_changed_tiles();
    EXPECT_EQ(tiles.size(), changed_tiles(size, size + 1).size());
  }
  const TileSource none = [](unsigned, std::uint64_t, unsigned) -> Result<std::string> {
    return fail(ErrorKind::not_found, "NO_TILE", {}, "no tile");
  };
  EXPECT_EQ(TileTree::resume(limits::kTreeSize + 1, none).error().code, "SIZE_OUT_OF_RANGE");
  EXPECT_EQ(TileTree::resume(5, none).error().code, "NO_TILE");
  EXPECT_EQ(TileTree::resume(0, none).value().root(), empty_root());
}

TEST(TileTree, RefusesTilesOfTheWrongLength) {
  for (const std::size_t bytes : {0u, 31u, 32u * 4, 32u * 5 + 1, 32u * 257}) {
    const TileSource source = [&](unsigned, std::uint64_t, unsigned) {
      return Result<std::string>(std::string(bytes, 'h'));
    };
    EXPECT_EQ(TileTree::resume(5, source).error().code, "TILE_LENGTH") << bytes;
  }
  const TileSource wider = [&](unsigned, std::uint64_t, unsigned) {
    return Result<std::string>(std::string(32 * 6, 'h'));
  };
  EXPECT_TRUE(TileTree::resume(5, wider).has_value()) << "a tile that has grown since is cut";
}

}  // namespace
}  // namespace kernelindex
