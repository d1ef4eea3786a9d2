// SPDX-License-Identifier: Apache-2.0
// Exports are judged by the reader of static logs, broken off at every step, and gone on with.
#include "ledger/tile_export.h"

#include <gtest/gtest.h>

#include <map>

#include "ledger/failing_steps.h"
#include "ledger/resource_source.h"
#include "ledger/small_log.h"
#include "support/corpus.h"
#include "support/temp_dir.h"

namespace kernelindex {
namespace {

using test::FailingSteps;
using test::SmallLog;

class TileExportTest : public testing::Test {
 protected:
  std::filesystem::path out() const { return folder_ / "out"; }
  StaticLogReport judge(const SmallLog& log, const StaticLogOptions& options = {}) {
    DirectorySource source(out());
    const std::vector keys = {log.vkey()};
    return verify_static_log(source, keys, options).value();
  }
  // All files there, by their path in the folder.
  std::map<std::string, std::string> files() const {
    std::map<std::string, std::string> found;
    if (!std::filesystem::exists(out())) return found;
    for (const auto& file : std::filesystem::recursive_directory_iterator(out())) {
      if (!file.is_regular_file()) continue;
      found[file.path().lexically_relative(out()).generic_string()] = test::read_file(file.path());
    }
    return found;
  }

  test::TempDir folder_;
};

TEST_F(TileExportTest, WhatIsExportedIsWhole) {
  const SmallLog log(700);
  for (const std::uint64_t size : {0u, 1u, 255u, 256u, 257u, 700u}) {
    std::filesystem::remove_all(out());
    const TileExportReport report = export_tiles(log.at(size), out()).value();
    const StaticLogReport judged = judge(log);
    EXPECT_TRUE(judged.ok()) << size;
    EXPECT_EQ(judged.checkpoint.head, log.head(size));
    EXPECT_EQ(judged.leaves, size);
    EXPECT_EQ(report.written.tiles, judged.tiles);
    EXPECT_EQ(report.written.bundles, judged.bundles);
    EXPECT_EQ(files().size(), judged.tiles + judged.bundles + 1) << "and nothing else lies there";
  }
}

TEST_F(TileExportTest, AFolderMayBeSpelledInAnyWay) {
  const SmallLog log(3);
  for (const char* name : {"out/", "out/.", "a/../out", "./out//"}) {
    std::filesystem::remove_all(out());
    std::filesystem::create_directory(folder_ / "a");
    ASSERT_TRUE(export_tiles(log.at(3), folder_.path() / name).has_value()) << name;
    EXPECT_TRUE(judge(log).ok());
  }
}

TEST_F(TileExportTest, ExportingAgainWritesNothingButTheCheckpoint) {
  const SmallLog log(600);
  ASSERT_TRUE(export_tiles(log.at(600), out()).has_value());
  const std::map<std::string, std::string> before = files();
  FailingSteps steps;
  const TileExportReport report = export_tiles(log.at(600), out(), steps).value();
  EXPECT_EQ(report.written.tiles + report.written.bundles, 0u);
  EXPECT_EQ(report.kept.tiles, 4u);
  EXPECT_EQ(report.kept.bundles, 3u);
  EXPECT_EQ(files(), before);
  std::size_t writes = 0;
  for (const std::string& step : steps.log()) writes += step.starts_with("write ") ? 1 : 0;
  EXPECT_EQ(writes, 1u);
}

// A reader who holds the checkpoint of 300 still finds all of it after 600 was published.
TEST_F(TileExportTest, OlderCheckpointsStayReadableWhenTheLogGrows) {
  const SmallLog log(600);
  ASSERT_TRUE(export_tiles(log.at(300), out()).has_value());
  const std::string old = test::read_file(out() / "checkpoint");
  ASSERT_TRUE(export_tiles(log.at(600), out()).has_value());
  EXPECT_EQ(judge(log).leaves, 600u);
  EXPECT_TRUE(files().contains("tile/0/001.p/44"));
  EXPECT_TRUE(files().contains("tile/0/001"));
  const std::string current = test::read_file(out() / "checkpoint");
  test::write_file(out() / "checkpoint", old);
  EXPECT_EQ(judge(log).leaves, 300u);
  // Somebody collects the partial tiles of level 0: the full ones stand in.
  std::filesystem::remove_all(out() / "tile/0/001.p");
  std::filesystem::remove_all(out() / "tile/entries/001.p");
  EXPECT_TRUE(judge(log).ok());
  EXPECT_EQ(judge(log).leaves, 300u);
}

// PITFALLS 10: the checkpoint says 65,537, and the tree goes on to 66,000.
TEST_F(TileExportTest, WritesWhatBelongsToTheCheckpointHoweverLargeTheTree) {
  const SmallLog log(66'000);
  FailingSteps quick;
  ASSERT_TRUE(export_tiles(log.at(65'537), out(), quick).has_value());
  const std::map<std::string, std::string> found = files();
  EXPECT_TRUE(found.contains("tile/0/256.p/1"));
  EXPECT_TRUE(found.contains("tile/1/000"));
  EXPECT_TRUE(found.contains("tile/2/000.p/1"));
  for (const auto& [path, bytes] : found) {
    EXPECT_FALSE(path.starts_with("tile/1/001")) << path;
    if (path.starts_with("tile/entries") || path == "checkpoint") continue;
    const TilePath tile = parse_tile_path(path).value();
    EXPECT_EQ(bytes.size(), tile.width * kHashBytes) << path;
  }
  EXPECT_TRUE(judge(log).ok());
  ASSERT_TRUE(export_tiles(log.at(66'000), out(), quick).has_value());
  EXPECT_TRUE(files().contains("tile/1/001.p/1"));
  EXPECT_TRUE(judge(log).ok());
}

// Each step fails once, in each way. The published state stays whole, temporary files apart nothing
// stray appears, and the next export finishes.
TEST_F(TileExportTest, BrokenOffAtAnyStepItLeavesWhatWasPublishedAndGoesOn) {
  const SmallLog log(600);
  const std::vector<Digest> named = {sha256("one"), sha256("two")};
  TileExport to_600 = log.at(600);
  to_600.objects = [&](std::string_view) -> Result<std::vector<Digest>> { return named; };
  to_600.object = [&](const Digest& digest, const ByteSink& sink) -> Result<bool> {
    const Status given = sink(digest == named[0] ? "one" : "two");
    if (!given) return fail(given.error());
    return true;
  };
  StaticLogOptions objects;
  objects.objects = to_600.objects;
  FailingSteps quick, counting;
  ASSERT_TRUE(export_tiles(log.at(300), out(), quick).has_value());
  ASSERT_TRUE(export_tiles(to_600, out(), counting).has_value());
  const std::map<std::string, std::string> finished = files();
  for (const FailingSteps::Fault fault :
       {FailingSteps::Fault::nothing_done, FailingSteps::Fault::half_written,
        FailingSteps::Fault::unsynced}) {
    for (std::size_t at = 0; at < counting.log().size(); ++at) {
      std::filesystem::remove_all(out());
      ASSERT_TRUE(export_tiles(log.at(300), out(), quick).has_value());
      FailingSteps steps(at, fault);
      const Result<TileExportReport> report = export_tiles(to_600, out(), steps);
      ASSERT_FALSE(report.has_value()) << at;
      EXPECT_EQ(report.error().kind, ErrorKind::system);
      EXPECT_EQ(steps.log().size(), at + 1) << "nothing is tried after a failure";
      const StaticLogReport left = judge(log);
      EXPECT_TRUE(left.ok()) << counting.log()[at];
      // The last step alone comes after the new checkpoint took its name.
      EXPECT_EQ(left.leaves, at + 1 == counting.log().size() ? 600u : 300u) << counting.log()[at];
      for (const auto& [path, bytes] : files()) {
        if (path.ends_with(".new") || path == "checkpoint") continue;
        ASSERT_TRUE(finished.contains(path)) << path;
        EXPECT_EQ(bytes, finished.at(path)) << path;
      }
      ASSERT_TRUE(export_tiles(to_600, out(), quick).has_value());
      const StaticLogReport judged = judge(log, objects);
      EXPECT_TRUE(judged.ok());
      EXPECT_EQ(judged.leaves, 600u);
      EXPECT_EQ(judged.objects, 2u);
    }
  }
}

// PITFALLS 9: after a failed fsync the file is not renamed; the temporary one stays aside.
TEST_F(TileExportTest, AFailedSyncPutsNothingInPlace) {
  const SmallLog log(3);
  FailingSteps counting;
  ASSERT_TRUE(export_tiles(log.at(3), out(), counting).has_value());
  std::size_t first_write = 0;
  while (!counting.log()[first_write].starts_with("write ")) ++first_write;
  std::filesystem::remove_all(out());
  FailingSteps steps(first_write, FailingSteps::Fault::unsynced);
  ASSERT_FALSE(export_tiles(log.at(3), out(), steps).has_value());
  const std::map<std::string, std::string> left = files();
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left.begin()->first, "tile/entries/000.p/3.new");
}

// Everything is on the disk, its folders too, before the checkpoint gets its name.
TEST_F(TileExportTest, FoldersAreSyncedBeforeTheCheckpoint) {
  const SmallLog log(600);
  FailingSteps steps;
  ASSERT_TRUE(export_tiles(log.at(600), out(), steps).has_value());
  std::map<std::string, std::size_t> last;
  for (std::size_t i = 0; i < steps.log().size(); ++i) last[steps.log()[i]] = i;
  const std::size_t checkpoint = last.at("write " + (out() / "checkpoint.new").string());
  for (const char* folder : {"tile/0", "tile/0/002.p", "tile/1/000.p", "tile/entries",
                             "tile/entries/002.p", "tile/1", "tile"}) {
    ASSERT_TRUE(last.contains("sync " + (out() / folder).string())) << folder;
    EXPECT_LT(last.at("sync " + (out() / folder).string()), checkpoint) << folder;
  }
  for (const auto& [step, index] : last) {
    if (step.starts_with("rename ") && step.find("checkpoint") == std::string::npos) {
      EXPECT_LT(index, last.at("sync " + (out() / "tile/0").string()));
    }
  }
  EXPECT_EQ(steps.log().back(), "sync " + out().string());
}

TEST_F(TileExportTest, FilesThatAreWrongAreReplaced) {
  const SmallLog log(600);
  ASSERT_TRUE(export_tiles(log.at(600), out()).has_value());
  const std::map<std::string, std::string> whole = files();
  for (const auto& [path, bytes] : whole) {
    if (path == "checkpoint") continue;
    std::string spoilt = bytes;
    spoilt.back() ^= 1;
    test::write_file(out() / path, path.find(".p/") != std::string::npos ? "short" : spoilt);
  }
  const TileExportReport report = export_tiles(log.at(600), out()).value();
  EXPECT_EQ(report.kept.tiles + report.kept.bundles, 0u);
  EXPECT_EQ(files(), whole);
}

TEST_F(TileExportTest, AFolderOfAnotherLogOrANewerStateIsRefusedUntouched) {
  const SmallLog log(600);
  ASSERT_TRUE(export_tiles(log.at(600), out()).has_value());
  const std::map<std::string, std::string> before = files();
  const auto code = [&](const TileExport& other) {
    const Result<TileExportReport> report = export_tiles(other, out());
    if (report) return std::string("accepted");
    EXPECT_EQ(report.error().kind, ErrorKind::refused);
    return report.error().code;
  };
  EXPECT_EQ(code(log.at(599)), "EXPORT_IS_NEWER");
  const SmallLog other(600, "example.org/other");
  EXPECT_EQ(code(other.at(600)), "EXPORT_OF_ANOTHER_LOG");
  const SmallLog fork(700, log.origin(), 3);
  EXPECT_EQ(code(fork.at(700)), "EXPORT_FORKED");
  EXPECT_EQ(files(), before);
  test::write_file(out() / "checkpoint", "hello\n");
  EXPECT_EQ(code(log.at(600)), "EXPORT_OF_ANOTHER_LOG");
}

TEST_F(TileExportTest, ASourceThatDisagreesWithItsCheckpointIsNotPublished) {
  const SmallLog log(600);
  const SmallLog fork(600, log.origin(), 3);
  const auto code = [&](const TileExport& spoilt) {
    std::filesystem::remove_all(out());
    const Result<TileExportReport> report = export_tiles(spoilt, out());
    EXPECT_FALSE(std::filesystem::exists(out() / "checkpoint"));
    EXPECT_EQ(report.error().kind, ErrorKind::corrupt);
    return report.error().code;
  };
  TileExport spoilt = log.at(600);
  spoilt.tiles = fork.tiles();
  EXPECT_EQ(code(spoilt), "ROOT_MISMATCH");
  spoilt.tiles = [&](unsigned level, std::uint64_t index, unsigned width) {
    return (level == 0 && index == 0 ? fork : log).tiles()(level, index, width);
  };
  EXPECT_EQ(code(spoilt), "TILE_MISMATCH");
  spoilt = log.at(600);
  spoilt.leaf = [&](std::uint64_t index) -> Result<std::string> { return fork.leaves()[index]; };
  EXPECT_EQ(code(spoilt), "LEAF_MISMATCH");
  spoilt = log.at(600);
  spoilt.objects = [](std::string_view) -> Result<std::vector<Digest>> {
    return std::vector{sha256("one")};
  };
  spoilt.object = [](const Digest&, const ByteSink& sink) -> Result<bool> {
    const Status given = sink("two");
    if (!given) return fail(given.error());
    return true;
  };
  EXPECT_EQ(code(spoilt), "OBJECT_MISMATCH");
}

TEST_F(TileExportTest, ObjectsThatAreNotHeldAreCounted) {
  const SmallLog log(2);
  TileExport without = log.at(2);
  without.objects = [](std::string_view) -> Result<std::vector<Digest>> {
    return std::vector{sha256("withheld")};
  };
  without.object = [](const Digest&, const ByteSink&) -> Result<bool> { return false; };
  const TileExportReport report = export_tiles(without, out()).value();
  EXPECT_EQ(report.objects_absent, 1u);
  EXPECT_EQ(report.written.objects, 0u);
  for (const auto& [path, bytes] : files()) EXPECT_FALSE(path.starts_with("object/")) << path;
  StaticLogOptions options;
  options.objects = without.objects;
  EXPECT_TRUE(judge(log, options).ok());
  EXPECT_EQ(judge(log, options).objects_absent, 1u);
}

}  // namespace
}  // namespace kernelindex
