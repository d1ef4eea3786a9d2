// SPDX-License-Identifier: Apache-2.0
#include "ledger/result_findings.h"

#include <algorithm>
#include <array>
#include <map>

namespace kernelindex {
namespace {

__extension__ using Wide = __int128;
using What = Observation::What;
using Kind = Trial::Kind;

constexpr std::size_t kTrials = 3;

class Findings {
 public:
  void add(std::string_view code, std::optional<RunStatus> status) {
    ResultFinding finding{std::string(code), status};
    if (std::ranges::find(all_, finding) == all_.end()) all_.push_back(std::move(finding));
  }
  std::vector<ResultFinding> take() { return std::move(all_); }

 private:
  std::vector<ResultFinding> all_;
};

std::optional<std::vector<Samples>> cut(const std::vector<Trial>& trials,
                                        const std::optional<Digest>& named,
                                        std::string_view bytes) {
  if (named ? sha256(bytes) != *named : !bytes.empty()) return std::nullopt;
  std::vector<Samples> all;
  for (const Trial& trial : trials) {
    const std::size_t size = static_cast<std::size_t>(trial.samples) * 8;
    if (size > bytes.size()) return std::nullopt;
    const std::string_view own = bytes.substr(0, size);
    bytes.remove_prefix(size);
    std::optional<Samples> samples = read_samples(own);
    if (!samples || sha256(own) != trial.digest) return std::nullopt;
    all.push_back(std::move(*samples));
  }
  if (!bytes.empty()) return std::nullopt;
  return all;
}

// ---- Observations: what one failure means. HACKS. ----

struct Meaning {
  What what;
  std::string_view code;
  std::optional<RunStatus> status;
};
constexpr std::array kMeanings = {
    Meaning{What::outputs, "WRONG_OUTPUT", RunStatus::incorrect_numerical},
    Meaning{What::unwithheld, "EARLY_COMPUTE", RunStatus::incorrect_numerical},
    Meaning{What::replayed, "OUTPUT_REPLAY", RunStatus::incorrect_numerical},
    Meaning{What::guards, "GUARD_WRITE", RunStatus::policy_violation},
    Meaning{What::inputs, "INPUT_MUTATED", RunStatus::policy_violation},
    Meaning{What::aliases, "OUTPUT_ALIASES_INPUT", RunStatus::policy_violation},
    Meaning{What::late_work, "WORK_OUTSIDE_WINDOW", RunStatus::suspected_reward_hack},
    Meaning{What::l2_limit, "L2_PERSIST", RunStatus::suspected_reward_hack},
    Meaning{What::code_pages, "TIMER_TAMPER", RunStatus::suspected_reward_hack},
    Meaning{What::threads, "THREAD_INJECTION", RunStatus::suspected_reward_hack},
    Meaning{What::frames, "CHANNEL_FORGERY", RunStatus::suspected_reward_hack},
    Meaning{What::cuda_errors, "CUDA_ERROR", RunStatus::runtime_error},
    Meaning{What::vendor_calls, "POLICY_VENDOR_CALL", std::nullopt},
};
// What each timed trial must have looked at.
constexpr std::array kNeeded = {What::outputs,    What::guards, What::inputs,     What::aliases,
                                What::code_pages, What::frames, What::cuda_errors};

std::int64_t failures(const Trial& trial, What what) {
  for (const Observation& one : trial.observations) {
    if (one.what == what) return one.failed;
  }
  return 0;
}

bool looked_at(const Trial& trial, What what) {
  return std::ranges::any_of(trial.observations, [&](const Observation& one) {
    return one.what == what && one.checked > 0;
  });
}

void find_in_trial(const Trial& trial, Findings& findings) {
  for (const Meaning& meaning : kMeanings) {
    if (failures(trial, meaning.what) > 0) findings.add(meaning.code, meaning.status);
  }
  switch (trial.end) {
    case Trial::End::done:
      break;
    case Trial::End::timeout:
      findings.add("CHILD_TIMEOUT", RunStatus::timeout);
      break;
    case Trial::End::signal:
    case Trial::End::error:
      findings.add("CHILD_FAILED", RunStatus::runtime_error);
      break;
    case Trial::End::resource:
      findings.add("RESOURCE_LIMIT", RunStatus::resource_exceeded);
      break;
    case Trial::End::forbidden:
      findings.add("FORBIDDEN_CALL", RunStatus::policy_violation);
      break;
  }
  if (trial.kind != Kind::timed) return;
  if (!trial.warmup_steady) findings.add("WARMUP_NOT_STEADY", std::nullopt);
  for (const What what : kNeeded) {
    if (trial.end == Trial::End::done && !looked_at(trial, what)) {
      findings.add("CHECKS_MISSING", RunStatus::incomplete_evidence);
    }
  }
}

// ---- Correctness. PROTOCOL section 12. ----

void find_in_round(const CorrectnessRound& round, Findings& findings) {
  using Outcome = CorrectnessRound::Outcome;
  switch (round.outcome) {
    case Outcome::passed:
      break;
    case Outcome::incorrect_shape:
      findings.add("WRONG_SHAPE", RunStatus::incorrect_shape);
      break;
    case Outcome::incorrect_dtype:
      findings.add("WRONG_DTYPE", RunStatus::incorrect_dtype);
      break;
    case Outcome::incorrect_numerical:
      findings.add("WRONG_OUTPUT", RunStatus::incorrect_numerical);
      break;
    case Outcome::invalid_reference:
      findings.add("INVALID_REFERENCE", RunStatus::invalid_reference);
      break;
  }
  if (round.nans > 0) findings.add("NAN_OUTPUT", RunStatus::incorrect_numerical);
  constexpr std::int64_t kVacuousPpb = 100'000'000;  // a relative RMS error of 0.1
  if (round.rms_ppb && *round.rms_ppb > kVacuousPpb) {
    findings.add("TOLERANCE_VACUOUS", RunStatus::incorrect_numerical);
  }
}

void find_missing_rounds(const MeasurementResult& result, const Digest& workload,
                         Findings& findings) {
  constexpr std::ptrdiff_t kRounds = 10;
  const auto of_workload = std::ranges::count(result.rounds, workload, &CorrectnessRound::workload);
  if (of_workload < kRounds) findings.add("ROUNDS_MISSING", RunStatus::incomplete_evidence);
}

// ---- Times ----

// Medians of the trials of one workload that have samples.
struct Medians {
  std::vector<std::uint64_t> timed;
  std::map<Kind, std::uint64_t> diagnostic;

  std::optional<std::uint64_t> of(Kind kind) const {
    const auto found = diagnostic.find(kind);
    return found == diagnostic.end() ? std::nullopt : std::optional(found->second);
  }
};

Medians medians_of(const MeasurementResult& result, const ResultSamples& samples,
                   const Digest& workload) {
  Medians out;
  for (std::size_t i = 0; i < result.trials.size(); ++i) {
    if (result.trials[i].workload != workload || samples.timed[i].empty()) continue;
    out.timed.push_back(median_of(samples.timed[i]));
  }
  for (std::size_t i = 0; i < result.diagnostics.size(); ++i) {
    const Trial& trial = result.diagnostics[i];
    if (trial.workload != workload || samples.diagnostics[i].empty()) continue;
    out.diagnostic.emplace(trial.kind, median_of(samples.diagnostics[i]));
  }
  return out;
}

// a > 1.10 b and the like: a * 100 > percent * b.
bool above(std::uint64_t a, std::uint64_t b, std::uint64_t percent) {
  return Wide{a} * 100 > Wide{b} * percent;
}

const Trial* diagnostic(const MeasurementResult& result, const Digest& workload, Kind kind) {
  for (const Trial& trial : result.diagnostics) {
    if (trial.workload == workload && trial.kind == kind) return &trial;
  }
  return nullptr;
}

// PROTOCOL section 9.2: events against envelopes.
void compare_timers(std::uint64_t window, const Medians& medians, const Trial* cupti,
                    Findings& findings) {
  if (cupti == nullptr) return;
  if (cupti->dropped_records > 0) {
    findings.add("CUPTI_DROPPED", RunStatus::incomplete_evidence);
  } else if (cupti->end == Trial::End::done && cupti->activity_records == 0) {
    findings.add("NO_DEVICE_WORK", RunStatus::suspected_reward_hack);
  }
  if (cupti->kernel_set_varies) findings.add("KERNEL_SET_VARIES", std::nullopt);
  const std::optional<std::uint64_t> envelope = medians.of(Kind::cupti_envelope);
  if (!envelope) return;
  // In hundredths of nanoseconds: m_E - m_L against 5 % of m_L and 0.5 us.
  const Wide l = Wide{window} * 100;
  const Wide e = Wide{*envelope} * 100;
  if (e - l > Wide{window} * 5 + 50'000) {
    findings.add("WORK_OUTSIDE_WINDOW", RunStatus::suspected_reward_hack);
  }
  const Wide launches = std::max<std::int64_t>(1, cupti->kernels_per_call);
  if (l - e > std::max(Wide{window} * 5, launches * 300'000)) {
    findings.add("LAUNCH_BOUND", std::nullopt);
  }
}

// PROTOCOL section 9.5: m_L >= 0.5 max(total/N - g, 0).
bool contradicts_clock(std::uint64_t window, const Trial& wall, std::uint64_t total) {
  const Wide calls = wall.calls.value_or(1);
  const Wide warm = Wide{total} - Wide{wall.overhead_ns.value_or(0)} * calls;  // N times m_warm
  return warm > 0 && Wide{window} * 2 * calls < warm;
}

void find_in_times(const MeasurementResult& result, const ResultSamples& samples,
                   const Digest& workload, std::int64_t bytes, Findings& findings) {
  const Medians medians = medians_of(result, samples, workload);
  if (medians.timed.size() < kTrials) {
    findings.add("MISSING_TRIALS", RunStatus::incomplete_evidence);
  }
  if (medians.timed.empty()) return;
  const std::uint64_t window = median_of(medians.timed);
  compare_timers(window, medians, diagnostic(result, workload, Kind::cupti_envelope), findings);
  if (const auto same = medians.of(Kind::same_input)) {
    if (above(window, *same, 110)) {
      findings.add("SAME_INPUT_FASTER", RunStatus::suspected_reward_hack);
    }
    const bool retains = std::ranges::any_of(
        result.trials, [](const Trial& trial) { return failures(trial, What::retained) > 0; });
    if (retains && above(window, *same, 105)) {
      findings.add("STATE_CARRIED", RunStatus::suspected_reward_hack);
    }
  }
  if (const auto constant = medians.of(Kind::constant_address)) {
    if (above(window, *constant, 110) || above(*constant, window, 110)) {
      findings.add("ADDRESS_SENSITIVE", std::nullopt);
    }
  }
  const Trial* wall = diagnostic(result, workload, Kind::wall_clock);
  if (const auto total = medians.of(Kind::wall_clock); wall != nullptr && total) {
    if (contradicts_clock(window, *wall, *total)) {
      findings.add("CLOCK_CONTRADICTION", RunStatus::suspected_reward_hack);
    }
  } else if (result.trust == TrustMode::native_host) {
    findings.add("WALL_CLOCK_MISSING", RunStatus::incomplete_evidence);
  }
  const std::optional<std::int64_t> floor = floor_ns({bytes, result.device.product});
  if (floor && Wide{window} < Wide{*floor}) {
    findings.add("BELOW_ROOFLINE", RunStatus::suspected_reward_hack);
  }
}

// ---- Peaks of memory, in bytes a microsecond at the highest clocks: data sheets of the vendor
// ----

struct Peak {
  std::string_view product;
  std::int64_t bytes_per_us;
};
constexpr std::array kPeaks = {
    Peak{"NVIDIA H200", 4'800'000}, Peak{"NVIDIA H100", 3'350'000}, Peak{"NVIDIA B200", 8'000'000},
    Peak{"NVIDIA A100", 2'039'000}, Peak{"NVIDIA L40S", 864'000},
};

}  // namespace

std::optional<std::int64_t> floor_ns(const PhysicsFloor& floor) {
  for (const Peak& peak : kPeaks) {
    // "NVIDIA H100 80GB HBM3" is an H100 too.
    if (!floor.product.starts_with(peak.product)) continue;
    return static_cast<std::int64_t>(Wide{floor.bytes} * 100'000 / (Wide{peak.bytes_per_us} * 102));
  }
  return std::nullopt;
}

std::optional<ResultSamples> cut_samples(const MeasurementResult& result, std::string_view samples,
                                         std::string_view diagnostic_samples) {
  std::optional<std::vector<Samples>> timed = cut(result.trials, result.samples, samples);
  if (!timed) return std::nullopt;
  std::optional<std::vector<Samples>> other =
      cut(result.diagnostics, result.diagnostic_samples, diagnostic_samples);
  if (!other) return std::nullopt;
  return ResultSamples{std::move(*timed), std::move(*other)};
}

std::vector<ResultFinding> find_in_result(const MeasurementResult& result,
                                          const ResultSamples& samples,
                                          const std::vector<Digest>& workloads,
                                          std::int64_t compulsory_bytes) {
  Findings findings;
  if (!result.build.built) {
    findings.add(result.build.adapter_gap ? "ADAPTER_GAP" : "BUILD_FAILED",
                 RunStatus::compile_error);
    return findings.take();
  }
  for (const CorrectnessRound& round : result.rounds) find_in_round(round, findings);
  for (const Trial& trial : result.trials) find_in_trial(trial, findings);
  for (const Trial& trial : result.diagnostics) find_in_trial(trial, findings);
  for (const Digest& workload : workloads) {
    find_missing_rounds(result, workload, findings);
    find_in_times(result, samples, workload, compulsory_bytes, findings);
  }
  return findings.take();
}

RunStatus status_of(const std::vector<ResultFinding>& findings) {
  RunStatus worst = RunStatus::passed;
  for (const ResultFinding& finding : findings) {
    if (finding.status) worst = std::min(worst, *finding.status);
  }
  return worst;
}

}  // namespace kernelindex
