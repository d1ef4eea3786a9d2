// SPDX-License-Identifier: Apache-2.0
// doctor: what it finds wrong, and that it finds nothing where nothing is.
#include <gmock/gmock.h>

#include <filesystem>

#include "tests/tools/cli_fixture.h"

namespace kernelindex::test {
namespace {

using ::testing::HasSubstr;

class CmdDoctor : public Cli {
 protected:
  // What it says of one thing, "state: found"; empty when it says nothing.
  std::string said_of(std::string_view what, int exit_code) {
    const Outcome outcome = run({"doctor", "--json"});
    EXPECT_EQ(outcome.exit_code, exit_code) << outcome.out;
    json::Arena arena;
    const json::Value document = json::parse(outcome.out, arena).value();
    for (const json::Value& one : document.find("examined")->array()) {
      if (one.text("what") != what) continue;
      return std::string(one.text("state")) + ": " + std::string(one.text("found"));
    }
    return {};
  }
};

TEST_F(CmdDoctor, ANewLedgerLacksNothingAndItsRootKeyIsRemarkedOn) {
  found_ledger();
  EXPECT_THAT(said_of("ledger", 0), HasSubstr("ok: "));
  EXPECT_THAT(said_of("released marks", 0), HasSubstr("ok: "));
  EXPECT_THAT(said_of("root key", 0), HasSubstr("remark: "));
  std::filesystem::remove(folder_ / "ledger/keys/root.key");
  EXPECT_EQ(said_of("root key", 0), "");
}

TEST_F(CmdDoctor, AKeyThatOthersCanReadIsWrong) {
  found_ledger();
  const std::filesystem::path key = folder_ / "ledger/keys/controller.key";
  std::filesystem::permissions(key, std::filesystem::perms::group_read,
                               std::filesystem::perm_options::add);
  EXPECT_THAT(said_of("key file", 1), HasSubstr("controller.key"));
}

TEST_F(CmdDoctor, AClockBehindTheLogIsWrong) {
  found_ledger();
  const Outcome earlier = run({"--now", "2020-01-01T00:00:00Z", "doctor"});
  EXPECT_EQ(earlier.exit_code, 1);
  EXPECT_THAT(earlier.out, HasSubstr("behind the newest entry"));
}

TEST_F(CmdDoctor, ALogThatWasCutOffIsWrong) {
  found_ledger();
  std::filesystem::copy(folder_ / "ledger/db", folder_ / "older",
                        std::filesystem::copy_options::recursive);
  ok({"import", "sol-execbench", (source_root() / "tools/sample").string()});
  std::filesystem::remove_all(folder_ / "ledger/db");
  std::filesystem::rename(folder_ / "older", folder_ / "ledger/db");
  EXPECT_THAT(said_of("log", 1), HasSubstr("RECORDS_LOST"));
}

TEST_F(CmdDoctor, WithoutALedgerItLooksAtTheMachineAlone) {
  EXPECT_THAT(said_of("ledger", 0), HasSubstr("remark: "));
  EXPECT_THAT(said_of("processor", 0), HasSubstr("processor"));
}

}  // namespace
}  // namespace kernelindex::test
