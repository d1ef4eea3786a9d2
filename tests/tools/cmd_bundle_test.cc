// SPDX-License-Identifier: Apache-2.0
// prove, verify, audit --status: the verbs of evidence that travels.
#include <gmock/gmock.h>

#include <filesystem>

#include "tests/tools/cli_fixture.h"

namespace kernelindex::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kRun =
    "sha256:fa2cdd25d5d22ec080b8e6fcabbd2acc51a3c2ab3bcff1cfc9a5be97cdd4e0dc";
constexpr std::string_view kKey =
    "sha256:caec9f00e44cade99c754c1692c5cff4493a56cefcc08fb31c52fb4034cfe49f";

class CmdBundle : public Cli {
 protected:
  void SetUp() override { import_sample(); }

  std::string bundle() const { return (folder_ / "run.bundle.json").string(); }
  void prove() { ok({"prove", "sol-execbench:submission/15866", "-o", bundle()}); }
  std::string ledger_id() { return std::string(document({"status"}).text("ledgerId")); }
};

TEST_F(CmdBundle, AReportedRunOfTheSampleTravelsInLessThanSixtyKilobytes) {
  const std::string id = ledger_id();
  prove();
  EXPECT_LT(std::filesystem::file_size(bundle()), 60'000u);
  // Away from the ledger, the file and the id are all it takes.
  std::filesystem::remove_all(folder_ / "ledger");
  const json::Value verdict = document({"verify", bundle(), std::string(kRun), "--ledger-id", id});
  EXPECT_TRUE(verdict.find("ok")->boolean());
  EXPECT_EQ(verdict.text("subject"), kRun);
  EXPECT_EQ(verdict.text("comparisonKey"), kKey);
  EXPECT_EQ(verdict.text("level"), "reported");
  EXPECT_EQ(verdict.text("trust"), "none");
  const std::string text = ok({"verify", bundle(), "--ledger-id", id});
  EXPECT_THAT(text, AllOf(HasSubstr("TRUE, level reported"), HasSubstr("as of size"),
                          HasSubstr("split view not excluded"), Not(HasSubstr("FAIL"))));
}

TEST_F(CmdBundle, WithoutOFileItGoesToStandardOutput) {
  prove();
  EXPECT_EQ(ok({"prove", std::string(kRun)}), read_file(bundle()));
}

TEST_F(CmdBundle, ExitCodesTellFalseEvidenceFromNoBundle) {
  const std::string id = ledger_id();
  prove();
  const std::string bytes = read_file(bundle());
  EXPECT_EQ(run({"verify", bundle()}).exit_code, 2);
  EXPECT_EQ(run({"verify", bundle(), "--ledger-id", "sha256:12"}).exit_code, 3);
  const std::string other = "sha256:" + std::string(64, '0');
  EXPECT_EQ(run({"verify", bundle(), "--ledger-id", other}).exit_code, 1);
  EXPECT_EQ(run({"verify", bundle(), other, "--ledger-id", id}).exit_code, 1);
  EXPECT_EQ(run({"verify", bundle(), "--ledger-id", id, "--max-age", "7d"}).exit_code, 1);
  EXPECT_EQ(run({"verify", bundle(), "--ledger-id", id, "--max-age", "7"}).exit_code, 2);
  EXPECT_EQ(run({"verify", bundle(), "--ledger-id", id, "--expect-at-least", "1000"}).exit_code, 1);
  write_file(bundle(), bytes + "\n");
  EXPECT_EQ(run({"verify", bundle(), "--ledger-id", id}).exit_code, 3);
  EXPECT_EQ(run({"verify", (folder_ / "nothing").string(), "--ledger-id", id}).exit_code, 3);
}

TEST_F(CmdBundle, WithoutAStatusKeyTheCurrencyIsUnknown) {
  const std::string id = ledger_id();
  std::filesystem::remove(folder_ / "ledger" / "keys" / "status.key");
  const Outcome proved = run({"prove", std::string(kRun), "-o", bundle()});
  EXPECT_EQ(proved.exit_code, 0) << proved.err;
  EXPECT_THAT(proved.err, HasSubstr("status key"));
  const Outcome outcome = run({"verify", bundle(), "--ledger-id", id});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("currency unknown"));
  ok({"verify", bundle(), "--ledger-id", id, "--allow-unknown-currency"});
}

TEST_F(CmdBundle, TheLogKeyIsAWeakerAnchorAndItSaysSo) {
  prove();
  const json::Value status = document({"status"});
  const std::string key(status.text("logKey"));
  EXPECT_THAT(ok({"verify", bundle(), "--key", key}), HasSubstr("WEAKER_ANCHOR"));
}

TEST_F(CmdBundle, PoliciesAreReadStrictly) {
  const std::string id = ledger_id();
  prove();
  const std::string policy = (folder_ / "policy.json").string();
  write_file(policy, R"({"v":1,"owners":[]})");
  EXPECT_THAT(
      std::string(
          document({"verify", bundle(), "--ledger-id", id, "--policy", policy}).text("trust")),
      HasSubstr("policy sha256:"));
  write_file(policy, R"({"v":1,"level":"verified"})");
  EXPECT_EQ(run({"verify", bundle(), "--ledger-id", id, "--policy", policy}).exit_code, 3);
  write_file(policy, "quorum none\nquorum none\n");
  EXPECT_EQ(run({"verify", bundle(), "--ledger-id", id, "--witness-policy", policy}).exit_code, 3);
}

TEST_F(CmdBundle, ARetractionMakesTheEvidenceFalse) {
  const std::string id = ledger_id();
  ok({"retract", std::string(kRun), "--reason", "measured with the wrong clock"});
  prove();
  const Outcome outcome = run({"verify", bundle(), "--ledger-id", id});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("RETRACTED"), HasSubstr("the wrong clock"),
                                 HasSubstr("FALSE, level reported")));
}

TEST_F(CmdBundle, AnHonestStatusIsConfirmedByItsLedger) {
  prove();
  EXPECT_TRUE(document({"audit", "--status", bundle()}).find("ok")->boolean());
  // It spoke of its own size, and stays true.
  ok({"retract", std::string(kRun), "--reason", "later"});
  EXPECT_THAT(ok({"audit", "--status", bundle()}), HasSubstr("OK"));
  EXPECT_EQ(run({"audit", "--status", bundle(), "--reimport"}).exit_code, 2);
}

TEST_F(CmdBundle, WhatIsNoRunHasNoBundle) {
  const std::string workload(
      document({"provenance", std::string(kRun)}).find("refers")->array()[0].text("digest"));
  const Outcome outcome = run({"prove", workload, "-o", bundle()});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_FALSE(std::filesystem::exists(bundle()));
}

}  // namespace
}  // namespace kernelindex::test
