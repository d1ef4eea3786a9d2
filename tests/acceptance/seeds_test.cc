// SPDX-License-Identifier: Apache-2.0
// The two run pages that the project started from, alone and together with the dump that has the
// same runs, in both orders.
#include <gtest/gtest.h>

#include <algorithm>

#include "ledger/query.h"
#include "tests/acceptance/answers.h"
#include "tests/acceptance/room.h"
#include "tests/support/corpus.h"

namespace kernelindex::test {
namespace {

struct Seed {
  std::string id;
  std::string run;
  std::string key;
};
const Seed kSeeds[] = {
    {"15866", "sha256:fa2cdd25d5d22ec080b8e6fcabbd2acc51a3c2ab3bcff1cfc9a5be97cdd4e0dc",
     "sha256:caec9f00e44cade99c754c1692c5cff4493a56cefcc08fb31c52fb4034cfe49f"},
    {"1307", "sha256:bcac4b197aba0543b89e933a31d55a844b179082f6006b1233cddff3d8b17d60",
     "sha256:9c30d4100296278b7b0e4fe9a112a531f6186c0c92ce9a72f257bb0793f2bf11"}};

void import_pages(Room& room) {
  for (const Seed& seed : kSeeds) {
    const auto page = source_root() / "tests/ingest/data" / ("run-" + seed.id + ".json");
    EXPECT_FALSE(room.import("kernelindex-run", page).quarantined());
  }
}

Digest digest(const std::string& text) { return must(Digest::parse(text)); }

// A run's row without the places of its claims in the log, which the order of arrival decides.
std::string timeless(const std::string& bytes) {
  RunRow row = must(decode_run_row(bytes));
  row.index = 0;
  row.last_index = 0;
  for (RunClaimRow& claim : row.claims) claim.index = 0;
  std::ranges::sort(row.claims, {}, [](const RunClaimRow& claim) {
    return std::pair(claim.own_source, claim.snapshot_kept);
  });
  return encode_row(row);
}

// Keys of the derived space that name no place in the log; rows of runs with their values.
std::map<std::string, std::string> timeless_keys(const Reader& reader) {
  std::map<std::string, std::string> out;
  for (const auto& [key, value] : contents(reader.view(), Space::derived)) {
    if (std::string_view("sbgdwyxl").find(key.front()) == std::string_view::npos) continue;
    out.emplace(key, key.front() == 'g' ? timeless(value) : std::string());
  }
  return out;
}

TEST(Seeds, TheSampleGivesBothRunsAndTheirKeys) {
  Room room;
  EXPECT_FALSE(room.import_sample().quarantined());
  for (const Seed& seed : kSeeds) {
    const RunView run = must(view_run(room.read(), digest(seed.run)));
    EXPECT_EQ(run.row.group, digest(seed.key));
    EXPECT_EQ(run.evidence.level, Level::reported);
    EXPECT_TRUE(run.eligible());
  }
}

TEST(Seeds, APageAloneGivesTheRunAndNoKeyUntilTheWorkloadArrives) {
  Room room;
  import_pages(room);
  for (const Seed& seed : kSeeds) {
    const ShownManifest shown = must(show_manifest(room.read(), digest(seed.run)));
    EXPECT_EQ(must(read_manifest(shown.bytes)).identity, digest(seed.run));
    EXPECT_FALSE(shown.comparison_key);
    const RunView run = must(view_run(room.read(), digest(seed.run)));
    EXPECT_FALSE(run.row.group);
    EXPECT_TRUE(run.row.has(kWorkloadMissing));
    EXPECT_TRUE(std::ranges::count(run.evidence.reasons, LevelReason::workload_missing) == 1);
    EXPECT_EQ(history(room.read(), digest(seed.key)).error().code, "NO_SUCH_GROUP");
  }
  room.close();
  const Outcome outcome = room.run({"show", kSeeds[0].run, "--json"});
  EXPECT_TRUE(Document(outcome.out)->find("comparisonKey")->is_null()) << outcome.out;
  expect_sound(room);

  room.import_sample();
  for (const Seed& seed : kSeeds) {
    EXPECT_EQ(must(view_run(room.read(), digest(seed.run))).row.group, digest(seed.key));
    EXPECT_EQ(must(history(room.read(), digest(seed.key))).as_of.size, room.head().size);
  }
  room.close();
  expect_sound(room);
}

TEST(Seeds, TheOrderOfArrivalNeverShows) {
  Room page_first;
  import_pages(page_first);
  page_first.import_sample();
  Room sample_first;
  sample_first.import_sample();
  import_pages(sample_first);

  EXPECT_EQ(timeless_keys(page_first.read()), timeless_keys(sample_first.read()));
  page_first.close();
  sample_first.close();
  expect_sound(page_first);
  expect_sound(sample_first);

  const std::vector<std::vector<std::string>> questions =
      all_questions({kSeeds[0].run, kSeeds[1].run});
  Answers a = ask(page_first, questions);
  Answers b = ask(sample_first, questions);
  // Where an entry stands in the log, and what follows from that, legitimately differs.
  const std::set<std::string_view> places = {"index",  "lastIndex", "asOf",       "root",
                                             "path",   "entries",   "checkpoint", "inclusion",
                                             "ledger", "import"};
  for (Answers* answers : {&a, &b}) {
    for (auto& [question, answer] : *answers) answer = without(answer, places);
  }
  EXPECT_EQ(difference(a, b), "");
}

}  // namespace
}  // namespace kernelindex::test
