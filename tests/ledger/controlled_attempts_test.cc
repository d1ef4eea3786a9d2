// SPDX-License-Identifier: Apache-2.0
// The only way up: what raises a level, and that each gate broken alone gives its own code and
// raises nothing. DESIGN sections 7 and 8; PROTOCOL section 16.
#include "ledger/controlled_attempts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/ledger/controlled_world.h"

namespace kernelindex::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using Attempt = ControlledWorld::Attempt;
using Verdict = Acceptance::Verdict;

Attempt by(std::string owner, std::string device, std::uint64_t median) {
  Attempt attempt;
  attempt.owner = std::move(owner);
  attempt.device = std::move(device);
  attempt.timing.trial_medians = {median, median, median};
  return attempt;
}

TEST(ControlledAttempts, AGoodResultRaisesToVerified) {
  ControlledWorld world;
  EXPECT_EQ(world.evidence().level, Level::reproducible);
  const JudgedResult judged = world.attempt();
  EXPECT_EQ(judged.verdict, Verdict::confirms);
  EXPECT_THAT(judged.codes, IsEmpty());
  EXPECT_EQ(world.evidence().level, Level::verified);
}

TEST(ControlledAttempts, WithoutAnAcceptanceNothingRises) {
  ControlledWorld world;
  Attempt attempt;
  attempt.accept = false;
  world.attempt(attempt);
  EXPECT_EQ(world.evidence().level, Level::reproducible);
}

TEST(ControlledAttempts, OneThatConfirmsAndOneThatDiffersDoNot) {
  for (const bool confirming_first : {true, false}) {
    ControlledWorld world;
    const Attempt good = by("alice", "one", 100'000);
    const Attempt other = by("alice", "one", 150'000);
    world.attempt(confirming_first ? good : other);
    world.attempt(confirming_first ? other : good);
    EXPECT_EQ(world.evidence().level, Level::reproducible);
  }
}

TEST(ControlledAttempts, AnotherOwnerWithAnotherDeviceRaisesToReplicated) {
  ControlledWorld world;
  world.attempt(by("alice", "one", 100'000));
  world.attempt(by("bob", "two", 100'100));
  EXPECT_EQ(world.evidence().level, Level::replicated);
}

TEST(ControlledAttempts, TheSameDeviceOrTheSameSamplesTwiceDoNot) {
  ControlledWorld device;
  device.attempt(by("alice", "one", 100'000));
  device.attempt(by("bob", "one", 100'100));
  EXPECT_EQ(device.evidence().level, Level::verified);
  ControlledWorld samples;
  samples.attempt(by("alice", "one", 100'000));
  samples.attempt(by("bob", "two", 100'000));
  EXPECT_EQ(samples.evidence().level, Level::verified);
  ControlledWorld owner;
  owner.attempt(by("alice", "one", 100'000));
  owner.attempt(by("alice", "two", 100'100));
  EXPECT_EQ(owner.evidence().level, Level::verified);
}

// PROTOCOL section 16 D: other hosts, other boots, and medians within 3 % or the noise.
TEST(ControlledAttempts, OneHostOneBootOrUnlikeMediansDoNotReplicate) {
  const auto second = [](std::function<void(Attempt&)> change, std::uint64_t median = 100'100) {
    ControlledWorld world;
    world.attempt(by("alice", "one", 100'000));
    Attempt other = by("bob", "two", median);
    change(other);
    world.attempt(other);
    return world.evidence();
  };
  const Evidence host = second([](Attempt& other) { other.host = "host of one"; });
  EXPECT_EQ(host.level, Level::verified);
  EXPECT_THAT(host.reasons, Contains(LevelReason::same_host));
  const Evidence boot = second([](Attempt& other) { other.boot = "boot of one"; });
  EXPECT_EQ(boot.level, Level::verified);
  EXPECT_THAT(boot.reasons, Contains(LevelReason::same_host));
  EXPECT_EQ(second([](Attempt&) {}, 102'900).level, Level::replicated);
  const Evidence unlike = second([](Attempt&) {}, 103'200);
  EXPECT_EQ(unlike.level, Level::verified);
  EXPECT_THAT(unlike.reasons, Contains(LevelReason::medians_differ));
}

TEST(ControlledAttempts, ARunnerOfTheOperatorIsNamed) {
  ControlledWorld operators;
  operators.attempt(by("alice", "one", 100'000));
  EXPECT_THAT(operators.evidence().reasons, Contains(LevelReason::operator_ran_it));
  ControlledWorld others;
  others.attempt(by("bob", "one", 100'000));
  EXPECT_THAT(others.evidence().reasons, Not(Contains(LevelReason::operator_ran_it)));
}

// PROTOCOL decision (e).
TEST(ControlledAttempts, ALoosenedGateCountsOnlyForReadersWhoAllowIt) {
  ControlledWorld world;
  world.shorten_calibration();
  Attempt attempt;
  EXPECT_EQ(world.attempt(attempt).codes, std::vector<std::string>{"UNCALIBRATED"});
  ControlledWorld loosened;
  loosened.shorten_calibration();
  attempt.allowed = {std::string(kAcceptProvisional)};
  EXPECT_EQ(loosened.attempt(attempt).verdict, Verdict::confirms);
  EXPECT_EQ(loosened.evidence().level, Level::reproducible);
  loosened.allow(std::string(kAcceptProvisional));
  EXPECT_EQ(loosened.evidence().level, Level::verified);
}

// A switch cannot make a failure count for neither side.
TEST(ControlledAttempts, ALoosenedFailureStaysOneForReadersWhoDoNotAllowIt) {
  ControlledWorld world;
  world.attempt(by("alice", "one", 100'000));
  EXPECT_EQ(world.evidence().level, Level::verified);
  world.shorten_calibration();
  Attempt slow = by("bob", "two", 150'000);
  slow.allowed = {std::string(kAcceptProvisional)};
  EXPECT_EQ(world.attempt(slow).verdict, Verdict::differs_slower);
  EXPECT_EQ(world.evidence().level, Level::reproducible);
}

TEST(ControlledAttempts, AJobThatNobodyAnsweredCountsOnceItHasExpired) {
  ControlledWorld world;
  world.attempt();
  world.open_job("alice");
  EXPECT_EQ(world.evidence().level, Level::verified);
  world.expire();
  EXPECT_EQ(world.evidence().level, Level::reproducible);
}

TEST(ControlledAttempts, ARevocationTakesLevelsBack) {
  ControlledWorld key;
  key.attempt();
  key.revoke(key.runner("alice"), 1 + 4);
  EXPECT_EQ(key.evidence().level, Level::reproducible);
  ControlledWorld harness;
  harness.attempt();
  harness.revoke(harness.job().harness, 1 + 6);
  EXPECT_EQ(harness.evidence().level, Level::reproducible);
}

// PROTOCOL: trial medians of 100, 200, 200 us against a claim of 92 us.
TEST(ControlledAttempts, NoiseDoesNotCount) {
  ControlledWorld world(92'000);
  Attempt attempt;
  attempt.timing.trial_medians = {100'000, 200'000, 200'000};
  const JudgedResult judged = world.attempt(attempt);
  EXPECT_EQ(judged.verdict, Verdict::refused);
  EXPECT_THAT(judged.codes, Contains("TOO_NOISY"));
}

TEST(ControlledAttempts, OtherHardwareIsNotComparable) {
  ControlledWorld world;
  Attempt attempt;
  attempt.change_job = [](SaidAt& job) {
    std::get<MeasurementJob>(job.said.predicate).device.product = "NVIDIA B200";
  };
  attempt.change = [](SampleResult& sample) { sample.result.device.product = "NVIDIA B200"; };
  EXPECT_EQ(world.attempt(attempt).verdict, Verdict::not_comparable);
  EXPECT_EQ(world.evidence().level, Level::reproducible);
}

// PROTOCOL section 16, worked example 3.
TEST(ControlledAttempts, AnotherFormFactorIsNotComparable) {
  ControlledWorld world(100'000, {.form_factor = "pcie"});
  Attempt attempt;
  attempt.change = [](SampleResult& sample) { sample.result.device.form_factor = "sxm"; };
  const JudgedResult judged = world.attempt(attempt);
  EXPECT_EQ(judged.verdict, Verdict::not_comparable);
  EXPECT_THAT(judged.codes, Contains("WRONG_FORM_FACTOR"));
}

TEST(ControlledAttempts, ARunnerOutsideOfItsEnrolmentDoesNotCount) {
  ControlledWorld product(100'000, {.hardware = {"NVIDIA B200"}});
  EXPECT_THAT(product.attempt().codes, ElementsAre("KEY_NOT_APPROVED_FOR_PRODUCT"));
  ControlledWorld protocol(100'000, {.protocols = {sha256("another protocol")}});
  EXPECT_THAT(protocol.attempt().codes, ElementsAre("KEY_NOT_APPROVED_FOR_PROTOCOL"));
}

TEST(ControlledAttempts, ANumberOfCuptiNeedsCupti) {
  ControlledWorld world(100'000, {.timer = "cupti"});
  Attempt attempt;
  EXPECT_NE(world.attempt(attempt).verdict, Verdict::refused);
  attempt.change = [](SampleResult& sample) {
    for (std::size_t i = 0; i < sample.result.diagnostics.size(); ++i) {
      if (sample.result.diagnostics[i].kind == Trial::Kind::cupti_envelope) {
        sample.result.diagnostics[i].kind = Trial::Kind::constant_address;
      }
    }
  };
  EXPECT_THAT(world.attempt(attempt).codes, Contains("TIMER_CUPTI_UNAVAILABLE"));
}

// ---- Each gate alone ----

// Makes the fp32 sentinel of these sessions 5 % slower, samples and all.
void slow_down(SampleResult& sample, std::initializer_list<std::size_t> sessions) {
  constexpr std::size_t kSeriesBytes = 5 * 8;
  for (const std::size_t session : sessions) {
    sample.result.sentinels[session].compute_ns = 1'050'000;
    const std::size_t at = (session * kSentinelSeries + 2) * kSeriesBytes;
    sample.sentinel_samples.replace(at, kSeriesBytes, write_samples(Samples(5, 1'050'000)));
  }
  sample.result.sentinel_samples = sha256(sample.sentinel_samples);
}

struct Gate {
  std::string_view code;
  std::function<void(Attempt&)> breaks;
};

void change(Attempt& attempt, std::function<void(MeasurementResult&)> how) {
  attempt.change = [how](SampleResult& sample) { how(sample.result); };
}
template <typename Members>
void change_result(Attempt& attempt, void (*how)(SaidAt&, Members&)) {
  attempt.change_result = [how](SaidAt& said) {
    how(said, std::get<Members>(said.said.predicate));
  };
}

// A change of the result alone.
#define IN_RESULT(...) [](Attempt& a) { change(a, [](MeasurementResult& r) { __VA_ARGS__; }); }

const std::vector<Gate>& gates() {
  static const std::vector<Gate> all = {
      {"SIMULATED_DEVICE", IN_RESULT(r.device.kind = MeasuredDevice::Kind::simulated)},
      {"WRONG_PRODUCT", IN_RESULT(r.device.product = "NVIDIA H100")},
      {"WRONG_ARCH", IN_RESULT(r.device.architecture = "sm_100")},
      {"MIG_MISMATCH", IN_RESULT(r.device.mig_profile = "1g.18gb")},
      {"THROTTLED", IN_RESULT(r.polls->hw_thermal = 1)},
      {"CLOCK_UNSTABLE", IN_RESULT(r.polls->sm_khz_lowest = 1'900'000)},
      {"THERMAL_DRIFT", IN_RESULT(r.polls->temperature_last = 50)},
      {"XID", IN_RESULT(r.polls->xids = 1)},
      {"ECC_UNCORRECTED", IN_RESULT(r.polls->ecc_after = 1)},
      {"FOREIGN_PROCESS", IN_RESULT(r.polls->foreign_processes = 1)},
      {"POLLS_MISSING", IN_RESULT(r.polls.reset())},
      {"SANDBOX_INCOMPLETE", IN_RESULT(r.child_sandbox.seccomp = false)},
      {"NONCE_UNKNOWN", IN_RESULT(r.nonce[0] ^= 1)},
      {"JOB_NOT_BOUND", IN_RESULT(r.build.sources = {sha256("another file")})},
      {"HARNESS_UNKNOWN", IN_RESULT(r.harness = sha256("another program"))},
      {"CLOCK_SKEW", IN_RESULT(r.finished_at += UtcMicros{7'200'000'000})},
      {"COMPARATOR_VACUOUS", IN_RESULT(r.controls[0].rejected = false)},
      {"COMPARATOR_UNTESTED", IN_RESULT(r.controls.clear())},
      {"TOO_MANY_DISCARDS", IN_RESULT(r.trials[0].discards = {{Discards::Reason::clock_poll, 40}})},
      {"STATS_MISMATCH", IN_RESULT(r.statistics.begin()->second.median_ns += 1)},
      {"STATUS_MISMATCH",
       IN_RESULT(r.rounds[0].outcome = CorrectnessRound::Outcome::incorrect_shape)},
      {"INCOMPLETE_EVIDENCE", IN_RESULT(r.status = RunStatus::incomplete_evidence)},
      {"INVALID_REFERENCE",
       IN_RESULT(r.rounds[0].outcome = CorrectnessRound::Outcome::invalid_reference;
                 r.status = RunStatus::invalid_reference)},
      {"CHECKS_MISSING", IN_RESULT(r.trials[0].observations.clear())},
      {"ROUNDS_MISSING", IN_RESULT(r.rounds.pop_back())},
      {"SENTINELS_MISSING", IN_RESULT(r.sentinels[1].compute_ns += 1)},
      {"SENTINEL_DRIFT", [](Attempt& a) { a.change = [](SampleResult& s) { slow_down(s, {1}); }; }},
      {"SENTINEL_OUT_OF_BAND",
       [](Attempt& a) { a.change = [](SampleResult& s) {
                          slow_down(s, {0, 1});
                        }; }},
      {"INSUFFICIENT_SAMPLES", [](Attempt& a) { a.timing.samples = 199; }},
      {"CI_TOO_WIDE", [](Attempt& a) { a.timing.spread = 30'000; }},
      {"TOO_NOISY",
       [](Attempt& a) {
         a.timing.trial_medians = {100'000, 100'000, 103'100};
       }},
      {"HOST_CODE_UNREVIEWED",
       [](Attempt& a) {
         a.change_job = [](SaidAt& job) {
           std::get<MeasurementJob>(job.said.predicate).source_reviewed = false;
         };
       }},
      {"JOB_EXPIRED",
       [](Attempt& a) {
         a.change_result = [](SaidAt& said) { said.recorded_at += UtcMicros{7'200'000'000}; };
       }},
      {"JOB_NOT_SEEN",
       [](Attempt& a) {
         a.change_result = [](SaidAt& said) { said.said.binding.seen->size = said.index - 1; };
       }},
      {"RUN_MISMATCH",
       [](Attempt& a) {
         change_result<ControlledRun>(a, [](SaidAt&, ControlledRun& run) { run.run = Digest(); });
       }},
      {"RESULT_MISMATCH",
       [](Attempt& a) {
         change_result<ControlledRun>(
             a, [](SaidAt&, ControlledRun& run) { run.device = sha256("another"); });
       }},
      {"BYTES_NOT_HELD",
       [](Attempt& a) {
         change_result<ControlledRun>(a,
                                      [](SaidAt&, ControlledRun& run) { run.result = Digest(); });
       }},
      {"PROTOCOL_UNKNOWN",
       [](Attempt& a) {
         a.change_job = [](SaidAt& job) {
           std::get<MeasurementJob>(job.said.predicate).protocol = sha256("another protocol");
         };
       }},
      {"KEY_UNKNOWN",
       [](Attempt& a) {
         a.change_result = [](SaidAt& said) { said.said.binding.signer = sha256("nobody"); };
       }},
  };
  return all;
}

TEST(ControlledAttempts, EachGateBrokenAloneGivesItsCodeAndNoLevel) {
  for (const Gate& gate : gates()) {
    ControlledWorld world;
    Attempt attempt;
    gate.breaks(attempt);
    const JudgedResult judged = world.attempt(attempt);
    EXPECT_EQ(judged.verdict, Verdict::refused) << gate.code;
    EXPECT_THAT(judged.codes, Contains(std::string(gate.code)));
    EXPECT_EQ(world.evidence().level, Level::reproducible) << gate.code;
  }
}

TEST(ControlledAttempts, WithoutACalibrationNothingCounts) {
  ControlledWorld world;
  world.attempt();
  world.forget_calibration();
  ASSERT_EQ(world.jobs().size(), 1U);
  EXPECT_THAT(world.jobs()[0].judged->codes, ElementsAre("UNCALIBRATED"));
  EXPECT_EQ(world.evidence().level, Level::reproducible);
}

// Whatever else a result says.
TEST(ControlledAttempts, NothingRisesFromASimulatedDevice) {
  std::mt19937_64 random(7);
  ControlledWorld world;
  for (int i = 0; i < 60; ++i) {
    Attempt attempt = by(random() % 2 == 0 ? "alice" : "bob", "device " + std::to_string(i % 3),
                         99'000 + random() % 2'000);
    attempt.change = [&](SampleResult& sample) {
      sample.result.device.kind = MeasuredDevice::Kind::simulated;
      sample.result.trust = random() % 2 == 0 ? TrustMode::device_only : TrustMode::native_host;
      sample.result.countable = true;
    };
    const JudgedResult judged = world.attempt(attempt);
    EXPECT_EQ(judged.verdict, Verdict::refused);
    EXPECT_THAT(judged.codes, Contains("SIMULATED_DEVICE"));
  }
  EXPECT_EQ(world.evidence().level, Level::reproducible);
}

}  // namespace
}  // namespace kernelindex::test
