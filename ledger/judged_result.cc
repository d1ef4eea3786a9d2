// SPDX-License-Identifier: Apache-2.0
#include "ledger/judged_result.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <span>

#include "ledger/controlled_manifests.h"
#include "ledger/reported_run.h"
#include "ledger/result_findings.h"
#include "schema/measurement_job.h"

namespace kernelindex {
namespace {

using Verdict = Acceptance::Verdict;

const PredicateType& type_of(std::string_view name) {
  return *find_predicate_type(std::string(kPredicateBase) + std::string(name));
}

// ---- Bytes ----

struct Kept {
  std::optional<MeasurementResult> document;
  std::optional<ResultSamples> samples;
  std::optional<std::vector<Samples>> sentinels;
  bool all = false;
};

Result<std::optional<std::string>> object_of(AttemptSource& source,
                                             const std::optional<Digest>& digest) {
  if (!digest) return std::string();
  return source.object(*digest);
}

Result<Kept> read_kept(AttemptSource& source, const ControlledRun& said) {
  Kept kept;
  const Result<std::optional<std::string>> text = source.object(said.result);
  if (!text) return fail(text.error());
  if (!*text) return kept;
  Result<MeasurementResult> document = read_measurement_result(**text);
  if (!document) return kept;  // not a result: nothing of it is held
  const auto samples = object_of(source, document->samples);
  if (!samples) return fail(samples.error());
  const auto diagnostics = object_of(source, document->diagnostic_samples);
  if (!diagnostics) return fail(diagnostics.error());
  const auto sentinels = object_of(source, document->sentinel_samples);
  if (!sentinels) return fail(sentinels.error());
  kept.all = samples->has_value() && diagnostics->has_value() && sentinels->has_value();
  for (const Digest& artifact : artifacts_of(*document)) {
    const Result<bool> held = source.held(artifact);
    if (!held) return fail(held.error());
    kept.all = kept.all && *held;
  }
  if (*samples && *diagnostics) {
    kept.samples = cut_samples(*document, **samples, **diagnostics);
  }
  if (*sentinels) kept.sentinels = cut_sentinels(document->sentinels, **sentinels);
  kept.document = std::move(*document);
  return kept;
}

Result<std::vector<SentinelSession>> calibration_of(AttemptSource& source,
                                                    const AttemptContext& context,
                                                    const SaidAt& result) {
  std::vector<SentinelSession> sessions;
  std::set<Digest> seen;  // sessions that are signed again are no new ones
  const ControlledRun& said = std::get<ControlledRun>(result.said.predicate);
  const Digest& runner = result.said.binding.signer;
  const Result<std::vector<SaidAt>> all = source.calibrations(runner);
  if (!all) return fail(all.error());
  for (const SaidAt& one : *all) {
    const auto* calibration = std::get_if<Calibration>(&one.said.predicate);
    if (calibration == nullptr || one.index >= result.index || calibration->device != said.device) {
      continue;
    }
    if (!context.keys.counts(one.said.binding.signer, type_of("calibration/v1"), one.index) ||
        context.judgements.retracted(one.id)) {
      continue;
    }
    const Result<std::optional<std::string>> bytes = source.object(calibration->samples);
    if (!bytes) return fail(bytes.error());
    if (!*bytes || sha256(**bytes) != calibration->samples ||
        !cut_sentinels(calibration->sessions, **bytes) ||
        !seen.insert(calibration->samples).second) {
      continue;
    }
    sessions.insert(sessions.end(), calibration->sessions.begin(), calibration->sessions.end());
  }
  return sessions;
}

// ---- The number ----

// The statistic of the same kind as the reported one, with its interval.
struct Compared {
  std::int64_t value = 0;
  std::int64_t low = 0;
  std::int64_t high = 0;
  std::int64_t launches = 1;
};

std::optional<Compared> compared_mean(const MeasurementResult& document,
                                      const ResultSamples& samples, const Digest& workload,
                                      const ResultStatistics& pooled) {
  Compared out{pooled.mean_ns, pooled.mean_ns, pooled.mean_ns, 1};
  for (std::size_t i = 0; i < document.trials.size(); ++i) {
    if (document.trials[i].workload != workload || samples.timed[i].empty()) continue;
    const std::array<std::span<const std::uint64_t>, 1> one = {samples.timed[i]};
    const std::int64_t mean = pooled_statistics(one)->mean_ns;
    out.low = std::min(out.low, mean);
    out.high = std::max(out.high, mean);
  }
  return out;
}

std::optional<Compared> compared_of(const MeasurementResult& document, const ResultSamples& samples,
                                    const Digest& workload, const ResultStatistics& pooled,
                                    std::string_view statistic, bool cupti) {
  std::optional<Compared> out;
  std::int64_t launches = 1;
  for (std::size_t i = 0; i < document.diagnostics.size(); ++i) {
    const Trial& trial = document.diagnostics[i];
    if (trial.workload != workload || trial.kind != Trial::Kind::cupti_envelope) continue;
    launches = std::max<std::int64_t>(1, trial.kernels_per_call);
    if (!cupti || statistic != "median" || samples.diagnostics[i].empty()) continue;
    const std::array<std::span<const std::uint64_t>, 1> one = {samples.diagnostics[i]};
    const ResultStatistics of = *pooled_statistics(one);
    if (of.low_ns) out = Compared{of.median_ns, *of.low_ns, *of.high_ns, launches};
  }
  if (!out && statistic == "mean") out = compared_mean(document, samples, workload, pooled);
  if (!out && !cupti && pooled.low_ns) {
    out = Compared{pooled.median_ns, *pooled.low_ns, *pooled.high_ns, launches};
  }
  if (out) out->launches = launches;
  return out;
}

void add_code(JudgedResult& judged, std::string_view code) { judged.codes.emplace_back(code); }

void compare(const ReportedRun& reported, const MeasurementResult& document,
             const ResultSamples& samples, const Digest& protocol, JudgedResult& judged) {
  const auto& primary = reported.run.primary;
  constexpr double kMost = 9007199254740991.0;
  const bool comparable = primary && primary->metric == "latency" && primary->unit == "ns" &&
                          primary->value && *primary->value >= 1 && *primary->value <= kMost &&
                          std::floor(*primary->value) == *primary->value &&
                          primary->statistic_present;
  if (reported.run.status != "passed" || !comparable || !reported.protocol ||
      !reported.environment || !judged.statistics || !judged.noise_ppm) {
    judged.verdict = Verdict::not_comparable;
    add_code(judged, "NUMBER_NOT_COMPARABLE");
    return;
  }
  DecisionInput input;
  const std::optional<Compared> compared =
      compared_of(document, samples, reported.run.workload, *judged.statistics, primary->statistic,
                  reported.timed_by_cupti());
  if (!compared) {
    judged.verdict = Verdict::not_comparable;
    add_code(judged, "STATISTIC_MISSING");
    return;
  }
  input.reported_ns = static_cast<std::int64_t>(*primary->value);
  input.median_ns = compared->value;
  input.low_ns = std::min(compared->low, compared->value);
  input.high_ns = std::max(compared->high, compared->value);
  input.launches = compared->launches;
  input.noise_ppm = *judged.noise_ppm;
  input.timer = timer_relation(*reported.protocol, protocol);
  input.environment = environment_relation(*reported.environment, document);
  judged.compared = input;
  judged.decision = decide(input);
  judged.verdict = judged.decision->verdict;
  judged.codes.insert(judged.codes.end(), judged.decision->codes.begin(),
                      judged.decision->codes.end());
  if (other_form_factor(*reported.environment, document)) add_code(judged, "WRONG_FORM_FACTOR");
}

// What a result that counts says about the reported run.
void relate(const ReportedRun& reported, const Kept& kept, const Digest& protocol,
            JudgedResult& judged) {
  const MeasurementResult& document = *kept.document;
  switch (judged.status) {
    case RunStatus::passed:
      compare(reported, document, *kept.samples, protocol, judged);
      return;
    case RunStatus::policy_violation:
    case RunStatus::suspected_reward_hack:
      // A person decides; nothing is held against the submission until then. PROTOCOL 16 C.7.
      judged.verdict = Verdict::inconclusive;
      add_code(judged, "REVIEW_NEEDED");
      return;
    default:
      break;
  }
  if (environment_relation(*reported.environment, document) == EnvironmentRelation::different) {
    judged.verdict = Verdict::not_comparable;
    add_code(judged, "OTHER_HARDWARE");
    if (other_form_factor(*reported.environment, document)) add_code(judged, "WRONG_FORM_FACTOR");
  } else if (document.build.adapter_gap) {
    judged.verdict = Verdict::adapter_failed;
  } else {
    judged.verdict = Verdict::not_reproduced;
  }
}

void sort_codes(std::vector<std::string>& codes) {
  std::ranges::sort(codes);
  codes.erase(std::unique(codes.begin(), codes.end()), codes.end());
}

// The facts of the result for the gates, as far as the reported run gives them.
Status add_reported_facts(AttemptSource& source, const MeasurementJob& asked,
                          const ControlledRun& said, const ReportedRun& reported,
                          ResultFacts& facts, JudgedResult& judged) {
  facts.workload = reported.run.workload;
  facts.cupti_claim = reported.timed_by_cupti();
  if (facts.document != nullptr) {
    const Result<ControlledManifests> manifests = controlled_manifests(
        *facts.document, reported.run.implementation, facts.workload, reported.comparator);
    facts.run_follows = manifests && manifests->run.identity == said.run;
  }
  const Result<std::vector<std::size_t>> uncovered =
      uncovered_sources(source, reported.run.implementation, asked);
  if (!uncovered) return fail(uncovered.error());
  judged.source_covered = uncovered->empty();
  return {};
}

// What follows from the samples. Requires: document and samples are there.
void recompute(std::int64_t compulsory_bytes, ResultFacts& facts, JudgedResult& judged) {
  const MeasurementResult& document = *facts.document;
  facts.findings = find_in_result(document, *facts.samples, {facts.workload}, compulsory_bytes);
  judged.status = std::min(status_of(facts.findings), document.status);
  std::vector<std::span<const std::uint64_t>> series;
  for (std::size_t i = 0; i < document.trials.size(); ++i) {
    if (document.trials[i].workload == facts.workload) {
      series.emplace_back(facts.samples->timed[i]);
    }
  }
  judged.statistics = pooled_statistics(series);
  judged.noise_ppm = noise_of(document, *facts.samples, facts.workload);
}

}  // namespace

// By a digest of the implementation, or of the facts of the claims that recorded it.
Result<std::vector<std::size_t>> uncovered_sources(AttemptSource& source,
                                                   const Digest& implementation,
                                                   const MeasurementJob& job) {
  const Result<std::shared_ptr<const SubjectRow>> row = source.subject(implementation);
  if (!row) return fail(row.error());
  std::set<Digest> covered;
  if (*row != nullptr) {
    if (const auto* facts = std::get_if<ImplementationFacts>(&(*row)->facts)) {
      covered.insert(facts->source_digests.begin(), facts->source_digests.end());
    }
    for (const ClaimRow& claim : (*row)->claims) {
      // Who claims it later under another name can add no files to it.
      if (claim.source != (*row)->claims.front().source) continue;
      for (const NamedArtifact& artifact : claim.facts.artifacts) {
        if (artifact.role == "source") covered.insert(artifact.digest);
      }
    }
  }
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < job.sources.size(); ++i) {
    const MeasurementJob::Source& file = job.sources[i];
    if (file.path != kRecipePath && !covered.contains(file.digest)) out.push_back(i);
  }
  return out;
}

Result<JudgedResult> judge_result(AttemptSource& source, const AttemptContext& context,
                                  const SaidAt& job, const SaidAt& result, bool first,
                                  const std::vector<std::string>& allowed) {
  JudgedResult judged;
  const MeasurementJob& asked = std::get<MeasurementJob>(job.said.predicate);
  const ControlledRun& said = std::get<ControlledRun>(result.said.predicate);
  const Result<std::optional<ReportedRun>> reported = read_reported_run(source, asked.run);
  if (!reported) return fail(reported.error());
  Result<Kept> kept = read_kept(source, said);
  if (!kept) return fail(kept.error());
  Result<std::vector<SentinelSession>> calibration = calibration_of(source, context, result);
  if (!calibration) return fail(calibration.error());
  ResultFacts facts;
  facts.job = &job;
  facts.result = &result;
  facts.first = first;
  facts.keys = &context.keys;
  facts.document = kept->document ? &*kept->document : nullptr;
  facts.samples = kept->samples ? &*kept->samples : nullptr;
  facts.sentinels = kept->sentinels ? &*kept->sentinels : nullptr;
  facts.bytes_held = kept->all;
  facts.allowed = allowed;
  facts.calibration = std::move(*calibration);
  if (*reported) {
    const Status added = add_reported_facts(source, asked, said, **reported, facts, judged);
    if (!added) return fail(added.error());
  }
  if (facts.document != nullptr) judged.boot = facts.document->host.boot;
  if (facts.document != nullptr && facts.samples != nullptr) {
    recompute(*reported ? (*reported)->compulsory_bytes : 0, facts, judged);
  }
  judged.codes = countability(facts);
  judged.revoked = rests_on_revoked(facts);
  if (!*reported || !(*reported)->environment) add_code(judged, "RUN_NOT_HELD");
  if (judged.codes.empty()) {
    for (const ResultFinding& finding : facts.findings) add_code(judged, finding.code);
    relate(**reported, *kept, asked.protocol, judged);
  }
  sort_codes(judged.codes);
  return judged;
}

}  // namespace kernelindex
