// SPDX-License-Identifier: Apache-2.0
// A flipped bit in any file that the audit covers is noticed; small files byte by byte, large ones
// by sample. flip_every_byte is the complete run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/verify/flip_bytes.h"

namespace kernelindex::test {
namespace {

using ::testing::IsEmpty;

// Flips in the files whose names fulfil the condition; all must be noticed.
template <typename Wanted>
void expect_noticed(Shape shape, std::uint64_t stride, Wanted wanted) {
  LedgerFixture ledger(shape);
  FlipCounts all;
  for (const std::filesystem::path& file : covered_files(ledger)) {
    if (wanted(file.filename().string())) all.add(flip_bytes(ledger, file, 0, stride));
  }
  EXPECT_GT(all.flips, 0u);
  EXPECT_EQ(all.noticed, all.flips);
  EXPECT_THAT(all.unnoticed, IsEmpty());
  EXPECT_THAT(all.harmless, IsEmpty());
}

TEST(ByteFlip, OfTheCheckpointIsNoticed) {
  expect_noticed(Shape::plain, 1, [](const std::string& name) { return name == "checkpoint"; });
}

TEST(ByteFlip, OfAKeyFileIsNoticed) {
  expect_noticed(Shape::plain, 1, [](const std::string& name) { return name == "importer.key"; });
}

TEST(ByteFlip, OfAllKeyFilesAndTheMarkBesideThemIsNoticed) {
  expect_noticed(Shape::plain, 11, [](const std::string& name) {
    return name.ends_with(".key") || name == "log.key.released";
  });
}

TEST(ByteFlip, OfWhatNamesTheFilesOfTheDatabaseIsNoticed) {
  expect_noticed(Shape::plain, 5, [](const std::string& name) {
    return name == "CURRENT" || name.starts_with("MANIFEST");
  });
}

TEST(ByteFlip, OfTableFilesIsNoticed) {
  expect_noticed(Shape::plain, 211, [](const std::string& name) { return name.ends_with(".sst"); });
}

TEST(ByteFlip, OfTheWriteAheadLogIsNoticed) {
  expect_noticed(Shape::killed, 307,
                 [](const std::string& name) { return name.ends_with(".log"); });
}

}  // namespace
}  // namespace kernelindex::test
