// SPDX-License-Identifier: Apache-2.0
// A sample of what tests/campaigns/spoil_sources does at length: files with lines cut, glued,
// doubled, dropped, broken encodings and lost ends, of each source.
#include "tests/ingest/spoilt_sources.h"

#include <gtest/gtest.h>

#include "tests/ingest/text_mutations.h"
#include "tests/support/corpus.h"

namespace kernelindex::test {
namespace {

constexpr std::uint32_t kSeeds = 150;

TEST(SpoiltSources, NothingIsLostUnsaid) {
  KERNELINDEX_REQUIRE_CORPUS();
  for (SpoiltSource& source : spoilt_sources()) {
    for (std::uint32_t seed = 1; seed <= kSeeds; ++seed) {
      ASSERT_EQ(import_spoilt(source, seed), "") << "seed " << seed;
    }
  }
}

TEST(SpoiltSources, ALossWouldBeSeen) {
  KERNELINDEX_REQUIRE_CORPUS();
  SpoiltSource source = std::move(spoilt_sources().front());
  const auto import = source.import;
  // An importer that forgets one item whenever it meets a finding.
  source.import = [import](const SourceFiles& files, CollectingSink& sink) {
    const Status done = import(files, sink);
    if (!sink.all_findings.empty()) sink.all_findings.pop_back();
    return done;
  };
  bool seen = false;
  for (std::uint32_t seed = 1; seed <= kSeeds && !seen; ++seed) {
    seen = !import_spoilt(source, seed).empty();
  }
  EXPECT_TRUE(seen);
}

TEST(TextMutations, OneSeedIsOneMutation) {
  for (std::uint32_t seed = 0; seed < 50; ++seed) {
    EXPECT_EQ(text_mutation("a\nb\nc\n", seed).text, text_mutation("a\nb\nc\n", seed).text);
  }
}

TEST(TextMutations, RecordsAreCountedByTheRfc) {
  EXPECT_EQ(count_csv_records("a,b\r\n\"x\ny\",z\n\nlast"), 3u);
  EXPECT_EQ(count_lines("a\n \n\nb"), 2u);
}

}  // namespace
}  // namespace kernelindex::test
