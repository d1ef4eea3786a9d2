// SPDX-License-Identifier: Apache-2.0
#include "tests/verify/measurement_fixture.h"

#include "ledger/controlled_protocol.h"
#include "verify/result_folder.h"

namespace kernelindex::test {

SigningKey runner_key(const std::string& owner) {
  return SigningKey::from_seed(sha256("runner of " + owner).raw()).value();
}

Measuring::Measuring() : sample_(sample_job()) {
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

void Measuring::open() {
  LedgerOptions options = fixture_.options();
  options.clock = [this] { return now_; };
  ledger_ = Ledger::open(options).value();
}

Attested Measuring::say(Role role, const Digest& subject, const Predicate& predicate) {
  Result<Attested> said = attest(*ledger_, {subject, predicate}, fixture_key(role));
  EXPECT_TRUE(said) << said.error().text();
  return said.value_or(Attested{});
}

Digest Measuring::record_reported() {
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
  const Digest run = claim(
      make_document(ManifestKind::benchmark_run, "reported",
                    R"({"implementationDigest":")" + implementation_.text() +
                        R"(","workloadDigest":")" + workload_.text() + R"(","protocolDigest":")" +
                        protocol.text() + R"(","environmentDigest":")" + environment_.text() +
                        R"(","status":"passed","timing":{"primaryStatistic":"median","latencyNs":)"
                        R"({"median":100000}},"evidence":{"logs":{"uri":")" +
                        log_digest + R"(","digest":")" + log_digest +
                        R"("}},"observedAt":"2025-12-01T00:00:00Z"})"));
  EXPECT_TRUE(appender->finish(std::nullopt));
  return run;
}

JobOrder Measuring::order(const std::string& owner) const {
  JobOrder order;
  order.run = reported_;
  order.runner = runner_key(owner).public_key().id();
  order.harness = harness_;
  order.files = sample_.sources;
  order.source_reviewed = true;
  order.expires_at = now_ + kHour;
  return order;
}

std::filesystem::path Measuring::measure(const JobDocument& job, const Measured& measured) {
  SampleTiming timing;
  timing.trial_medians.assign(3, measured.median);
  SampleResult sample = sample_result(job, timing);
  MeasurementResult& result = sample.result;
  result.device.id = sha256("device " + measured.machine);
  result.host = {sha256("host " + measured.machine), sha256("boot " + measured.machine)};
  result.uncountable_reasons = measured.reasons;
  result.countable = measured.reasons.empty();
  if (measured.simulated) result.device.kind = MeasuredDevice::Kind::simulated;
  calibrate(measured.owner, measured.machine);
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

Measuring::Sessions Measuring::sessions(const std::string& machine, int count) const {
  const SampleResult sample = sample_result(sample_);
  Sessions out;
  out.document.ledger = ledger_->format().ledger_id;
  out.document.harness = harness_;
  out.document.simulated = false;
  out.document.product = "NVIDIA H200";
  out.document.device = sha256("device " + machine);
  out.document.host = sha256("host " + machine);
  for (int i = 0; i < count; ++i) {
    SentinelSession session = sample.result.sentinels.front();
    session.boot = sha256("boot " + std::to_string(i % 3));
    out.document.sessions.push_back(session);
    out.samples += sample.sentinel_samples.substr(0, sample.sentinel_samples.size() / 2);
  }
  out.document.samples = sha256(out.samples);
  return out;
}

std::filesystem::path Measuring::write_calibration(const std::string& owner,
                                                   const Sessions& sessions) {
  const CalibrationDocument& document = sessions.document;
  const SigningKey key = runner_key(owner);
  const Digest id = key.public_key().id();
  const Attestation said{id, Binding{document.ledger, id, ledger_->read().head()},
                         Calibration{document.device, document.sessions, document.samples}};
  const std::filesystem::path path = place_ / ("calibration" + std::to_string(folders_++));
  ResultWriter folder = ResultWriter::make(path).value();
  EXPECT_TRUE(folder.object(sessions.samples));
  EXPECT_TRUE(folder.document(write_calibration_document(document).value()));
  EXPECT_TRUE(folder.statement(sign_envelope(said.encode().value(), key).value().encode()));
  return path;
}

void Measuring::calibrate(const std::string& owner, const std::string& machine) {
  if (!calibrated_.insert(owner + machine).second) return;
  const std::filesystem::path path = write_calibration(owner, sessions(machine, 10));
  const Result<RecordedCalibration> recorded =
      record_calibration(*ledger_, ResultFolder::open(path).value());
  EXPECT_TRUE(recorded) << recorded.error().text();
}

Result<AcceptedResult> Measuring::accept(const std::filesystem::path& path,
                                         const std::vector<std::string>& allowed) {
  return accept_result(*ledger_, ResultFolder::open(path).value(), fixture_key(Role::controller),
                       allowed);
}

AcceptedResult Measuring::attempt(const Measured& measured) {
  const Result<IssuedJob> issued = issue(order(measured.owner));
  EXPECT_TRUE(issued) << issued.error().text();
  Result<AcceptedResult> accepted = accept(measure(issued->document, measured));
  EXPECT_TRUE(accepted) << accepted.error().text();
  return std::move(*accepted);
}

RunView Measuring::view(const Digest& run, std::optional<std::uint64_t> size) {
  ReadPolicy policy;
  policy.as_of = size;
  Result<RunView> view = view_run(ledger_->read(), run, policy);
  EXPECT_TRUE(view) << view.error().text();
  return std::move(*view);
}

void Measuring::expect_sound() {
  ledger_.reset();
  EXPECT_TRUE(fixture_.audit().faults.empty());
  open();
}

}  // namespace kernelindex::test
