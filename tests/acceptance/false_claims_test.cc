// SPDX-License-Identifier: Apache-2.0
// Manifests that anyone can write: a number that nobody measured under official names, and a known
// run under another title. They are kept, shown for what they are, and move nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ledger/query.h"
#include "schema/canonical_json.h"
#include "tests/acceptance/answers.h"
#include "tests/acceptance/room.h"
#include "tests/support/corpus.h"

namespace kernelindex::test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

constexpr std::string_view kRun =
    "sha256:fa2cdd25d5d22ec080b8e6fcabbd2acc51a3c2ab3bcff1cfc9a5be97cdd4e0dc";
constexpr std::string_view kKey =
    "sha256:caec9f00e44cade99c754c1692c5cff4493a56cefcc08fb31c52fb4034cfe49f";

// What an answer says of the log itself.
const std::set<std::string_view> kOwn = {"asOf", "root", "size"};

Digest digest(std::string_view text) { return must(Digest::parse(text)); }

// The document of a run in the ledger with one text replaced wherever it stands.
std::string document_with(Room& room, const std::string& from, const std::string& to) {
  std::string bytes = must(show_manifest(room.read(), digest(kRun))).bytes;
  const std::size_t at = bytes.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return bytes.replace(at, from.size(), to);
}

std::vector<std::string> leaders(const Answers& answers, const std::string& question) {
  const Document history(answers.at(question));
  std::vector<std::string> out;
  for (const json::Value& run : history->find("runs")->array()) {
    const json::Value* rank = run.find("rank");
    if (rank->is_number() && rank->number() == 1) out.emplace_back(run.text("digest"));
  }
  return out;
}

class FalseClaims : public ::testing::Test {
 protected:
  void SetUp() override {
    room_.import_sample();
    before_ = ask_all();
  }

  Answers ask_all() {
    room_.close();
    Answers answers;
    for (const std::string ranking : {"ranking-v0", "ranking-v1"}) {
      answers.merge(ask(room_, {{"records", "--ranking", ranking},
                                {"history", std::string(kKey), "--ranking", ranking}}));
    }
    return answers;
  }

  // Puts a manifest in as anyone could.
  void add(const std::string& document) {
    room_.close();
    const std::filesystem::path file = room_.folder() / "claim.json";
    write_file(file, document);
    const Outcome outcome = room_.run({"add", file.string()});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  }

  // Records and leaders, under a policy that asks for evidence, are what they were.
  void expect_nothing_moved(const Answers& now) {
    const std::string records = "records --ranking ranking-v1";
    EXPECT_EQ(without(now.at(records), kOwn), without(before_.at(records), kOwn));
    const std::string history = "history " + std::string(kKey) + " --ranking ranking-v1";
    const Document old_history(before_.at(history));
    const Document new_history(now.at(history));
    EXPECT_EQ(json::canonical(*old_history->find("transitions")),
              json::canonical(*new_history->find("transitions")));
    EXPECT_EQ(leaders(now, history), leaders(before_, history));
    EXPECT_EQ(leaders(now, history), std::vector<std::string>{std::string(kRun)});
  }

  Room room_;
  Answers before_;
};

TEST_F(FalseClaims, OneNanosecondUnderOfficialDigestsHasNoLevelAndNoRank) {
  const std::string document = document_with(room_, "\"mean\":59812", "\"mean\":1");
  const Digest fake = must(read_manifest(document)).identity;
  ASSERT_NE(fake, digest(kRun));
  add(document);

  const RunView run = must(view_run(room_.read(), fake));
  EXPECT_EQ(run.row.group, digest(kKey)) << "it names the same protocol, environment and suite";
  EXPECT_EQ(run.row.value, 1.0);
  EXPECT_EQ(run.row.source, "sol-execbench") << "the source that the document says";
  EXPECT_EQ(run.evidence.level, Level::none);
  EXPECT_THAT(run.evidence.reasons, Contains(LevelReason::no_source_claim));
  EXPECT_FALSE(run.rank);
  EXPECT_THAT(run.reasons, Contains("NO_SOURCE_CLAIM"));

  const Answers now = ask_all();
  expect_nothing_moved(now);
  // It is listed all the same, with the reason.
  const std::string history = "history " + std::string(kKey) + " --ranking ranking-v1";
  EXPECT_THAT(now.at(history), HasSubstr(fake.text()));
  EXPECT_THAT(now.at(history), HasSubstr("NO_SOURCE_CLAIM"));
  EXPECT_THAT(room_.run({"history", std::string(kKey)}).out, HasSubstr("1 NO_SOURCE_CLAIM"));
  expect_sound(room_);
}

TEST_F(FalseClaims, NeitherDoOtherNumbersThatNoOneCouldBeat) {
  for (const std::string value : {"0", "2"}) {
    add(document_with(room_, "\"mean\":59812", "\"mean\":" + value));
  }
  expect_nothing_moved(ask_all());
}

TEST_F(FalseClaims, ATwinWithAFalseTitleIsListedAndNotShownFirst) {
  const std::string document = document_with(room_, "Databricks", "The fastest of all");
  const Manifest twin = must(read_manifest(document));
  ASSERT_EQ(twin.identity, digest(kRun)) << "metadata never counts";
  add(document);

  const ShownManifest shown = must(show_manifest(room_.read(), digest(kRun)));
  ASSERT_EQ(shown.documents.size(), 2u);
  EXPECT_THAT(shown.bytes, HasSubstr("Databricks"));
  EXPECT_EQ(shown.documents[0].source, "sol-execbench");
  EXPECT_EQ(shown.documents[1].source, "local");
  EXPECT_EQ(shown.documents[1].digest, twin.document);
  const RunView run = must(view_run(room_.read(), digest(kRun)));
  EXPECT_EQ(run.evidence.level, Level::reported);
  EXPECT_EQ(run.rank, 1u);
  EXPECT_THAT(std::string(run.row.label), HasSubstr("Databricks"));
  expect_nothing_moved(ask_all());

  const Outcome whole = room_.run({"show", twin.document.text(), "--json"});
  EXPECT_THAT(whole.out, HasSubstr("The fastest of all")) << "asked for by its own digest";
  expect_sound(room_);
}

// The false document first: the source's own claim takes its place when it comes.
TEST_F(FalseClaims, ATwinThatCameFirstGivesWayToTheSource) {
  const std::string document = document_with(room_, "Databricks", "The fastest of all");
  Room other;
  other.close();
  write_file(other.folder() / "claim.json", document);
  const Outcome added = other.run({"add", (other.folder() / "claim.json").string()});
  ASSERT_EQ(added.exit_code, 0) << added.err;
  EXPECT_EQ(must(view_run(other.read(), digest(kRun))).evidence.level, Level::none);
  EXPECT_THAT(must(show_manifest(other.read(), digest(kRun))).bytes,
              HasSubstr("The fastest of all"));
  other.import_sample();
  const ShownManifest shown = must(show_manifest(other.read(), digest(kRun)));
  EXPECT_THAT(shown.bytes, HasSubstr("Databricks"));
  EXPECT_EQ(shown.documents.size(), 2u);
  EXPECT_EQ(must(view_run(other.read(), digest(kRun))).rank, 1u);
  other.close();
  const std::string question = "records --ranking ranking-v1";
  const Answers records = ask(other, {{"records", "--ranking", "ranking-v1"}});
  EXPECT_EQ(without(records.at(question), kOwn), without(before_.at(question), kOwn));
  expect_sound(other);
}

}  // namespace
}  // namespace kernelindex::test
