// SPDX-License-Identifier: Apache-2.0
// What the published catalog must give, each figure recomputed from the ledger that imported it,
// and compared with what the catalog says of itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "ledger/identify.h"
#include "ledger/query.h"
#include "tests/acceptance/catalog_rows.h"
#include "tests/acceptance/room.h"
#include "tests/support/corpus.h"

namespace kernelindex::test {
namespace {

constexpr std::string_view kSeed = "kernelindex:01a0032e-f7d2-749e-bb30-df1bba93405f";

bool says(const RunView& run, std::string_view reason) {
  return std::ranges::find(run.reasons, reason) != run.reasons.end();
}

bool says(const RunView& run, LevelReason reason) {
  const std::vector<LevelReason>& reasons = run.evidence.reasons;
  return std::ranges::find(reasons, reason) != reasons.end();
}

class CatalogFacts : public ::testing::Test {
 protected:
  void SetUp() override { KERNELINDEX_REQUIRE_CORPUS(); }

  struct Imported {
    Room room;
    ingest::ImportReport report;
    Imported() : report(room.import_catalog()) {}
  };
  static Imported& imported() {
    static Imported imported;
    return imported;
  }
  static Reader read() { return imported().room.read(); }

  static const std::vector<RunView>& runs(RankingPolicy policy = RankingPolicy::v1) {
    static std::map<RankingPolicy, std::vector<RunView>> lists;
    if (!lists.contains(policy)) {
      lists[policy] = must(list_runs(read(), {}, {policy, {}})).runs;
    }
    return lists[policy];
  }

  static std::vector<CatalogMove> moves(RankingPolicy policy) {
    std::vector<CatalogMove> out;
    for (const RecordView& move : must(list_records(read(), {}, {policy, {}}))) {
      out.push_back({move.key, move.run, move.previous, move.at});
    }
    std::ranges::sort(out);
    return out;
  }
};

TEST_F(CatalogFacts, NothingIsSetAside) {
  EXPECT_FALSE(imported().report.quarantined()) << imported().report.json().substr(0, 2000);
  EXPECT_EQ(imported().report.existing.manifests, 0u);
}

TEST_F(CatalogFacts, IdentitiesOfEachKindAndOneDocumentForEach) {
  const Reader reader = read();
  std::map<std::string_view, std::size_t> identities;
  std::size_t total = 0;
  StoreCursor cursor = reader.view().scan(Space::derived, "s");
  for (; cursor.valid(); cursor.next()) {
    const SubjectRow row = must(decode_subject_row(cursor.value()));
    ++identities[kind_name(row.kind)];
    ++total;
    for (const ClaimRow& claim : row.claims) {
      EXPECT_EQ(claim.document, row.claims.front().document);
      EXPECT_EQ(claim.via, "kernelindex");
    }
  }
  must(cursor.status());
  EXPECT_EQ(total, 19'765u);
  const std::map<std::string_view, std::size_t> expected = {{"SoftwareProject", 615},
                                                            {"OperationSpec", 449},
                                                            {"WorkloadCase", 5'371},
                                                            {"WorkloadSuite", 256},
                                                            {"ImplementationRevision", 4'250},
                                                            {"BenchmarkRun", 7'857},
                                                            {"BenchmarkProtocol", 6},
                                                            {"ExecutionEnvironment", 15},
                                                            {"ModelRevision", 6},
                                                            {"ServingStackRevision", 71},
                                                            {"ServingConfiguration", 130},
                                                            {"ServingWorkload", 17},
                                                            {"ServingRun", 722}};
  EXPECT_EQ(identities, expected);
}

TEST_F(CatalogFacts, RunsOfEachSourceAndStatusUnderBothPolicies) {
  for (const RankingPolicy policy : {RankingPolicy::v0, RankingPolicy::v1}) {
    std::map<std::string_view, std::size_t> sources;
    std::map<std::string_view, std::size_t> states;
    std::set<Digest> groups;
    for (const RunView& run : runs(policy)) {
      ++sources[run.row.source];
      ++states[run.row.status];
      if (run.row.status == "passed") groups.insert(run.row.group.value());
    }
    EXPECT_EQ(runs(policy).size(), 7'857u);
    const std::map<std::string_view, std::size_t> by_source = {
        {"sol-execbench", 705}, {"flashinfer-bench", 1'937}, {"gpumode-kernelbot", 5'215}};
    const std::map<std::string_view, std::size_t> by_status = {
        {"passed", 7'771}, {"runtime_error", 82}, {"compile_error", 4}};
    EXPECT_EQ(sources, by_source);
    EXPECT_EQ(states, by_status);
    EXPECT_EQ(groups.size(), 1'828u);
  }
}

TEST_F(CatalogFacts, AllRunsAreReportedAndNoneIsMore) {
  std::size_t bytes_not_held = 0;
  for (const RunView& run : runs()) {
    EXPECT_EQ(run.evidence.level, Level::reported) << run.digest.text();
    if (says(run, LevelReason::bytes_not_held)) ++bytes_not_held;
  }
  EXPECT_EQ(bytes_not_held, 175u);

  RunFilter serving;
  serving.serving = true;
  const RunPage page = must(list_runs(read(), serving));
  EXPECT_EQ(page.runs.size(), 722u);
  for (const RunView& run : page.runs) {
    EXPECT_EQ(run.evidence.level, Level::reported) << run.digest.text();
  }
  for (const Level level : {Level::reproducible, Level::verified, Level::replicated}) {
    RunFilter filter;
    filter.level = level;
    EXPECT_TRUE(must(list_runs(read(), filter)).runs.empty());
  }
}

TEST_F(CatalogFacts, RunsOfAnotherOperationHoldRecordsUnderTheOldPolicyAlone) {
  std::set<Digest> mismatched;
  std::set<Digest> passed;
  for (const RunView& run : runs()) {
    if (!says(run, "OPERATION_MISMATCH")) continue;
    EXPECT_FALSE(run.eligible());
    mismatched.insert(run.digest);
    if (run.row.status == "passed") passed.insert(run.digest);
  }
  EXPECT_EQ(mismatched.size(), 43u);
  EXPECT_EQ(passed.size(), 9u);
  for (const RankingPolicy policy : {RankingPolicy::v0, RankingPolicy::v1}) {
    std::set<Digest> moved;
    for (const CatalogMove& move : moves(policy)) moved.insert(move.run);
    for (const Digest& run : mismatched) {
      EXPECT_EQ(moved.contains(run), policy == RankingPolicy::v0 && passed.contains(run))
          << run.text();
    }
  }
}

TEST_F(CatalogFacts, TransitionsAreThoseOfTheCatalogOneByOne) {
  std::vector<CatalogMove> published = CatalogRows::published().moves;
  std::ranges::sort(published);
  EXPECT_EQ(published.size(), 2'948u);
  EXPECT_EQ(moves(RankingPolicy::v0), published);
  EXPECT_EQ(moves(RankingPolicy::v1).size(), 2'940u);
}

// The list of all records and the history of each group are two ways to the same moves.
TEST_F(CatalogFacts, HistoriesOfAllGroupsGiveTheSameTransitions) {
  const Reader reader = read();
  for (const RankingPolicy policy : {RankingPolicy::v0, RankingPolicy::v1}) {
    std::set<Digest> groups;
    for (const RunView& run : runs(policy)) groups.insert(run.row.group.value());
    std::vector<CatalogMove> found;
    for (const Digest& key : groups) {
      const History group = must(history(reader, key, {policy, {}}));
      for (const RecordMove& move : group.moves) {
        const RunView& run = group.runs[move.run];
        found.push_back({key, run.digest, std::nullopt, run.row.observed_at});
        if (move.previous) found.back().previous = group.runs[*move.previous].digest;
      }
    }
    std::ranges::sort(found);
    EXPECT_EQ(found, moves(policy));
  }
}

TEST_F(CatalogFacts, ComparisonKeysOfAllRunsAreThoseOfTheCatalog) {
  const Reader reader = read();
  const CatalogRows& rows = CatalogRows::published();
  EXPECT_EQ(rows.runs.size(), 7'857u);
  EXPECT_EQ(rows.serving_runs.size(), 722u);
  for (const auto* table : {&rows.runs, &rows.serving_runs}) {
    for (const CatalogRun& expected : *table) {
      const auto bytes = must(reader.run_row(expected.run));
      ASSERT_TRUE(bytes) << expected.id;
      EXPECT_EQ(must(decode_run_row(*bytes)).group, expected.key) << expected.id;
    }
  }
}

TEST_F(CatalogFacts, TheSeedRunIsFirstOfTwo) {
  const Candidate seed = must(identify(read(), kSeed));
  EXPECT_EQ(seed.digest.text(),
            "sha256:fa2cdd25d5d22ec080b8e6fcabbd2acc51a3c2ab3bcff1cfc9a5be97cdd4e0dc");
  EXPECT_EQ(must(identify(read(), "kernelindex:01a0032e-f7d2")).digest, seed.digest);
  EXPECT_EQ(must(identify(read(), "sol-execbench:submission/15866", {Named::manifest},
                          ManifestKind::benchmark_run))
                .digest,
            seed.digest);
  const RunView run = must(view_run(read(), seed.digest));
  EXPECT_EQ(run.row.group.value().text(),
            "sha256:caec9f00e44cade99c754c1692c5cff4493a56cefcc08fb31c52fb4034cfe49f");
  for (const RankingPolicy policy : {RankingPolicy::v0, RankingPolicy::v1}) {
    const History group = must(history(read(), *run.row.group, {policy, {}}));
    ASSERT_EQ(group.runs.size(), 2u);
    ASSERT_NE(group.leader(), nullptr);
    EXPECT_EQ(group.leader()->digest, seed.digest);
    EXPECT_EQ(group.runs[0].rank, 1u);
    EXPECT_EQ(group.runs[1].rank, 2u);
  }
}

TEST_F(CatalogFacts, EveryIdOfTheCatalogNamesItsRun) {
  const Reader reader = read();
  const CatalogRows& rows = CatalogRows::published();
  for (const auto* table : {&rows.runs, &rows.serving_runs}) {
    for (const CatalogRun& expected : *table) {
      const Result<Candidate> named = identify(reader, "kernelindex:" + expected.id);
      ASSERT_TRUE(named) << expected.id << ": " << named.error().text();
      EXPECT_EQ(named->digest, expected.run) << expected.id;
    }
  }
  for (const auto& [id, digest] : rows.digests) {
    const Result<Candidate> named = identify(reader, "kernelindex:" + id);
    ASSERT_TRUE(named) << id << ": " << named.error().text();
    EXPECT_EQ(named->digest, digest) << id;
  }
}

TEST_F(CatalogFacts, AShortIdThatAHundredRunsShareIsAmbiguous) {
  const std::vector<Candidate> found = must(candidates(read(), "kernelindex:01a0032e", 1'000));
  std::set<Digest> distinct;
  for (const Candidate& candidate : found) {
    EXPECT_EQ(candidate.kind, ManifestKind::benchmark_run);
    distinct.insert(candidate.digest);
  }
  EXPECT_EQ(distinct.size(), 100u);
  EXPECT_EQ(found.size(), 100u);
  const Result<Candidate> named = identify(read(), "kernelindex:01a0032e");
  ASSERT_FALSE(named);
  EXPECT_EQ(named.error().kind, ErrorKind::ambiguous);
  EXPECT_EQ(named.error().code, "AMBIGUOUS_ID");
  std::size_t listed = 0;
  for (const Candidate& candidate : found) {
    if (named.error().message.find(candidate.external_id) != std::string::npos) ++listed;
  }
  EXPECT_EQ(listed, 20u) << named.error().message;
}

TEST_F(CatalogFacts, ImportingAgainAddsNothing) {
  Room& room = imported().room;
  const TreeHead before = room.head();
  const std::map<std::string, std::string> derived = contents(read().view(), Space::derived);
  const ingest::ImportReport again = room.import_catalog();
  EXPECT_EQ(again.recorded.manifests, 0u);
  EXPECT_EQ(again.recorded.snapshots, 0u);
  EXPECT_EQ(again.recorded.artifacts, 0u);
  EXPECT_EQ(again.recorded.attestations, 0u);
  EXPECT_EQ(again.existing.manifests, imported().report.recorded.manifests);
  EXPECT_EQ(again.kept_json(), imported().report.kept_json());
  EXPECT_EQ(room.head().size, before.size);
  EXPECT_EQ(room.head().root, before.root);
  EXPECT_EQ(contents(read().view(), Space::derived), derived);
}

TEST_F(CatalogFacts, TheAuditFindsNothing) {
  imported().room.close();
  expect_sound(imported().room);
}

}  // namespace
}  // namespace kernelindex::test
