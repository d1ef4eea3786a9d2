// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "ledger/measurement_predicates.h"
#include "ledger/predicate_mutations.h"
#include "ledger/predicate_samples.h"

namespace kernelindex {
namespace {

// Code and place of the refusal of a changed sample; empty when it is sound.
template <typename Members, typename Change>
std::string after(Attestation attestation, Change change) {
  change(std::get<Members>(attestation.predicate));
  const Result<std::string> payload = attestation.encode();
  return payload ? "" : payload.error().code + " " + payload.error().place;
}
template <typename Change>
std::string job_after(Change change) {
  return after<MeasurementJob>(test::job(), change);
}
template <typename Change>
std::string acceptance_after(Change change) {
  return after<Acceptance>(test::acceptance(), change);
}
template <typename Change>
std::string calibration_after(Change change) {
  return after<Calibration>(test::calibration(), change);
}

// The bytes of each shape, fixed: a change here is a new version of the predicate.
TEST(MeasurementPredicates, BytesAreThoseOfTheFormat) {
  const auto text = [](std::string_view of) { return "\"" + sha256(of).text() + "\""; };
  const auto bound = [&](char signer) {
    return R"("seen":{"root":)" + text("root") + R"(,"size":3},"signer":")" +
           test::public_key(signer).id().hex() + "\"";
  };
  const auto predicate = [](const Attestation& attestation) {
    return test::predicate_of(attestation.encode().value());
  };
  const auto workloads = std::get<MeasurementJob>(test::job().predicate).workloads;
  EXPECT_EQ(predicate(test::job()),
            R"({"device":{"architecture":"sm_90","count":1,"memoryBytes":141000000000,)"
            R"("migProfile":"1g.18gb","product":"NVIDIA H200"},)"
            R"("expiresAt":"2026-11-30T00:53:20.000001Z","harness":)" +
                text("harness") + R"(,"ledger":)" + text("ledger") +
                R"(,"limits":{"buildSeconds":600,"childSeconds":120,"logBytes":16777216,)"
                R"("outputBytes":1048576,"pids":64,"vramBytes":107374182400,"wallSeconds":900},)"
                R"("nonce":"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=","protocol":)" +
                text("protocol") + R"(,"run":)" + text("run") + R"(,"runner":")" +
                test::public_key('n').id().hex() + R"(",)" + bound('t') +
                R"(,"sourceReviewed":true,"sources":[{"digest":)" + text("tile") +
                R"(,"path":"include/tile.cuh"},{"digest":)" + text("kernel") +
                R"(,"path":"kernel.cu"}],"workloads":[")" + workloads[0].text() + R"(",")" +
                workloads[1].text() + R"("]})");
  EXPECT_EQ(predicate(test::controlled_run()),
            R"({"device":)" + text("gpu") + R"(,"host":)" + text("host") + R"(,"job":)" +
                text("job") + R"(,"ledger":)" + text("ledger") + R"(,"result":)" +
                text("result document") + R"(,"run":)" + text("measurement") + R"(,"samples":)" +
                text("samples") + "," + bound('n') + "}");
  EXPECT_EQ(predicate(test::acceptance()),
            R"({"accepted":true,"allowed":["UNCALIBRATED"],)"
            R"("codes":["BELOW_RESOLUTION","LAUNCH_BOUND"],"ledger":)" +
                text("ledger") + R"(,"policy":"ki-controlled-v1","result":)" + text("result") +
                "," + bound('t') + R"(,"verdict":"inconclusive"})");
  EXPECT_EQ(predicate(test::calibration()),
            R"({"device":)" + text("gpu") + R"(,"ledger":)" + text("ledger") + R"(,"samples":)" +
                text("samples") + "," + bound('n').substr(0, bound('n').find(R"("signer")")) +
                R"("sessions":[{"bandwidthNs":690000,"boot":)" + text("boot 2") +
                R"(,"clocks":"unlocked","computeNs":1000000,"launchNs":2100,"repetitions":200,)"
                R"("smKhz":1980000,"tensorNs":400000},{"bandwidthNs":690000,"boot":)" +
                text("boot 1") +
                R"(,"clocks":"locked","computeNs":1300000,"launchNs":2100,"repetitions":200,)"
                R"("smKhz":1500000,"tensorNs":500000}],"signer":")" +
                test::public_key('n').id().hex() + R"("})");
}

TEST(MeasurementPredicates, EachIsAboutTheOneBeforeIt) {
  for (Attestation attestation :
       {test::job(), test::controlled_run(), test::acceptance(), test::calibration()}) {
    attestation.subject = sha256("something else");
    EXPECT_EQ(attestation.encode().error().code, "SUBJECT_MISMATCH");
    EXPECT_EQ(attestation.encode().error().place, "subject[0]");
  }
  Attestation other = test::calibration();
  other.binding.signer = test::public_key('o').id();
  EXPECT_EQ(other.encode().error().code, "SUBJECT_MISMATCH") << "a runner speaks of itself";
}

TEST(MeasurementPredicates, JobsAndAcceptancesAreTheControllersTheRestTheRunners) {
  const auto type = [](const Attestation& a) { return predicate_type(a.predicate); };
  EXPECT_TRUE(type(test::job()).may_sign(Role::controller));
  EXPECT_TRUE(type(test::acceptance()).may_sign(Role::controller));
  EXPECT_FALSE(type(test::acceptance()).may_sign(Role::runner));
  EXPECT_TRUE(type(test::controlled_run()).may_sign(Role::runner));
  EXPECT_FALSE(type(test::controlled_run()).may_sign(Role::controller));
  EXPECT_TRUE(type(test::calibration()).may_sign(Role::runner));
  EXPECT_FALSE(type(test::calibration()).on_chain);
  EXPECT_TRUE(type(test::controlled_run()).on_chain);
}

TEST(MeasurementPredicates, JobNamesWhatIsMeasured) {
  EXPECT_EQ(job_after([](MeasurementJob& job) { job.workloads.clear(); }),
            "BAD_MEMBER predicate.workloads");
  const auto with_workloads = [](std::size_t count) {
    return job_after([=](MeasurementJob& job) {
      job.workloads.clear();
      for (std::size_t i = 0; i < count; ++i) job.workloads.push_back(sha256(std::to_string(i)));
      std::ranges::sort(job.workloads);
    });
  };
  EXPECT_EQ(with_workloads(kJobWorkloads), "");
  EXPECT_EQ(with_workloads(kJobWorkloads + 1), "BAD_MEMBER predicate.workloads");

  EXPECT_EQ(job_after([](MeasurementJob& job) { job.expires_at = 0; }), "");
  EXPECT_EQ(job_after([](MeasurementJob& job) { job.expires_at = -1; }), "");
  const std::string payload = test::job().encode().value();
  const auto with_text = [&](std::string_view from, std::string_view to) {
    std::string text = payload;
    text.replace(text.find(from), from.size(), to);
    const Result<Attestation> read = parse_attestation(text);
    return read ? "" : read.error().code + " " + read.error().place;
  };
  constexpr std::string_view kTime = "2026-11-30T00:53:20.000001Z";
  for (const std::string_view bad :
       {"2026-11-30T00:53:20.00001Z", "2026-11-30T00:53:20Z", "2026-11-30T00:53:20.0000010Z",
        "2026-11-30T00:53:20.000001z", "2026-11-30T00:53:20.000001+00:00", "", "1796000000",
        "2026-02-30T00:53:20.000001Z", "2026-11-30 00:53:20.000001Z"}) {
    EXPECT_EQ(with_text(kTime, bad), "BAD_MEMBER predicate.expiresAt") << bad;
  }
  constexpr std::string_view kNonce = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
  for (const std::string_view bad :
       {"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8",
        "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh9=", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwd",
        "", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8g",
        "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh-="}) {
    EXPECT_EQ(with_text(kNonce, bad), "BAD_MEMBER predicate.nonce") << bad;
  }
  EXPECT_EQ(with_text(R"("runner":")", R"("runner":"sha256:)"), "BAD_DIGEST predicate.runner");
}

TEST(MeasurementPredicates, SourcesHaveOneSpellingEach) {
  for (const std::string_view good :
       {"kernel.cu", "src/a b.cu", "a/b/c", "..a", "a..", "...", "a-b", "\xC3\xA4.cu", "a/.b"}) {
    EXPECT_TRUE(is_source_path(good)) << good;
  }
  for (const std::string_view bad :
       {"",      "/",    "/etc/passwd", "a/",   "a//b",  ".",        "..",
        "../a",  "a/..", "a/../b",      "./a",  "a/.",   "a\\b",     "C:\\a",
        "-x.cu", "a/-o", "a\nb",        "a\tb", "a\x7F", "a\xC2\x80"}) {
    EXPECT_FALSE(is_source_path(bad)) << bad;
  }
  EXPECT_TRUE(is_source_path(std::string(kSourcePathBytes, 'a')));
  EXPECT_FALSE(is_source_path(std::string(kSourcePathBytes + 1, 'a')));

  using Sources = std::vector<MeasurementJob::Source>;
  const auto with = [](Sources sources) {
    return job_after([&](MeasurementJob& job) { job.sources = std::move(sources); });
  };
  const Digest digest = sha256("source");
  EXPECT_EQ(with({}), "BAD_MEMBER predicate.sources");
  EXPECT_EQ(with({{"a", digest}}), "");
  EXPECT_EQ(with({{"../a", digest}}), "BAD_MEMBER predicate.sources[0].path");
  EXPECT_EQ(with({{"b", digest}, {"a", digest}}), "BAD_MEMBER predicate.sources");
  EXPECT_EQ(with({{"a", digest}, {"a", sha256("other")}}), "BAD_MEMBER predicate.sources");
  EXPECT_EQ(with({{"a", digest}, {"a-b", digest}, {"a/b", digest}}), "BAD_MEMBER predicate.sources")
      << "a file cannot be a folder too";
  Sources many;
  for (std::size_t i = 0; i < kJobSources; ++i)
    many.push_back({std::to_string(10'000 + i), digest});
  EXPECT_EQ(with(many), "");
  many.push_back({"x", digest});
  EXPECT_EQ(with(many), "BAD_MEMBER predicate.sources");
}

TEST(MeasurementPredicates, LimitsAndDevicesAreBounded) {
  using Limits = MeasurementJob::Limits;
  struct Bound {
    std::string_view name;
    std::int64_t Limits::*member;
    std::int64_t most;
  };
  for (const Bound& bound : {Bound{"buildSeconds", &Limits::build_seconds, kJobSeconds},
                             Bound{"wallSeconds", &Limits::wall_seconds, kJobSeconds},
                             Bound{"childSeconds", &Limits::child_seconds, kJobSeconds},
                             Bound{"outputBytes", &Limits::output_bytes, kDeviceBytes},
                             Bound{"vramBytes", &Limits::vram_bytes, kDeviceBytes},
                             Bound{"pids", &Limits::pids, kJobProcesses},
                             Bound{"logBytes", &Limits::log_bytes, kJobLogBytes}}) {
    const auto with = [&](std::int64_t value) {
      return job_after([&](MeasurementJob& job) { job.limits.*bound.member = value; });
    };
    const std::string refusal = "BAD_MEMBER predicate.limits." + std::string(bound.name);
    EXPECT_EQ(with(1), "");
    EXPECT_EQ(with(bound.most), "");
    EXPECT_EQ(with(0), refusal);
    EXPECT_EQ(with(bound.most + 1), refusal);
  }
  const auto device = [](auto change) {
    return job_after([&](MeasurementJob& job) { change(job.device); });
  };
  using Device = MeasurementJob::Device;
  EXPECT_EQ(device([](Device& d) { d.product = ""; }), "BAD_MEMBER predicate.device.product");
  EXPECT_EQ(device([](Device& d) { d.product = std::string(kProductBytes, 'x'); }), "");
  EXPECT_EQ(device([](Device& d) { d.product = std::string(kProductBytes + 1, 'x'); }),
            "BAD_MEMBER predicate.device.product");
  EXPECT_EQ(device([](Device& d) { d.product = "NVIDIA\nH200"; }),
            "BAD_MEMBER predicate.device.product");
  EXPECT_EQ(device([](Device& d) { d.architecture = "SM90"; }),
            "BAD_MEMBER predicate.device.architecture");
  EXPECT_EQ(device([](Device& d) { d.architecture = std::string(kArchitectureBytes + 1, 'x'); }),
            "BAD_MEMBER predicate.device.architecture");
  EXPECT_EQ(device([](Device& d) { d.memory_bytes = 0; }),
            "BAD_MEMBER predicate.device.memoryBytes");
  EXPECT_EQ(device([](Device& d) { d.memory_bytes = kDeviceBytes + 1; }),
            "BAD_MEMBER predicate.device.memoryBytes");
  EXPECT_EQ(device([](Device& d) { d.mig_profile = std::string(kMigProfileBytes + 1, 'x'); }),
            "BAD_MEMBER predicate.device.migProfile");
  EXPECT_EQ(device([](Device& d) { d.count = 0; }), "BAD_MEMBER predicate.device.count");
  EXPECT_EQ(device([](Device& d) { d.count = kDevices; }), "");
  EXPECT_EQ(device([](Device& d) { d.count = kDevices + 1; }), "BAD_MEMBER predicate.device.count");
}

TEST(MeasurementPredicates, AcceptanceHasOneOfEightVerdicts) {
  for (const std::string_view word :
       {"confirms", "differs_slower", "differs_faster", "inconclusive", "not_reproduced",
        "adapter_failed", "not_comparable", "refused"}) {
    const std::optional<Acceptance::Verdict> verdict = verdict_from_name(word);
    ASSERT_TRUE(verdict.has_value()) << word;
    EXPECT_EQ(verdict_name(*verdict), word);
    const bool refused = word == "refused";
    EXPECT_EQ(acceptance_after([&](Acceptance& a) {
                a.verdict = *verdict;
                a.accepted = !refused;
              }),
              "");
    EXPECT_EQ(acceptance_after([&](Acceptance& a) {
                a.verdict = *verdict;
                a.accepted = refused;
              }),
              "BAD_MEMBER predicate.accepted");
  }
  for (const std::string_view word : {"", "differs", "verified", "Confirms"}) {
    EXPECT_FALSE(verdict_from_name(word).has_value());
  }
  EXPECT_EQ(acceptance_after([](Acceptance& a) {
              a = {a.result, false, Acceptance::Verdict::refused, {}, {}, a.policy};
            }),
            "BAD_MEMBER predicate.codes")
      << "a refusal says why";
  EXPECT_EQ(acceptance_after([](Acceptance& a) { a.policy = "Policy 1"; }),
            "BAD_MEMBER predicate.policy");
}

TEST(MeasurementPredicates, CodesAreWordsOfCapitals) {
  for (const std::string_view good : {"XID", "A", "TOO_NOISY", "L2_PERSIST", "A_2"}) {
    EXPECT_TRUE(is_reason_code(good)) << good;
  }
  for (const std::string_view bad :
       {"", "_", "A_", "_A", "A__B", "a", "2A", "A-B", "A B", "\xC3\x84"}) {
    EXPECT_FALSE(is_reason_code(bad)) << bad;
  }
  EXPECT_TRUE(is_reason_code(std::string(kCodeBytes, 'A')));
  EXPECT_FALSE(is_reason_code(std::string(kCodeBytes + 1, 'A')));
  const auto with = [](std::size_t count) {
    return acceptance_after([=](Acceptance& a) {
      a.codes.clear();
      for (std::size_t i = 0; i < count; ++i) a.codes.push_back("C" + std::to_string(1000 + i));
    });
  };
  EXPECT_EQ(with(kAcceptanceCodes), "");
  EXPECT_EQ(with(kAcceptanceCodes + 1), "BAD_MEMBER predicate.codes");
  EXPECT_EQ(acceptance_after([](Acceptance& a) { a.allowed = {"lower"}; }),
            "BAD_MEMBER predicate.allowed");
}

TEST(MeasurementPredicates, CalibrationHasSessionsWithinBounds) {
  EXPECT_EQ(calibration_after([](Calibration& c) { c.sessions.clear(); }),
            "BAD_MEMBER predicate.sessions");
  const auto with = [](std::size_t count) {
    return calibration_after([=](Calibration& c) {
      const Calibration::Session session = c.sessions[0];
      c.sessions.assign(count, session);
    });
  };
  EXPECT_EQ(with(kCalibrationSessions), "");
  EXPECT_EQ(with(kCalibrationSessions + 1), "BAD_MEMBER predicate.sessions");
  EXPECT_EQ(calibration_after([](Calibration& c) { c.sessions[1].repetitions = 0; }),
            "BAD_MEMBER predicate.sessions[1].repetitions");
  EXPECT_EQ(calibration_after(
                [](Calibration& c) { c.sessions[1].repetitions = kCalibrationSamples + 1; }),
            "BAD_MEMBER predicate.sessions[1].repetitions");
  EXPECT_EQ(calibration_after([](Calibration& c) { c.sessions[0].launch_ns = 0; }),
            "BAD_MEMBER predicate.sessions[0].launchNs");
  EXPECT_EQ(calibration_after([](Calibration& c) { c.sessions[0].sm_khz = std::int64_t{1} << 53; }),
            "BAD_MEMBER predicate.sessions[0].smKhz");
}

}  // namespace
}  // namespace kernelindex
