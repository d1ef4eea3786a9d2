// SPDX-License-Identifier: Apache-2.0
#include "ledger/controlled_attempts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <span>

#include "ledger/controlled_manifests.h"
#include "ledger/controlled_protocol.h"
#include "ledger/dsse.h"
#include "schema/json_reader.h"
#include "schema/measurement_job.h"

namespace kernelindex {
namespace {

__extension__ using Wide = __int128;
using Verdict = Acceptance::Verdict;
using json::Value;

const PredicateType& type_of(std::string_view name) {
  return *find_predicate_type(std::string(kPredicateBase) + std::string(name));
}

// ---- The reported run ----

struct Reported {
  BenchmarkRunFacts run;
  std::optional<Manifest> protocol;
  std::optional<Manifest> environment;
  std::string comparator;
  std::int64_t compulsory_bytes = 0;
};

std::int64_t dtype_bits(std::string_view dtype) {
  struct Row {
    std::string_view suffix;
    std::int64_t bits;
  };
  constexpr std::array kRows = {Row{"64", 64}, Row{"32", 32}, Row{"16", 16}, Row{"8", 8},
                                Row{"bool", 8}};
  if (dtype.starts_with("float8") || dtype.starts_with("fp8") || dtype.starts_with("f8")) return 8;
  for (const Row& row : kRows) {
    if (dtype.ends_with(row.suffix)) return row.bits;
  }
  return 0;  // not known: nothing is claimed about it
}

std::int64_t tensor_bytes(const Value& shape, std::string_view dtype) {
  Wide bits = dtype_bits(dtype);
  for (const Value& side : shape.array()) {
    if (!side.is_number()) return 0;
    bits *= static_cast<std::int64_t>(side.number());
    if (bits > (Wide{1} << 60)) return 0;
  }
  return static_cast<std::int64_t>(bits / 8);
}

// What each output byte costs once, and each byte of an input that an operation of this family must
// read whole: of those that gather, only the outputs.
std::int64_t compulsory_bytes(const Manifest& workload, const Manifest* operation) {
  json::Arena arena;
  const Result<Value> spec = json::parse(workload.bytes, arena);
  if (!spec) return 0;
  const Value* tensors = spec->find({"spec", "tensors"});
  const Value* axes = spec->find({"spec", "axes"});
  if (tensors == nullptr || axes == nullptr || operation == nullptr) return 0;
  const Result<Value> what = json::parse(operation->bytes, arena);
  if (!what) return 0;
  Wide bytes = 0;
  bool gathers = false;
  for (const json::Member& member : tensors->object()) {
    const std::string_view dtype = member.value.text("dtype");
    gathers |= dtype.starts_with("int");
    bytes += tensor_bytes(*member.value.find("shape"), dtype);
  }
  if (gathers) bytes = 0;
  const Value* defined = what->find({"spec", "axes"});
  for (const Value& output : what->find({"spec", "outputs"})->array()) {
    const Value* tensor = output.find("tensor");
    if (tensor == nullptr) continue;
    std::vector<Value> sides;
    for (const Value& side : tensor->find("shape")->array()) {
      const Value* length = &side;
      if (side.is_string()) {
        length = axes->find(side.string());
        const Value* axis = defined->find(side.string());
        if (length == nullptr && axis != nullptr) length = axis->find("value");
      }
      if (length == nullptr) return 0;
      sides.push_back(*length);
    }
    bytes += tensor_bytes(arena.array(sides), tensor->text("dtype"));
  }
  return bytes < 0 || bytes > (Wide{1} << 60) ? 0 : static_cast<std::int64_t>(bytes);
}

Result<std::optional<Reported>> read_reported(AttemptSource& source, const Digest& run) {
  Result<std::optional<Manifest>> manifest = source.document(run);
  if (!manifest) return fail(manifest.error());
  const auto* facts = *manifest ? std::get_if<BenchmarkRunFacts>(&(*manifest)->facts) : nullptr;
  if (facts == nullptr) return std::nullopt;
  Reported out{*facts, {}, {}, {}, 0};
  Result<std::optional<Manifest>> protocol = source.document(facts->protocol);
  if (!protocol) return fail(protocol.error());
  out.protocol = std::move(*protocol);
  Result<std::optional<Manifest>> environment = source.document(facts->environment);
  if (!environment) return fail(environment.error());
  out.environment = std::move(*environment);
  const Result<std::optional<Manifest>> workload = source.document(facts->workload);
  if (!workload) return fail(workload.error());
  const auto* about = *workload ? std::get_if<WorkloadFacts>(&(*workload)->facts) : nullptr;
  if (about != nullptr) {
    out.comparator = about->comparator;
    const Result<std::optional<Manifest>> operation = source.document(about->operation);
    if (!operation) return fail(operation.error());
    // A reference can lead to a manifest of any kind.
    const bool right = *operation && (*operation)->kind == ManifestKind::operation_spec;
    out.compulsory_bytes = compulsory_bytes(**workload, right ? &**operation : nullptr);
  }
  return out;
}

// ---- Relations ----

std::string_view timer_of(const Manifest& protocol, json::Arena& arena) {
  const Result<Value> document = json::parse(protocol.bytes, arena);
  if (!document) return {};
  const Value* timer = document->find({"spec", "measurement", "timer"});
  return timer != nullptr && timer->is_string() ? timer->string() : std::string_view();
}

bool is_cupti(std::string_view timer) { return timer.starts_with("cupti"); }

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

// The form factor is the part of other hardware that people take for the same.
void note_form_factor(const Reported& reported, const MeasurementResult& result,
                      JudgedResult& judged) {
  json::Arena arena;
  const Result<Value> document = json::parse(reported.environment->bytes, arena);
  const Value* form = document ? document->find({"spec", "hardware", "formFactor"}) : nullptr;
  const std::string& measured = result.device.form_factor;
  if (form != nullptr && !measured.empty() && form->string() != measured) {
    add_code(judged, "WRONG_FORM_FACTOR");
  }
}

void compare(const Reported& reported, const MeasurementResult& document,
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
  json::Arena arena;
  const bool cupti = is_cupti(timer_of(*reported.protocol, arena));
  const std::optional<Compared> compared = compared_of(
      document, samples, reported.run.workload, *judged.statistics, primary->statistic, cupti);
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
  note_form_factor(reported, document, judged);
}

// What a result that counts says about the reported run.
void relate(const Reported& reported, const Kept& kept, const Digest& protocol,
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
    note_form_factor(reported, document, judged);
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

TimerRelation timer_relation(const Manifest& reported_protocol, const Digest& controlled) {
  if (reported_protocol.identity == controlled) return TimerRelation::same_protocol;
  json::Arena arena;
  const std::string_view timer = timer_of(reported_protocol, arena);
  if (is_cupti(timer) || controlled_variant(reported_protocol.identity)) {
    return TimerRelation::same_family;
  }
  // What leaderboards time with device events, or say nothing more of.
  if (timer == "cuda_events" || timer == "cuda_event" || timer == "harness_reported") {
    return TimerRelation::cross_family;
  }
  return TimerRelation::unknown;
}

EnvironmentRelation environment_relation(const Manifest& reported,
                                         const MeasurementResult& result) {
  json::Arena arena;
  const Result<Value> document = json::parse(reported.bytes, arena);
  const Value* hardware = document ? document->find({"spec", "hardware"}) : nullptr;
  if (hardware == nullptr) return EnvironmentRelation::different;
  const MeasuredDevice& device = result.device;
  const std::string_view architecture = hardware->text("architecture");
  const std::string_view form = hardware->text("formFactor");
  const auto whole = [&](std::string_view name) -> std::optional<std::int64_t> {
    const Value* value = hardware->find(name);
    if (value == nullptr) return std::nullopt;
    return static_cast<std::int64_t>(value->number());
  };
  if (hardware->text("product") != device.product ||
      (architecture != "unknown" && architecture != device.architecture) ||
      (!form.empty() && !device.form_factor.empty() && form != device.form_factor) ||
      whole("count").value_or(1) != device.count || !device.mig_profile.empty()) {
    return EnvironmentRelation::different;
  }
  const std::optional<std::int64_t> memory = whole("memoryBytes");
  if (memory && device.memory_bytes) {
    const Wide gap = Wide{*memory} - Wide{*device.memory_bytes};
    if ((gap < 0 ? -gap : gap) * 50 > Wide{*memory}) return EnvironmentRelation::different;
  }
  // What is not said cannot be equal.
  const Value* driver = document->find({"spec", "software", "driver"});
  const Value* clocks = document->find({"spec", "settings", "clocksLocked"});
  const Value* power = document->find({"spec", "settings", "powerLimitWatts"});
  const bool equal =
      driver != nullptr && driver->string() == result.software.driver && clocks != nullptr &&
      result.settings.clocks_locked == clocks->boolean() && power != nullptr &&
      result.settings.power_limit_milliwatts &&
      power->number() * 1000 == static_cast<double>(*result.settings.power_limit_milliwatts);
  return equal ? EnvironmentRelation::equal : EnvironmentRelation::equivalent;
}

Result<JudgedResult> judge_result(AttemptSource& source, const AttemptContext& context,
                                  const SaidAt& job, const SaidAt& result, bool first,
                                  const std::vector<std::string>& allowed) {
  JudgedResult judged;
  const MeasurementJob& asked = std::get<MeasurementJob>(job.said.predicate);
  const ControlledRun& said = std::get<ControlledRun>(result.said.predicate);
  const Result<std::optional<Reported>> reported = read_reported(source, asked.run);
  if (!reported) return fail(reported.error());
  Result<Kept> kept = read_kept(source, said);
  if (!kept) return fail(kept.error());
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
  Result<std::vector<SentinelSession>> calibration = calibration_of(source, context, result);
  if (!calibration) return fail(calibration.error());
  facts.calibration = std::move(*calibration);
  if (*reported) {
    facts.workload = (*reported)->run.workload;
    json::Arena arena;
    facts.cupti_claim = (*reported)->protocol && is_cupti(timer_of(*(*reported)->protocol, arena));
    if (facts.document != nullptr) {
      const Result<ControlledManifests> manifests =
          controlled_manifests(*facts.document, (*reported)->run.implementation, facts.workload,
                               (*reported)->comparator);
      facts.run_follows = manifests && manifests->run.identity == said.run;
    }
    const Result<std::vector<std::size_t>> uncovered =
        uncovered_sources(source, (*reported)->run.implementation, asked);
    if (!uncovered) return fail(uncovered.error());
    judged.source_covered = uncovered->empty();
  }
  if (facts.document != nullptr) judged.boot = facts.document->host.boot;
  if (facts.document != nullptr && facts.samples != nullptr) {
    facts.findings = find_in_result(*facts.document, *facts.samples, {facts.workload},
                                    *reported ? (*reported)->compulsory_bytes : 0);
    judged.status = std::min(status_of(facts.findings), facts.document->status);
    std::vector<std::span<const std::uint64_t>> series;
    for (std::size_t i = 0; i < facts.document->trials.size(); ++i) {
      if (facts.document->trials[i].workload == facts.workload) {
        series.emplace_back(facts.samples->timed[i]);
      }
    }
    judged.statistics = pooled_statistics(series);
    judged.noise_ppm = noise_of(*facts.document, *facts.samples, facts.workload);
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
  if (judged->loosened) {
    out.verdict = ControlledAttempt::Verdict::inconclusive;
    return out;
  }
  const bool taken_back = retracted || judged->retracted;
  const auto* accepted =
      acceptance ? std::get_if<Acceptance>(&acceptance->said.predicate) : nullptr;
  Verdict verdict = judged->verdict;
  if (accepted == nullptr || accepted->verdict != verdict) verdict = Verdict::refused;
  switch (verdict) {
    case Verdict::confirms:
      // A retraction takes a confirmation away and no failure.
      out.verdict = taken_back ? ControlledAttempt::Verdict::inconclusive
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
