// SPDX-License-Identifier: Apache-2.0
// Controlled measurement from the job to the level, in a ledger on disk. The devices are what the
// test says they are: results are written and signed here, and no built program can do that.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "ledger/attest.h"
#include "ledger/controlled_protocol.h"
#include "ledger/query.h"
#include "ledger/reader_attempts.h"
#include "tests/support/sample_result.h"
#include "tests/verify/ledger_fixture.h"
#include "verify/accept_result.h"
#include "verify/bundle.h"
#include "verify/bundle_format.h"
#include "verify/bundle_writer.h"
#include "verify/issue_job.h"
#include "verify/result_folder.h"

namespace kernelindex::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using Verdict = Acceptance::Verdict;

constexpr UtcMicros kHour = UtcMicros{3'600'000'000};

SigningKey runner_key(const std::string& owner) {
  return SigningKey::from_seed(sha256("runner of " + owner).raw()).value();
}

class Measuring : public testing::Test {
 protected:
  Measuring() : sample_(sample_job()) {
    open();
    reported_ = record_reported();
    for (const char* owner : {"tester", "bob"}) {
      KeyEnrolment enrolment;
      enrolment.public_key = runner_key(owner).public_key();
      enrolment.role = Role::runner;
      enrolment.owner = owner;
      say(Role::root, enrolment.public_key.id(), KeyChange{enrolment});
    }
    using Kind = DigestApproval::Kind;
    say(Role::root, harness_, KeyChange{DigestApproval{Kind::harness, {}}});
    say(Role::root, controlled_protocol(ClockVariant::unlocked).identity,
        KeyChange{DigestApproval{Kind::protocol, {}}});
  }

  void open() {
    LedgerOptions options = fixture_.options();
    options.clock = [this] { return now_; };
    ledger_ = Ledger::open(options).value();
  }

  Attested say(Role role, const Digest& subject, const Predicate& predicate) {
    Result<Attested> said = attest(*ledger_, {subject, predicate}, fixture_key(role));
    EXPECT_TRUE(said) << said.error().text();
    return said.value_or(Attested{});
  }

  // A run of 100 us on an H200 with everything that it refers to, and the files of its source.
  Digest record_reported() {
    std::unique_ptr<Appender> appender = ledger_->append({"add", "1", "{}"}).value();
    const std::string bytes = "what somebody reported\n";
    MemorySource source(bytes);
    EXPECT_TRUE(appender->snapshot({"local", "run.json", "", "supplied"}, "text/plain", source));
    const auto claim = [&](const Manifest& manifest, ClaimFacts facts = {}) {
      ManifestEntry entry;
      entry.source = "local";
      entry.snapshot = sha256(bytes);
      entry.facts = std::move(facts);
      EXPECT_TRUE(appender->claim(std::move(entry), manifest));
      return manifest.identity;
    };
    claim(read_manifest(sample_.operation.text).value());
    workload_ = claim(read_manifest(sample_.workloads.front().text).value());
    ClaimFacts files;
    for (const JobSourceFile& file : sample_.sources) {
      if (file.path == kRecipePath) continue;
      files.artifacts.push_back({"source", file.digest, file.path, {}, {}, {}});
      EXPECT_TRUE(appender->artifact(file.content, "text/plain"));
    }
    const std::string source_digest = sample_.sources.front().digest.text();
    implementation_ = claim(
        make_document(ManifestKind::implementation_revision, "kernel",
                      R"({"projectRevision":{"version":"1"},"operation":{"specDigest":")" +
                          sample_.operation.digest.text() +
                          R"("},"callable":{"language":"cuda"},"support":{"hardwareArchitectures":)"
                          R"(["sm_90"],"dtypes":["float32"]},"source":{"contentDigest":")" +
                          source_digest + R"("},"licensing":{}})"),
        files);
    const Digest protocol =
        claim(make_document(ManifestKind::benchmark_protocol, "board",
                            R"({"harness":{"name":"board"},"measurement":{"timer":"cuda_events",)"
                            R"("primaryStatistic":"median"}})"));
    environment_ = claim(make_document(
        ManifestKind::execution_environment, "h200",
        R"({"hardware":{"vendor":"nvidia","product":"NVIDIA H200","architecture":"sm_90"},)"
        R"("software":{}})"));
    const std::string log = "the log of the run\n";
    EXPECT_TRUE(appender->artifact(log, "text/plain"));
    const std::string log_digest = sha256(log).text();
    const Digest run = claim(make_document(
        ManifestKind::benchmark_run, "reported",
        R"({"implementationDigest":")" + implementation_.text() + R"(","workloadDigest":")" +
            workload_.text() + R"(","protocolDigest":")" + protocol.text() +
            R"(","environmentDigest":")" + environment_.text() +
            R"(","status":"passed","timing":{"primaryStatistic":"median","latencyNs":)"
            R"({"median":100000}},"evidence":{"logs":{"uri":")" +
            log_digest + R"(","digest":")" + log_digest +
            R"("}},"observedAt":"2025-12-01T00:00:00Z"})"));
    EXPECT_TRUE(appender->finish(std::nullopt));
    return run;
  }

  JobOrder order(const std::string& owner = "tester") const {
    JobOrder order;
    order.run = reported_;
    order.runner = runner_key(owner).public_key().id();
    order.harness = harness_;
    order.files = sample_.sources;
    order.source_reviewed = true;
    order.expires_at = now_ + kHour;
    return order;
  }
  Result<IssuedJob> issue(const JobOrder& order) {
    return issue_job(*ledger_, order, fixture_key(Role::controller), {"add", "1", "{}"});
  }
  std::string code(const JobOrder& order) {
    const Result<IssuedJob> issued = issue(order);
    return issued ? "issued" : issued.error().code;
  }

  // A result for the job, written and signed as `rerun` writes it.
  struct Measured {
    std::string owner = std::string("tester");
    std::string machine = std::string("one");
    std::uint64_t median = 100'000;
    bool simulated = false;
    bool keep_samples = true;
    std::vector<std::string> reasons = std::vector<std::string>();  // of the runner's own doubts
  };
  std::filesystem::path measure(const JobDocument& job, const Measured& measured) {
    SampleTiming timing;
    timing.trial_medians.assign(3, measured.median);
    SampleResult sample = sample_result(job, timing);
    MeasurementResult& result = sample.result;
    result.device.id = sha256("device " + measured.machine);
    result.host = {sha256("host " + measured.machine), sha256("boot " + measured.machine)};
    result.uncountable_reasons = measured.reasons;
    result.countable = measured.reasons.empty();
    if (measured.simulated) result.device.kind = MeasuredDevice::Kind::simulated;
    calibrate(measured, sample);
    const std::filesystem::path path = place_ / ("result" + std::to_string(folders_++));
    ResultWriter folder = ResultWriter::make(path).value();
    const std::string document = write_measurement_result(result).value();
    for (const std::string& bytes : {sample.samples, sample.diagnostic_samples,
                                     sample.sentinel_samples, std::string("artifact")}) {
      if (!measured.keep_samples && bytes == sample.samples) continue;
      EXPECT_TRUE(folder.object(bytes));
    }
    EXPECT_TRUE(folder.document(document));
    EXPECT_TRUE(folder.statement(sign_result(job, document, runner_key(measured.owner)).value()));
    return path;
  }
  // Ten sessions over three boots, once for each machine.
  void calibrate(const Measured& measured, const SampleResult& sample) {
    if (!calibrated_.insert(measured.owner + measured.machine).second) return;
    CalibrationDocument document;
    document.ledger = ledger_->format().ledger_id;
    document.harness = harness_;
    document.simulated = false;
    document.product = "NVIDIA H200";
    document.device = sample.result.device.id;
    document.host = sample.result.host.id;
    std::string bytes;
    for (int i = 0; i < 10; ++i) {
      SentinelSession session = sample.result.sentinels.front();
      session.boot = sha256("boot " + std::to_string(i % 3));
      document.sessions.push_back(session);
      bytes += sample.sentinel_samples.substr(0, sample.sentinel_samples.size() / 2);
    }
    document.samples = sha256(bytes);
    const std::filesystem::path path = write_calibration(measured.owner, document, bytes);
    const Result<RecordedCalibration> recorded =
        record_calibration(*ledger_, ResultFolder::open(path).value());
    EXPECT_TRUE(recorded) << recorded.error().text();
  }
  std::filesystem::path write_calibration(const std::string& owner,
                                          const CalibrationDocument& document,
                                          const std::string& bytes) {
    const SigningKey key = runner_key(owner);
    const Digest id = key.public_key().id();
    const Attestation said{id, Binding{document.ledger, id, ledger_->read().head()},
                           Calibration{document.device, document.sessions, document.samples}};
    const std::filesystem::path path = place_ / ("calibration" + std::to_string(folders_++));
    ResultWriter folder = ResultWriter::make(path).value();
    EXPECT_TRUE(folder.object(bytes));
    EXPECT_TRUE(folder.document(write_calibration_document(document).value()));
    EXPECT_TRUE(folder.statement(sign_envelope(said.encode().value(), key).value().encode()));
    return path;
  }

  Result<AcceptedResult> accept(const std::filesystem::path& path,
                                const std::vector<std::string>& allowed = {}) {
    return accept_result(*ledger_, ResultFolder::open(path).value(), fixture_key(Role::controller),
                         allowed);
  }
  AcceptedResult attempt() { return attempt(Measured()); }
  AcceptedResult attempt(const Measured& measured) {
    const Result<IssuedJob> issued = issue(order(measured.owner));
    EXPECT_TRUE(issued) << issued.error().text();
    Result<AcceptedResult> accepted = accept(measure(issued->document, measured));
    EXPECT_TRUE(accepted) << accepted.error().text();
    return std::move(*accepted);
  }

  RunView view(const Digest& run, std::optional<std::uint64_t> size = std::nullopt) {
    ReadPolicy policy;
    policy.as_of = size;
    Result<RunView> view = view_run(ledger_->read(), run, policy);
    EXPECT_TRUE(view) << view.error().text();
    return std::move(*view);
  }
  Level level() { return view(reported_).evidence.level; }
  void expect_sound() {
    ledger_.reset();
    EXPECT_THAT(fixture_.audit().faults, IsEmpty());
    open();
  }

  UtcMicros now_ = kFixtureTime;
  LedgerFixture fixture_;
  TempDir place_;
  std::unique_ptr<Ledger> ledger_;
  JobDocument sample_;
  Digest harness_ = sha256("the runner's executable");
  Digest implementation_;
  Digest workload_;
  Digest environment_;
  Digest reported_;
  std::set<std::string> calibrated_;
  int folders_ = 0;
};

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
  CalibrationDocument document;
  document.ledger = ledger_->format().ledger_id;
  document.product = "simulated";
  document.sessions = sample_result(sample_).result.sentinels;
  const std::string bytes = sample_result(sample_).sentinel_samples;
  document.samples = sha256(bytes);
  const Result<RecordedCalibration> recorded = record_calibration(
      *ledger_, ResultFolder::open(write_calibration("tester", document, bytes)).value());
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

TEST_F(Measuring, TheDocumentOfAJobIsMadeAgainFromTheLog) {
  const IssuedJob issued = issue(order()).value();
  EXPECT_THAT(issued.uncovered, IsEmpty());
  JobDocument again = job_document(ledger_->read(), issued.document.job).value();
  EXPECT_EQ(again.sources, issued.document.sources);
  EXPECT_EQ(again.nonce, issued.document.nonce);
  EXPECT_EQ(again.implementation, implementation_);
  EXPECT_GT(again.seen_size, issued.index);
  EXPECT_EQ(kept_sources(ledger_->read(), reported_)->size(), sample_.sources.size() - 1);
  const Result<JobDocument> none = job_document(ledger_->read(), sha256("no job"));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, "NO_SUCH_JOB");
}

TEST_F(Measuring, AJobThatCouldNeverCountIsNotIssued) {
  EXPECT_EQ(code(order()), "issued");
  JobOrder wrong = order();
  wrong.files = {};
  EXPECT_EQ(code(wrong), "NO_SOURCE");
  wrong = order();
  std::erase_if(wrong.files, [](const JobSourceFile& file) { return file.path == kRecipePath; });
  EXPECT_EQ(code(wrong), "NO_RECIPE");
  wrong = order();
  wrong.harness = sha256("another program");
  EXPECT_EQ(code(wrong), "HARNESS_UNKNOWN");
  wrong = order();
  wrong.clocks = ClockVariant::locked;
  EXPECT_EQ(code(wrong), "PROTOCOL_UNKNOWN");
  wrong = order();
  wrong.runner = sha256("nobody");
  EXPECT_EQ(code(wrong), "RUNNER_NOT_ENROLLED");
  wrong = order();
  wrong.expires_at = now_;
  EXPECT_EQ(code(wrong), "JOB_EXPIRED");
  wrong = order();
  wrong.run = sha256("no run");
  EXPECT_EQ(code(wrong), "NO_SUCH_RUN");
  wrong = order();
  wrong.run = implementation_;
  EXPECT_EQ(code(wrong), "NOT_A_RUN");
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
  EXPECT_EQ(ledger_->read().head().size, size);
}

// ---- What somebody might try ----

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
  Measured measured;
  const IssuedJob issued = issue(order()).value();
  const SampleResult sample = sample_result(issued.document);
  calibrated_.insert(measured.owner + measured.machine);
  CalibrationDocument document;
  document.ledger = ledger_->format().ledger_id;
  document.simulated = false;
  document.product = "NVIDIA H200";
  document.device = sha256("device " + measured.machine);
  std::string bytes;
  for (int i = 0; i < 4; ++i) {
    SentinelSession session = sample.result.sentinels.front();
    session.boot = sha256("boot " + std::to_string(i % 3));
    document.sessions.push_back(session);
    bytes += sample.sentinel_samples.substr(0, sample.sentinel_samples.size() / 2);
  }
  document.samples = sha256(bytes);
  for (int times = 0; times < 3; ++times) {
    ASSERT_TRUE(record_calibration(
        *ledger_, ResultFolder::open(write_calibration("tester", document, bytes)).value()));
  }
  EXPECT_THAT(accept(measure(issued.document, measured))->judged.codes,
              ElementsAre("UNCALIBRATED"));
}

TEST_F(Measuring, AJobOfFiftyYearsIsNotIssued) {
  JobOrder longest = order();
  longest.expires_at = now_ + 24 * kHour + 1;
  EXPECT_EQ(code(longest), "JOB_TOO_LONG");
}

TEST_F(Measuring, AJobThatCannotBeHandedOutIsNotRecorded) {
  JobOrder wrong = order();
  for (JobSourceFile& file : wrong.files) {
    if (file.path != kRecipePath) continue;
    file.content = "{}";
    file.digest = sha256(file.content);
  }
  const std::uint64_t size = ledger_->read().head().size;
  EXPECT_FALSE(issue(wrong));
  wrong = order();
  std::erase_if(wrong.files, [](const JobSourceFile& file) { return file.path == "main.cpp"; });
  EXPECT_FALSE(issue(wrong));
  EXPECT_EQ(ledger_->read().head().size, size);
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

// ---- Proofs that travel ----

class MeasuredBundle : public Measuring {
 protected:
  std::string bundle(const Digest& run) {
    const SigningKey status = fixture_key(Role::status);
    Result<std::string> bytes =
        make_bundle(ledger_->read(), run, ledger_->checkpoint().value(), &status);
    EXPECT_TRUE(bytes) << bytes.error().text();
    return bytes.value_or("");
  }
  // A policy of owners of this ledger.
  ReaderPolicy policy(const std::vector<std::string>& owners) const {
    ReaderPolicy policy;
    for (const std::string& owner : owners) {
      policy.owners.push_back({ledger_->format().ledger_id, owner});
    }
    std::ranges::sort(policy.owners);
    return policy;
  }
  BundleVerdict judge(const std::string& bytes,
                      const std::optional<ReaderPolicy>& policy = std::nullopt) {
    VerifyOptions options;
    options.ledger_id = ledger_->format().ledger_id;
    options.policy = policy;
    options.now = now_;
    Result<BundleVerdict> verdict = verify_bundle(bytes, options);
    EXPECT_TRUE(verdict) << verdict.error().text();
    return std::move(*verdict);
  }
  // The same of a file in which every arrow holds.
  BundleVerdict verify(const std::string& bytes,
                       const std::optional<ReaderPolicy>& policy = std::nullopt) {
    BundleVerdict verdict = judge(bytes, policy);
    for (const BundleCheck& check : verdict.checks) {
      EXPECT_TRUE(check.ok || check.check == "level") << check.check << ": " << check.detail;
    }
    return verdict;
  }
  static std::string without_artifact(const std::string& bytes, std::size_t number) {
    Bundle bundle = parse_bundle(bytes).value();
    bundle.artifacts.erase(bundle.artifacts.begin() + static_cast<std::ptrdiff_t>(number));
    return bundle.encode().value();
  }
};

TEST_F(MeasuredBundle, CarriesWhatALevelAboveReproducibleIsJudgedFrom) {
  attempt({.owner = "tester", .machine = "one"});
  attempt({.owner = "bob", .machine = "two", .median = 100'100});
  const std::string bytes = bundle(reported_);
  EXPECT_EQ(verify(bytes, policy({"tester", "bob"})).level, Level::replicated);
  EXPECT_EQ(verify(bytes, policy({"bob"})).level, Level::verified);
  EXPECT_EQ(verify(bytes, policy({"carol"})).level, Level::reproducible);
  EXPECT_EQ(verify(bytes).level, Level::reproducible);
  ReaderPolicy key;
  key.keys = {runner_key("bob").public_key().id()};
  EXPECT_EQ(verify(bytes, key).level, Level::verified);
}

TEST_F(MeasuredBundle, OfAControlledRunCarriesItsJobAndAcceptance) {
  const AcceptedResult accepted = attempt();
  const std::string bytes = bundle(accepted.run);
  EXPECT_EQ(verify(bytes, policy({"tester"})).level, Level::verified);
  EXPECT_EQ(verify(bytes).level, Level::none);
}

TEST_F(MeasuredBundle, LackingAnyOfItsBytesConfirmsNothing) {
  attempt();
  const std::string bytes = bundle(reported_);
  const std::size_t artifacts = parse_bundle(bytes)->artifacts.size();
  ASSERT_EQ(artifacts, 5U);  // the document, three kinds of samples, those of the calibration
  for (std::size_t i = 0; i < artifacts; ++i) {
    EXPECT_LE(judge(without_artifact(bytes, i), policy({"tester"})).level, Level::reproducible);
  }
}

TEST_F(MeasuredBundle, HoldsNoArtifactThatNothingReads) {
  attempt();
  Bundle bundle = parse_bundle(this->bundle(reported_)).value();
  bundle.artifacts.push_back("bytes of nobody");
  std::ranges::sort(bundle.artifacts, {}, [](const std::string& bytes) { return sha256(bytes); });
  VerifyOptions options;
  options.ledger_id = ledger_->format().ledger_id;
  const BundleVerdict verdict = verify_bundle(bundle.encode().value(), options).value();
  EXPECT_FALSE(verdict.ok());
  EXPECT_THAT(verdict.checks, Contains(testing::Field(&BundleCheck::code, "UNNEEDED_OBJECT")));
  std::ranges::reverse(bundle.artifacts);
  const Result<Bundle> unsorted = parse_bundle(bundle.encode().value());
  ASSERT_FALSE(unsorted);
  EXPECT_EQ(unsorted.error().code, "ARTIFACT_ORDER");
}

TEST_F(MeasuredBundle, AJobWithoutAnAnswerCountsAgainstTheRunByTheReadersClock) {
  attempt();
  ASSERT_TRUE(issue(order()));
  const std::string bytes = bundle(reported_);
  EXPECT_EQ(verify(bytes, policy({"tester"})).level, Level::verified);
  now_ += 2 * kHour;
  EXPECT_EQ(verify(bytes, policy({"tester"})).level, Level::reproducible);
}

// Whoever kept an earlier file has the bytes; they count no more.
TEST_F(MeasuredBundle, WithheldBytesThatTheFileCarriesAllTheSameCountNothing) {
  const IssuedJob issued = issue(order()).value();
  const std::filesystem::path folder = measure(issued.document, Measured());
  ASSERT_TRUE(accept(folder));
  const std::string document = ResultFolder::open(folder)->document();
  ASSERT_TRUE(withhold(*ledger_, sha256(document), "a licence", fixture_key(Role::root)));
  EXPECT_EQ(level(), Level::reproducible);
  Bundle file = parse_bundle(bundle(reported_)).value();
  file.artifacts.push_back(document);
  std::ranges::sort(file.artifacts, {}, [](const std::string& bytes) { return sha256(bytes); });
  EXPECT_LE(judge(file.encode().value(), policy({"tester"})).level, Level::reproducible);
}

TEST_F(MeasuredBundle, ARevokedRunnerConfirmsNothing) {
  const AcceptedResult accepted = attempt();
  say(Role::root, runner_key("tester").public_key().id(),
      KeyChange{Revocation{"stolen", accepted.result_index}});
  EXPECT_EQ(verify(bundle(reported_), policy({"tester"})).level, Level::reproducible);
}

// The root approves a protocol by its identity before anybody claims its manifest.
TEST_F(Measuring, AManifestThatWasApprovedBeforeItCameHasAWholeChain) {
  const Manifest late = controlled_protocol(ClockVariant::locked);
  say(Role::root, late.identity, KeyChange{DigestApproval{DigestApproval::Kind::protocol, {}}});
  JobOrder locked = order();
  locked.clocks = ClockVariant::locked;
  ASSERT_TRUE(issue(locked));
  expect_sound();
}

}  // namespace
}  // namespace kernelindex::test
