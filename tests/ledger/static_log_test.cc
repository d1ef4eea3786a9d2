// SPDX-License-Identifier: Apache-2.0
// A log as files: what is whole is found whole, what is spoilt is named by its path.
#include "ledger/static_log.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <map>

#include "ledger/small_log.h"
#include "ledger/tile.h"
#include "ledger/vectors.h"
#include "support/corpus.h"
#include "support/temp_dir.h"

namespace kernelindex {
namespace {

using test::SmallLog;

// Files in memory, and how often each was asked for.
class MemorySource final : public ResourceSource {
 public:
  Result<bool> stream(const std::string& path, std::uint64_t limit,
                      const ByteSink& piece) override {
    ++asked[path];
    if (path == broken) return fail(ErrorKind::system, "IO", path, "the disk is broken");
    const auto found = files.find(path);
    if (found == files.end()) return false;
    if (found->second.size() > limit) {
      return fail(ErrorKind::invalid, "RESOURCE_TOO_LARGE", path, "too large");
    }
    if (Status taken = piece(found->second); !taken) return fail(taken.error());
    return true;
  }
  std::map<std::string, std::string> files;
  std::map<std::string, int> asked;
  std::string broken;
};

class StaticLogTest : public testing::Test {
 protected:
  // The files of a log of `size` entries, with an object for each that its bytes name.
  void publish(const SmallLog& log, std::uint64_t size) {
    vkey_ = log.vkey();
    source_.files.clear();
    source_.files["checkpoint"] = log.checkpoint(size).format();
    for (const TileRange& range : changed_tiles(0, size)) {
      for (std::uint64_t index = range.first; index < range.end; ++index) {
        const unsigned width = tile_width(range.level, index, size);
        const TilePath path{false, range.level, index, width};
        source_.files[tile_path_text(path)] =
            cut_tile(log.tiles()(range.level, index, width).value(), range.level, index, width)
                .value();
        if (range.level > 0) continue;
        std::vector<std::string_view> entries;
        for (unsigned i = 0; i < width; ++i) entries.push_back(log.leaves()[index * 256 + i]);
        source_.files[tile_path_text({true, 0, index, width})] = encode_bundle(entries).value();
      }
    }
  }

  StaticLogReport judge(const StaticLogOptions& options = {}) {
    const std::vector keys = {vkey_};
    return verify_static_log(source_, keys, options).value();
  }
  // The one fault there is, as "path code".
  std::string fault() {
    const StaticLogReport report = judge();
    EXPECT_EQ(report.leaves + report.unjudged, report.checkpoint.head.size);
    if (report.faults.size() != 1) return std::to_string(report.faults.size()) + " faults";
    EXPECT_FALSE(report.faults[0].what.empty());
    return report.faults[0].path + " " + report.faults[0].code;
  }

  MemorySource source_;
  VerifierKey vkey_;
};

TEST_F(StaticLogTest, WholeLogsOfEverySizeAreWhole) {
  const SmallLog log(700);
  for (const std::uint64_t size : {0u, 1u, 2u, 255u, 256u, 257u, 511u, 512u, 513u, 700u}) {
    publish(log, size);
    const StaticLogReport report = judge();
    EXPECT_TRUE(report.ok()) << size;
    EXPECT_EQ(report.leaves, size);
    EXPECT_EQ(report.unjudged, 0u);
    EXPECT_EQ(report.bundles, (size + 255) / 256);
    EXPECT_EQ(report.tiles + report.bundles + 1, source_.files.size()) << "each file was read";
    EXPECT_EQ(report.checkpoint.head, log.head(size));
  }
}

TEST_F(StaticLogTest, EveryFileIsAskedForOnce) {
  publish(SmallLog(66'000), 66'000);
  StaticLogOptions options;
  std::uint64_t last = 0;
  options.progress = [&](std::uint64_t done, std::uint64_t all) {
    EXPECT_GE(done, last);
    EXPECT_EQ(all, 66'000u);
    last = done;
  };
  EXPECT_TRUE(judge(options).ok());
  EXPECT_EQ(last, 66'000u);
  EXPECT_EQ(source_.asked.size(), source_.files.size());
  for (const auto& [path, count] : source_.asked) EXPECT_EQ(count, 1) << path;
}

// PITFALLS 50: one byte of every class of file, at several places.
TEST_F(StaticLogTest, AnyFlippedBitIsFoundAndNamed) {
  publish(SmallLog(600), 600);
  const std::map<std::string, std::string> whole = source_.files;
  for (const auto& [path, bytes] : whole) {
    for (std::size_t part = 0; part < 8; ++part) {
      source_.files = whole;
      source_.files[path][(bytes.size() - 1) * part / 7] ^= 1;
      if (path == "checkpoint") {
        const std::vector keys = {vkey_};
        const Result<StaticLogReport> report = verify_static_log(source_, keys);
        EXPECT_TRUE(!report || !report->ok());
        continue;
      }
      const StaticLogReport report = judge();
      ASSERT_FALSE(report.ok()) << path;
      // A tile of the right edge shows at the root alone, which no one of them explains.
      const bool edge =
          path.find("tile/entries") == std::string::npos && path.find(".p/") != std::string::npos;
      EXPECT_EQ(report.faults[0].path, edge ? "checkpoint" : path);
      EXPECT_EQ(report.leaves + report.unjudged, 600u);
    }
  }
}

// golang/go 80744: the parent of tile 0/000 is a tile of the right edge, and whole.
TEST_F(StaticLogTest, AForgedFullTileBelowTheRightEdgeIsFound) {
  publish(SmallLog(259), 259);
  const SmallLog forged(259, "example.org/log", 7);
  const TilePath path{false, 0, 0};
  source_.files[tile_path_text(path)] = forged.tiles()(0, 0, 256).value();
  std::vector<std::string_view> entries(forged.leaves().begin(), forged.leaves().begin() + 256);
  source_.files["tile/entries/000"] = encode_bundle(entries).value();
  const StaticLogReport report = judge();
  ASSERT_EQ(report.faults.size(), 1u);
  EXPECT_EQ(report.faults[0].path, "tile/0/000");
  EXPECT_EQ(report.faults[0].code, "TILE_MISMATCH");
  EXPECT_NE(report.faults[0].expected, report.faults[0].found);
  EXPECT_EQ(report.unjudged, 256u);
  EXPECT_EQ(report.leaves, 3u);
}

TEST_F(StaticLogTest, ForgedEntriesAreNamedOneByOne) {
  publish(SmallLog(300), 300);
  const SmallLog forged(300, "example.org/log", 7);
  std::vector<std::string_view> entries(forged.leaves().begin(), forged.leaves().begin() + 256);
  source_.files["tile/entries/000"] = encode_bundle(entries).value();
  const StaticLogReport report = judge();
  ASSERT_EQ(report.faults.size(), 1u);
  EXPECT_EQ(report.faults[0].path, "tile/entries/000");
  EXPECT_EQ(report.faults[0].code, "LEAF_MISMATCH");
  EXPECT_NE(report.faults[0].what.find("entry 7 "), std::string::npos);
  EXPECT_EQ(report.leaves, 299u);
}

TEST_F(StaticLogTest, PartialFilesAreReadFromFullOnesOnceTheLogHasGrown) {
  const SmallLog log(600);
  publish(log, 300);
  const std::map<std::string, std::string> old = source_.files;
  publish(log, 600);
  source_.files["checkpoint"] = old.at("checkpoint");  // a reader who kept it
  for (const auto& [path, bytes] : source_.files) {
    ASSERT_EQ(path.find(".p/44"), std::string::npos) << "collected";
  }
  // tile/1/000.p/1 is gone too, and the full tile/1/000 is not there before 65,536 leaves.
  EXPECT_EQ(fault(), "tile/1/000.p/1 NO_FILE");
  source_.files["tile/1/000.p/1"] = old.at("tile/1/000.p/1");
  const StaticLogReport report = judge();
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report.leaves, 300u);
  EXPECT_TRUE(source_.asked.contains("tile/0/001"));
  EXPECT_TRUE(source_.asked.contains("tile/entries/001"));
}

// PITFALLS 10: a short tile at the path of a full one, and other wrong lengths.
TEST_F(StaticLogTest, WrongLengthsAreRefusedWhereverTheyLie) {
  const SmallLog log(600);
  publish(log, 600);
  const std::map<std::string, std::string> whole = source_.files;
  source_.files["tile/0/000"].resize(kTileBytes - kHashBytes);
  EXPECT_EQ(fault(), "tile/0/000 TILE_LENGTH");
  source_.files = whole;
  source_.files["tile/0/000"] += std::string(kHashBytes, 'x');
  EXPECT_EQ(fault(), "tile/0/000 TILE_LENGTH");
  source_.files = whole;
  source_.files["tile/0/000"].clear();
  EXPECT_EQ(fault(), "tile/0/000 TILE_LENGTH");
  source_.files = whole;
  source_.files["tile/0/000"] = "<html>404</html>";
  EXPECT_EQ(fault(), "tile/0/000 TILE_LENGTH");
  source_.files = whole;
  source_.files["tile/0/002.p/88"] += source_.files["tile/0/002.p/88"];
  EXPECT_EQ(fault(), "tile/0/002.p/88 TILE_LENGTH");
  // The bytes of the partial tile at the full path: right hashes, and no full tile.
  source_.files = whole;
  source_.files["tile/0/002"] = source_.files["tile/0/002.p/88"];
  source_.files.erase("tile/0/002.p/88");
  EXPECT_EQ(fault(), "tile/0/002.p/88 TILE_LENGTH");
}

TEST_F(StaticLogTest, MissingAndMalformedBundlesAreNamed) {
  publish(SmallLog(600), 600);
  const std::map<std::string, std::string> whole = source_.files;
  source_.files.erase("tile/entries/001");
  EXPECT_EQ(fault(), "tile/entries/001 NO_FILE");
  source_.files = whole;
  source_.files["tile/entries/001"].pop_back();
  EXPECT_EQ(fault(), "tile/entries/001 BAD_BUNDLE");
  source_.files = whole;
  source_.files["tile/entries/001"] += 'x';
  EXPECT_EQ(fault(), "tile/entries/001 BAD_BUNDLE");
  source_.files = whole;
  source_.files["tile/entries/001"] = std::string(kBundleBytes + 1, '\0');
  EXPECT_EQ(fault(), "tile/entries/001 BAD_BUNDLE");
  source_.files = whole;
  source_.files.erase("tile/0/000");
  EXPECT_EQ(fault(), "tile/0/000 NO_FILE");
}

TEST_F(StaticLogTest, WhatNoKnownKeySignedIsNotLookedAt) {
  publish(SmallLog(300), 300);
  vkey_ = log_verifier_key("example.org/log", test::seeded('x').public_key());
  EXPECT_EQ(fault(), "checkpoint NOT_SIGNED");
  EXPECT_EQ(source_.asked.size(), 1u);
  vkey_ = SmallLog(1, "example.org/other").vkey();
  EXPECT_EQ(fault(), "checkpoint ORIGIN_MISMATCH");
}

TEST_F(StaticLogTest, WhatIsNoLogIsAnErrorAndNoVerdict) {
  const std::vector keys = {SmallLog(1).vkey()};
  EXPECT_EQ(verify_static_log(source_, keys).error().code, "NO_FILE");
  source_.files["checkpoint"] = "hello\n";
  EXPECT_EQ(verify_static_log(source_, keys).error().code, "BAD_NOTE");
  source_.files["checkpoint"] = std::string(limits::kNoteBytes + 1, 'x');
  EXPECT_EQ(verify_static_log(source_, keys).error().code, "RESOURCE_TOO_LARGE");
}

TEST_F(StaticLogTest, ABrokenDiskIsAnErrorAndNoVerdict) {
  publish(SmallLog(600), 600);
  const std::vector keys = {vkey_};
  for (const char* path : {"checkpoint", "tile/0/000", "tile/1/000.p/2", "tile/entries/001"}) {
    source_.broken = path;
    const Result<StaticLogReport> report = verify_static_log(source_, keys);
    ASSERT_FALSE(report.has_value()) << path;
    EXPECT_EQ(report.error().kind, ErrorKind::system);
  }
}

TEST_F(StaticLogTest, ListsAsManyFaultsAsAsked) {
  publish(SmallLog(1000), 1000);
  for (auto& [path, bytes] : source_.files) {
    if (path.starts_with("tile/entries/")) bytes.clear();
  }
  StaticLogOptions options;
  options.faults_max = 3;
  const StaticLogReport report = judge(options);
  EXPECT_EQ(report.faults.size(), 3u);
  EXPECT_EQ(report.faults_left_out, 1u);
  EXPECT_EQ(report.unjudged, 1000u);
}

TEST_F(StaticLogTest, ObjectsThatEntriesNameAreHashed) {
  publish(SmallLog(3), 3);
  const std::string bytes = "an object";
  const Digest whole = sha256(bytes), spoilt = sha256("another"), gone = sha256("withheld");
  source_.files[object_path(whole)] = bytes;
  source_.files[object_path(spoilt)] = "other bytes";
  StaticLogOptions options;
  options.objects = [&](std::string_view) -> Result<std::vector<Digest>> {
    return std::vector{whole, spoilt, gone};  // all three entries name them
  };
  const StaticLogReport report = judge(options);
  EXPECT_EQ(report.objects, 1u);
  EXPECT_EQ(report.objects_absent, 1u);
  ASSERT_EQ(report.faults.size(), 1u);
  EXPECT_EQ(report.faults[0].path, object_path(spoilt));
  EXPECT_EQ(report.faults[0].code, "OBJECT_MISMATCH");
  EXPECT_EQ(object_path(whole), "object/" + whole.hex().substr(0, 2) + "/" + whole.hex().substr(2));
}

TEST_F(StaticLogTest, EntriesThatCannotBeReadAreFaults) {
  publish(SmallLog(2), 2);
  StaticLogOptions options;
  options.objects = [](std::string_view) -> Result<std::vector<Digest>> {
    return fail(ErrorKind::invalid, "UNKNOWN_ENTRY", {}, "an entry of a version to come");
  };
  const StaticLogReport report = judge(options);
  ASSERT_EQ(report.faults.size(), 2u);
  EXPECT_EQ(report.faults[0].code, "UNREADABLE_ENTRY");
}

TEST_F(StaticLogTest, TilesOfAPublishedMirrorLeadToItsRoot) {
  KERNELINDEX_REQUIRE_CORPUS();
  const test::Vectors vectors = test::load_vectors("tiles/mirror_300.json");
  const SignedCheckpoint mirror =
      parse_checkpoint(test::base64(*vectors.root.find("checkpoint_base64"))).value();
  // The mirror's cosignature is published, the log's own line is not: sign it in its place.
  const SigningKey key = test::seeded('m');
  const SigningKey* keys[] = {&key};
  source_.files["checkpoint"] = sign_checkpoint(mirror.checkpoint, keys).format();
  for (const auto& [path, bytes] : vectors.root.find("resources")->object()) {
    source_.files[std::string(path)] = test::base64(bytes);
  }
  vkey_ = log_verifier_key(mirror.checkpoint.origin, key.public_key());
  StaticLogOptions options;
  options.entries = false;
  const StaticLogReport report = judge(options);
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(report.leaves, 300u);
  EXPECT_EQ(report.tiles, 3u);
  EXPECT_EQ(report.bundles, 0u);
}

// ---- Folders
// ---------------------------------------------------------------------------------------

TEST(DirectorySource, ReadsFilesAndNothingElse) {
  const test::TempDir folder;
  test::write_file(folder / "a", std::string(200'000, 'a'));
  test::write_file(folder / "empty", "");
  std::filesystem::create_directory(folder / "dir");
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  DirectorySource source(folder.path());
  EXPECT_EQ(source.get("a", 200'000).value()->size(), 200'000u);
  EXPECT_EQ(source.get("a", 199'999).error().code, "RESOURCE_TOO_LARGE");
  EXPECT_EQ(source.get("empty", 0).value(), "");
  EXPECT_EQ(source.get("missing", 10).value(), std::nullopt);
  EXPECT_EQ(source.get("a/b", 10).value(), std::nullopt);
  EXPECT_EQ(source.get("dir", 10).error().code, "NO_FILE");
  EXPECT_EQ(source.get("pipe", 10).error().code, "NO_FILE") << "and it did not hang";
  EXPECT_EQ(source.get(std::string(300, 'x'), 10).error().kind, ErrorKind::system);
}

TEST(DirectorySource, NeverHandsOverMoreThanTheLimit) {
  const test::TempDir folder;
  test::write_file(folder / "a", std::string(1'000'000, 'a'));
  DirectorySource source(folder.path());
  std::size_t given = 0;
  const Result<bool> read = source.stream("a", 100'000, [&](std::string_view piece) -> Status {
    given += piece.size();
    return {};
  });
  EXPECT_EQ(read.error().code, "RESOURCE_TOO_LARGE");
  EXPECT_LE(given, 100'000u);
}

}  // namespace
}  // namespace kernelindex
