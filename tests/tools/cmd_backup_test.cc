// SPDX-License-Identifier: Apache-2.0
// backup, restore: a copy elsewhere, and the way back that forks nothing.
#include <gmock/gmock.h>

#include <filesystem>

#include "ledger/ledger.h"
#include "tests/tools/cli_fixture.h"

namespace kernelindex::test {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;

constexpr std::string_view kRun = "sol-execbench:submission/15866";

class CmdBackup : public Cli {
 protected:
  void note() { ok({"attest", std::string(kRun), "--type", "reproduced", "--text", "here too"}); }
};

TEST_F(CmdBackup, ARestoredLedgerAuditsClean) {
  import_sample();
  EXPECT_EQ(document({"backup", "copy"}).find("size")->number(), 72);
  EXPECT_EQ(document({"restore", "copy", "--ledger", "back"}).find("size")->number(), 72);
  EXPECT_THAT(ok({"audit", "--reimport", "--ledger", "back"}), EndsWith("OK\n"));
  const Outcome again = run({"restore", "copy", "--ledger", "back"});
  EXPECT_EQ(again.exit_code, 5);
  EXPECT_THAT(again.err, HasSubstr("LEDGER_EXISTS"));
  EXPECT_EQ(run({"backup", "copy"}).exit_code, 5);
  EXPECT_EQ(run({"restore", "nowhere", "--ledger", "x"}).exit_code, 3);
  // Where it lies it is read and not written.
  ok({"audit", "--ledger", "copy"});
  EXPECT_THAT(run({"checkpoint", "--ledger", "copy"}).err, HasSubstr("IS_BACKUP"));
}

TEST_F(CmdBackup, IsTakenBesideAWriter) {
  import_sample();
  LedgerOptions options;
  options.directory = folder_ / "ledger";
  options.state = folder_ / "state";
  const std::unique_ptr<Ledger> writer = Ledger::open(options).value();
  EXPECT_EQ(document({"backup", "copy"}).find("size")->number(), 72);
  ok({"restore", "copy", "--ledger", "back"});
  EXPECT_THAT(ok({"audit", "--ledger", "back"}), EndsWith("OK\n"));
}

TEST_F(CmdBackup, ADamagedBackupIsExitFour) {
  import_sample();
  ok({"backup", "copy"});
  write_file(folder_ / "copy/db/CURRENT", "MANIFEST-999999\n");
  const Outcome outcome = run({"restore", "copy", "--ledger", "back"});
  EXPECT_EQ(outcome.exit_code, 4);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("DAMAGED_BACKUP"), HasSubstr("db/CURRENT")));
}

TEST_F(CmdBackup, RestoredBelowAReleasedCheckpointItSaysHowToGoOn) {
  import_sample();
  ok({"backup", "copy"});
  for (int i = 0; i < 3; ++i) note();
  fs::remove_all(folder_ / "ledger/db");
  const Outcome restored = run({"restore", "copy"});
  EXPECT_EQ(restored.exit_code, 0) << restored.err;
  EXPECT_THAT(restored.out, HasSubstr("RECORDS_LOST"));
  EXPECT_THAT(restored.err, HasSubstr("import kernelindex-ledger"));
  const Outcome refused =
      run({"attest", std::string(kRun), "--type", "reproduced", "--text", "again"});
  EXPECT_EQ(refused.exit_code, 5);
  EXPECT_THAT(refused.err,
              AllOf(HasSubstr("READ_ONLY"), HasSubstr("records are lost"),
                    HasSubstr("kernelindex restore"), HasSubstr("import kernelindex-ledger")));
  EXPECT_EQ(run({"checkpoint"}).exit_code, 5);
}

}  // namespace
}  // namespace kernelindex::test
