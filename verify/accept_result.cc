// SPDX-License-Identifier: Apache-2.0
#include "verify/accept_result.h"

#include <algorithm>
#include <utility>

#include "ledger/appender.h"
#include "ledger/attest.h"
#include "ledger/attestation_rules.h"
#include "ledger/controlled_manifests.h"
#include "ledger/controlled_protocol.h"
#include "ledger/reader_attempts.h"
#include "ledger/reported_run.h"
#include "schema/canonical_json.h"
#include "schema/json_reader.h"

namespace kernelindex {
namespace {

constexpr std::string_view kSnapshotType = "application/json";
constexpr std::string_view kArtifactType = "application/octet-stream";

// A result with the job that it answers, checked as far as anything can be before recording.
struct Answer {
  Envelope envelope;
  Attestation said;
  ControlledRun run;
  MeasurementResult document;
  SaidAt job;
  Digest reported;
  Digest implementation;
  Digest workload;
  std::string comparator;
};

std::unexpected<Error> invalid(std::string code, std::string place, std::string message,
                               std::string remedy = {}) {
  return fail(ErrorKind::invalid, std::move(code), std::move(place), std::move(message),
              std::move(remedy));
}

std::unexpected<Error> not_the_document() {
  return invalid("DIGEST_MISMATCH", "result.json",
                 "this is not the document that the statement names",
                 "copy the folder again from the machine that measured");
}

// What of the reported run a controlled one repeats.
Status add_reported(AttemptSource& source, Answer& answer) {
  answer.reported = std::get<MeasurementJob>(answer.job.said.predicate).run;
  const Result<std::optional<ReportedRun>> reported = read_reported_run(source, answer.reported);
  if (!reported) return fail(reported.error());
  if (!*reported) {
    return fail(ErrorKind::refused, "RUN_NOT_HELD", answer.reported.text(),
                "the run that the job is about is withheld",
                "`kernelindex provenance` shows what is left of it");
  }
  answer.implementation = (*reported)->run.implementation;
  answer.workload = (*reported)->run.workload;
  answer.comparator = (*reported)->comparator;
  return {};
}

Result<Answer> read_answer(const Reader& reader, const ResultFolder& folder) {
  Result<Envelope> envelope = parse_envelope(folder.statement());
  if (!envelope) return fail_in("statement.dsse.json", envelope.error());
  Result<Attestation> said = parse_attestation(envelope->payload);
  if (!said) return fail_in("statement.dsse.json", said.error());
  const auto* run = std::get_if<ControlledRun>(&said->predicate);
  if (run == nullptr) {
    return invalid("NOT_A_RESULT", "statement.dsse.json", "the statement is no controlled-run/v1");
  }
  if (sha256(folder.document()) != run->result) return not_the_document();
  Result<MeasurementResult> document = read_measurement_result(folder.document());
  if (!document) return fail_in("result.json", document.error());
  ReaderAttempts source(reader, reader.head().size);
  Result<std::optional<SaidAt>> job = source.attestation(run->job);
  if (!job) return fail(job.error());
  if (!*job || !std::holds_alternative<MeasurementJob>((*job)->said.predicate)) {
    return fail(ErrorKind::not_found, "NO_SUCH_JOB", run->job.text(),
                "the ledger holds no job of this id", "accept the result where the job was issued");
  }
  Answer answer{
      std::move(*envelope), {}, *run, std::move(*document), std::move(**job), {}, {}, {}, {}};
  answer.said = std::move(*said);
  if (Status status = add_reported(source, answer); !status) return fail(status.error());
  return answer;
}

std::string import_options(const Answer& answer) {
  json::Arena arena;
  return json::canonical(json::ObjectBuilder(arena)
                             .add("comparator", answer.comparator)
                             .add("implementation", answer.implementation.text())
                             .add("workload", answer.workload.text())
                             .finish());
}

// Keeps what the document names; says what the folder lacks.
Result<std::vector<std::string>> keep_artifacts(Appender& appender, const ResultFolder& folder,
                                                const MeasurementResult& document) {
  std::vector<std::string> missing;
  for (const Digest& digest : artifacts_of(document)) {
    const Result<std::unique_ptr<ByteSource>> bytes = folder.object(digest);
    if (!bytes) return fail(bytes.error());
    if (*bytes == nullptr) {
      missing.push_back(digest.text());
      continue;
    }
    const Result<Recorded> kept = appender.artifact(**bytes, std::string(kArtifactType));
    if (!kept) return fail(kept.error());
  }
  const Result<Recorded> kept = appender.artifact(folder.document(), std::string(kSnapshotType));
  if (!kept) return fail(kept.error());
  return missing;
}

Status keep_snapshot(Appender& appender, std::string_view bytes, std::string locator) {
  SnapshotEntry snapshot;
  snapshot.source = std::string(kControlledSource);
  snapshot.locator = std::move(locator);
  snapshot.acquired = "supplied";
  MemorySource source(bytes);
  const Result<Recorded> kept = appender.snapshot(snapshot, std::string(kSnapshotType), source);
  if (!kept) return fail(kept.error());
  return {};
}

Status claim(Appender& appender, const Manifest& manifest, const Digest& snapshot) {
  ManifestEntry entry;
  entry.source = std::string(kControlledSource);
  entry.snapshot = snapshot;
  const Result<Recorded> recorded = appender.claim(std::move(entry), manifest);
  if (!recorded) return fail(recorded.error());
  return {};
}

std::string kept_report(const ControlledClaims& claims) {
  json::Arena arena;
  std::vector<json::Value> list;
  for (const Manifest* manifest : {&claims.environment, &claims.run}) {
    list.push_back(json::ObjectBuilder(arena)
                       .add("digest", arena.copy(manifest->identity.text()))
                       .add("kind", kind_name(manifest->kind))
                       .finish());
  }
  return json::canonical(json::ObjectBuilder(arena)
                             .add("claims", arena.array(list))
                             .add("source", kControlledSource)
                             .finish());
}

// One batch: artifacts, snapshots, claims, and the statement. What is known already adds nothing,
// so that bytes which were missing at the first time can come later.
Result<std::vector<std::string>> record(Ledger& ledger, const ResultFolder& folder, Answer& answer,
                                        const ControlledClaims& claims, bool known) {
  Result<std::unique_ptr<Appender>> appender =
      ledger.append({std::string(kControlledParser), std::string(kControlledParserVersion),
                     import_options(answer)});
  if (!appender) return fail(appender.error());
  const Reader reader = ledger.read();
  AttestationRules rules(reader, ledger.options().clock());
  if (Status status = known ? Status() : rules.allow(answer.envelope, answer.said); !status) {
    return fail(status.error());
  }
  const KeyRecord* signer = reader.state().keys.find(answer.said.binding.signer);
  if (signer == nullptr || !answer.envelope.verify(signer->key)) {
    return invalid("INVALID_SIGNATURE", "statement.dsse.json",
                   "the signature is not one of the key " + answer.said.binding.signer.hex());
  }
  const PublicKey runner = signer->key;
  answer.envelope = normalised(std::move(answer.envelope), runner);
  Result<std::vector<std::string>> missing = keep_artifacts(**appender, folder, answer.document);
  if (!missing) return fail(missing.error());
  const std::string envelope = answer.envelope.encode();
  if (Status status = keep_snapshot(**appender, folder.document(), "result.json"); !status) {
    return fail(status.error());
  }
  if (Status status = keep_snapshot(**appender, envelope, "statement.dsse.json"); !status) {
    return fail(status.error());
  }
  for (const Manifest* manifest : {&claims.environment, &claims.run}) {
    if (Status status = claim(**appender, *manifest, sha256(envelope)); !status) {
      return fail(status.error());
    }
  }
  const Result<Recorded> said = (*appender)->attestation(
      answer.envelope, answer.said.subject, predicate_type(answer.said.predicate).uri(),
      answer.said.binding.signer, &answer.said);
  if (!said) return fail(said.error());
  if (Status status = (*appender)->finish(kept_report(claims)); !status) {
    return fail(status.error());
  }
  return missing;
}

// The job with what has been recorded about it. Requires: it is about `run`.
Result<ControlledJob> find_job(AttemptSource& source, const AttemptContext& context,
                               const Digest& run, const Digest& job) {
  Result<std::vector<ControlledJob>> jobs = controlled_jobs(source, context, run);
  if (!jobs) return fail(jobs.error());
  for (ControlledJob& one : *jobs) {
    if (one.job.id == job) return std::move(one);
  }
  return fail(ErrorKind::refused, "JOB_NOT_SIGNED", job.text(),
              "the key that signed this job does not count as a controller",
              "`kernelindex key list` shows who is one");
}

// The verdict on a result that is recorded, and the acceptance that stands, if one does.
struct Standing {
  JudgedResult judged;
  std::optional<std::uint64_t> acceptance;
};
Result<Standing> judge_recorded(const Reader& reader, const Answer& answer,
                                const std::vector<std::string>& allowed) {
  ReaderAttempts source(reader, reader.head().size);
  const Result<AttemptContext> context = source.own_context();
  if (!context) return fail(context.error());
  const Result<ControlledJob> job = find_job(source, *context, answer.reported, answer.run.job);
  if (!job) return fail(job.error());
  const Digest id = answer.envelope.id();
  const Result<std::optional<SaidAt>> result = source.attestation(id);
  if (!result) return fail(result.error());
  const bool first = job->result && job->result->id == id;
  Result<JudgedResult> judged = judge_result(source, *context, job->job, **result, first, {});
  if (judged && judged->verdict == Acceptance::Verdict::refused && !allowed.empty()) {
    judged = judge_result(source, *context, job->job, **result, first, allowed);
  }
  if (!judged) return fail(judged.error());
  Standing out{std::move(*judged), std::nullopt};
  const Result<std::vector<SaidAt>> about = source.said_about(id);
  if (!about) return fail(about.error());
  static const PredicateType& type =
      *find_predicate_type(std::string(kPredicateBase) + "acceptance/v1");
  // Readers take the last that counts; one that says something else stands for what was known then.
  for (const SaidAt& one : *about) {
    const auto* said = std::get_if<Acceptance>(&one.said.predicate);
    if (said == nullptr || context->judgements.retracted(one.id) ||
        !context->keys.counts(one.said.binding.signer, type, one.index)) {
      continue;
    }
    const bool same = said->verdict == out.judged.verdict && said->allowed == allowed;
    out.acceptance = same ? std::optional(one.index) : std::nullopt;
  }
  return out;
}

Acceptance acceptance_of(const Digest& result, const JudgedResult& judged,
                         const std::vector<std::string>& allowed) {
  Acceptance out;
  out.result = result;
  out.verdict = judged.verdict;
  out.accepted = judged.verdict != Acceptance::Verdict::refused;
  out.codes = judged.codes;
  if (out.codes.size() > kAcceptanceCodes) out.codes.resize(kAcceptanceCodes);
  out.allowed = allowed;
  out.policy = std::string(kControlledPolicy);
  return out;
}

}  // namespace

Result<std::string> sign_result(const JobDocument& job, std::string_view document,
                                const SigningKey& runner) {
  if (runner.public_key().id() != job.runner) {
    return fail(ErrorKind::refused, "KEY_NOT_THE_RUNNER", runner.public_key().id().hex(),
                "the job is for the runner " + job.runner.hex() + " alone",
                "give that key with --key");
  }
  const Result<MeasurementResult> result = read_measurement_result(document);
  if (!result) return fail_in("result.json", result.error());
  if (result->job != job.job || result->nonce != job.nonce) {
    return fail(ErrorKind::refused, "JOB_NOT_BOUND", "result.json",
                "the result is of another job than this one");
  }
  const Digest& workload = job.workloads.front().digest;
  const Result<Manifest> about = read_manifest(job.workloads.front().text);
  if (!about) return fail(about.error());
  const Result<ControlledManifests> manifests = controlled_manifests(
      *result, job.implementation, workload, std::get<WorkloadFacts>(about->facts).comparator);
  if (!manifests) return fail(manifests.error());
  ControlledRun said;
  said.job = job.job;
  said.run = manifests->run.identity;
  said.result = sha256(document);
  said.samples = result->samples;
  said.device = result->device.id;
  said.host = result->host.id;
  const Attestation attestation{
      job.job, Binding{job.ledger, job.runner, TreeHead{job.seen_size, job.seen_root}}, said};
  Result<std::string> payload = attestation.encode();
  if (!payload) return payload;
  Result<Envelope> envelope = sign_envelope(std::move(*payload), runner);
  if (!envelope) return fail(envelope.error());
  return normalised(std::move(*envelope), runner.public_key()).encode();
}

Result<AcceptedResult> accept_result(Ledger& ledger, const ResultFolder& folder,
                                     const SigningKey& controller,
                                     const std::vector<std::string>& allowed) {
  Result<Answer> answer = read_answer(ledger.read(), folder);
  if (!answer) return fail(answer.error());
  const Result<ControlledClaims> claims =
      controlled_claims(import_options(*answer), folder.document());
  if (!claims) return fail(claims.error());
  AcceptedResult out;
  out.result = answer->envelope.id();
  out.job = answer->run.job;
  out.reported = answer->reported;
  out.run = claims->run.identity;
  Result<std::optional<std::uint64_t>> known = find_attestation(ledger.read(), out.result);
  if (!known) return fail(known.error());
  Result<std::vector<std::string>> missing =
      record(ledger, folder, *answer, *claims, known->has_value());
  if (!missing) return fail(missing.error());
  out.missing = std::move(*missing);
  known = find_attestation(ledger.read(), out.result);
  if (!known) return fail(known.error());
  out.result_index = **known;
  Result<Standing> standing = judge_recorded(ledger.read(), *answer, allowed);
  if (!standing) return fail(standing.error());
  out.judged = std::move(standing->judged);
  if (standing->acceptance) {
    out.acceptance_index = *standing->acceptance;
    out.existing = true;
    return out;
  }
  const Result<Attested> accepted =
      attest(ledger, {out.result, acceptance_of(out.result, out.judged, allowed)}, controller);
  if (!accepted) return fail(accepted.error());
  out.acceptance_index = accepted->index;
  return out;
}

bool is_calibration(const ResultFolder& folder) {
  const Result<Envelope> envelope = parse_envelope(folder.statement());
  if (!envelope) return false;
  const Result<Attestation> said = parse_attestation(envelope->payload);
  return said && std::holds_alternative<Calibration>(said->predicate);
}

Result<RecordedCalibration> record_calibration(Ledger& ledger, const ResultFolder& folder) {
  const Result<Envelope> envelope = parse_envelope(folder.statement());
  if (!envelope) return fail_in("statement.dsse.json", envelope.error());
  const Result<Attestation> said = parse_attestation(envelope->payload);
  if (!said) return fail_in("statement.dsse.json", said.error());
  const auto* calibration = std::get_if<Calibration>(&said->predicate);
  if (calibration == nullptr) {
    return invalid("NOT_A_CALIBRATION", "statement.dsse.json",
                   "the statement is no calibration/v1");
  }
  const Result<CalibrationDocument> document = read_calibration_document(folder.document());
  if (!document) return fail_in("result.json", document.error());
  if (document->simulated) {
    return fail(ErrorKind::refused, "SIMULATED_DEVICE", "result.json",
                "nothing was measured: no ledger records a made-up calibration",
                "run `kernelindex calibrate` on a machine with a device");
  }
  if (document->device != calibration->device || document->samples != calibration->samples ||
      document->sessions != calibration->sessions) {
    return not_the_document();
  }
  const Result<std::unique_ptr<ByteSource>> samples = folder.object(calibration->samples);
  if (!samples) return fail(samples.error());
  if (*samples == nullptr) {
    return invalid("BYTES_NOT_HELD", calibration->samples.text(),
                   "the folder lacks the samples of the sessions");
  }
  {
    Result<std::unique_ptr<Appender>> appender = ledger.append_attestations();
    if (!appender) return fail(appender.error());
    const Reader reader = ledger.read();
    if (Status status = AttestationRules(reader, ledger.options().clock()).allow(*envelope, *said);
        !status) {
      return fail(status.error());
    }
    const Result<Recorded> kept = (*appender)->artifact(**samples, std::string(kArtifactType));
    if (!kept) return fail(kept.error());
    if (Status status = (*appender)->finish(std::nullopt); !status) return fail(status.error());
  }
  const Result<Attested> recorded = attest_envelope(ledger, folder.statement());
  if (!recorded) return fail(recorded.error());
  return RecordedCalibration{recorded->index,      recorded->id,
                             said->binding.signer, calibration->sessions.size(),
                             document->product,    recorded->existing};
}

Result<ControlledClaims> controlled_claims(std::string_view options, std::string_view document) {
  json::Arena arena;
  const Result<json::Value> asked = json::parse(options, arena);
  const auto digest = [&](std::string_view name) {
    return Digest::parse(asked ? asked->text(name) : std::string_view());
  };
  const Result<Digest> implementation = digest("implementation");
  const Result<Digest> workload = digest("workload");
  if (!implementation || !workload) {
    return invalid("BAD_OPTIONS", "options", "these are not the options of a controlled run");
  }
  const Result<MeasurementResult> result = read_measurement_result(document);
  if (!result) return fail_in("result.json", result.error());
  Result<ControlledManifests> manifests =
      controlled_manifests(*result, *implementation, *workload, asked->text("comparator"));
  if (!manifests) return fail(manifests.error());
  return ControlledClaims{std::move(manifests->environment), std::move(manifests->run)};
}

}  // namespace kernelindex
