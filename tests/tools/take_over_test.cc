// SPDX-License-Identifier: Apache-2.0
// import kernelindex-ledger: what a closed ledger held goes on in a new one, and nothing is washed.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

#include "tests/tools/cli_fixture.h"

namespace kernelindex::test {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::EndsWith;
using ::testing::HasSubstr;

constexpr std::string_view kRun = "sol-execbench:submission/15866";
constexpr std::string_view kRunDigest =
    "sha256:fa2cdd25d5d22ec080b8e6fcabbd2acc51a3c2ab3bcff1cfc9a5be97cdd4e0dc";

class TakeOver : public Cli {
 protected:
  // Into a ledger with keys of its own.
  json::Value take_over() {
    return document({"import", "kernelindex-ledger", "ledger", "--ledger", "new"});
  }
  std::string there(std::vector<std::string> words) {
    words.insert(words.end(), {"--ledger", "new"});
    return ok(std::move(words));
  }
  std::string old_id() { return std::string(document({"status"}).text("ledgerId")); }
  std::string importer() {
    for (const json::Value& key : document({"key", "list"}).find("keys")->array()) {
      if (key.text("role") == "importer") return std::string(key.text("keyId"));
    }
    return {};
  }
  double at(const json::Value& value, std::initializer_list<std::string_view> path) {
    const json::Value* found = value.find(path);
    return found == nullptr ? 0 : found->number();
  }
  void found_both() {
    import_sample();
    ok({"init", "--ledger", "new", "--quiet"});
  }
};

TEST_F(TakeOver, ClaimsKeepTheirSourceAndSayWhoseBytesWereRead) {
  found_both();
  const std::string id = old_id();
  const json::Value report = take_over();
  EXPECT_EQ(at(report, {"recorded", "manifests"}), 58);
  EXPECT_EQ(at(report, {"selected"}), 58);
  EXPECT_EQ(report.find("quarantined")->array().size(), 0u);
  const json::Value shown = document({"provenance", std::string(kRun), "--ledger", "new"});
  EXPECT_EQ(shown.text("digest"), kRunDigest);
  EXPECT_EQ(shown.text("level"), "reported");
  const json::Value& claim = shown.find("claims")->array()[0];
  EXPECT_EQ(claim.text("source"), "sol-execbench");
  EXPECT_EQ(claim.text("via"), id);
  EXPECT_EQ(claim.text("acquired"), "supplied");
  EXPECT_THAT(there({"audit", "--reimport"}), EndsWith("OK\n"));
}

TEST_F(TakeOver, AnswersAreThoseOfTheOldLedger) {
  found_both();
  take_over();
  const auto values = [&](std::vector<std::string> words) {
    std::vector<std::string> out;
    words.push_back("--json");
    for (const json::Value& run : document(std::move(words)).find("runs")->array()) {
      out.push_back(std::string(run.text("digest")) + " " + std::string(run.text("level")) + " " +
                    std::to_string(run.find("value")->number()) + " " +
                    std::string(run.text("comparisonKey")));
    }
    std::ranges::sort(out);
    return out;
  };
  const auto before = values({"runs"});
  EXPECT_EQ(before.size(), 7u);
  EXPECT_EQ(values({"runs", "--ledger", "new"}), before);
}

TEST_F(TakeOver, ASecondTimeAddsNothing) {
  found_both();
  take_over();
  const std::string before = there({"status", "--json"});
  const json::Value again = take_over();
  for (const std::string_view kind : {"manifests", "snapshots", "artifacts", "attestations"}) {
    EXPECT_EQ(at(again, {"recorded", kind}), 0) << kind;
  }
  EXPECT_EQ(there({"status", "--json"}), before);
}

TEST_F(TakeOver, ADryRunWritesNothing) {
  found_both();
  const std::string before = there({"status", "--json"});
  const json::Value report =
      document({"import", "kernelindex-ledger", "ledger", "--ledger", "new", "--dry-run"});
  EXPECT_EQ(at(report, {"recorded", "manifests"}), 58);
  EXPECT_EQ(there({"status", "--json"}), before);
}

TEST_F(TakeOver, SnapshotsAndArtifactsComeAlong) {
  found_both();
  write_file(folder_ / "kernel.cu", "__global__ void add() {}\n");
  ok({"add", "--artifact", "kernel.cu"});
  const json::Value report = take_over();
  EXPECT_EQ(at(report, {"recorded", "snapshots"}), 7);  // six files and the log itself
  EXPECT_EQ(at(report, {"recorded", "artifacts"}), 2);  // the kernel and the import's report
  EXPECT_EQ(there({"cat", sha256("__global__ void add() {}\n").text()}),
            "__global__ void add() {}\n");
  const std::string log = there({"log"});
  EXPECT_THAT(log, AllOf(HasSubstr("submissions/79.json"), HasSubstr("sol-execbench")));
}

TEST_F(TakeOver, WhatWasRetractedThereHasNoRankHere) {
  found_both();
  ok({"retract", std::string(kRun), "--reason", "cached result"});
  const json::Value report = take_over();
  EXPECT_EQ(at(report, {"counted", "retracted_there"}), 1);
  const json::Value history = document({"history", std::string(kRun), "--ledger", "new"});
  for (const json::Value& run : history.find("runs")->array()) {
    const bool retracted = run.text("digest") == kRunDigest;
    EXPECT_EQ(run.find("rank")->is_null(), retracted);
  }
  EXPECT_THAT(there({"provenance", std::string(kRun)}), HasSubstr("retracted_in_ledger"));
  EXPECT_THAT(there({"audit", "--reimport"}), EndsWith("OK\n"));
}

// Taking a ledger over must not wash what a stolen key claimed.
TEST_F(TakeOver, ClaimsThatNothingValidCoversAreLeftBehind) {
  found_both();
  ok({"key", "revoke", importer(), "--reason", "stolen", "--void-from", "7"});
  const json::Value report = take_over();
  EXPECT_EQ(at(report, {"recorded", "manifests"}), 0);
  EXPECT_EQ(at(report, {"skipped", "NOT_COVERED"}), 58);
}

TEST_F(TakeOver, ARetractedImportIsLeftBehind) {
  found_both();
  ok({"retract", "--import", "71", "--reason", "wrong file"});
  EXPECT_EQ(at(take_over(), {"skipped", "NOT_COVERED"}), 58);
}

TEST_F(TakeOver, DisputesAndSupersessionsAreToldOf) {
  found_both();
  ok({"dispute", std::string(kRun), "--reason", "too fast"});
  ok({"supersede", std::string(kRun), "--by", "sol-execbench:submission/13511", "--reason", "x"});
  std::vector<std::string> codes;
  for (const json::Value& finding : take_over().find("review")->array()) {
    codes.emplace_back(finding.text("code"));
  }
  EXPECT_THAT(codes, AllOf(Contains("DISPUTED_THERE"), Contains("SUPERSEDED_THERE")));
}

TEST_F(TakeOver, WithheldBytesStayBehind) {
  found_both();
  write_file(folder_ / "kernel.cu", "a kernel under licence");
  const std::string digest = sha256("a kernel under licence").text();
  ok({"add", "--artifact", "kernel.cu"});
  ok({"withhold", digest, "--reason", "licence"});
  const json::Value report = take_over();
  ASSERT_EQ(report.find("review")->array().size(), 1u);
  EXPECT_EQ(report.find("review")->array()[0].text("code"), "WITHHELD");
  EXPECT_NE(run({"cat", digest, "--ledger", "new"}).exit_code, 0);
}

TEST_F(TakeOver, ALedgerIsNotTakenIntoItself) {
  found_both();
  const Outcome outcome = run({"import", "kernelindex-ledger", "ledger"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("into itself"));
  EXPECT_EQ(run({"import", "kernelindex-ledger", "nowhere"}).exit_code, 3);
  EXPECT_EQ(run({"import", "kernelindex-ledger", "ledger", "--top", "3"}).exit_code, 2);
}

TEST_F(TakeOver, ALedgerThatLostItsEndGoesOnInANewOne) {
  found_both();
  ok({"backup", "copy"});
  ok({"attest", std::string(kRun), "--type", "reproduced", "--text", "lost soon"});
  fs::remove_all(folder_ / "ledger/db");
  ok({"restore", "copy", "--quiet"});
  EXPECT_EQ(run({"checkpoint"}).exit_code, 5);
  EXPECT_EQ(at(take_over(), {"recorded", "manifests"}), 58);
  EXPECT_THAT(there({"audit", "--reimport"}), EndsWith("OK\n"));
}

TEST_F(TakeOver, NeitherKeysNorDerivedDataOfTheOldLedgerAreNeeded) {
  found_both();
  fs::remove_all(folder_ / "ledger/keys");
  fs::remove(folder_ / "ledger/checkpoint");
  EXPECT_EQ(at(take_over(), {"recorded", "manifests"}), 58);
}

}  // namespace
}  // namespace kernelindex::test
