// SPDX-License-Identifier: Apache-2.0
#include "ledger/controlled_attempts.h"

#include <algorithm>

#include "ledger/dsse.h"

namespace kernelindex {

using Verdict = Acceptance::Verdict;

std::optional<ControlledAttempt> ControlledJob::attempt() const {
  if (!counts) return std::nullopt;
  ControlledAttempt out;
  out.owner = owner;
  out.by_operator = by_operator;
  if (!result) {
    if (!expired) return std::nullopt;
    out.verdict = ControlledAttempt::Verdict::unanswered;
    return out;
  }
  if (judged->revoked) return std::nullopt;
  const ControlledRun& said = std::get<ControlledRun>(result->said.predicate);
  out.device = said.device;
  if (said.samples) out.samples = *said.samples;
  out.source_covered = judged->source_covered;
  out.host = said.host;
  out.boot = judged->boot;
  if (judged->statistics) out.median_ns = judged->statistics->median_ns;
  out.noise_ppm = judged->noise_ppm.value_or(0);
  // What was taken back, or counts by a switch that this reader does not allow, confirms nothing. A
  // failure stays one.
  const bool cannot_confirm = retracted || judged->retracted || judged->loosened;
  const auto* accepted =
      acceptance ? std::get_if<Acceptance>(&acceptance->said.predicate) : nullptr;
  Verdict verdict = judged->verdict;
  if (accepted == nullptr || accepted->verdict != verdict) verdict = Verdict::refused;
  switch (verdict) {
    case Verdict::confirms:
      out.verdict = cannot_confirm ? ControlledAttempt::Verdict::inconclusive
                                   : ControlledAttempt::Verdict::confirms;
      break;
    case Verdict::differs_slower:
    case Verdict::differs_faster:
      out.verdict = ControlledAttempt::Verdict::differs;
      break;
    case Verdict::not_reproduced:
    case Verdict::refused:
      out.verdict = ControlledAttempt::Verdict::not_reproduced;
      break;
    case Verdict::inconclusive:
    case Verdict::adapter_failed:
      out.verdict = ControlledAttempt::Verdict::inconclusive;
      break;
    case Verdict::not_comparable:
      out.verdict = ControlledAttempt::Verdict::not_comparable;
      break;
  }
  return out;
}

namespace {

const PredicateType& type_of(std::string_view name) {
  return *find_predicate_type(std::string(kPredicateBase) + std::string(name));
}

Result<ControlledJob> read_job(AttemptSource& source, const AttemptContext& context, SaidAt said) {
  ControlledJob out;
  out.job = std::move(said);
  const MeasurementJob& job = std::get<MeasurementJob>(out.job.said.predicate);
  out.expired = context.now > end_of_job(out.job);
  out.retracted = context.judgements.retracted(out.job.id);
  if (const KeyRecord* key = context.keys.find(job.runner)) out.owner = key->owner;
  out.by_operator = !out.owner.empty() && out.owner == context.operator_owner;
  out.counts = !context.counts_runner || context.counts_runner(job.runner, out.owner);
  Result<std::vector<SaidAt>> results = source.said_about(out.job.id);
  if (!results) return fail(results.error());
  for (SaidAt& one : *results) {
    if (!std::holds_alternative<ControlledRun>(one.said.predicate)) continue;
    // A job is spent by the first result that its own runner signed.
    if (one.said.binding.signer != job.runner) continue;
    if (out.result) {
      ++out.more_results;
    } else {
      out.result = std::move(one);
    }
  }
  if (!out.result) return out;
  Result<std::vector<SaidAt>> acceptances = source.said_about(out.result->id);
  if (!acceptances) return fail(acceptances.error());
  for (SaidAt& one : *acceptances) {
    if (!std::holds_alternative<Acceptance>(one.said.predicate)) continue;
    if (!context.keys.counts(one.said.binding.signer, type_of("acceptance/v1"), one.index))
      continue;
    if (context.judgements.retracted(one.id)) continue;
    out.acceptance = std::move(one);
  }
  Result<JudgedResult> judged = judge_result(source, context, out.job, *out.result, true, {});
  if (!judged) return fail(judged.error());
  out.judged = std::move(*judged);
  const std::vector<std::string> allowed =
      out.acceptance ? std::get<Acceptance>(out.acceptance->said.predicate).allowed
                     : std::vector<std::string>();
  if (out.judged->verdict == Verdict::refused && !allowed.empty()) {
    Result<JudgedResult> loosened =
        judge_result(source, context, out.job, *out.result, true, allowed);
    if (!loosened) return fail(loosened.error());
    out.judged = std::move(*loosened);
    out.judged->loosened = out.judged->verdict != Verdict::refused &&
                           std::ranges::any_of(allowed, [&](const std::string& one) {
                             return std::ranges::find(context.allow, one) == context.allow.end();
                           });
  }
  out.judged->retracted = context.judgements.retracted(out.result->id);
  return out;
}

}  // namespace

Result<std::vector<ControlledJob>> controlled_jobs(AttemptSource& source,
                                                   const AttemptContext& context,
                                                   const Digest& run) {
  std::vector<ControlledJob> out;
  Result<std::vector<SaidAt>> all = source.said_about(run);
  if (!all) return fail(all.error());
  for (SaidAt& one : *all) {
    if (!std::holds_alternative<MeasurementJob>(one.said.predicate)) continue;
    if (!context.keys.counts(one.said.binding.signer, type_of("measurement-job/v1"), one.index)) {
      continue;
    }
    Result<ControlledJob> job = read_job(source, context, std::move(one));
    if (!job) return fail(job.error());
    out.push_back(std::move(*job));
  }
  return out;
}

Result<std::optional<ControlledJob>> job_of_controlled_run(AttemptSource& source,
                                                           const AttemptContext& context,
                                                           const Digest& run,
                                                           const SubjectRow& row) {
  for (const ClaimRow& claim : row.claims) {
    if (claim.source != kControlledSource || !claim.snapshot) continue;
    const Result<std::optional<std::string>> bytes = source.object(*claim.snapshot);
    if (!bytes) return fail(bytes.error());
    if (!*bytes) continue;
    const Result<Envelope> envelope = parse_envelope(**bytes);
    if (!envelope) continue;
    const Result<Attestation> said = parse_attestation(envelope->payload);
    const auto* controlled = said ? std::get_if<ControlledRun>(&said->predicate) : nullptr;
    if (controlled == nullptr || controlled->run != run) continue;
    // The job is on the chain of the run that it is about; its result leads back to it.
    Result<std::vector<SaidAt>> about = source.said_about(controlled->job);
    if (!about) return fail(about.error());
    if (std::ranges::find(*about, envelope->id(), &SaidAt::id) == about->end()) continue;
    Result<std::optional<SaidAt>> job = source.attestation(controlled->job);
    if (!job) return fail(job.error());
    if (!*job || !std::holds_alternative<MeasurementJob>((*job)->said.predicate)) continue;
    Result<ControlledJob> out = read_job(source, context, std::move(**job));
    if (!out) return fail(out.error());
    if (out->result && out->result->id == envelope->id()) return std::optional(std::move(*out));
  }
  return std::nullopt;
}

bool accepted_run(const ControlledJob& job) {
  if (!job.judged || !job.acceptance || job.judged->revoked) return false;
  if (job.retracted || job.judged->retracted || !job.judged->source_covered) return false;
  const Acceptance& acceptance = std::get<Acceptance>(job.acceptance->said.predicate);
  return acceptance.accepted && job.counts && !job.judged->loosened &&
         job.judged->verdict != Acceptance::Verdict::refused &&
         acceptance.verdict == job.judged->verdict && job.judged->status == RunStatus::passed;
}

Status add_attempts(AttemptSource& source, const AttemptContext& context, const Digest& run,
                    const SubjectRow& row, EvidenceFacts& facts) {
  const Result<std::vector<ControlledJob>> jobs = controlled_jobs(source, context, run);
  if (!jobs) return fail(jobs.error());
  for (const ControlledJob& job : *jobs) {
    if (std::optional<ControlledAttempt> attempt = job.attempt()) {
      facts.attempts.push_back(std::move(*attempt));
    }
  }
  if (!facts.controlled) return {};
  const Result<std::optional<ControlledJob>> own = job_of_controlled_run(source, context, run, row);
  if (!own) return fail(own.error());
  facts.accepted = *own && accepted_run(**own);
  return {};
}

}  // namespace kernelindex
