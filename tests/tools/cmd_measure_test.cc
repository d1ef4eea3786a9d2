// SPDX-License-Identifier: Apache-2.0
// job, rerun, accept and calibrate as a person runs them, on a machine without a device.
#include <gmock/gmock.h>

#include <filesystem>

#include "ledger/controlled_protocol.h"
#include "tests/support/corpus.h"
#include "tests/tools/cli_fixture.h"

namespace kernelindex::test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

class CmdMeasure : public Cli {
 protected:
  std::string path(std::string_view name) const { return (folder_ / name).string(); }
  std::string error_of(const std::vector<std::string>& words, int exit_code) {
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.exit_code, exit_code) << outcome.err;
    return outcome.err;
  }
  // A runner key that the ledger has enrolled, an approved protocol and an approved runner.
  void enrol_runner() {
    const json::Value key = document({"key", "new", "runner", "-o", path("runner.key")});
    ok({"key", "enrol", "runner", std::string(key.text("publicKey")), "--owner", "lab"});
    ok({"key", "approve", "protocol", controlled_protocol(ClockVariant::unlocked).identity.text()});
    ok({"key", "approve", "harness", sha256(read_file(KERNELINDEX_RUNNER)).text()});
  }
  static std::vector<std::string> texts(const json::Value& list) {
    std::vector<std::string> out;
    for (const json::Value& item : list.array()) out.emplace_back(item.string());
    return out;
  }
};

TEST_F(CmdMeasure, ASubmissionToALeaderboardHasNoSource) {
  import_sample();
  EXPECT_THAT(error_of({"job", "new", "sol-execbench:submission/15866"}, 5),
              HasSubstr("(NO_SOURCE)"));
}

// The fixture of the forerunner, through the public solution's own files and compile options.
TEST_F(CmdMeasure, TheRmsnormFixtureGoesTheWholeWayAndIsRefusedAsSimulated) {
  KERNELINDEX_REQUIRE_CORPUS();
  const std::filesystem::path fixture =
      corpus_path("data/sources/sol-execbench/kernelindex-fixtures/rmsnorm");
  ok({"init"});
  ok({"import", fixture.string(), "--commit", std::string(40, '8')});
  const json::Value listed = document({"runs", "--status", "passed", "--json"});
  const std::string run(listed.find("runs")->array()[0].text("digest"));
  const std::string before(document({"evidence", run}).text("level"));
  enrol_runner();

  const json::Value job =
      document({"job", "new", run, "--solution", (fixture / "solution_cuda.json").string(),
                "--source-reviewed", "-o", path("job.json")});
  EXPECT_TRUE(job.find("uncovered")->array().empty());
  const std::string job_id(job.text("job"));
  const json::Value open = document({"provenance", run});
  EXPECT_EQ(open.find("attempts")->array()[0].text("state"), "open");

  const json::Value measured = document({"rerun", path("job.json"), "--simulate", "--key",
                                         path("runner.key"), "-o", path("result"), "--quiet"});
  EXPECT_TRUE(measured.find("simulated")->boolean());
  EXPECT_FALSE(measured.find("countable")->boolean());

  const Outcome accepted = this->run({"accept", path("result"), "--json"});
  EXPECT_EQ(accepted.exit_code, 1) << accepted.err;
  json::Arena arena;
  const json::Value verdict = json::parse(accepted.out, arena).value();
  EXPECT_EQ(verdict.text("verdict"), "refused");
  EXPECT_THAT(texts(*verdict.find({"judged", "codes"})), Contains("SIMULATED_DEVICE"));

  const json::Value after = document({"provenance", run});
  EXPECT_EQ(after.text("level"), before);
  const json::Value& attempt = after.find("attempts")->array()[0];
  EXPECT_EQ(attempt.text("state"), "accepted");
  EXPECT_EQ(attempt.text("verdict"), "refused");
  EXPECT_EQ(attempt.text("owner"), "lab");
  const std::string controlled(verdict.text("run"));
  EXPECT_EQ(document({"evidence", controlled}).text("level"), "none");
  EXPECT_THAT(ok({"job", "show", job_id, "-o", path("again.json")}), HasSubstr("refused"));
  EXPECT_TRUE(std::filesystem::exists(path("again.json")));
  EXPECT_THAT(ok({"audit", "--reimport"}), HasSubstr("OK"));
  // The folder is spent: a second rerun into it is refused, and the job has its result.
  EXPECT_THAT(error_of({"rerun", path("job.json"), "--simulate", "--key", path("runner.key"), "-o",
                        path("result")},
                       2),
              HasSubstr("never written over others"));
}

TEST_F(CmdMeasure, WithoutADeviceARerunSaysSo) {
  ok({"init"});
  const std::string kernel = (source_root() / "docs/example-kernel").string() + "/";
  ok({"add", kernel + "operation.json", kernel + "workload.yaml", kernel + "implementation.yaml",
      kernel + "protocol.yaml", kernel + "environment.yaml", kernel + "run.yaml"});
  enrol_runner();
  const std::string run = "b7f6fd2b24f2";
  const std::vector<std::string> order = {"job",
                                          "new",
                                          run,
                                          "--source",
                                          kernel + "kernel.cu",
                                          "--recipe",
                                          kernel + "kernelindex.build.json",
                                          "-o",
                                          path("job.json")};
  EXPECT_THAT(ok(order), HasSubstr("HOST_CODE_UNREVIEWED"));
  EXPECT_THAT(error_of({"rerun", path("job.json"), "--key", path("runner.key"), "-o",
                        path("result"), "--quiet"},
                       6),
              HasSubstr("(NO_DEVICE)"));
  // Nothing came back that could be accepted.
  EXPECT_THAT(error_of({"accept", path("result")}, 3), HasSubstr("(NO_RESULT)"));
  // Another key cannot answer the job.
  ok({"key", "new", "runner", "-o", path("other.key")});
  EXPECT_THAT(error_of({"rerun", path("job.json"), "--simulate", "--key", path("other.key"), "-o",
                        path("other")},
                       5),
              HasSubstr("(KEY_NOT_THE_RUNNER)"));
}

TEST_F(CmdMeasure, AMadeUpCalibrationIsNotRecorded) {
  ok({"init"});
  enrol_runner();
  const json::Value sessions =
      document({"calibrate", "--simulate", "--sessions", "2", "--repetitions", "10", "--key",
                path("runner.key"), "-o", path("calibration"), "--quiet"});
  EXPECT_TRUE(sessions.find("simulated")->boolean());
  EXPECT_THAT(error_of({"accept", path("calibration")}, 5), HasSubstr("(SIMULATED_DEVICE)"));
  EXPECT_THAT(error_of({"calibrate", "--sessions", "0", "--key", path("runner.key")}, 2),
              HasSubstr("sessions"));
}

}  // namespace
}  // namespace kernelindex::test
