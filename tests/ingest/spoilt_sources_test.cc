// SPDX-License-Identifier: Apache-2.0
// A sample of what tests/campaigns/spoil_sources does at length: files with lines cut, glued,
// doubled, dropped, broken encodings and lost ends, of each source.
#include "tests/ingest/spoilt_sources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/ingest/text_mutations.h"
#include "tests/support/corpus.h"

namespace kernelindex::test {
namespace {

constexpr std::uint32_t kSeeds = 100;

TEST(SpoiltSources, NothingIsLostUnsaid) {
  KERNELINDEX_REQUIRE_CORPUS();
  for (SpoiltSource& source : spoilt_sources()) {
    for (std::uint32_t seed = 1; seed <= kSeeds; ++seed) {
      ASSERT_EQ(import_spoilt(source, seed), "") << "seed " << seed;
    }
  }
}

// Objects whose members are names of the source's own have no unknown ones; a row of MLPerf that is
// skipped (another division, no accelerator) is not read further.
bool is_open(const SpoiltSource& source, const std::string& what) {
  for (const char* name : {"/axes\"", "/libs\"", "/run_result\"", "/run_meta\""}) {
    if (what.ends_with(name)) return true;
  }
  constexpr std::size_t kReadRows = 9;
  if (source.name != "mlperf") return false;
  const std::size_t slash = what.find('/');
  return slash != std::string::npos && std::stoul(what.substr(slash + 1)) >= kReadRows;
}

// Whatever an object of a source has beside what we know is said, however deep it lies.
TEST(SpoiltSources, AnUnknownMemberIsSaidAtAnyDepth) {
  KERNELINDEX_REQUIRE_CORPUS();
  for (SpoiltSource& source : spoilt_sources()) {
    if (source.name == "liger" || source.name == "kernelbench") continue;
    const std::string whole = source.files.bytes_of(source.target);
    const bool lines = source.target.ends_with(".jsonl");
    const std::size_t end = lines ? whole.find('\n') : whole.size();
    for (const Mutation& mutation : with_unknown_members(whole.substr(0, end))) {
      if (is_open(source, mutation.what)) continue;
      source.files.bytes_of(source.target) = mutation.text + whole.substr(end);
      CollectingSink sink;
      ASSERT_TRUE(source.import(source.files, sink));
      EXPECT_THAT(sink.said(), ::testing::HasSubstr("zz_unknown"))
          << source.name << ", " << mutation.what;
    }
    source.files.bytes_of(source.target) = whole;
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
