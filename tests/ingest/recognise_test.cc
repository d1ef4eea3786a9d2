// SPDX-License-Identifier: Apache-2.0
#include "ingest/recognise.h"

#include <gtest/gtest.h>

#include "tests/ingest/collecting_sink.h"
#include "tests/support/corpus.h"

namespace kernelindex {
namespace {

using ingest::Recognition;
using test::SourceFiles;

Recognition recognise(const SourceFiles& files) {
  Result<Recognition> found = ingest::recognise_files(files.recorded());
  EXPECT_TRUE(found) << found.error().text();
  return std::move(*found);
}

std::map<std::string, std::size_t> counts_of(const Recognition& recognition) {
  std::map<std::string, std::size_t> out;
  for (const ingest::RecognisedFiles& of : recognition.sources) {
    out[std::string(of.source->name)] += of.files.size();
  }
  return out;
}

using Counts = std::map<std::string, std::size_t>;

TEST(Recognise, EachSourceOfTheCorporaIsKnownByItsContent) {
  KERNELINDEX_REQUIRE_CORPUS();
  const auto known = [](std::string_view folder) {
    return counts_of(recognise(SourceFiles::of_folder(test::corpus_path(folder))));
  };
  EXPECT_EQ(known("data/sources/flashinfer/flashinfer-bench"), (Counts{{"flashinfer-bench", 3}}));
  EXPECT_EQ(known("data/sources/flashinfer/kernelindex-fixtures"),
            (Counts{{"flashinfer-bench", 6}}));
  EXPECT_EQ(known("data/sources/gpumode/kernelindex-fixtures"), (Counts{{"gpumode-kernelbot", 2}}));
  EXPECT_EQ(known("data/sources/liger/linkedin"), (Counts{{"liger-kernel-bench", 3}}));
  EXPECT_EQ(known("data/sources/mlperf/mlcommons-inference_results_v5.1"),
            (Counts{{"mlperf-inference", 1}}));
  EXPECT_EQ(known("data/sources/kernelbench"), (Counts{{"kernelbench", 4}}));
  EXPECT_EQ(known("data/sources/sol-execbench/nvidia-repo/examples"),
            (Counts{{"sol-execbench", 33}}));
  EXPECT_EQ(known("data/sources/sol-execbench/kernelindex-fixtures/api"),
            (Counts{{"sol-execbench", 3}}));
}

TEST(Recognise, SeveralSourcesInOneTreeAreToldApart) {
  KERNELINDEX_REQUIRE_CORPUS();
  const Recognition all = recognise(SourceFiles::of_folder(test::corpus_path("data/sources")));
  const Counts counts = counts_of(all);
  EXPECT_EQ(counts.at("mlperf-inference"), 3u);
  EXPECT_EQ(counts.at("gpumode-kernelbot"), 2u);
  EXPECT_EQ(counts.at("liger-kernel-bench"), 4u);
  EXPECT_EQ(counts.at("kernelbench"), 4u);
  EXPECT_EQ(counts.at("flashinfer-bench"), 13u)
      << "four samples of the SOL-ExecBench repository are written as FlashInfer-Bench writes them";
  EXPECT_FALSE(counts.contains("kernelindex-catalog"));
  std::size_t files = all.unclaimed.size();
  for (const auto& [source, count] : counts) files += count;
  EXPECT_EQ(files, SourceFiles::of_folder(test::corpus_path("data/sources")).view().size());
}

TEST(Recognise, ADumpIsKnownWithoutItsNeighbours) {
  const SourceFiles sample = SourceFiles::of_folder(test::source_root() / "tools/sample");
  const Recognition found = recognise(sample);
  EXPECT_EQ(counts_of(found), (Counts{{"sol-execbench", 5}}));
}

TEST(Recognise, PartsOfATreeGoWithTheNearestThatTells) {
  const std::string trace = R"({"definition":"d","workload":{"axes":{"n":1}},"solution":"s"})";
  SourceFiles files;
  files.add("a/s.json", R"({"name":"s","definition":"d","spec":{"language":"triton"}})");
  files.add("a/t.json", trace);
  files.add("b/s.json", R"({"name":"s","definition":"d","spec":{"languages":["triton"]}})");
  files.add("b/t.json", trace);
  const Recognition found = recognise(files);
  EXPECT_EQ(counts_of(found), (Counts{{"flashinfer-bench", 2}, {"sol-execbench", 2}}));
  EXPECT_EQ(found.sources[0].files, (std::vector<std::size_t>{0, 1}));
}

TEST(Recognise, NothingIsClaimedOfNotes) {
  SourceFiles files;
  files.add("README.md", "# Notes").add("empty", "").add("numbers.json", "[1, 2, 3]");
  const Recognition found = recognise(files);
  EXPECT_TRUE(found.sources.empty());
  EXPECT_EQ(found.unclaimed.size(), 3u);
}

}  // namespace
}  // namespace kernelindex
