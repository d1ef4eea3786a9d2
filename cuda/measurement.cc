// SPDX-License-Identifier: Apache-2.0
#include "cuda/measurement.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "cuda/child_frames.h"
#include "cuda/host_facts.h"
#include "cuda/input_family.h"
#include "cuda/source_scan.h"
#include "cuda/stopping_rule.h"
#include "cuda/timing_checks.h"
#include "cuda/vacuity.h"
#include "schema/json_reader.h"
#include "schema/json_value.h"

namespace kernelindex::runner {
namespace {

constexpr std::uint32_t kTimedTrials = 3;
constexpr std::int64_t kSentinelRepetitions = 200;
constexpr std::size_t kDetailBytes = 500;
// Rows are independent, so the controls of a large workload are tried on fewer of them.
constexpr std::int64_t kControlRows = 64;

UtcMicros now() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::string one_line(std::string text) {
  text.resize(std::min(text.size(), kDetailBytes));
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7e) c = ' ';
  }
  return text;
}

CorrectnessRound::Family result_family(InputFamily family) {
  using Family = CorrectnessRound::Family;
  switch (family) {
    case InputFamily::source:
      return Family::T0;
    case InputFamily::row_scale:
      return Family::C1;
    case InputFamily::block_scale:
      return Family::C2;
    case InputFamily::exact_probe:
      return Family::C3;
    case InputFamily::extremes:
      return Family::C4;
    case InputFamily::constant_rows:
    case InputFamily::all_equal:
      return Family::C5;
    case InputFamily::one_redrawn:
      return Family::C6;
  }
  return Family::T0;
}

std::optional<std::string> text_of(const json::Value& spec, std::string_view name) {
  const json::Value* value = spec.find({"correctness", name});
  if (value == nullptr || !value->is_string()) return std::nullopt;
  return std::string(value->string());
}

double number_of(const json::Value& spec, std::string_view name, double otherwise) {
  const json::Value* value = spec.find({"correctness", name});
  return value != nullptr && value->is_number() ? value->number() : otherwise;
}

Axes fewer_rows(Axes axes) {
  for (const char* name : {"batch_size", "seq_len", "m"}) {
    const auto axis = axes.find(name);
    if (axis != axes.end()) axis->second = std::min(axis->second, kControlRows);
  }
  return axes;
}

class Measurement {
 public:
  Measurement(const JobDocument& job, Bench& bench, const Toolchain& toolchain,
              const Progress& progress)
      : job_(job),
        bench_(bench),
        toolchain_(toolchain),
        progress_(progress),
        entropy_(random_text(32)),
        seeds_({reinterpret_cast<const char*>(job.nonce.data()), job.nonce.size()}, entropy_) {}

  Result<MeasurementOutput> run() {
    begin();
    for (const auto& step : {&Measurement::build, &Measurement::bind, &Measurement::controls,
                             &Measurement::rounds, &Measurement::measure}) {
      if (const Status done = (this->*step)(); !done) return fail(done.error());
    }
    return finish();
  }

 private:
  void begin() {
    MeasurementResult& result = output_.result;
    result.ledger = job_.ledger;
    result.job = job_.job;
    result.nonce = job_.nonce;
    result.runner = job_.runner;
    result.protocol = job_.protocol;
    result.harness = own_digest();
    result.clocks = job_.clocks;
    result.trust = job_.recipe.trust();
    result.started_at = now();
    std::memcpy(result.entropy.data(), entropy_.data(), entropy_.size());
    result.device = bench_.device();
    result.host = host_ids(job_.ledger);
    result.software = host_software();
    result.software.driver = bench_.driver();
    result.settings = bench_.settings();
    found(RunStatus::passed);
    if (result.harness != job_.harness) uncountable("HARNESS_UNKNOWN");
    if (result.device.kind == MeasuredDevice::Kind::simulated) uncountable("SIMULATED_DEVICE");
    if (result.trust == TrustMode::native_host && !job_.source_reviewed) {
      uncountable("HOST_CODE_UNREVIEWED");
    }
  }

  // The most severe of what was found; RunStatus is in that order.
  void found(RunStatus status) { status_ = std::min(status_, status); }
  void code(std::string_view name) { codes_.insert(std::string(name)); }
  void uncountable(std::string_view name) {
    reasons_.insert(std::string(name));
    code(name);
  }
  void check(std::string name, RunnerCheck::Outcome outcome, std::string detail = {}) {
    if (output_.result.checks.size() < kResultChecks) {
      output_.result.checks.push_back({std::move(name), outcome, one_line(std::move(detail)), {}});
    }
  }
  void log(std::string name, std::string_view kept, std::int64_t original) {
    if (output_.result.logs.size() >= kResultLogs || original == 0) return;
    RunnerLog entry{std::move(name), {}, static_cast<std::int64_t>(kept.size()), original};
    if (!kept.empty()) {
      entry.digest = sha256(kept);
      output_.artifacts.emplace_back(entry.name, std::string(kept));
    }
    output_.result.logs.push_back(std::move(entry));
  }

  Status build() {
    progress_("build");
    std::vector<JobSourceFile> sources;
    for (const JobSourceFile& source : job_.sources) {
      if (source.path == kRecipePath) continue;
      sources.push_back(source);
      for (const ScanNote& note : scan_source(source.path, source.content)) {
        check(note.code, RunnerCheck::Outcome::note,
              note.path + ":" + std::to_string(note.line) + " " + note.word);
      }
    }
    const Result<BuildOutcome> built = build_kernel(
        {job_.recipe, sources, job_.limits, build_architecture(output_.result.device.architecture)},
        toolchain_);
    if (!built) {
      if (built.error().code != "NO_COMPILER") return fail(built.error());
      check("NO_COMPILER", RunnerCheck::Outcome::not_run, built.error().text());
      code("NO_COMPILER");
      found(RunStatus::incomplete_evidence);
      for (const JobSourceFile& source : sources) {
        output_.result.build.sources.push_back(source.digest);
      }
      std::sort(output_.result.build.sources.begin(), output_.result.build.sources.end());
      return {};
    }
    output_.result.build = built->facts;
    if (!built->artifact.empty()) output_.artifacts.emplace_back("build", built->artifact);
    bench_.use(*built);
    output_.result.builder_sandbox = built->sandbox;
    found(built->status);
    for (const std::string& name : built->codes) code(name);
    log("build", built->log, built->log_original_bytes);
    check("BUILD", built->facts.built ? RunnerCheck::Outcome::passed : RunnerCheck::Outcome::failed,
          built->facts.adapter_gap ? "the adapter lacks what the sources use" : "");
    return {};
  }

  bool built() const { return output_.result.build.built; }

  Status bind() {
    for (const JobManifest& manifest : job_.workloads) {
      Result<BoundWorkload> workload = bind_workload(job_.operation.digest, manifest);
      if (workload) {
        workloads_.push_back(std::move(*workload));
        continue;
      }
      found(RunStatus::invalid_reference);
      code(workload.error().code);
      check(workload.error().code, RunnerCheck::Outcome::failed, workload.error().text());
    }
    return {};
  }

  StreamOf streams(const BoundWorkload& workload, std::uint32_t trial, std::uint32_t round,
                   std::uint32_t sample) const {
    return [this, &workload, trial, round, sample](std::string_view tensor) {
      return seeds_.stream({workload.digest, trial, round, sample, tensor});
    };
  }

  // Of a workload alone: whether its comparator is vacuous must not depend on a draw.
  static StreamOf fixed_streams(const BoundWorkload& workload) {
    const SeedSource fixed(workload.digest.raw(), std::string(32, '\0'));
    return [fixed, digest = workload.digest](std::string_view tensor) {
      return fixed.stream({digest, 0, 0, 0, tensor});
    };
  }

  Status controls() {
    progress_("controls of the comparators");
    for (const BoundWorkload& workload : workloads_) {
      const Axes axes = fewer_rows(workload.axes);
      InputOptions options;
      options.scalars = workload.scalars;
      const Result<VacuityReport> report = test_comparator(
          *workload.operation, axes, fixed_streams(workload), options, workload.tolerance);
      if (!report) return fail(report.error());
      for (const Control control : report->tried) {
        const bool accepted = std::find(report->accepted.begin(), report->accepted.end(),
                                        control) != report->accepted.end();
        output_.result.controls.push_back(
            {workload.digest, std::string(control_name(control)), !accepted});
      }
      if (report->vacuous()) uncountable("COMPARATOR_VACUOUS");
    }
    return {};
  }

  Status rounds() {
    if (!built() && output_.result.device.kind == MeasuredDevice::Kind::physical) return {};
    progress_("correctness");
    for (const BoundWorkload& workload : workloads_) {
      std::uint32_t number = 0;
      for (const InputFamily family : correctness_rounds(*workload.operation)) {
        if (const Status done = one_round(workload, family, ++number); !done) return done;
      }
    }
    return {};
  }

  Status one_round(const BoundWorkload& workload, InputFamily family, std::uint32_t number) {
    InputOptions options;
    options.family = family;
    options.scalars = workload.scalars;
    if (family == InputFamily::one_redrawn) options.redrawn = 0;
    const Result<Arguments> inputs =
        make_inputs(*workload.operation, workload.axes, streams(workload, 0, number, 0), options);
    if (!inputs) return fail(inputs.error());
    Result<std::vector<HostTensor>> got = bench_.outputs(workload, *inputs);
    if (!got) return fail(got.error());
    if (got->empty()) {
      // Nothing was run, so there is nothing to compare: no round, and the result says so.
      code("NOT_COMPARED");
      return {};
    }
    CorrectnessRound round;
    round.workload = workload.digest;
    round.family = result_family(family);
    round.outcome = CorrectnessRound::Outcome::passed;
    double worst = 0;
    double absolute = 0;
    double relative = 0;
    for (std::size_t i = 0; i < workload.operation->outputs.size(); ++i) {
      const HostTensor want = evaluate_output(*workload.operation, *inputs, i);
      const HostTensor& have = (*got)[i];
      if (!std::ranges::equal(have.shape(), want.shape())) {
        round.outcome = CorrectnessRound::Outcome::incorrect_shape;
        break;
      }
      if (have.dtype() != want.dtype()) {
        round.outcome = CorrectnessRound::Outcome::incorrect_dtype;
        break;
      }
      const Comparison::Outcome compared = compare(want, have, workload.tolerance);
      round.elements += compared.count;
      round.matched += compared.matched;
      round.nans += compared.not_finite ? 1 : 0;
      worst = std::max(worst, compared.relative_rms);
      absolute = std::max(absolute, compared.largest_absolute_error);
      relative = std::max(relative, compared.largest_relative_error);
      const bool exact_needed = family == InputFamily::exact_probe || workload.operation->exact;
      if (!compared.source_rule || compared.vacuous_pass() ||
          (exact_needed && !compared.bit_exact && compared.relative_rms > 0.1)) {
        round.outcome = CorrectnessRound::Outcome::incorrect_numerical;
      }
      if (compared.vacuous_pass()) code("TOLERANCE_VACUOUS");
    }
    round.rms_ppb = static_cast<std::int64_t>(std::ceil(std::min(worst, 1e6) * 1e9));
    round.max_absolute_error = absolute;
    round.max_relative_error = relative;
    if (round.outcome == CorrectnessRound::Outcome::incorrect_shape) {
      found(RunStatus::incorrect_shape);
    } else if (round.outcome == CorrectnessRound::Outcome::incorrect_dtype) {
      found(RunStatus::incorrect_dtype);
    } else if (round.outcome == CorrectnessRound::Outcome::incorrect_numerical) {
      found(RunStatus::incorrect_numerical);
    }
    output_.result.rounds.push_back(std::move(round));
    return {};
  }

  Status measure() {
    const bool physical = output_.result.device.kind == MeasuredDevice::Kind::physical;
    if (workloads_.empty() || (physical && !built())) return {};
    if (const Status done = sentinels(); !done) return done;
    progress_("trials");
    std::vector<Samples> timed;
    for (std::uint32_t number = 0; number < kTimedTrials; ++number) {
      for (const BoundWorkload& workload : workloads_) {
        if (const Status done =
                one_trial(workload, Trial::Kind::timed, number, timed, output_.result.trials);
            !done) {
          return done;
        }
      }
    }
    progress_("diagnostics");
    std::vector<Samples> diagnostic;
    std::uint32_t number = kTimedTrials;
    for (const BoundWorkload& workload : workloads_) {
      for (const Trial::Kind kind :
           {Trial::Kind::cupti_envelope, Trial::Kind::clean_flush, Trial::Kind::constant_address,
            Trial::Kind::same_input, Trial::Kind::empty_window, Trial::Kind::wall_clock}) {
        if (const Status done =
                one_trial(workload, kind, number++, diagnostic, output_.result.diagnostics);
            !done) {
          return done;
        }
      }
    }
    if (const Status done = sentinels(); !done) return done;
    output_.result.polls = bench_.polls();
    for (const std::string_view gap : bench_.gaps()) {
      check(std::string(gap), RunnerCheck::Outcome::not_run);
    }
    name_samples(timed, output_.samples, output_.result.samples);
    std::string bytes;
    name_samples(diagnostic, bytes, output_.result.diagnostic_samples);
    if (!bytes.empty()) output_.artifacts.emplace_back("diagnostic_samples", std::move(bytes));
    if (!sentinel_bytes_.empty()) {
      output_.result.sentinel_samples = sha256(sentinel_bytes_);
      output_.artifacts.emplace_back("sentinel_samples", sentinel_bytes_);
    }
    summarise(timed);
    return {};
  }

  Status sentinels() {
    const Result<SentinelOutcome> outcome =
        bench_.sentinels(job_.clocks, kSentinelRepetitions, output_.result.host.boot);
    if (!outcome && outcome.error().code == "NO_SENTINELS") {
      check("NO_SENTINELS", RunnerCheck::Outcome::not_run, outcome.error().message);
      uncountable("UNCALIBRATED");
      found(RunStatus::incomplete_evidence);
      return {};
    }
    if (!outcome) return fail(outcome.error());
    output_.result.sentinels.push_back(outcome->session);
    sentinel_bytes_ += write_samples(outcome->samples);
    return {};
  }

  Status one_trial(const BoundWorkload& workload, Trial::Kind kind, std::uint32_t number,
                   std::vector<Samples>& series, std::vector<Trial>& trials) {
    const auto seed = [&](std::uint32_t sample) {
      return seeds_.seed({workload.digest, number + 1, 0, sample, ""});
    };
    Result<TrialOutcome> outcome = bench_.trial(workload, kind, number, seed);
    if (!outcome) return fail(outcome.error());
    output_.result.child_sandbox = outcome->sandbox;
    outcome->facts.samples = static_cast<std::int64_t>(outcome->samples.size());
    outcome->facts.digest = sha256(write_samples(outcome->samples));
    judge(outcome->facts);
    note_findings(outcome->findings);
    if (kind == Trial::Kind::cupti_envelope && outcome->samples.empty() &&
        outcome->findings.empty()) {
      // Loudly: a pass that silently falls back to another timer is the bug (HACKS row 8).
      uncountable("TIMER_CUPTI_UNAVAILABLE");
      found(RunStatus::incomplete_evidence);
    }
    log("child_" + std::to_string(output_.result.logs.size()), outcome->log,
        outcome->log_original_bytes);
    if (!outcome->samples.empty()) {
      diagnosed_[{workload.digest, kind}] = {median_of(outcome->samples), outcome->facts};
    }
    trials.push_back(outcome->facts);
    series.push_back(std::move(outcome->samples));
    return {};
  }

  void judge(const Trial& trial) {
    switch (trial.end) {
      case Trial::End::done:
        break;
      case Trial::End::timeout:
        found(RunStatus::timeout);
        break;
      case Trial::End::signal:
      case Trial::End::error:
        found(RunStatus::runtime_error);
        break;
      case Trial::End::resource:
        found(RunStatus::resource_exceeded);
        break;
      case Trial::End::forbidden:
        found(RunStatus::policy_violation);
        code("FORBIDDEN_SYSCALL");
        break;
    }
    for (const Observation& seen : trial.observations) {
      if (seen.failed == 0) continue;
      switch (seen.what) {
        case Observation::What::frames:
          found(RunStatus::suspected_reward_hack);
          code("CHANNEL_FORGERY");
          break;
        case Observation::What::guards:
          found(RunStatus::policy_violation);
          code("GUARD_WRITE");
          break;
        case Observation::What::inputs:
          found(RunStatus::policy_violation);
          code("INPUT_MUTATED");
          break;
        case Observation::What::aliases:
          found(RunStatus::policy_violation);
          code("OUTPUT_ALIASES_INPUT");
          break;
        case Observation::What::outputs:
          found(RunStatus::incorrect_numerical);
          break;
        case Observation::What::replayed:
          code("OUTPUT_REPLAY");
          break;
        case Observation::What::unwithheld:
          code("EARLY_COMPUTE");
          break;
        case Observation::What::l2_limit:
          found(RunStatus::suspected_reward_hack);
          code("L2_PERSIST");
          break;
        case Observation::What::code_pages:
          found(RunStatus::suspected_reward_hack);
          code("TIMER_TAMPER");
          break;
        case Observation::What::late_work:
          found(RunStatus::suspected_reward_hack);
          code("WORK_OUTSIDE_WINDOW");
          break;
        case Observation::What::cuda_errors:
          found(RunStatus::runtime_error);
          break;
        case Observation::What::threads:
        case Observation::What::retained:
        case Observation::What::vendor_calls:
          break;  // counts that the diagnostics make something of
      }
    }
  }

  static void name_samples(const std::vector<Samples>& series, std::string& bytes,
                           std::optional<Digest>& digest) {
    for (const Samples& one : series) bytes += write_samples(one);
    if (!bytes.empty()) digest = sha256(bytes);
  }

  void summarise(const std::vector<Samples>& timed) {
    for (const BoundWorkload& workload : workloads_) {
      std::vector<std::span<const std::uint64_t>> trials;
      for (std::size_t i = 0; i < timed.size(); ++i) {
        if (output_.result.trials[i].workload == workload.digest) trials.emplace_back(timed[i]);
      }
      const std::optional<ResultStatistics> statistics = pooled_statistics(trials);
      if (!statistics) continue;
      output_.result.statistics.emplace(workload.digest, *statistics);
      hold_against_diagnostics(workload, static_cast<std::uint64_t>(statistics->median_ns));
    }
    if (output_.result.statistics.size() != workloads_.size()) {
      found(RunStatus::incomplete_evidence);
      uncountable("INSUFFICIENT_SAMPLES");
    }
  }

  // The detectors that compare trials with each other.
  void hold_against_diagnostics(const BoundWorkload& workload, std::uint64_t median) {
    Findings all;
    const auto add = [&all](Findings more) {
      std::move(more.begin(), more.end(), std::back_inserter(all));
    };
    const auto diagnosed = [&](Trial::Kind kind) -> const Diagnosed* {
      const auto found = diagnosed_.find({workload.digest, kind});
      return found == diagnosed_.end() ? nullptr : &found->second;
    };
    if (const std::optional<Peak> peak = peak_of(output_.result.device.product, false)) {
      const auto bytes =
          static_cast<std::uint64_t>(compulsory_bytes(*workload.operation, shapes_of(workload)));
      // Arithmetic may run on tensor cores whatever the types say, so memory alone bounds it here.
      add(check_floor(median, physics_floor_ns(bytes, 0, *peak)));
    }
    if (const Diagnosed* envelope = diagnosed(Trial::Kind::cupti_envelope)) {
      const auto kernels = std::max<std::int64_t>(envelope->facts.kernels_per_call, 1);
      add(check_timers({median, envelope->median, static_cast<std::uint64_t>(kernels)}));
    }
    if (const Diagnosed* constant = diagnosed(Trial::Kind::constant_address)) {
      add(check_addresses(median, constant->median));
    }
    if (const Diagnosed* same = diagnosed(Trial::Kind::same_input)) {
      add(check_same_input(median, same->median));
    }
    if (const Diagnosed* wall = diagnosed(Trial::Kind::wall_clock);
        wall != nullptr && wall->facts.calls.value_or(0) > 0) {
      add(check_wall_clock({wall->median, static_cast<std::uint64_t>(*wall->facts.calls),
                            static_cast<std::uint64_t>(wall->facts.overhead_ns.value_or(0)),
                            median}));
    }
    if (const Diagnosed* timed = diagnosed(Trial::Kind::timed);
        timed != nullptr && timed->facts.late_ns && timed->facts.compare_ns) {
      add(check_late_work(static_cast<std::uint64_t>(*timed->facts.late_ns),
                          static_cast<std::uint64_t>(*timed->facts.compare_ns)));
    }
    note_findings(all);
  }

  void note_findings(const Findings& findings) {
    for (const Finding& finding : findings) {
      const bool accuses = finding.weight == Finding::Weight::hack;
      check(std::string(finding.code),
            accuses ? RunnerCheck::Outcome::failed : RunnerCheck::Outcome::note, finding.detail);
      code(finding.code);
      if (accuses) found(RunStatus::suspected_reward_hack);
      if (finding.weight == Finding::Weight::incomplete) found(RunStatus::incomplete_evidence);
    }
  }

  static Arguments shapes_of(const BoundWorkload& workload) {
    Arguments shapes{workload.axes, {}, 1};
    for (const InputSpec& input : workload.operation->inputs) {
      shapes.inputs.emplace_back(std::string(input.name), input.dtype,
                                 *extents(input.axes, workload.axes));
    }
    return shapes;
  }

  Result<MeasurementOutput> finish() {
    MeasurementResult& result = output_.result;
    if (!built()) found(RunStatus::incomplete_evidence);
    if (codes_.contains("NOT_COMPARED")) {
      found(RunStatus::incomplete_evidence);
      check("NOT_COMPARED", RunnerCheck::Outcome::not_run, "no output was compared");
    }
    result.finished_at = now();
    result.status = status_;
    result.codes.assign(codes_.begin(), codes_.end());
    result.uncountable_reasons.assign(reasons_.begin(), reasons_.end());
    // The gate alone: what was found wrong with the candidate is the status, and may count, too.
    result.countable = reasons_.empty();
    Result<std::string> document = write_measurement_result(result);
    if (!document) return fail(document.error());
    output_.document = std::move(*document);
    return std::move(output_);
  }

  const JobDocument& job_;
  Bench& bench_;
  const Toolchain& toolchain_;
  const Progress& progress_;
  std::string entropy_;
  SeedSource seeds_;
  std::vector<BoundWorkload> workloads_;
  // The last trial of each kind.
  struct Diagnosed {
    std::uint64_t median = 0;
    Trial facts;
  };
  std::map<std::pair<Digest, Trial::Kind>, Diagnosed> diagnosed_;
  std::string sentinel_bytes_;
  RunStatus status_ = RunStatus::passed;
  std::set<std::string> codes_;
  std::set<std::string> reasons_;
  MeasurementOutput output_;
};

}  // namespace

Result<BoundWorkload> bind_workload(const Digest& operation, const JobManifest& workload) {
  BoundWorkload bound;
  bound.digest = workload.digest;
  bound.operation = find_reference(operation);
  if (bound.operation == nullptr) {
    return fail(ErrorKind::invalid, "NO_NATIVE_REFERENCE", workload.name,
                "there is no native reference for this operation");
  }
  json::Arena arena;
  const Result<json::Value> manifest = json::parse(workload.text, arena);
  if (!manifest) return fail(manifest.error());
  const json::Value* spec = manifest->find("spec");
  if (spec == nullptr) return fail(ErrorKind::invalid, "WRONG_MANIFEST", workload.name, "no spec");
  Axes axes;
  if (const json::Value* given = spec->find("axes"); given != nullptr && given->is_object()) {
    for (const json::Member& axis : given->object()) {
      if (axis.value.is_number()) {
        axes[std::string(axis.name)] = static_cast<std::int64_t>(axis.value.number());
      }
    }
  }
  Result<Axes> all = bind_axes(*bound.operation, axes);
  if (!all) return fail(all.error());
  bound.axes = std::move(*all);
  if (const json::Value* scalars = spec->find("scalars");
      scalars != nullptr && scalars->is_object()) {
    for (const json::Member& scalar : scalars->object()) {
      const json::Value* value =
          scalar.value.is_object() ? scalar.value.find("value") : &scalar.value;
      if (value != nullptr && value->is_number()) {
        bound.scalars[std::string(scalar.name)] = value->number();
      }
    }
  }
  if (text_of(*spec, "nanPolicy") == "ignore" || text_of(*spec, "infinityPolicy") == "ignore") {
    return fail(ErrorKind::invalid, "NAN_POLICY", workload.name,
                "NaN or infinity may not be ignored in a controlled run");
  }
  bound.tolerance.absolute = number_of(*spec, "maxAbsoluteError", 1e-2);
  bound.tolerance.relative = number_of(*spec, "maxRelativeError", 1e-2);
  bound.tolerance.required_matched_ratio = number_of(*spec, "requiredMatchedRatio", 0.99);
  bound.tolerance.allow_negative_infinity = text_of(*spec, "infinityPolicy") == "exact_match";
  return bound;
}

Result<MeasurementOutput> measure_job(const JobDocument& job, Bench& bench,
                                      const Toolchain& toolchain, const Progress& progress) {
  return Measurement(job, bench, toolchain, progress).run();
}

Result<CalibrationOutput> calibrate(const CalibrationRequest& request, Bench& bench) {
  CalibrationDocument document;
  document.ledger = request.ledger;
  document.harness = own_digest();
  const MeasuredDevice device = bench.device();
  document.simulated = device.kind == MeasuredDevice::Kind::simulated;
  document.product = device.product;
  document.device = device.id;
  const MeasuredHost host = host_ids(request.ledger);
  document.host = host.id;
  CalibrationOutput output;
  for (std::int64_t i = 0; i < request.sessions; ++i) {
    const Result<SentinelOutcome> outcome =
        bench.sentinels(request.clocks, request.repetitions, host.boot);
    if (!outcome) return fail(outcome.error());
    document.sessions.push_back(outcome->session);
    output.samples += write_samples(outcome->samples);
  }
  document.samples = sha256(output.samples);
  Result<std::string> text = write_calibration_document(document);
  if (!text) return fail(text.error());
  output.document = std::move(*text);
  return output;
}

}  // namespace kernelindex::runner
