// SPDX-License-Identifier: Apache-2.0
#include "tests/ledger/controlled_world.h"

#include <gtest/gtest.h>

#include "ledger/controlled_manifests.h"

namespace kernelindex::test {
namespace {

SigningKey key_of(const std::string& name) {
  return SigningKey::from_seed(sha256(name).raw()).value();
}

std::string envelope(std::string_view kind, const std::string& spec) {
  return R"({"apiVersion":"kernelindex.dev/v1alpha1","kind":")" + std::string(kind) +
         R"(","metadata":{"name":"test"},"spec":)" + spec + "}";
}

}  // namespace

ControlledWorld::ControlledWorld(std::int64_t reported_ns, Options options)
    : job_(sample_job()), options_(std::move(options)) {
  const SigningKey root = key_of("root");
  EXPECT_TRUE(keys_.apply(index_++, {root.public_key().id(),
                                     {std::nullopt, root.public_key().id(), std::nullopt},
                                     LedgerFounding{"example.org/log", "alice", root.public_key(),
                                                    key_of("log").public_key(), 100}}));
  enrol(Role::controller, "alice");
  for (const std::string owner : {"alice", "bob"}) enrol(Role::runner, owner);

  add_manifest(job_.operation.text);
  workload_ = add_manifest(job_.workloads.front().text);
  const std::string source = job_.sources[0].digest.text();
  implementation_ = add_manifest(envelope(
      "ImplementationRevision",
      R"({"projectRevision":{"treeDigest":")" + job_.sources[2].digest.text() +
          R"("},"operation":{"specDigest":")" + job_.operation.digest.text() +
          R"("},"callable":{"language":"cuda"},"support":{"hardwareArchitectures":["sm_90"],)"
          R"("dtypes":["float32"]},"source":{"contentDigest":")" +
          source + R"("},"licensing":{}})"));
  job_.protocol = add_manifest(envelope(
      "BenchmarkProtocol",
      R"({"harness":{"name":"kernelindex-runner"},"measurement":{"timer":"cuda_events",)"
      R"("primaryStatistic":"median"},"comparability":{"family":"ki_controlled_unlocked"}})"));
  const Digest reported_protocol = add_manifest(
      envelope("BenchmarkProtocol", R"({"harness":{"name":"sol"},"measurement":{"timer":")" +
                                        options_.timer + R"(","primaryStatistic":"median"}})"));
  const Digest environment = add_manifest(envelope(
      "ExecutionEnvironment",
      R"({"hardware":{"vendor":"nvidia","product":"NVIDIA H200","architecture":"sm_90")" +
          (options_.form_factor.empty() ? std::string()
                                        : R"(,"formFactor":")" + options_.form_factor + "\"") +
          R"(},)"
          R"("software":{}})"));
  job_.run = add_manifest(envelope(
      "BenchmarkRun",
      R"({"implementationDigest":")" + implementation_.text() + R"(","workloadDigest":")" +
          workload_.text() + R"(","protocolDigest":")" + reported_protocol.text() +
          R"(","environmentDigest":")" + environment.text() +
          R"(","status":"passed","timing":{"primaryStatistic":"median","latencyNs":{"median":)" +
          std::to_string(reported_ns) + R"(}},"observedAt":"2026-01-01T00:00:00Z"})"));
  for (const auto& [digest, kind] : {std::pair(job_.protocol, DigestApproval::Kind::protocol),
                                     std::pair(job_.harness, DigestApproval::Kind::harness)}) {
    apply(digest, KeyChange{DigestApproval{kind, {}}});
  }
  now_ = job_.expires_at - 1;
}

Digest ControlledWorld::runner(const std::string& owner) const {
  return key_of("runner" + owner).public_key().id();
}

Digest ControlledWorld::add_manifest(const std::string& text) {
  Manifest manifest = read_manifest(text).value();
  const Digest identity = manifest.identity;
  manifests_.emplace(identity, std::move(manifest));
  return identity;
}

Digest ControlledWorld::keep(const std::string& bytes) {
  const Digest digest = sha256(bytes);
  objects_[digest] = bytes;
  return digest;
}

void ControlledWorld::apply(const Digest& subject, const KeyChange& change) {
  const Digest root = key_of("root").public_key().id();
  const Status status =
      keys_.apply(index_++, {subject, {job_.ledger, root, TreeHead{index_, Digest()}}, change});
  EXPECT_TRUE(status) << status.error().text();
}

void ControlledWorld::enrol(Role role, const std::string& owner) {
  KeyEnrolment enrolment;
  enrolment.public_key = key_of(std::string(role_name(role)) + owner).public_key();
  enrolment.role = role;
  enrolment.owner = owner;
  if (role == Role::runner) {
    enrolment.hardware = options_.hardware;
    enrolment.protocols = options_.protocols;
  }
  apply(enrolment.public_key.id(), KeyChange{enrolment});
}

void ControlledWorld::revoke(const Digest& subject, std::uint64_t void_from) {
  apply(subject, KeyChange{Revocation{"stolen", void_from}});
}

SaidAt ControlledWorld::record(const Digest& subject, const Digest& signer, Predicate predicate) {
  SaidAt said;
  said.index = index_++;
  said.recorded_at = job_.expires_at - UtcMicros{3'600'000'000};
  said.id = sha256("attestation " + std::to_string(said.index));
  said.said = {
      subject, {job_.ledger, signer, TreeHead{said.index, Digest()}}, std::move(predicate)};
  said_.push_back(said);
  return said;
}

SaidAt ControlledWorld::record_job(const std::string& owner,
                                   const std::function<void(SaidAt&)>& change) {
  MeasurementJob asked;
  asked.run = job_.run;
  asked.runner = runner(owner);
  asked.protocol = job_.protocol;
  asked.harness = job_.harness;
  asked.workloads = {workload_};
  for (const JobSourceFile& file : job_.sources) asked.sources.push_back({file.path, file.digest});
  asked.limits = job_.limits;
  asked.device = job_.device;
  asked.nonce = job_.nonce;
  asked.expires_at = job_.expires_at;
  asked.source_reviewed = true;
  record(job_.run, key_of("controlleralice").public_key().id(), asked);
  if (change) change(said_.back());
  return said_.back();
}

void ControlledWorld::open_job(const std::string& owner) { record_job(owner, {}); }

void ControlledWorld::calibrate(const std::string& owner, const Digest& device,
                                const SampleResult& sample) {
  if (!calibrated_.emplace(owner, device).second) return;
  Calibration calibration;
  calibration.device = device;
  const std::size_t half = sample.sentinel_samples.size() / 2;
  std::string bytes;
  for (int i = 0; i < (short_ ? 3 : 10); ++i) {
    SentinelSession session = sample.result.sentinels.front();
    session.boot = sha256("boot " + std::to_string(i % 3));
    const std::size_t series = half / kSentinelSeries;
    for (std::size_t at = 0; at < half; at += series) {
      // Of those that are long enough to stand alone, each value twice.
      for (int times = 0; times < (short_ ? 2 : 1); ++times) {
        bytes += sample.sentinel_samples.substr(at, series);
      }
    }
    if (short_) session.repetitions *= 2;
    calibration.sessions.push_back(session);
  }
  calibration.samples = keep(bytes);
  SaidAt said = record(runner(owner), runner(owner), calibration);
  calibrations_[runner(owner)].push_back(said);
}

JudgedResult ControlledWorld::attempt(const Attempt& attempt) {
  JobDocument job = job_;
  job.runner = runner(attempt.owner);
  SampleResult sample = sample_result(job, attempt.timing);
  sample.result.device.id = sha256(attempt.device);
  sample.result.host.id = sha256(attempt.host.empty() ? "host of " + attempt.device : attempt.host);
  sample.result.host.boot =
      sha256(attempt.boot.empty() ? "boot of " + attempt.device : attempt.boot);
  calibrate(attempt.owner, sample.result.device.id, sample);
  const SaidAt asked = record_job(attempt.owner, attempt.change_job);
  sample.result.job = asked.id;
  if (attempt.change) attempt.change(sample);
  const MeasurementResult& result = sample.result;
  ControlledRun said;
  said.job = asked.id;
  said.result = keep(write_measurement_result(result).value());
  said.samples = result.samples;
  said.device = result.device.id;
  said.host = result.host.id;
  said.run =
      controlled_manifests(result, implementation_, workload_, "allclose").value().run.identity;
  for (const std::string* bytes :
       {&sample.samples, &sample.diagnostic_samples, &sample.sentinel_samples}) {
    keep(*bytes);
  }
  keep("artifact");  // what sample_result() says was built
  record(asked.id, runner(attempt.owner), said);
  if (attempt.change_result) attempt.change_result(said_.back());
  const SaidAt answer = said_.back();
  JudgedResult judged =
      judge_result(*this, context(), asked, answer, true, attempt.allowed).value();
  if (attempt.accept) {
    Acceptance acceptance;
    acceptance.result = answer.id;
    acceptance.verdict = judged.verdict;
    acceptance.accepted = judged.verdict != Acceptance::Verdict::refused;
    acceptance.codes = judged.codes;
    acceptance.allowed = attempt.allowed;
    acceptance.policy = "ki-controlled-v1";
    record(answer.id, key_of("controlleralice").public_key().id(), acceptance);
  }
  return judged;
}

std::vector<ControlledJob> ControlledWorld::jobs() {
  return controlled_jobs(*this, context(), job_.run).value();
}

Evidence ControlledWorld::evidence() {
  EvidenceFacts facts;
  facts.claims = {{true, true, false, true}};
  facts.flags = kSourceNamed | kSourceHeld | kEvidenceNamed | kEvidenceHeld;
  for (const ControlledJob& job : jobs()) {
    if (const auto attempt = job.attempt()) facts.attempts.push_back(*attempt);
  }
  return evidence_v1(facts);
}

Result<std::vector<SaidAt>> ControlledWorld::said_about(const Digest& subject) {
  std::vector<SaidAt> out;
  for (const SaidAt& one : said_) {
    if (one.said.subject == subject) out.push_back(one);
  }
  return out;
}

Result<std::optional<SaidAt>> ControlledWorld::attestation(const Digest& id) {
  for (const SaidAt& one : said_) {
    if (one.id == id) return one;
  }
  return std::nullopt;
}

Result<std::vector<SaidAt>> ControlledWorld::calibrations(const Digest& runner) {
  return calibrations_[runner];
}

Result<std::optional<std::string>> ControlledWorld::object(const Digest& digest) {
  const auto found = objects_.find(digest);
  if (found == objects_.end()) return std::nullopt;
  return found->second;
}

Result<std::shared_ptr<const SubjectRow>> ControlledWorld::subject(const Digest& identity) {
  auto row = std::make_shared<SubjectRow>();
  const auto found = manifests_.find(identity);
  if (found == manifests_.end()) return nullptr;
  row->kind = found->second.kind;
  row->facts = found->second.facts;
  return row;
}

Result<std::optional<Manifest>> ControlledWorld::document(const Digest& identity) {
  const auto found = manifests_.find(identity);
  if (found == manifests_.end()) return std::nullopt;
  return found->second;
}

}  // namespace kernelindex::test
