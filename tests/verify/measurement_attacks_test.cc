// SPDX-License-Identifier: Apache-2.0
// What somebody might try who has some key, or none, to bend a level.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "ledger/dsse.h"
#include "ledger/reader_attempts.h"
#include "tests/verify/measurement_fixture.h"
#include "verify/result_folder.h"

namespace kernelindex::test {
namespace {

using ::testing::ElementsAre;
using Verdict = Acceptance::Verdict;

// What a result says of itself cannot make it vanish: it counts against the run.
TEST_F(Measuring, ARunnerCannotTakeItsOwnFailureBack) {
  attempt();
  const AcceptedResult hidden = attempt({.median = 150'000, .reasons = {"KEY_REVOKED"}});
  EXPECT_THAT(hidden.judged.codes, ElementsAre("RUNNER_DOUBTS"));
  EXPECT_EQ(level(), Level::reproducible);
}

TEST_F(Measuring, ARetractionTakesConfirmationsAwayAndNoFailures) {
  const AcceptedResult good = attempt();
  const AcceptedResult bad = attempt({.median = 150'000});
  EXPECT_EQ(level(), Level::reproducible);
  say(Role::maintainer, bad.result, Retraction{"it looks bad"});
  EXPECT_EQ(level(), Level::reproducible);
  say(Role::maintainer, bad.job, Retraction{"it looks bad"});
  EXPECT_EQ(level(), Level::reproducible);
  attempt();
  EXPECT_EQ(level(), Level::verified);
  say(Role::maintainer, good.job, Retraction{"the wrong files"});
  EXPECT_EQ(level(), Level::reproducible);
  EXPECT_EQ(view(good.run).evidence.level, Level::none);
}

TEST_F(Measuring, AcceptingAgainWithASwitchThatIsNotNeededBuriesNothing) {
  attempt();
  const IssuedJob issued = issue(order()).value();
  const std::filesystem::path slow = measure(issued.document, {.median = 150'000});
  ASSERT_TRUE(accept(slow));
  EXPECT_EQ(level(), Level::reproducible);
  EXPECT_EQ(accept(slow, {std::string(kAcceptProvisional)})->judged.verdict,
            Verdict::differs_slower);
  EXPECT_EQ(level(), Level::reproducible);
  EXPECT_FALSE(accept(slow)->existing);  // the last one is what readers take
}

TEST_F(Measuring, AnAcceptanceThatWasRetractedCanBeGivenAgain) {
  const IssuedJob issued = issue(order()).value();
  const std::filesystem::path folder = measure(issued.document, Measured());
  const AcceptedResult first = accept(folder).value();
  const Digest id = read_said_at(ledger_->read(), first.acceptance_index)->id;
  say(Role::maintainer, id, Retraction{"too early"});
  EXPECT_EQ(level(), Level::reproducible);
  EXPECT_FALSE(accept(folder)->existing);
  EXPECT_EQ(level(), Level::verified);
}

TEST_F(Measuring, OtherSourcesVerifyNotEvenTheirOwnNumber) {
  JobOrder other = order();
  for (JobSourceFile& file : other.files) {
    if (file.path == kRecipePath) continue;
    file.content += "// another kernel\n";
    file.digest = sha256(file.content);
  }
  const IssuedJob issued = issue(other).value();
  EXPECT_EQ(issued.uncovered.size(), 2U);
  const AcceptedResult accepted = accept(measure(issued.document, Measured())).value();
  EXPECT_EQ(level(), Level::reproducible);
  EXPECT_EQ(view(accepted.run).evidence.level, Level::none);
}

TEST_F(Measuring, AnotherClaimantAddsNoFilesToAnImplementation) {
  JobOrder more = order();
  const std::string content = "// somebody else's\n";
  more.files.push_back({"zzz.cu", sha256(content), content});
  std::unique_ptr<Appender> appender = ledger_->append({"add", "1", "{}"}).value();
  const std::string bytes = "another claim\n";
  MemorySource source(bytes);
  ASSERT_TRUE(appender->snapshot({"elsewhere", "x.json", "", "supplied"}, "text/plain", source));
  ManifestEntry entry;
  entry.source = "elsewhere";
  entry.snapshot = sha256(bytes);
  entry.facts.artifacts = {{"source", sha256(content), "zzz.cu", {}, {}, {}}};
  const Reader reader = ledger_->read();
  const Manifest implementation =
      read_subject_document(reader, *reader.subject(implementation_).value()).value().value();
  ASSERT_TRUE(appender->claim(std::move(entry), implementation));
  ASSERT_TRUE(appender->finish(std::nullopt));
  EXPECT_THAT(issue(more)->uncovered, ElementsAre("zzz.cu"));
}

TEST_F(Measuring, OneSessionSignedAgainIsNoSecondSession) {
  // Four sessions, signed three times: too few.
  const IssuedJob issued = issue(order()).value();
  const Measured measured;
  calibrated_.insert(measured.owner + measured.machine);
  for (int times = 0; times < 3; ++times) {
    const auto path = write_calibration(measured.owner, sessions(measured.machine, 4));
    ASSERT_TRUE(record_calibration(*ledger_, ResultFolder::open(path).value()));
  }
  EXPECT_THAT(accept(measure(issued.document, measured))->judged.codes,
              ElementsAre("UNCALIBRATED"));
}

TEST_F(Measuring, AStatementWithAnotherSignatureIsRefusedAlsoWhenItIsKnown) {
  const IssuedJob issued = issue(order()).value();
  const std::filesystem::path folder = measure(issued.document, Measured());
  ASSERT_TRUE(accept(folder));
  const std::uint64_t size = ledger_->read().head().size;
  Envelope envelope = parse_envelope(ResultFolder::open(folder)->statement()).value();
  envelope.signature[0] = static_cast<char>(envelope.signature[0] ^ 1);
  std::ofstream(folder / "statement.dsse.json") << envelope.encode();
  const Result<AcceptedResult> again = accept(folder);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, "INVALID_SIGNATURE");
  EXPECT_EQ(ledger_->read().head().size, size);
}

}  // namespace
}  // namespace kernelindex::test
