// SPDX-License-Identifier: Apache-2.0
// From the job to the level: what an accepted result changes, and what takes it back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "ledger/controlled_protocol.h"
#include "ledger/reader_attempts.h"
#include "tests/verify/measurement_fixture.h"
#include "verify/result_folder.h"

namespace kernelindex::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Verdict = Acceptance::Verdict;

TEST_F(Measuring, AConfirmedRunRisesAndTheMeasurementRanksInItsOwnGroup) {
  EXPECT_EQ(level(), Level::reproducible);
  const AcceptedResult accepted = attempt();
  EXPECT_EQ(accepted.judged.verdict, Verdict::confirms);
  EXPECT_THAT(accepted.judged.codes, IsEmpty());
  EXPECT_THAT(accepted.missing, IsEmpty());
  EXPECT_EQ(level(), Level::verified);
  EXPECT_THAT(view(reported_).evidence.reasons, Contains(LevelReason::operator_ran_it));

  const RunView controlled = view(accepted.run);
  EXPECT_EQ(controlled.row.source, kControlledSource);
  EXPECT_EQ(controlled.evidence.level, Level::verified);
  EXPECT_THAT(controlled.evidence.reasons, Contains(LevelReason::accepted_run));
  EXPECT_EQ(controlled.rank, 1U);
  EXPECT_NE(controlled.row.group, view(reported_).row.group);
  // As the log stood before the acceptance nothing was shown.
  EXPECT_EQ(view(reported_, accepted.acceptance_index).evidence.level, Level::reproducible);
  EXPECT_EQ(view(accepted.run, accepted.acceptance_index).evidence.level, Level::none);
  expect_sound();
}

TEST_F(Measuring, TwoOwnersReplicate) {
  attempt({.owner = "tester", .machine = "one"});
  attempt({.owner = "bob", .machine = "two", .median = 100'100});
  EXPECT_EQ(level(), Level::replicated);
}

TEST_F(Measuring, ASimulatedDeviceIsRefusedRecordedAndRaisesNothing) {
  const AcceptedResult accepted = attempt({.simulated = true});
  EXPECT_EQ(accepted.judged.verdict, Verdict::refused);
  EXPECT_THAT(accepted.judged.codes, ElementsAre("SIMULATED_DEVICE"));
  EXPECT_EQ(level(), Level::reproducible);
  EXPECT_EQ(view(accepted.run).evidence.level, Level::none);
  EXPECT_THAT(view(accepted.run).evidence.reasons, Contains(LevelReason::not_accepted));
  const std::vector<ControlledJob> jobs =
      controlled_jobs(ledger_->read(), reported_, ledger_->read().head().size).value();
  ASSERT_EQ(jobs.size(), 1U);
  EXPECT_TRUE(jobs[0].acceptance.has_value());
  expect_sound();
}

TEST_F(Measuring, ASimulatedCalibrationIsRefused) {
  Sessions made_up = sessions("one", 10);
  made_up.document.simulated = true;
  const Result<RecordedCalibration> recorded = record_calibration(
      *ledger_, ResultFolder::open(write_calibration("tester", made_up)).value());
  ASSERT_FALSE(recorded);
  EXPECT_EQ(recorded.error().code, "SIMULATED_DEVICE");
}

TEST_F(Measuring, AcceptingTwiceAddsNothing) {
  const IssuedJob issued = issue(order()).value();
  const std::filesystem::path folder = measure(issued.document, Measured());
  const AcceptedResult first = accept(folder).value();
  const std::uint64_t size = ledger_->read().head().size;
  const AcceptedResult again = accept(folder).value();
  EXPECT_TRUE(again.existing);
  EXPECT_EQ(again.acceptance_index, first.acceptance_index);
  EXPECT_EQ(ledger_->read().head().size, size);
}

// A crash between the result and its acceptance, or an envelope that came by another way.
TEST_F(Measuring, AResultThatIsRecordedAloneGetsItsAcceptanceLater) {
  const IssuedJob issued = issue(order()).value();
  const std::filesystem::path folder = measure(issued.document, Measured());
  ASSERT_TRUE(attest_envelope(*ledger_, ResultFolder::open(folder)->statement()));
  EXPECT_EQ(level(), Level::reproducible);
  EXPECT_EQ(accept(folder)->judged.verdict, Verdict::confirms);
  EXPECT_EQ(level(), Level::verified);
}

TEST_F(Measuring, WithoutItsSamplesAResultDoesNotCountUntilTheyCome) {
  const IssuedJob issued = issue(order()).value();
  const std::filesystem::path folder = measure(issued.document, {.keep_samples = false});
  const AcceptedResult lacking = accept(folder).value();
  EXPECT_EQ(lacking.missing.size(), 1U);
  EXPECT_THAT(lacking.judged.codes, Contains("BYTES_NOT_HELD"));
  EXPECT_EQ(level(), Level::reproducible);
  // The same folder, whole.
  SampleTiming timing;
  timing.trial_medians.assign(3, 100'000);
  const std::string samples = sample_result(issued.document, timing).samples;
  std::ofstream(folder / "objects" / sha256(samples).hex(), std::ios::binary) << samples;
  EXPECT_EQ(accept(folder)->judged.verdict, Verdict::confirms);
  EXPECT_EQ(level(), Level::verified);
}

TEST_F(Measuring, ASecondResultForAJobDoesNotCount) {
  const IssuedJob issued = issue(order()).value();
  const AcceptedResult slow = accept(measure(issued.document, {.median = 150'000})).value();
  EXPECT_EQ(slow.judged.verdict, Verdict::differs_slower);
  const AcceptedResult better = accept(measure(issued.document, {.median = 100'000})).value();
  EXPECT_EQ(better.judged.verdict, Verdict::refused);
  EXPECT_THAT(better.judged.codes, Contains("NONCE_REUSED"));
  EXPECT_EQ(level(), Level::reproducible);
}

TEST_F(Measuring, AttemptsInAnyOrderGiveTheSameLevel) {
  std::vector<std::filesystem::path> folders;
  for (const std::uint64_t median : {100'000, 100'050, 150'000}) {
    folders.push_back(measure(issue(order())->document, {.median = median}));
  }
  accept(folders[2]).value();
  EXPECT_EQ(level(), Level::reproducible);
  accept(folders[0]).value();
  EXPECT_EQ(level(), Level::reproducible);
  accept(folders[1]).value();
  EXPECT_EQ(level(), Level::verified);
}

TEST_F(Measuring, AJobThatNobodyAnsweredCountsAgainstTheRunOnceTheLogKnowsThatItIsOver) {
  attempt();
  ASSERT_TRUE(issue(order()));
  EXPECT_EQ(level(), Level::verified);
  now_ += 2 * kHour;
  say(Role::contributor, reported_,
      CommunityNote{CommunityNote::Type::reproduced, "later", {}, {}, {}});
  EXPECT_EQ(level(), Level::reproducible);
}

TEST_F(Measuring, RevokingTheRunnerOrTheHarnessTakesTheLevelBack) {
  const AcceptedResult accepted = attempt();
  say(Role::root, runner_key("tester").public_key().id(),
      KeyChange{Revocation{"stolen", accepted.result_index}});
  EXPECT_EQ(level(), Level::reproducible);
  EXPECT_EQ(view(accepted.run).evidence.level, Level::none);
  // From the log anew it is the same.
  ASSERT_TRUE(ledger_->reindex());
  EXPECT_EQ(level(), Level::reproducible);
}

TEST_F(Measuring, ARunUnderTheControlledProtocolThatNobodyAcceptedHasNoLevel) {
  const AcceptedResult accepted = attempt();
  std::unique_ptr<Appender> appender = ledger_->append({"add", "1", "{}"}).value();
  const std::string bytes = "a claim\n";
  MemorySource source(bytes);
  ASSERT_TRUE(appender->snapshot({"local", "forged.json", "", "supplied"}, "text/plain", source));
  ManifestEntry entry;
  entry.source = "local";
  entry.snapshot = sha256(bytes);
  const Manifest forged =
      make_document(ManifestKind::benchmark_run, "forged",
                    R"({"implementationDigest":")" + implementation_.text() +
                        R"(","workloadDigest":")" + workload_.text() + R"(","protocolDigest":")" +
                        controlled_protocol(ClockVariant::unlocked).identity.text() +
                        R"(","environmentDigest":")" + environment_.text() +
                        R"(","status":"passed","timing":{"primaryStatistic":"median","latencyNs":)"
                        R"({"median":1}},"observedAt":"2025-12-01T00:00:00Z"})");
  ASSERT_TRUE(appender->claim(std::move(entry), forged));
  ASSERT_TRUE(appender->finish(std::nullopt));
  EXPECT_EQ(view(forged.identity).evidence.level, Level::none);
  EXPECT_FALSE(view(forged.identity).eligible());
}

TEST_F(Measuring, AFileThatNoDigestCoversIsToldAndConfirmsNothing) {
  JobOrder more = order();
  more.files.push_back({"zzz.h", sha256("#pragma once\n"), "#pragma once\n"});
  const IssuedJob issued = issue(more).value();
  EXPECT_THAT(issued.uncovered, ElementsAre("zzz.h"));
  EXPECT_EQ(accept(measure(issued.document, Measured()))->judged.verdict, Verdict::confirms);
  EXPECT_EQ(level(), Level::reproducible);
  EXPECT_THAT(view(reported_).evidence.reasons, Contains(LevelReason::source_partial));
}

TEST_F(Measuring, OnlyTheRunnerOfTheJobMaySign) {
  const IssuedJob issued = issue(order()).value();
  const Result<std::string> other = sign_result(
      issued.document, write_measurement_result(sample_result(issued.document).result).value(),
      runner_key("bob"));
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, "KEY_NOT_THE_RUNNER");
}

TEST_F(Measuring, ASpoiltFolderIsRefusedBeforeAnythingIsWritten) {
  const IssuedJob issued = issue(order()).value();
  const std::filesystem::path folder = measure(issued.document, Measured());
  const std::uint64_t size = ledger_->read().head().size;
  const auto code = [&] {
    const Result<ResultFolder> read = ResultFolder::open(folder);
    if (!read) return read.error().code;
    const Result<AcceptedResult> accepted =
        accept_result(*ledger_, *read, fixture_key(Role::controller), {});
    return accepted ? std::string("accepted") : accepted.error().code;
  };
  const std::filesystem::path object = *std::filesystem::directory_iterator(folder / "objects");
  std::ofstream(object, std::ios::app) << "x";
  EXPECT_EQ(code(), "OBJECT_DIFFERS");
  std::ofstream(folder / "result.json", std::ios::app) << " ";
  EXPECT_EQ(code(), "DIGEST_MISMATCH");
  std::filesystem::resize_file(folder / "result.json", kResultDocumentBytes + 1);
  EXPECT_EQ(code(), "TOO_LARGE");
  std::filesystem::remove(folder / "statement.dsse.json");
  EXPECT_EQ(code(), "NO_RESULT");
  std::filesystem::create_symlink(folder / "result.json", folder / "statement.dsse.json");
  EXPECT_EQ(code(), "NOT_A_FILE");
  EXPECT_EQ(ledger_->read().head().size, size);
}

}  // namespace
}  // namespace kernelindex::test
