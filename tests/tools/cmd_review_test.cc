// SPDX-License-Identifier: Apache-2.0
// `import --review` and `import --apply`: what is said before is what is done, or nothing is.
#include <gmock/gmock.h>

#include <filesystem>

#include "schema/canonical_json.h"
#include "tests/tools/cli_fixture.h"

namespace kernelindex::test {
namespace {

using ::testing::HasSubstr;

class Review : public Cli {
 protected:
  void SetUp() override {
    std::filesystem::copy(source_root() / "tools/sample", folder_ / "dump",
                          std::filesystem::copy_options::recursive);
    found_ledger();
  }
  std::string dump() const { return (folder_ / "dump").string(); }
  std::string review_file() const { return (folder_ / "review.json").string(); }
  json::Value review() {
    return document({"import", "sol-execbench", dump(), "--review", review_file()});
  }
  // One number of a document of counts.
  static double number(const json::Value& value, std::initializer_list<std::string_view> path) {
    const json::Value* found = value.find(path);
    return found == nullptr ? -1 : found->number();
  }
  std::uint64_t log_size() {
    return static_cast<std::uint64_t>(document({"status"}).find("size")->number());
  }
};

TEST_F(Review, SaysWhatTheImportThenDoes) {
  const std::uint64_t before = log_size();
  const json::Value said = review();
  EXPECT_EQ(read_file(review_file()), json::canonical(said) + "\n");
  const json::Value& import = said.find("imports")->array()[0];
  const double manifests = number(import, {"wouldRecord", "manifests"});
  const double snapshots = number(import, {"wouldRecord", "snapshots"});
  EXPECT_EQ(import.find("proposals")->array().size(), static_cast<std::size_t>(manifests));
  EXPECT_EQ(number(import, {"proposed", "insert", "BenchmarkRun"}), 7);
  EXPECT_EQ(import.text("license"), "none stated");
  EXPECT_THAT(std::string(import.text("attribution")), HasSubstr("NVIDIA"));
  EXPECT_EQ(import.text("parserVersion"), "1");
  EXPECT_EQ(log_size(), before) << "a review writes nothing";

  const json::Value done = document({"import", "--apply", review_file()});
  EXPECT_EQ(number(done, {"recorded", "manifests"}), manifests);
  EXPECT_EQ(number(done, {"recorded", "snapshots"}), snapshots);
  EXPECT_EQ(number(done, {"recorded", "artifacts"}), 0);
}

TEST_F(Review, KnowsWhatIsThere) {
  ok({"import", "sol-execbench", dump()});
  {
    const json::Value& import = review().find("imports")->array()[0];
    EXPECT_EQ(number(import, {"wouldRecord", "manifests"}), 0);
    EXPECT_EQ(number(import, {"proposed", "exists", "BenchmarkRun"}), 7);
    EXPECT_EQ(number(import, {"proposed", "insert", "BenchmarkRun"}), -1);
  }
  const Outcome done = run({"import", "--apply", review_file()});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("recorded  0 manifests"));
}

TEST_F(Review, IsRefusedWhenAByteOfAnInputDiffers) {
  review();
  const std::filesystem::path page = folder_ / "dump/submissions/79.json";
  const std::string bytes = read_file(page);
  const std::uint64_t before = log_size();
  write_file(page, bytes + " ");
  const Outcome refused = run({"import", "--apply", review_file()});
  EXPECT_EQ(refused.exit_code, 5) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("REVIEW_DIFFERS"));
  EXPECT_THAT(refused.err, HasSubstr("/imports/0/files/"));
  EXPECT_EQ(log_size(), before);
  write_file(page, bytes);
  EXPECT_EQ(run({"import", "--apply", review_file()}).exit_code, 0);
}

TEST_F(Review, IsRefusedWhenAFileCameOrWent) {
  review();
  write_file(folder_ / "dump/note.txt", "a note");
  EXPECT_EQ(run({"import", "--apply", review_file()}).exit_code, 5);
  std::filesystem::remove(folder_ / "dump/note.txt");
  std::filesystem::remove(folder_ / "dump/submissions/79.json");
  EXPECT_EQ(run({"import", "--apply", review_file()}).exit_code, 5);
}

TEST_F(Review, IsRefusedWhenTheLedgerWouldAnswerOtherwise) {
  review();
  ok({"import", "sol-execbench", dump(), "--kernel",
      "079_ImageNet_83.6_ssm_output_projection_gate_multiply_backward"});
  const Outcome refused = run({"import", "--apply", review_file()});
  EXPECT_EQ(refused.exit_code, 5) << refused.err;
}

TEST_F(Review, HoldsWhenTheLedgerGrewByWhatDoesNotMatter) {
  review();
  write_file(folder_ / "blob", "an artifact");
  ok({"add", "--artifact", (folder_ / "blob").string()});
  EXPECT_EQ(run({"import", "--apply", review_file()}).exit_code, 0);
}

TEST_F(Review, OfAnotherLedgerOrAVersionOfTheParserIsRefused) {
  review();
  std::string text = read_file(review_file());
  for (const auto& [from, to] :
       {std::pair<std::string, std::string>{"\"parserVersion\":\"1\"", "\"parserVersion\":\"2\""},
        {"\"ledger\":\"sha256:", "\"ledger\":\"sha256:0"},
        {"\"options\":{}", "\"options\":{\"top\":1}"}}) {
    std::string changed = text;
    const std::size_t at = changed.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    changed.replace(at, from.size(), to);
    write_file(folder_ / "changed.json", changed);
    const Outcome refused = run({"import", "--apply", (folder_ / "changed.json").string()});
    EXPECT_EQ(refused.exit_code, 5) << from << refused.err;
  }
}

TEST_F(Review, TakesNoOptionsOfItsOwn) {
  review();
  EXPECT_EQ(run({"import", "--apply", review_file(), "--top", "1"}).exit_code, 2);
  write_file(folder_ / "no.json", "{}");
  EXPECT_EQ(run({"import", "--apply", (folder_ / "no.json").string()}).exit_code, 3);
}

TEST_F(Review, IsWordsForPeople) {
  const std::string text = ok({"import", dump(), "--review", review_file()});
  EXPECT_THAT(text, HasSubstr("taken for NVIDIA SOL-ExecBench"));
  EXPECT_THAT(text, HasSubstr("proposals"));
  EXPECT_THAT(text, HasSubstr("insert     7 BenchmarkRun"));
  EXPECT_THAT(text, HasSubstr("licence"));
}

}  // namespace
}  // namespace kernelindex::test
