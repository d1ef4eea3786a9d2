// SPDX-License-Identifier: Apache-2.0
// A history as of an earlier size is what the history was when the log had that size.
#include <gtest/gtest.h>

#include "ledger/query.h"
#include "tests/acceptance/answers.h"
#include "tests/acceptance/room.h"
#include "tests/ingest/small_catalog.h"
#include "tests/support/corpus.h"

namespace kernelindex::test {
namespace {

// All that a history says, as text; what it says of itself (the size, the root) with it.
std::string told(const History& group) {
  std::string out = group.key.text() + " " + std::to_string(group.as_of.size) + " " +
                    group.as_of.root.text() + (group.source_native ? " native\n" : " strict\n");
  for (const RunView& run : group.runs) {
    out += run.digest.text() + " " + (run.rank ? std::to_string(*run.rank) : "-") + " " +
           std::string(level_name(run.evidence.level)) + " " + sha256(encode_row(run.row)).text();
    for (const std::string& reason : run.reasons) out += " " + reason;
    for (const LevelReason reason : run.evidence.reasons)
      out += " " + std::string(reason_name(reason));
    out += "\n";
  }
  for (const RecordMove& move : group.moves) {
    out += std::to_string(move.run) + " after " +
           (move.previous ? std::to_string(*move.previous) : "-") + (move.late ? " late\n" : "\n");
  }
  return out;
}

std::string told(const Result<History>& group) { return group ? told(*group) : group.error().code; }

std::vector<Digest> groups(const Reader& reader) {
  std::set<Digest> out;
  for (const bool serving : {false, true}) {
    RunFilter filter;
    filter.serving = serving;
    const RunPage page = must(list_runs(reader, filter));
    for (const RunView& run : page.runs) {
      if (run.row.group) out.insert(*run.row.group);
    }
  }
  return {out.begin(), out.end()};
}

constexpr RankingPolicy kPolicies[] = {RankingPolicy::v0, RankingPolicy::v1};

// What every group said at each commit point, by size.
class Diary {
 public:
  void write(const Reader& reader) {
    auto& page = pages_[reader.head().size];
    for (const Digest& key : groups(reader)) {
      for (const RankingPolicy policy : kPolicies) {
        page[{key, policy}] = told(history(reader, key, {policy, {}}));
      }
    }
  }
  std::size_t pages() const { return pages_.size(); }
  void expect_still_true(const Reader& reader) const {
    const std::vector<Digest> now = groups(reader);
    for (const auto& [size, page] : pages_) {
      for (const Digest& key : now) {
        for (const RankingPolicy policy : kPolicies) {
          const auto then = page.find({key, policy});
          const std::string expected = then == page.end() ? "NO_SUCH_GROUP" : then->second;
          ASSERT_EQ(told(history(reader, key, {policy, size})), expected)
              << key.text() << " as of " << size;
        }
      }
    }
  }

 private:
  std::map<std::uint64_t, std::map<std::pair<Digest, RankingPolicy>, std::string>> pages_;
};

// Imports with a look at every commit point.
void import(Room& room, Diary& diary, std::string_view source, const std::filesystem::path& path) {
  ingest::ImportRequest request = import_request(source, path);
  request.progress = [&](std::uint64_t) { diary.write(room.read()); };
  EXPECT_FALSE(must(ingest::import_source(room.ledger(), request)).quarantined());
}

TEST(AsOf, EveryCommitPointOfSeveralImportsAnswersAsItDidThen) {
  KERNELINDEX_REQUIRE_CORPUS();
  Room room;
  Diary diary;
  diary.write(room.read());
  // The page of a run whose workload comes later, a forged number, then two sources with the same
  // runs.
  import(room, diary, "kernelindex-run", source_root() / "tests/ingest/data/run-15866.json");
  import(room, diary, "kernelindex-run", source_root() / "tests/ingest/data/run-1307.json");
  import(room, diary, "sol-execbench", sample_folder());
  const std::filesystem::path catalog = room.folder() / "catalog.jsonl";
  write_file(catalog, SmallCatalog::published().text());
  import(room, diary, "kernelindex-catalog", catalog);
  EXPECT_GE(diary.pages(), 8u);
  diary.expect_still_true(room.read());
}

TEST(AsOf, TheProgramSaysTheSame) {
  Room room;
  const std::string run = "sha256:fa2cdd25d5d22ec080b8e6fcabbd2acc51a3c2ab3bcff1cfc9a5be97cdd4e0dc";
  const std::string key = "sha256:caec9f00e44cade99c754c1692c5cff4493a56cefcc08fb31c52fb4034cfe49f";
  room.import_sample();
  const std::uint64_t size = room.head().size;
  room.close();
  const Outcome then = room.run({"history", key, "--json"});
  ASSERT_EQ(then.exit_code, 0) << then.err;
  std::string forged = must(show_manifest(room.read(), must(Digest::parse(run)))).bytes;
  forged.replace(forged.find("\"mean\":59812"), 12, "\"mean\":1");
  room.close();
  const std::filesystem::path file = room.folder() / "claim.json";
  write_file(file, forged);
  ASSERT_EQ(room.run({"add", file.string()}).exit_code, 0);
  EXPECT_NE(room.run({"history", key, "--json"}).out, then.out);
  const Outcome now = room.run({"history", key, "--as-of", std::to_string(size), "--json"});
  EXPECT_EQ(now.out, then.out);
  EXPECT_EQ(room.run({"history", key, "--as-of", "1000000"}).exit_code, 3);
  EXPECT_EQ(room.run({"history", key, "--as-of", "0"}).exit_code, 3);
}

}  // namespace
}  // namespace kernelindex::test
