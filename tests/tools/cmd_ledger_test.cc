// SPDX-License-Identifier: Apache-2.0
// init, add, log, status, checkpoint, reindex, diff: the verbs about the log itself.
#include <gmock/gmock.h>

#include <filesystem>

#include "tests/tools/cli_fixture.h"

namespace kernelindex::test {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class CmdLedger : public Cli {};

constexpr std::string_view kProject =
    R"({"apiVersion":"kernelindex.dev/v1alpha1","kind":"SoftwareProject","metadata":{"name":"v"},
        "spec":{"name":"Vector Project","repository":"https://example.invalid/vector/project"}})";
constexpr std::string_view kProjectDigest =
    "sha256:bea60af06f12216679b113d6624c5293d59bef2104ccc27cd33c992d124e039d";

TEST_F(CmdLedger, InitTellsWhatToPinAndWhatToMoveAway) {
  const Outcome outcome = run({"init", "--origin", "example.org/kernels", "--owner", "example"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("example.org/kernels"), HasSubstr("ledger id  sha256:"),
                                 HasSubstr("example.org/kernels+")));
  EXPECT_THAT(outcome.err, HasSubstr("root.key"));
  EXPECT_EQ(run({"init"}).exit_code, 5);  // one is there already
  const json::Value status = document({"status"});
  EXPECT_EQ(status.text("owner"), "example");
  EXPECT_EQ(status.find("size")->number(), 7);
  EXPECT_EQ(status.find("keys")->array().size(), 7u);
}

TEST_F(CmdLedger, WithoutALedgerEveryVerbSaysSoWithExitThree) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"status"},
                                             {"log"},
                                             {"checkpoint"},
                                             {"reindex"},
                                             {"runs"},
                                             {"records"},
                                             {"audit"},
                                             {"show", "abcdef"},
                                             {"cat", "abcdef"},
                                             {"history", "abcdef"},
                                             {"search", "x"},
                                             {"provenance", "abcdef"},
                                             {"diff", "0", "1"}}) {
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.exit_code, 3) << words[0] << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("NO_LEDGER")) << words[0];
    EXPECT_THAT(outcome.out, IsEmpty());
  }
  EXPECT_FALSE(std::filesystem::exists(folder_ / "ledger"));
}

TEST_F(CmdLedger, AFileThatIsAddedIsAClaimOfTheLocalSource) {
  found_ledger();
  write_file(folder_ / "project.json", kProject);
  const std::string added = ok({"add", "project.json"});
  EXPECT_THAT(added, StartsWith(std::string(kProjectDigest) + "  SoftwareProject, entry 8"));
  EXPECT_THAT(ok({"add", "project.json"}), HasSubstr("known already: entry 8"));
  EXPECT_EQ(document({"status"}).find("size")->number(), 10);
  const std::string log = ok({"log", "--from", "7"});
  EXPECT_THAT(log, AllOf(HasSubstr("snapshot     local"), HasSubstr("project.json, supplied"),
                         HasSubstr("SoftwareProject"), HasSubstr("import/v1")));
  EXPECT_THAT(ok({"audit", "--reimport"}), EndsWith("OK\n"));
}

TEST_F(CmdLedger, NothingIsRecordedWhenOneOfTheFilesIsWrong) {
  found_ledger();
  write_file(folder_ / "project.json", kProject);
  write_file(folder_ / "wrong.yaml", "kind: Nonsense\n");
  const Outcome outcome = run({"add", "project.json", "wrong.yaml"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("wrong.yaml"));
  EXPECT_EQ(document({"status"}).find("size")->number(), 7);
}

TEST_F(CmdLedger, AnArtifactIsKeptByItsDigest) {
  found_ledger();
  const std::string bytes("kernel\0source", 13);
  write_file(folder_ / "kernel.cu", bytes);
  const std::string added = ok({"add", "--artifact", "kernel.cu"});
  const std::string digest = added.substr(0, added.find(' '));
  EXPECT_EQ(digest, sha256(bytes).text());
  EXPECT_EQ(ok({"cat", digest}), bytes);
  EXPECT_EQ(ok({"cat", digest, "-o", "copy.cu"}), "");
  EXPECT_EQ(read_file(folder_ / "copy.cu"), bytes);
}

TEST_F(CmdLedger, TheLogReadsAsItWasHashed) {
  found_ledger();
  const json::Value log = document({"log"});
  EXPECT_EQ(log.find("entries")->array().size(), 7u);
  EXPECT_EQ(log.find("size")->number(), 7);
  const std::string lines = ok({"log", "--jsonl", "--from", "5", "--limit", "1"});
  EXPECT_THAT(lines, StartsWith(R"({"entry":{"content":)"));
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 1);
  EXPECT_EQ(run({"log", "--from", "8"}).exit_code, 3);
  EXPECT_EQ(document({"show", "--index", "5"}).find("index")->number(), 5);
  EXPECT_EQ(run({"show", "--index", "7"}).exit_code, 3);
}

TEST_F(CmdLedger, AnOlderCheckpointIsProvedToBeAPrefix) {
  found_ledger();
  write_file(folder_ / "old.txt", ok({"checkpoint"}));
  write_file(folder_ / "project.json", kProject);
  ok({"add", "project.json"});
  EXPECT_EQ(ok({"checkpoint", "--since", "old.txt"}),
            "size 7 and size 10: the older log is a prefix of this one\n");
  EXPECT_TRUE(document({"checkpoint", "--since", "old.txt"}).find("ok")->boolean());
  EXPECT_THAT(ok({"audit", "--since", "old.txt"}), EndsWith("OK\n"));
}

TEST_F(CmdLedger, ACheckpointOfAnotherLogIsNoPrefix) {
  found_ledger();
  const std::string other = (folder_ / "other").string();
  ok({"init", "--quiet", "--ledger", other});
  write_file(folder_ / "other.txt", ok({"checkpoint", "--ledger", other}));
  const Outcome outcome = run({"checkpoint", "--since", "other.txt"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("NOT a prefix"));
  write_file(folder_ / "nonsense.txt", "nonsense");
  EXPECT_EQ(run({"checkpoint", "--since", "nonsense.txt"}).exit_code, 3);
}

TEST_F(CmdLedger, DiffCountsWhatWasRecordedBetweenTwoSizes) {
  import_sample();
  const json::Value diff = document({"diff", "7", "72"});
  EXPECT_TRUE(diff.find("consistent")->boolean());
  EXPECT_EQ(diff.find({"entries", "manifests", "BenchmarkRun"})->number(), 7);
  EXPECT_EQ(diff.find("records")->array().size(), 6u);
  EXPECT_EQ(run({"diff", "72", "7"}).exit_code, 2);
  EXPECT_EQ(run({"diff", "7", "73"}).exit_code, 3);
}

TEST_F(CmdLedger, ReindexingChangesNoAnswer) {
  import_sample();
  const std::string before = ok({"runs", "--json"}) + ok({"records", "--json"});
  ok({"reindex"});
  EXPECT_EQ(ok({"runs", "--json"}) + ok({"records", "--json"}), before);
}

}  // namespace
}  // namespace kernelindex::test
