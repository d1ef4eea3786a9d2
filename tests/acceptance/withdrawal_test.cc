// SPDX-License-Identifier: Apache-2.0
// A source that takes a submission back: a later dump shows it disqualified.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "ledger/attest.h"
#include "ledger/query.h"
#include "tests/acceptance/room.h"
#include "tests/support/corpus.h"

namespace kernelindex::test {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;

constexpr std::string_view kRun =
    "sha256:fa2cdd25d5d22ec080b8e6fcabbd2acc51a3c2ab3bcff1cfc9a5be97cdd4e0dc";

// The sample, in which submission 15866 was disqualified since.
std::filesystem::path later_sample(const Room& room) {
  const std::filesystem::path folder = room.folder() / "later";
  std::filesystem::copy(sample_folder(), folder, std::filesystem::copy_options::recursive);
  const std::filesystem::path page = folder / "submissions" / "79.json";
  std::stringstream bytes;
  bytes << std::ifstream(page).rdbuf();
  std::string text = bytes.str();
  // The submission stands first on the page.
  for (const auto& [before, after] :
       {std::pair("\"is_disqualified\": false", "\"is_disqualified\": true"),
        std::pair("\"disqualification_reason\": null",
                  "\"disqualification_reason\": \"cached results\"")}) {
    const std::size_t at = text.find(before);
    EXPECT_NE(at, std::string::npos) << before;
    text.replace(at, std::string_view(before).size(), after);
  }
  std::ofstream(page) << text;
  return folder;
}

TEST(Withdrawal, ARunThatItsSourceDisqualifiedKeepsItsHistoryAndLosesItsRank) {
  Room room;
  room.import_sample();
  const Digest run = must(Digest::parse(kRun));
  ASSERT_TRUE(must(view_run(room.read(), run)).eligible());
  const ingest::ImportReport report = room.import("sol-execbench", later_sample(room));
  EXPECT_EQ(report.recorded.manifests, 0u);
  EXPECT_EQ(report.recorded.attestations, 2u) << "the withdrawal and the import statement";
  const RunView after = must(view_run(room.read(), run));
  EXPECT_THAT(after.reasons, Contains("WITHDRAWN_BY_SOURCE"));
  EXPECT_EQ(after.evidence.level, Level::reported);
  const Provenance story = must(provenance(room.read(), run));
  ASSERT_EQ(story.chain.size(), 1u);
  EXPECT_TRUE(story.chain[0].counts);
  EXPECT_EQ(story.chain[0].says, "sol-execbench:submission/15866 disqualified: cached results");
}

TEST(Withdrawal, TheSameDumpAgainAddsNothing) {
  Room room;
  room.import_sample();
  const std::filesystem::path later = later_sample(room);
  room.import("sol-execbench", later);
  const TreeHead head = room.head();
  room.import("sol-execbench", later);
  EXPECT_EQ(room.head(), head);
}

TEST(Withdrawal, WhatAMaintainerTookBackIsNotSaidAgain) {
  Room room;
  room.import_sample();
  const std::filesystem::path later = later_sample(room);
  room.import("sol-execbench", later);
  const Digest run = must(Digest::parse(kRun));
  const Digest withdrawal = must(provenance(room.read(), run)).chain.front().id;
  const KeyFile maintainer = must(read_role_key(shared_keys(), Role::maintainer, ""));
  must(attest(room.ledger(), {withdrawal, Retraction{"the source erred"}}, maintainer.key));
  ASSERT_TRUE(must(view_run(room.read(), run)).eligible());
  const TreeHead head = room.head();
  room.import("sol-execbench", later);
  EXPECT_EQ(room.head(), head);
  EXPECT_TRUE(must(view_run(room.read(), run)).eligible());
}

TEST(Withdrawal, WhatWasNeverRecordedIsNotWithdrawn) {
  Room room;
  const ingest::ImportReport report = room.import("sol-execbench", later_sample(room));
  EXPECT_EQ(report.recorded.attestations, 1u);
}

// The sample, in which submission 15866 was measured anew since.
std::filesystem::path changed_sample(const Room& room) {
  const std::filesystem::path folder = room.folder() / "changed";
  std::filesystem::copy(sample_folder(), folder, std::filesystem::copy_options::recursive);
  const std::filesystem::path page = folder / "submissions" / "79.json";
  std::string text = read_file(page);
  const std::string before = "\"latency_ms\": ";
  const std::size_t at = text.find(before);
  EXPECT_NE(at, std::string::npos);
  text.replace(at + before.size(), text.find_first_of(",\n", at) - at - before.size(), "0.0631");
  write_file(page, text);
  return folder;
}

TEST(Replacement, ASubmissionThatALaterDumpShowsChangedLosesItsRankToItsNewSelf) {
  Room room;
  room.import_sample();
  const Digest run = must(Digest::parse(kRun));
  const RunView before = must(view_run(room.read(), run));
  ASSERT_TRUE(before.eligible());
  const ingest::ImportReport report = room.import("sol-execbench", changed_sample(room));
  EXPECT_EQ(report.recorded.manifests, 1u) << "the run of the submission as it is now";
  const RunView after = must(view_run(room.read(), run));
  EXPECT_FALSE(after.eligible());
  EXPECT_THAT(after.reasons, Contains("REPLACED_AT_SOURCE"));
  EXPECT_EQ(after.evidence.level, Level::reported);
  const History group = must(history(room.read(), *after.row.group));
  const RunView* now = group.leader();
  ASSERT_NE(now, nullptr);
  EXPECT_NE(now->digest, run);
  EXPECT_EQ(now->row.value, 63'100.0) << "nanoseconds, as the later dump has them";
  room.close();
  expect_sound(room);
  EXPECT_EQ(room.run({"audit", "--reimport"}).exit_code, 0);
}

}  // namespace
}  // namespace kernelindex::test
