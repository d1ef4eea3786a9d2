// SPDX-License-Identifier: Apache-2.0
// A source of tiles may withhold, cut or forge them; nothing forged may come out as a hash of the
// log.
#include "ledger/tile_reader.h"

#include <gtest/gtest.h>

#include <map>

#include "ledger/checkpoint.h"
#include "ledger/vectors.h"
#include "support/corpus.h"

namespace kernelindex {
namespace {

// The tiles of a log of `size` entries, which a test may spoil.
class TileReaderTest : public testing::Test {
 protected:
  using Place = std::pair<unsigned, std::uint64_t>;

  void build(std::uint64_t size) {
    TileTree tree;
    while (tree.size() < size) tree.append(leaf_hash(test::entry(tree.size())));
    for (Tile& tile : tree.take_changed_tiles()) {
      tiles_[{tile.level, tile.index}] = std::move(tile.bytes);
    }
    head_ = tree.head();
  }

  TileSource source() {
    return [this](unsigned level, std::uint64_t index, unsigned) -> Result<std::string> {
      const auto found = tiles_.find({level, index});
      if (found == tiles_.end()) return fail(ErrorKind::not_found, "NO_TILE", {}, "no tile");
      return found->second;
    };
  }

  void forge(const Place& place, std::size_t hash, const Digest& value) {
    tiles_.at(place).replace(hash * kHashBytes, kHashBytes, value.raw());
  }

  Result<TileReader> open() { return TileReader::open(head_, source()); }

  std::map<Place, std::string> tiles_;
  TreeHead head_;
};

TEST_F(TileReaderTest, GivesEveryNodeOfTheTree) {
  for (const std::uint64_t size : {1u, 255u, 256u, 257u, 259u, 700u}) {
    build(size);
    test::MemoryNodes nodes(size);
    Result<TileReader> reader = open();
    ASSERT_TRUE(reader.has_value()) << reader.error().text();
    for (unsigned level = 0; level < 12; ++level) {
      for (std::uint64_t index = 0; index <= size >> level; ++index) {
        const Result<Digest> expected = nodes.node(level, index);
        const Result<Digest> found = reader->node(level, index);
        ASSERT_EQ(found.has_value(), expected.has_value()) << level << "/" << index;
        if (found) {
          ASSERT_EQ(*found, *expected) << level << "/" << index;
        } else {
          ASSERT_EQ(found.error().code, "NODE_OUT_OF_RANGE");
        }
      }
    }
  }
}

TEST_F(TileReaderTest, MakesProofsForTheSizeAndForSmallerOnes) {
  build(70'000);
  Result<TileReader> reader = open();
  ASSERT_TRUE(reader.has_value());
  for (const std::uint64_t size : {1u, 300u, 65'535u, 65'536u, 65'537u, 70'000u}) {
    const TreeHead head{size, tree_root(size, *reader).value()};
    for (const std::uint64_t index : {std::uint64_t{0}, size / 3, size - 1}) {
      const Result<Proof> proof = prove_inclusion(index, size, *reader);
      ASSERT_TRUE(proof.has_value()) << proof.error().text();
      EXPECT_TRUE(verify_inclusion(leaf_hash(test::entry(index)), index, head, *proof).ok());
    }
    const Result<Proof> grown = prove_consistency(size, 70'000, *reader);
    ASSERT_TRUE(grown.has_value());
    EXPECT_TRUE(verify_consistency(head, head_, *grown).ok());
  }
}

TEST_F(TileReaderTest, ReadsTilesOfALogThatHasGrownSince) {
  build(300);
  const TreeHead old_head = head_;
  build(70'000);
  Result<TileReader> reader = TileReader::open(old_head, source());
  ASSERT_TRUE(reader.has_value()) << reader.error().text();
  EXPECT_TRUE(reader->check_entry(299, test::entry(299)).has_value());
  EXPECT_EQ(reader->check_entry(300, test::entry(300)).error().code, "NODE_OUT_OF_RANGE");
}

TEST_F(TileReaderTest, ReadsAPublishedMirror) {
  KERNELINDEX_REQUIRE_CORPUS();
  const test::Vectors vectors = test::load_vectors("tiles/mirror_300.json");
  const json::Value& resources = *vectors.root.find("resources");
  const SignedCheckpoint checkpoint =
      parse_checkpoint(test::base64(*vectors.root.find("checkpoint_base64"))).value();
  EXPECT_EQ(checkpoint.checkpoint.head.root, test::hex_digest(*vectors.root.find("root_hex")));
  const TileSource tiles = [&](unsigned level, std::uint64_t index, unsigned width) {
    const json::Value* bytes = resources.find(tile_path_text({false, level, index, width}));
    return Result<std::string>(bytes != nullptr ? test::base64(*bytes) : "");
  };
  Result<TileReader> reader = TileReader::open(checkpoint.checkpoint.head, tiles);
  ASSERT_TRUE(reader.has_value()) << reader.error().text();
  for (std::uint64_t i = 0; i < 300; ++i) EXPECT_TRUE(reader->node(0, i).has_value());
  EXPECT_EQ(TileTree::resume(300, tiles).value().head(), checkpoint.checkpoint.head);
}

// golang/go 80744: in a tree of 259 leaves the parent of tile 0/0 is itself a right-edge tile, and
// a reader took that for a reason not to check 0/0.
TEST_F(TileReaderTest, ForgedFullTileBelowTheRightEdgeIsRefused) {
  build(259);
  forge({0, 0}, 7, leaf_hash("forged").digest());
  Result<TileReader> reader = open();
  ASSERT_TRUE(reader.has_value()) << "the right edge is whole";
  const Result<Digest> node = reader->node(0, 7);
  ASSERT_FALSE(node.has_value());
  EXPECT_EQ(node.error().code, "TILE_MISMATCH");
  EXPECT_EQ(node.error().kind, ErrorKind::corrupt);
  EXPECT_EQ(reader->node(0, 8).error().code, "TILE_MISMATCH") << "nothing of the tile is used";
  EXPECT_EQ(prove_inclusion(7, 259, *reader).error().code, "TILE_MISMATCH");
  EXPECT_TRUE(reader->node(0, 257).has_value());
}

// A forged tile with its parent forged to match, up to where the root gives it away.
TEST_F(TileReaderTest, ForgingTheParentsTooIsSeenAtTheRoot) {
  build(66'000);
  TileTree forged;
  for (std::uint64_t i = 0; i < 66'000; ++i) {
    forged.append(leaf_hash(i == 7 ? "forged" : test::entry(i)));
  }
  std::map<Place, std::string> other;
  for (Tile& tile : forged.take_changed_tiles()) {
    other[{tile.level, tile.index}] = std::move(tile.bytes);
  }
  tiles_[{0, 0}] = other.at({0, 0});
  EXPECT_EQ(open().value().node(0, 7).error().code, "TILE_MISMATCH");
  tiles_[{1, 0}] = other.at({1, 0});
  Result<TileReader> reader = open();
  ASSERT_TRUE(reader.has_value());
  EXPECT_EQ(reader->node(0, 7).error().code, "TILE_MISMATCH");
  EXPECT_EQ(reader->node(0, 300).error().code, "TILE_MISMATCH")
      << "the parent of this one is forged";
  tiles_[{2, 0}] = other.at({2, 0});
  EXPECT_EQ(open().error().code, "ROOT_MISMATCH");
}

// Each hash of each tile, forged: refused, wherever it lies.
TEST_F(TileReaderTest, EveryForgedHashIsRefused) {
  build(600);
  const std::map<Place, std::string> good = tiles_;
  for (const auto& [place, bytes] : good) {
    for (std::size_t hash = 0; hash < bytes.size() / kHashBytes; ++hash) {
      tiles_ = good;
      forge(place, hash, leaf_hash("forged").digest());
      Result<TileReader> reader = open();
      if (!reader) {
        EXPECT_EQ(reader.error().code, "ROOT_MISMATCH");
        EXPECT_EQ(place.second, full_tiles(place.first, 600))
            << "only the right edge is read at once";
        continue;
      }
      EXPECT_EQ(reader->node(place.first * 8, place.second * 256 + hash).error().code,
                "TILE_MISMATCH");
    }
  }
}

TEST_F(TileReaderTest, WithheldAndCutTilesAreErrors) {
  build(600);
  tiles_[{0, 0}].pop_back();
  EXPECT_EQ(open().value().node(0, 0).error().code, "TILE_LENGTH");
  tiles_[{0, 0}] = std::string(kTileBytes + kHashBytes, 'x');
  EXPECT_EQ(open().value().node(0, 0).error().code, "TILE_LENGTH");
  tiles_[{0, 0}] = "<html>not found</html>";
  EXPECT_EQ(open().value().node(0, 0).error().code, "TILE_LENGTH");
  tiles_.erase({0, 0});
  EXPECT_EQ(open().value().node(0, 0).error().code, "NO_TILE");
  tiles_.erase({0, 2});
  EXPECT_EQ(open().error().code, "NO_TILE");
  EXPECT_EQ(TileReader::open({limits::kTreeSize + 1, {}}, source()).error().code,
            "SIZE_OUT_OF_RANGE");
}

TEST_F(TileReaderTest, EmptyTreeHasTheEmptyRootAndNoNodes) {
  EXPECT_EQ(TileReader::open({0, leaf_hash("").digest()}, source()).error().code, "ROOT_MISMATCH");
  Result<TileReader> reader = TileReader::open({0, empty_root()}, source());
  ASSERT_TRUE(reader.has_value());
  EXPECT_EQ(reader->node(0, 0).error().code, "NODE_OUT_OF_RANGE");
}

TEST_F(TileReaderTest, EntriesAreComparedWithTheirLeaf) {
  build(300);
  Result<TileReader> reader = open();
  ASSERT_TRUE(reader.has_value());
  EXPECT_TRUE(reader->check_entry(5, test::entry(5)).has_value());
  EXPECT_EQ(reader->check_entry(5, test::entry(6)).error().code, "LEAF_MISMATCH");
  EXPECT_EQ(reader->check_entry(5, test::entry(6)).error().kind, ErrorKind::corrupt);
}

TEST_F(TileReaderTest, KeepsFewTilesHoweverManyItReads) {
  build(70'000);
  std::size_t reads = 0;
  const TileSource counted = [&, inner = source()](unsigned level, std::uint64_t index,
                                                   unsigned width) {
    ++reads;
    return inner(level, index, width);
  };
  Result<TileReader> reader = TileReader::open(head_, counted);
  ASSERT_TRUE(reader.has_value());
  for (std::uint64_t i = 0; i < 70'000; i += 64) ASSERT_TRUE(reader->node(0, i).has_value());
  EXPECT_LT(reads, 300u) << "in order, each tile is read once and a parent now and then";
}

}  // namespace
}  // namespace kernelindex
