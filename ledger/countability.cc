// SPDX-License-Identifier: Apache-2.0
#include "ledger/countability.h"

#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <span>

namespace kernelindex {
namespace {

__extension__ using Wide = __int128;

constexpr std::size_t kTrials = 3;
constexpr std::int64_t kLeastSamples = 200;
constexpr std::uint64_t kMostNoisePpm = 30'000;
constexpr UtcMicros kSkew = UtcMicros{5} * 60 * 1'000'000;

const PredicateType& type_of(std::string_view name) {
  return *find_predicate_type(std::string(kPredicateBase) + std::string(name));
}

template <typename Range, typename Value, typename Member = std::identity>
bool holds(const Range& range, const Value& value, Member member = {}) {
  return std::ranges::find(range, value, member) != std::ranges::end(range);
}

class Gates {
 public:
  explicit Gates(const ResultFacts& facts) : facts_(facts) {}

  std::vector<std::string> codes() {
    judge_signers();
    judge_binding();
    judge_approvals();
    if (facts_.document == nullptr) {
      add("BYTES_NOT_HELD");
    } else {
      judge_document(*facts_.document);
    }
    return {codes_.begin(), codes_.end()};
  }

  bool revoked() {
    judge_signers();
    judge_approvals();
    return std::ranges::any_of(codes_,
                               [](const std::string& code) { return code.ends_with("_REVOKED"); });
  }

 private:
  void add(std::string_view code) { codes_.emplace(code); }
  void require(bool passed, std::string_view code) {
    if (!passed) add(code);
  }
  const MeasurementJob& job() const { return std::get<MeasurementJob>(facts_.job->said.predicate); }
  const ControlledRun& said() const {
    return std::get<ControlledRun>(facts_.result->said.predicate);
  }

  void judge_signers() {
    const Digest& controller = facts_.job->said.binding.signer;
    require(facts_.keys->counts(controller, type_of("measurement-job/v1"), facts_.job->index),
            "JOB_NOT_SIGNED");
    const Digest& signer = facts_.result->said.binding.signer;
    const KeyRecord* key = facts_.keys->find(signer);
    if (key == nullptr || key->role != Role::runner) {
      add("KEY_UNKNOWN");
      return;
    }
    require(key->valid_at(facts_.result->index), "KEY_REVOKED");
    require(signer == job().runner, "JOB_NOT_BOUND");
    require(key->protocols.empty() || holds(key->protocols, job().protocol),
            "KEY_NOT_APPROVED_FOR_PROTOCOL");
    if (facts_.document == nullptr) return;
    require(key->hardware.empty() || holds(key->hardware, facts_.document->device.product),
            "KEY_NOT_APPROVED_FOR_PRODUCT");
  }

  void judge_binding() {
    require(facts_.first, "NONCE_REUSED");
    require(facts_.result->recorded_at <= end_of_job(*facts_.job), "JOB_EXPIRED");
    const std::optional<TreeHead>& seen = facts_.result->said.binding.seen;
    require(facts_.job->index < facts_.result->index && seen && seen->size > facts_.job->index,
            "JOB_NOT_SEEN");
    require(holds(job().workloads, facts_.workload), "JOB_NOT_BOUND");
  }

  void judge_approvals() {
    approved(job().harness, DigestApproval::Kind::harness, "HARNESS_UNKNOWN", "HARNESS_REVOKED");
    approved(job().protocol, DigestApproval::Kind::protocol, "PROTOCOL_UNKNOWN",
             "PROTOCOL_REVOKED");
  }
  void approved(const Digest& digest, DigestApproval::Kind kind, std::string_view unknown,
                std::string_view revoked) {
    if (facts_.keys->approved(digest, kind, facts_.result->index)) return;
    const auto found = facts_.keys->approvals().find(digest);
    const bool once = found != facts_.keys->approvals().end() &&
                      std::ranges::any_of(found->second, [&](const ApprovalRecord& record) {
                        return record.kind == kind && record.approved_at < facts_.result->index;
                      });
    add(once ? revoked : unknown);
  }

  void judge_document(const MeasurementResult& document) {
    require(document.device.kind == MeasuredDevice::Kind::physical, "SIMULATED_DEVICE");
    require(facts_.bytes_held && facts_.samples != nullptr, "BYTES_NOT_HELD");
    judge_names(document);
    judge_device(document);
    judge_times(document);
    judge_sandbox(document);
    judge_polls(document);
    judge_sentinels(document);
    judge_findings(document);
    judge_controls(document);
    require(document.trust == TrustMode::device_only || job().source_reviewed,
            "HOST_CODE_UNREVIEWED");
    if (document.build.built && facts_.samples != nullptr) judge_samples(document);
    // Its own doubts count against it; what only the key book can know it cannot say.
    for (const std::string& reason : document.uncountable_reasons) {
      add(reason.ends_with("_REVOKED") ? std::string_view("RUNNER_DOUBTS") : reason);
    }
  }

  // What the document repeats of job and statement.
  void judge_names(const MeasurementResult& document) {
    require(document.nonce == job().nonce, "NONCE_UNKNOWN");
    require(document.job == facts_.job->id && document.runner == job().runner &&
                document.ledger == facts_.job->said.binding.ledger &&
                document.protocol == job().protocol,
            "JOB_NOT_BOUND");
    require(document.harness == job().harness, "HARNESS_UNKNOWN");
    require(document.device.id == said().device && document.host.id == said().host &&
                document.samples == said().samples,
            "RESULT_MISMATCH");
    require(facts_.run_follows, "RUN_MISMATCH");
    for (const Digest& source : document.build.sources) {
      require(holds(job().sources, source, &MeasurementJob::Source::digest), "JOB_NOT_BOUND");
    }
  }

  void judge_device(const MeasurementResult& document) {
    const MeasuredDevice& device = document.device;
    const JobDevice& wanted = job().device;
    require(device.product == wanted.product && device.count == wanted.count, "WRONG_PRODUCT");
    require(wanted.architecture.empty() || device.architecture == wanted.architecture,
            "WRONG_ARCH");
    require(!wanted.memory_bytes ||
                (device.memory_bytes && *device.memory_bytes >= *wanted.memory_bytes),
            "WRONG_PRODUCT");
    require(device.mig_profile == wanted.mig_profile, "MIG_MISMATCH");
  }

  void judge_times(const MeasurementResult& document) {
    require(document.started_at >= facts_.job->recorded_at - kSkew &&
                document.finished_at <= job().expires_at,
            "CLOCK_SKEW");
  }

  void judge_sandbox(const MeasurementResult& document) {
    for (const SandboxFacts* box : {&document.builder_sandbox, &document.child_sandbox}) {
      require(box->no_new_privileges && box->seccomp && box->private_directory &&
                  box->process_cap != SandboxFacts::Cap::none,
              "SANDBOX_INCOMPLETE");
    }
  }

  void judge_polls(const MeasurementResult& document) {
    if (!document.build.built) return;
    if (!document.polls || document.polls->polls == 0) {
      add("POLLS_MISSING");
      return;
    }
    const DevicePolls& polls = *document.polls;
    const bool locked = document.clocks == ClockVariant::locked;
    require(polls.hw_slowdown + polls.sw_thermal + polls.hw_thermal + polls.power_brake == 0 &&
                (!locked || polls.sw_power_cap == 0),
            "THROTTLED");
    require(steady(polls, locked), "CLOCK_UNSTABLE");
    const std::int64_t drift = polls.temperature_last - polls.temperature_first;
    require(drift >= -8 && drift <= 8 &&
                (!polls.temperature_slowdown ||
                 polls.temperature_highest <= *polls.temperature_slowdown - 10),
            "THERMAL_DRIFT");
    require(!polls.ecc_before || !polls.ecc_after || *polls.ecc_after <= *polls.ecc_before,
            "ECC_UNCORRECTED");
    require(polls.xids == 0, "XID");
    require(polls.foreign_processes == 0, "FOREIGN_PROCESS");
  }
  // PROTOCOL section 5: locked within 1 % of the target; unlocked at least 97 % of the median.
  static bool steady(const DevicePolls& polls, bool locked) {
    if (!locked) return Wide{polls.sm_khz_lowest} * 100 >= Wide{polls.sm_khz_median} * 97;
    if (!polls.sm_khz_target) return false;
    const Wide target = *polls.sm_khz_target;
    return Wide{polls.sm_khz_lowest} * 100 >= target * 99 &&
           Wide{polls.sm_khz_highest} * 100 <= target * 101;
  }

  void judge_sentinels(const MeasurementResult& document) {
    if (!document.build.built) return;
    if (document.sentinels.size() < 2 || facts_.sentinels == nullptr) {
      add("SENTINELS_MISSING");
      return;
    }
    require(!drifted(document), "SENTINEL_DRIFT");
    const std::vector<SentinelSession> history = comparable_history(document);
    std::set<Digest> boots;
    std::size_t long_enough = 0;
    for (const SentinelSession& session : history) {
      boots.insert(session.boot);
      if (session.repetitions >= 10) ++long_enough;
    }
    const bool provisional = holds(facts_.allowed, kAcceptProvisional) && long_enough >= 3;
    const bool calibrated = history.size() >= 10 && boots.size() >= 3;
    require(calibrated || provisional, "UNCALIBRATED");
    if (calibrated || provisional) judge_bands(document, history);
  }
  std::vector<SentinelSession> comparable_history(const MeasurementResult& document) const {
    std::vector<SentinelSession> out;
    for (const SentinelSession& session : facts_.calibration) {
      if (session.clocks == document.clocks) out.push_back(session);
    }
    return out;
  }

  struct Sentinel {
    std::int64_t SentinelSession::*value;
    std::int64_t drift_percent;
    std::int64_t band_percent;
  };
  static constexpr std::array kSentinels = {
      Sentinel{&SentinelSession::launch_ns, 10, 10},
      Sentinel{&SentinelSession::bandwidth_ns, 1, 2},
      Sentinel{&SentinelSession::compute_ns, 1, 3},
      Sentinel{&SentinelSession::tensor_ns, 1, 3},
  };

  static bool drifted(const MeasurementResult& document) {
    const SentinelSession& before = document.sentinels.front();
    const SentinelSession& after = document.sentinels.back();
    return std::ranges::any_of(kSentinels, [&](const Sentinel& sentinel) {
      const Wide a = before.*sentinel.value;
      const Wide b = after.*sentinel.value;
      const Wide gap = a > b ? a - b : b - a;
      return gap * 200 > (a + b) * sentinel.drift_percent;  // |a-b| / ((a+b)/2)
    });
  }

  void judge_bands(const MeasurementResult& document, const std::vector<SentinelSession>& history) {
    const bool locked = document.clocks == ClockVariant::locked;
    for (const Sentinel& sentinel : kSentinels) {
      Samples values;
      for (const SentinelSession& session : history) {
        values.push_back(static_cast<std::uint64_t>(session.*sentinel.value));
      }
      const std::uint64_t median = median_of(values);
      Samples distances;
      for (const std::uint64_t value : values) {
        distances.push_back(value > median ? value - median : median - value);
      }
      const bool compute = sentinel.band_percent == 3;
      // Ten thousandths: 3 * 1.4826 MAD, not tighter than the table.
      const Wide wide =
          std::max(Wide{median_of(distances)} * 44'478,
                   Wide{median} * 100 * (locked && compute ? 1 : sentinel.band_percent));
      for (const SentinelSession* session :
           {&document.sentinels.front(), &document.sentinels.back()}) {
        const Wide gap = Wide{session->*sentinel.value} - Wide{median};
        require((gap < 0 ? -gap : gap) * 10'000 <= wide, "SENTINEL_OUT_OF_BAND");
      }
    }
  }

  void judge_findings(const MeasurementResult& document) {
    const RunStatus shown = status_of(facts_.findings);
    // A runner may know of something worse than the evidence shows, never of something better.
    require(document.status <= shown, "STATUS_MISMATCH");
    const RunStatus status = std::min(shown, document.status);
    if (status == RunStatus::incomplete_evidence) {
      add("INCOMPLETE_EVIDENCE");
      for (const ResultFinding& finding : facts_.findings) {
        if (finding.status == RunStatus::incomplete_evidence) add(finding.code);
      }
    }
    require(status != RunStatus::invalid_reference, "INVALID_REFERENCE");
  }

  void judge_controls(const MeasurementResult& document) {
    if (!document.build.built) return;
    bool tried = false;
    for (const VacuityControl& control : document.controls) {
      if (control.workload != facts_.workload) continue;
      tried = true;
      require(control.rejected, "COMPARATOR_VACUOUS");
    }
    require(tried, "COMPARATOR_UNTESTED");
  }

  void judge_samples(const MeasurementResult& document) {
    const ResultSamples& samples = *facts_.samples;
    std::size_t trials = 0;
    Wide kept = 0;
    Wide discarded = 0;
    std::vector<std::span<const std::uint64_t>> series;
    for (std::size_t i = 0; i < document.trials.size(); ++i) {
      const Trial& trial = document.trials[i];
      if (trial.workload != facts_.workload) continue;
      ++trials;
      series.emplace_back(samples.timed[i]);
      kept += trial.samples;
      for (const Discards& discards : trial.discards) discarded += discards.count;
      require(trial.samples >= kLeastSamples, "INSUFFICIENT_SAMPLES");
      require(narrow(samples.timed[i]), "CI_TOO_WIDE");
    }
    require(trials >= kTrials, "INSUFFICIENT_SAMPLES");
    require(discarded * 20 <= kept + discarded, "TOO_MANY_DISCARDS");
    const std::optional<ResultStatistics> statistics = pooled_statistics(series);
    const auto said = document.statistics.find(facts_.workload);
    require(statistics ? said != document.statistics.end() && said->second == *statistics
                       : said == document.statistics.end(),
            "STATS_MISMATCH");
    const std::optional<std::uint64_t> noise = noise_of(document, samples, facts_.workload);
    require(!noise || *noise <= kMostNoisePpm, "TOO_NOISY");
    if (facts_.cupti_claim) {
      require(std::ranges::any_of(document.diagnostics,
                                  [&](const Trial& trial) {
                                    return trial.workload == facts_.workload &&
                                           trial.kind == Trial::Kind::cupti_envelope &&
                                           trial.samples > 0;
                                  }),
              "TIMER_CUPTI_UNAVAILABLE");
    }
  }
  // Half the width of the interval at most 1 % of the median or 0.25 us.
  static bool narrow(const Samples& samples) {
    const std::array<std::span<const std::uint64_t>, 1> one = {samples};
    const std::optional<ResultStatistics> statistics = pooled_statistics(one);
    if (!statistics || !statistics->low_ns) return false;
    const Wide width = Wide{*statistics->high_ns} - *statistics->low_ns;
    return width <= 500 || width * 50 <= Wide{statistics->median_ns};
  }

  const ResultFacts& facts_;
  std::set<std::string> codes_;
};

}  // namespace

std::vector<std::string> countability(const ResultFacts& facts) { return Gates(facts).codes(); }

bool rests_on_revoked(const ResultFacts& facts) { return Gates(facts).revoked(); }

UtcMicros end_of_job(const SaidAt& job) {
  return std::min(std::get<MeasurementJob>(job.said.predicate).expires_at,
                  job.recorded_at + kLongestJob);
}

std::optional<std::uint64_t> noise_of(const MeasurementResult& document,
                                      const ResultSamples& samples, const Digest& workload) {
  NoiseParts parts;
  Samples all;
  for (std::size_t i = 0; i < document.trials.size(); ++i) {
    if (document.trials[i].workload != workload || samples.timed[i].empty()) continue;
    parts.trial_medians.push_back(median_of(samples.timed[i]));
    all.insert(all.end(), samples.timed[i].begin(), samples.timed[i].end());
  }
  if (all.empty()) return std::nullopt;
  parts.pooled_median = std::max<std::uint64_t>(1, median_of(all));
  if (document.sentinels.size() >= 2) {
    const SentinelSession& before = document.sentinels.front();
    const SentinelSession& after = document.sentinels.back();
    for (const auto value : {&SentinelSession::bandwidth_ns, &SentinelSession::compute_ns,
                             &SentinelSession::tensor_ns}) {
      parts.sentinels.emplace_back(static_cast<std::uint64_t>(before.*value),
                                   static_cast<std::uint64_t>(after.*value));
    }
  }
  return noise_ppm(parts);
}

std::optional<std::vector<Samples>> cut_sentinels(const std::vector<SentinelSession>& sessions,
                                                  std::string_view bytes) {
  std::vector<Samples> series;
  for (const SentinelSession& session : sessions) {
    const std::size_t size = static_cast<std::size_t>(session.repetitions) * 8;
    for (const std::int64_t said : {session.launch_ns, session.bandwidth_ns, session.compute_ns,
                                    session.tensor_ns, session.sm_khz}) {
      if (bytes.size() < size) return std::nullopt;
      std::optional<Samples> samples = read_samples(bytes.substr(0, size));
      if (!samples || median_of(*samples) != static_cast<std::uint64_t>(said)) return std::nullopt;
      bytes.remove_prefix(size);
      series.push_back(std::move(*samples));
    }
  }
  if (!bytes.empty()) return std::nullopt;
  return series;
}

}  // namespace kernelindex
