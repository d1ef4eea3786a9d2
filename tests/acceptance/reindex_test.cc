// SPDX-License-Identifier: Apache-2.0
// Derived data can be lost: everything that a ledger answers comes back from log and objects, and
// until then the log can be read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ledger/query.h"
#include "tests/acceptance/answers.h"
#include "tests/acceptance/room.h"
#include "tests/ingest/small_catalog.h"
#include "tests/support/corpus.h"

namespace kernelindex::test {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kRun =
    "sha256:fa2cdd25d5d22ec080b8e6fcabbd2acc51a3c2ab3bcff1cfc9a5be97cdd4e0dc";

// Opens the store of a closed ledger behind its back.
std::unique_ptr<Store> open_store(const Room& room) {
  return must(Store::open((room.directory() / "db").string(), {}));
}

void delete_derived(const Room& room) {
  const std::unique_ptr<Store> store = open_store(room);
  StoreBatch batch;
  for (const auto& [key, value] : contents(store->view(), Space::derived)) {
    batch.remove(Space::derived, key);
  }
  must(store->write(batch));
  ASSERT_TRUE(contents(store->view(), Space::derived).empty());
}

std::map<std::string, std::string> derived(const Room& room) {
  return contents(open_store(room)->view(), Space::derived);
}

class Reindex : public ::testing::Test {
 protected:
  void SetUp() override {
    room_.import_sample();
    room_.import("kernelindex-run", source_root() / "tests/ingest/data/run-1307.json");
    const std::filesystem::path file = room_.folder() / "claim.json";
    std::string twin = must(show_manifest(room_.read(), must(Digest::parse(kRun)))).bytes;
    twin.replace(twin.find("\"mean\":59812"), 12, "\"mean\":1");
    write_file(file, twin);
    room_.close();
    ASSERT_EQ(room_.run({"add", file.string(), "--artifact", file.string()}).exit_code, 0);
  }

  // Some runs of each source, and what they refer to.
  std::vector<std::string> ids() {
    std::vector<std::string> out;
    std::map<std::string_view, int> of_source;
    for (const bool serving : {false, true}) {
      RunFilter filter;
      filter.serving = serving;
      const RunPage page = must(list_runs(room_.read(), filter));
      for (const RunView& run : page.runs) {
        if (++of_source[run.row.source] > 3 || !run.row.group) continue;
        out.push_back(run.digest.text());
      }
    }
    room_.close();
    return out;
  }

  void expect_same_after_loss() {
    const std::vector<std::vector<std::string>> questions = all_questions(ids());
    const Answers before = ask(room_, questions);
    const std::map<std::string, std::string> data = derived(room_);
    delete_derived(room_);
    const Outcome outcome = room_.run({"reindex"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(difference(before, ask(room_, questions)), "");
    EXPECT_TRUE(derived(room_) == data) << "the derived space byte for byte";
    expect_sound(room_);
  }

  Room room_;
};

TEST_F(Reindex, EveryAnswerOfTheSampleIsByteForByteAsBefore) { expect_same_after_loss(); }

TEST_F(Reindex, EveryAnswerOfAPartOfTheCatalogIsByteForByteAsBefore) {
  KERNELINDEX_REQUIRE_CORPUS();
  const std::filesystem::path file = room_.folder() / "catalog.jsonl";
  write_file(file, SmallCatalog::published().text());
  EXPECT_FALSE(room_.import("kernelindex-catalog", file).quarantined());
  expect_same_after_loss();
}

TEST_F(Reindex, WithoutDerivedDataQueriesSaySoAndTheLogIsRead) {
  const Answers log = ask(room_, {{"log"}});
  delete_derived(room_);
  const std::string run(kRun);
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"history", run},
                                             {"runs"},
                                             {"records"},
                                             {"show", run},
                                             {"provenance", run},
                                             {"search", "backward"}}) {
    const Outcome outcome = room_.run(words);
    EXPECT_EQ(outcome.exit_code, 4) << words[0] << ": " << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("reindex"));
    EXPECT_EQ(outcome.out, "");
  }
  EXPECT_EQ(ask(room_, {{"log"}}), log);
  EXPECT_EQ(room_.run({"status"}).exit_code, 0);
  EXPECT_EQ(room_.run({"checkpoint"}).exit_code, 0);
  // A whole digest of bytes needs no index.
  const Entry entry = must(room_.read().entry(room_.head().size - 2));
  room_.close();
  const Outcome bytes = room_.run({"cat", entry.content.digest.text()});
  EXPECT_EQ(bytes.exit_code, 0) << bytes.err;
  EXPECT_EQ(sha256(bytes.out), entry.content.digest);
  // Nothing can be recorded on top of it.
  const Outcome import = room_.run({"import", "sol-execbench", sample_folder().string()});
  EXPECT_EQ(import.exit_code, 4);
  EXPECT_EQ(room_.run({"audit"}).exit_code, 4);
  EXPECT_EQ(room_.run({"reindex"}).exit_code, 0);
  EXPECT_EQ(room_.run({"audit"}).exit_code, 0);
}

TEST_F(Reindex, AnyMissingRowIsFoundByTheAuditAndCured) {
  const std::map<std::string, std::string> data = derived(room_);
  std::set<char> tables;
  for (const auto& [key, value] : data) tables.insert(key.front());
  EXPECT_GE(tables.size(), 10u);
  for (const char table : tables) {
    const auto row = data.lower_bound(std::string(1, table));
    {
      const std::unique_ptr<Store> store = open_store(room_);
      StoreBatch batch;
      batch.remove(Space::derived, row->first);
      must(store->write(batch));
    }
    const Outcome outcome = room_.run({"audit", "--json"});
    EXPECT_EQ(outcome.exit_code, 4) << table << ": " << outcome.out;
    EXPECT_EQ(room_.run({"reindex"}).exit_code, 0) << table;
    EXPECT_TRUE(derived(room_) == data) << table;
  }
}

// Bytes of a table file of derived data are spoilt so that RocksDB itself refuses them.
TEST_F(Reindex, ADamagedTableFileLeavesTheLogReadable) {
  { must(open_store(room_)->flush()); }
  const Answers log = ask(room_, {{"log"}});
  std::size_t spoilt = 0;
  for (const auto& file : std::filesystem::directory_iterator(room_.directory() / "db")) {
    if (file.path().extension() != ".sst") continue;
    std::string bytes = read_file(file.path());
    // The properties of a table name its column family.
    if (bytes.find("derived") == std::string::npos) continue;
    for (std::size_t i = 0; i < bytes.size(); i += 16) bytes[i] = static_cast<char>(~bytes[i]);
    write_file(file.path(), bytes);
    ++spoilt;
  }
  ASSERT_GT(spoilt, 0u);
  const Outcome runs = room_.run({"runs"});
  EXPECT_EQ(runs.exit_code, 4) << runs.err;
  EXPECT_EQ(ask(room_, {{"log"}}), log);
  EXPECT_EQ(room_.run({"status"}).exit_code, 0);
  EXPECT_EQ(room_.run({"audit"}).exit_code, 4);
  const Outcome reindex = room_.run({"reindex"});
  EXPECT_EQ(reindex.exit_code, 0) << reindex.err;
  EXPECT_EQ(room_.run({"runs"}).exit_code, 0);
}

}  // namespace
}  // namespace kernelindex::test
