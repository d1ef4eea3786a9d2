// SPDX-License-Identifier: Apache-2.0
// Each gate of a controlled result, alone: a result with nothing to complain about counts, and with
// one thing changed it does not, for that reason.
#include "ledger/countability.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "tests/support/sample_result.h"

namespace kernelindex {
namespace {

SigningKey key_of(Role role) {
  return SigningKey::from_seed(sha256(std::string("gate ") + std::string(role_name(role))).raw())
      .value();
}
Digest id_of(Role role) { return key_of(role).public_key().id(); }

// A job, its result and a log that knows who signed them; the reported run is of job.workloads[0].
class Case {
 public:
  Case() { remake({}); }

  // The same with other times.
  void remake(const test::SampleTiming& timing) {
    document_ = test::sample_job();
    document_.runner = id_of(Role::runner);
    sample = test::sample_result(document_, timing);
    make_keys();
    MeasurementJob said;
    said.run = document_.run;
    said.runner = document_.runner;
    said.protocol = document_.protocol;
    said.harness = document_.harness;
    said.workloads = {document_.workloads.front().digest};
    for (const JobSourceFile& file : document_.sources) {
      said.sources.push_back({file.path, file.digest});
    }
    said.device = document_.device;
    said.limits = document_.limits;
    said.nonce = document_.nonce;
    said.expires_at = document_.expires_at;
    said.source_reviewed = true;
    job = {30,
           sample.result.started_at,
           document_.job,
           {document_.run, {document_.ledger, id_of(Role::controller), TreeHead{30, {}}}, said}};
    ControlledRun run;
    run.job = document_.job;
    run.run = sha256("measured");
    run.result = sha256("document");
    run.samples = sample.result.samples;
    run.device = sample.result.device.id;
    run.host = sample.result.host.id;
    result = {31,
              sample.result.finished_at,
              sha256("result"),
              {document_.job, {document_.ledger, document_.runner, TreeHead{31, {}}}, run}};
    calibration.clear();
    for (int i = 0; i < 10; ++i) {
      SentinelSession session = sample.result.sentinels.front();
      session.boot = sha256("boot " + std::to_string(i % 3));
      session.repetitions = 200;
      calibration.push_back(session);
    }
  }

  std::vector<std::string> codes() const {
    const std::optional<ResultSamples> samples =
        cut_samples(sample.result, sample.samples, sample.diagnostic_samples);
    const auto sentinels = cut_sentinels(sample.result.sentinels, sample.sentinel_samples);
    ResultFacts facts;
    facts.job = &job;
    facts.result = &result;
    facts.first = first;
    facts.keys = &keys;
    facts.document = held ? &sample.result : nullptr;
    facts.samples = samples ? &*samples : nullptr;
    facts.sentinels = sentinels ? &*sentinels : nullptr;
    facts.bytes_held = bytes_held;
    facts.run_follows = run_follows;
    facts.workload = document_.workloads.front().digest;
    facts.cupti_claim = true;
    facts.calibration = calibration;
    facts.allowed = allowed;
    if (samples) facts.findings = find_in_result(sample.result, *samples, {facts.workload}, 0);
    return countability(facts);
  }

  MeasurementJob& job_said() { return std::get<MeasurementJob>(job.said.predicate); }
  ControlledRun& result_said() { return std::get<ControlledRun>(result.said.predicate); }
  void key_change(std::uint64_t index, const Digest& subject, const KeyChange& change) {
    ASSERT_TRUE(keys.apply(
        index, {subject, {document_.ledger, id_of(Role::root), TreeHead{0, {}}}, change}));
  }

  test::SampleResult sample;
  SaidAt job;
  SaidAt result;
  KeyBook keys;
  std::vector<SentinelSession> calibration;
  std::vector<std::string> allowed;
  bool first = true;
  bool held = true;
  bool bytes_held = true;
  bool run_follows = true;

 private:
  void make_keys() {
    keys = KeyBook();
    const Digest root = id_of(Role::root);
    const LedgerFounding founding{"example.org/log", "local", key_of(Role::root).public_key(),
                                  key_of(Role::log).public_key(), 100};
    ASSERT_TRUE(keys.apply(0, {root, {std::nullopt, root, std::nullopt}, founding}));
    std::uint64_t index = 1;
    for (const Role role : {Role::log, Role::controller, Role::runner, Role::maintainer}) {
      KeyEnrolment enrolment;
      enrolment.public_key = key_of(role).public_key();
      enrolment.role = role;
      enrolment.owner = "local";
      if (role == Role::runner) {
        enrolment.hardware = {"NVIDIA H200"};
        enrolment.protocols = {document_.protocol};
      }
      key_change(index++, enrolment.public_key.id(), KeyChange{enrolment});
    }
    key_change(index++, document_.harness,
               KeyChange{DigestApproval{DigestApproval::Kind::harness, {}}});
    key_change(index++, document_.protocol,
               KeyChange{DigestApproval{DigestApproval::Kind::protocol, {}}});
  }

  JobDocument document_;
};

TEST(Countability, ACarefulResultCounts) { EXPECT_EQ(Case().codes(), std::vector<std::string>()); }

struct Broken {
  const char* code;
  std::function<void(Case&)> breaks;
};

class EachGate : public testing::TestWithParam<Broken> {};

TEST_P(EachGate, BrokenAloneGivesItsOwnCodeAlone) {
  Case broken;
  GetParam().breaks(broken);
  EXPECT_EQ(broken.codes(), std::vector<std::string>{GetParam().code});
}

MeasurementResult& of(Case& broken) { return broken.sample.result; }

const Broken kGates[] = {
    {"SIMULATED_DEVICE", [](Case& c) { of(c).device.kind = MeasuredDevice::Kind::simulated; }},
    {"WRONG_PRODUCT", [](Case& c) { c.job_said().device.memory_bytes = std::int64_t{200} << 30; }},
    {"WRONG_ARCH", [](Case& c) { of(c).device.architecture = "sm_100"; }},
    {"MIG_MISMATCH", [](Case& c) { of(c).device.mig_profile = "1g.18gb"; }},
    {"UNCALIBRATED", [](Case& c) { c.calibration.resize(9); }},
    {"SENTINEL_OUT_OF_BAND",
     [](Case& c) {
       for (SentinelSession& session : c.calibration) session.bandwidth_ns = 750'000;
     }},
    {"THROTTLED", [](Case& c) { of(c).polls->hw_thermal = 1; }},
    {"CLOCK_UNSTABLE", [](Case& c) { of(c).polls->sm_khz_lowest = 1'900'000; }},
    {"THERMAL_DRIFT", [](Case& c) { of(c).polls->temperature_last = 50; }},
    {"XID", [](Case& c) { of(c).polls->xids = 1; }},
    {"ECC_UNCORRECTED", [](Case& c) { of(c).polls->ecc_after = 1; }},
    {"FOREIGN_PROCESS", [](Case& c) { of(c).polls->foreign_processes = 1; }},
    {"POLLS_MISSING", [](Case& c) { of(c).polls.reset(); }},
    {"SANDBOX_INCOMPLETE", [](Case& c) { of(c).child_sandbox.seccomp = false; }},
    {"JOB_NOT_SIGNED", [](Case& c) { c.job.said.binding.signer = id_of(Role::maintainer); }},
    {"KEY_REVOKED",
     [](Case& c) {
       c.key_change(29, id_of(Role::runner), KeyChange{Revocation{"lost", {}}});
     }},
    {"HARNESS_REVOKED",
     [](Case& c) {
       c.key_change(29, of(c).harness, KeyChange{Revocation{"wrong", {}}});
     }},
    {"PROTOCOL_REVOKED",
     [](Case& c) {
       c.key_change(29, of(c).protocol, KeyChange{Revocation{"wrong", {}}});
     }},
    {"NONCE_UNKNOWN", [](Case& c) { of(c).nonce = sha256("another").bytes; }},
    {"NONCE_REUSED", [](Case& c) { c.first = false; }},
    {"JOB_EXPIRED", [](Case& c) { c.result.recorded_at = c.job_said().expires_at + 1; }},
    {"JOB_NOT_SEEN", [](Case& c) { c.result.said.binding.seen->size = 30; }},
    {"JOB_NOT_BOUND", [](Case& c) { of(c).build.sources.push_back(sha256("another file")); }},
    {"CLOCK_SKEW", [](Case& c) { of(c).started_at = c.job.recorded_at - UtcMicros{301'000'000}; }},
    {"RESULT_MISMATCH", [](Case& c) { c.result_said().host = sha256("another host"); }},
    {"RUN_MISMATCH", [](Case& c) { c.run_follows = false; }},
    {"BYTES_NOT_HELD", [](Case& c) { c.held = false; }},
    {"HOST_CODE_UNREVIEWED", [](Case& c) { c.job_said().source_reviewed = false; }},
    {"STATS_MISMATCH", [](Case& c) { of(c).statistics.begin()->second.median_ns += 1; }},
    {"STATUS_MISMATCH",
     [](Case& c) {
       // Outputs were wrong in one sample, and the runner says that it passed.
       for (Observation& one : of(c).trials.front().observations) {
         if (one.what == Observation::What::outputs) one.failed = 1;
       }
     }},
    {"COMPARATOR_VACUOUS", [](Case& c) { of(c).controls.front().rejected = false; }},
    {"COMPARATOR_UNTESTED", [](Case& c) { of(c).controls.clear(); }},
    {"TOO_MANY_DISCARDS",
     [](Case& c) {
       of(c).trials.front().discards = {{Discards::Reason::clock_poll, 40}};
     }},
    {"INSUFFICIENT_SAMPLES",
     [](Case& c) {
       c.remake({{100'000, 100'000, 100'000}, 199, 100, 0});
     }},
    {"CI_TOO_WIDE",
     [](Case& c) {
       c.remake({{100'000, 100'000, 100'000}, 200, 30'000, 0});
     }},
    // DESIGN section 8 and decision (h): noise above 3 %.
    {"TOO_NOISY",
     [](Case& c) {
       c.remake({{100'000, 200'000, 200'000}, 200, 100, 0});
     }},
};

INSTANTIATE_TEST_SUITE_P(Countability, EachGate, testing::ValuesIn(kGates),
                         [](const testing::TestParamInfo<Broken>& info) {
                           return std::string(info.param.code);
                         });

TEST(Countability, ThreeLongSessionsCountWhereASwitchSaysSo) {
  Case three;
  three.calibration.resize(3);
  EXPECT_EQ(three.codes(), std::vector<std::string>{"UNCALIBRATED"});
  three.allowed = {std::string(kAcceptProvisional)};
  EXPECT_EQ(three.codes(), std::vector<std::string>());
}

// Whatever else is right or allowed.
TEST(Countability, NothingMakesASimulatedDeviceCount) {
  for (const bool held : {true, false}) {
    for (const bool provisional : {true, false}) {
      Case simulated;
      of(simulated).device.kind = MeasuredDevice::Kind::simulated;
      simulated.bytes_held = held;
      if (provisional) simulated.allowed = {std::string(kAcceptProvisional), "SIMULATED_DEVICE"};
      const std::vector<std::string> codes = simulated.codes();
      EXPECT_NE(std::ranges::find(codes, "SIMULATED_DEVICE"), codes.end());
    }
  }
}

}  // namespace
}  // namespace kernelindex
