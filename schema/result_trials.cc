// SPDX-License-Identifier: Apache-2.0
// What was measured and checked, as members of a result document.
#include "schema/checked_members.h"
#include "schema/result_members.h"

namespace kernelindex::result_members {
namespace {

using checked::digest;
using checked::FlagRow;
using checked::line;
using checked::one_of_words;
using checked::OptionalWholeRow;
using checked::whole;
using checked::WholeRow;
using schema::Node;
using schema::optional;
using schema::required;

constexpr std::size_t kNameBytes = 100;

constexpr std::array<std::string_view, 7> kFamilies = {"T0", "C1", "C2", "C3", "C4", "C5", "C6"};
constexpr std::array<std::string_view, 5> kOutcomes = {
    "passed", "incorrect_shape", "incorrect_dtype", "incorrect_numerical", "invalid_reference"};
constexpr std::array<std::string_view, 7> kTrialKinds = {
    "timed",      "cupti_envelope", "clean_flush", "constant_address",
    "same_input", "empty_window",   "wall_clock"};
constexpr std::array<std::string_view, 6> kEnds = {"done",  "timeout",  "signal",
                                                   "error", "resource", "forbidden"};
constexpr std::array<std::string_view, 14> kObserved = {
    "outputs",   "unwithheld", "replayed",   "guards",  "inputs", "aliases",     "retained",
    "late_work", "l2_limit",   "code_pages", "threads", "frames", "cuda_errors", "vendor_calls"};
constexpr std::array<std::string_view, 3> kDiscardReasons = {"blocking_timeout", "cupti_record",
                                                             "clock_poll"};
constexpr std::array<std::string_view, 4> kCheckOutcomes = {"passed", "failed", "note", "not_run"};

constexpr WholeRow<CorrectnessRound> kRound[] = {
    {"elements", &CorrectnessRound::elements},
    {"matched", &CorrectnessRound::matched},
    {"nans", &CorrectnessRound::nans},
    {"infinities", &CorrectnessRound::infinities},
};
constexpr OptionalWholeRow<CorrectnessRound> kOptionalRound[] = {
    {"rmsPpb", &CorrectnessRound::rms_ppb},
};

constexpr WholeRow<Trial> kTrial[] = {
    {"samples", &Trial::samples, 0, kTrialSamples}, {"warmupCalls", &Trial::warmup_calls},
    {"kernelsPerCall", &Trial::kernels_per_call},   {"activityRecords", &Trial::activity_records},
    {"droppedRecords", &Trial::dropped_records},
};
constexpr OptionalWholeRow<Trial> kOptionalTrial[] = {
    {"lateNs", &Trial::late_ns},
    {"compareNs", &Trial::compare_ns},
    {"calls", &Trial::calls, 1},
    {"overheadNs", &Trial::overhead_ns},
};
constexpr FlagRow<Trial> kTrialFlags[] = {
    {"blocking", &Trial::blocking},
    {"hostSyncInside", &Trial::host_sync_inside},
    {"warmupSteady", &Trial::warmup_steady},
    {"kernelSetVaries", &Trial::kernel_set_varies},
};

constexpr WholeRow<ResultStatistics> kStatistics[] = {
    {"samples", &ResultStatistics::samples, 1},   {"medianNs", &ResultStatistics::median_ns},
    {"meanNs", &ResultStatistics::mean_ns},       {"p05Ns", &ResultStatistics::p05_ns},
    {"p95Ns", &ResultStatistics::p95_ns},         {"minimumNs", &ResultStatistics::minimum_ns},
    {"maximumNs", &ResultStatistics::maximum_ns}, {"madNs", &ResultStatistics::mad_ns},
};
constexpr OptionalWholeRow<ResultStatistics> kInterval[] = {
    {"lowNs", &ResultStatistics::low_ns},
    {"highNs", &ResultStatistics::high_ns},
};

constexpr WholeRow<RunnerLog> kLog[] = {
    {"keptBytes", &RunnerLog::kept_bytes},
    {"originalBytes", &RunnerLog::original_bytes},
};

std::optional<double> optional_number(const json::Value& object, std::string_view name) {
  const json::Value* value = object.find(name);
  return value != nullptr ? std::optional(value->number()) : std::nullopt;
}

Node observation_shape() {
  return schema::object({required("what", one_of_words(kObserved)), required("checked", whole()),
                         required("failed", whole())});
}

Node discard_shape() {
  return schema::object(
      {required("reason", one_of_words(kDiscardReasons)), required("count", whole(1))});
}

}  // namespace

Node round_shape() {
  Node node = schema::object({
      required("workload", digest()),
      required("family", one_of_words(kFamilies)),
      required("outcome", one_of_words(kOutcomes)),
      optional("maxAbsoluteError", schema::number_at_least(0)),
      optional("maxRelativeError", schema::number_at_least(0)),
  });
  checked::add_fields(node, kRound);
  checked::add_fields(node, kOptionalRound);
  return node;
}

CorrectnessRound read_round(const json::Value& value) {
  CorrectnessRound round;
  round.workload = checked::digest_of(value, "workload");
  round.family = checked::word_of<CorrectnessRound::Family>(value, "family", kFamilies);
  round.outcome = checked::word_of<CorrectnessRound::Outcome>(value, "outcome", kOutcomes);
  checked::read_rows(value, kRound, round);
  checked::read_rows(value, kOptionalRound, round);
  round.max_absolute_error = optional_number(value, "maxAbsoluteError");
  round.max_relative_error = optional_number(value, "maxRelativeError");
  return round;
}

json::Value write_round(const CorrectnessRound& from, json::Arena& arena) {
  json::ObjectBuilder out(arena);
  out.add("workload", from.workload.text())
      .add("family", kFamilies[static_cast<std::size_t>(from.family)])
      .add("outcome", kOutcomes[static_cast<std::size_t>(from.outcome)]);
  checked::write_rows(from, kRound, out);
  checked::write_rows(from, kOptionalRound, out);
  if (from.max_absolute_error) out.add("maxAbsoluteError", json::Value(*from.max_absolute_error));
  if (from.max_relative_error) out.add("maxRelativeError", json::Value(*from.max_relative_error));
  return out.finish();
}

Node control_shape() {
  return schema::object({required("workload", digest()),
                         required("control", schema::text(schema::kToken, kNameBytes)),
                         required("rejected", schema::boolean())});
}

VacuityControl read_control(const json::Value& value) {
  return {checked::digest_of(value, "workload"), checked::text_of(value, "control"),
          checked::flag_of(value, "rejected")};
}

json::Value write_control(const VacuityControl& from, json::Arena& arena) {
  return json::ObjectBuilder(arena)
      .add("workload", from.workload.text())
      .add("control", from.control)
      .add("rejected", json::Value(from.rejected))
      .finish();
}

Node trial_shape() {
  Node node = schema::object({
      required("workload", digest()),
      required("kind", one_of_words(kTrialKinds)),
      required("end", one_of_words(kEnds)),
      required("digest", digest()),
      optional("discards", schema::list(discard_shape(), 1, kDiscardReasons.size())),
      required("observations", schema::list(observation_shape(), 0, kObserved.size())),
  });
  checked::add_fields(node, kTrial);
  checked::add_fields(node, kOptionalTrial);
  checked::add_fields(node, kTrialFlags);
  return node;
}

Trial read_trial(const json::Value& value) {
  Trial trial;
  trial.workload = checked::digest_of(value, "workload");
  trial.kind = checked::word_of<Trial::Kind>(value, "kind", kTrialKinds);
  trial.end = checked::word_of<Trial::End>(value, "end", kEnds);
  trial.digest = checked::digest_of(value, "digest");
  checked::read_rows(value, kTrial, trial);
  checked::read_rows(value, kOptionalTrial, trial);
  checked::read_rows(value, kTrialFlags, trial);
  for (const json::Value& item : checked::items_of(value, "discards")) {
    trial.discards.push_back({checked::word_of<Discards::Reason>(item, "reason", kDiscardReasons),
                              checked::whole_of(item, "count")});
  }
  for (const json::Value& item : checked::items_of(value, "observations")) {
    trial.observations.push_back({checked::word_of<Observation::What>(item, "what", kObserved),
                                  checked::whole_of(item, "checked"),
                                  checked::whole_of(item, "failed")});
  }
  return trial;
}

json::Value write_trial(const Trial& from, json::Arena& arena) {
  json::ObjectBuilder out(arena);
  out.add("workload", from.workload.text())
      .add("kind", kTrialKinds[static_cast<std::size_t>(from.kind)])
      .add("end", kEnds[static_cast<std::size_t>(from.end)])
      .add("digest", from.digest.text());
  checked::write_rows(from, kTrial, out);
  checked::write_rows(from, kOptionalTrial, out);
  checked::write_rows(from, kTrialFlags, out);
  std::vector<json::Value> discards;
  for (const Discards& one : from.discards) {
    discards.push_back(json::ObjectBuilder(arena)
                           .add("reason", kDiscardReasons[static_cast<std::size_t>(one.reason)])
                           .add("count", checked::number(one.count))
                           .finish());
  }
  if (!discards.empty()) out.add("discards", arena.array(discards));
  std::vector<json::Value> observations;
  for (const Observation& one : from.observations) {
    observations.push_back(json::ObjectBuilder(arena)
                               .add("what", kObserved[static_cast<std::size_t>(one.what)])
                               .add("checked", checked::number(one.checked))
                               .add("failed", checked::number(one.failed))
                               .finish());
  }
  return out.add("observations", arena.array(observations)).finish();
}

Node statistics_shape() {
  Node node = schema::object({});
  checked::add_fields(node, kStatistics);
  checked::add_fields(node, kInterval);
  return node;
}

ResultStatistics read_statistics(const json::Value& value) {
  ResultStatistics statistics;
  checked::read_rows(value, kStatistics, statistics);
  checked::read_rows(value, kInterval, statistics);
  return statistics;
}

json::Value write_statistics(const ResultStatistics& from, json::Arena& arena) {
  json::ObjectBuilder out(arena);
  checked::write_rows(from, kStatistics, out);
  checked::write_rows(from, kInterval, out);
  return out.finish();
}

Node check_shape() {
  return schema::object({required("code", schema::text(checked::kCode, kCodeBytes)),
                         required("outcome", one_of_words(kCheckOutcomes)),
                         optional("detail", line(kResultTextBytes)),
                         optional("evidence", digest())});
}

RunnerCheck read_check(const json::Value& value) {
  return {checked::text_of(value, "code"),
          checked::word_of<RunnerCheck::Outcome>(value, "outcome", kCheckOutcomes),
          checked::text_of(value, "detail"), checked::optional_digest(value, "evidence")};
}

json::Value write_check(const RunnerCheck& from, json::Arena& arena) {
  json::ObjectBuilder out(arena);
  out.add("code", from.code)
      .add("outcome", kCheckOutcomes[static_cast<std::size_t>(from.outcome)])
      .add_if(!from.detail.empty(), "detail", from.detail);
  if (from.evidence) out.add("evidence", from.evidence->text());
  return out.finish();
}

Node log_shape() {
  Node node = schema::object(
      {required("name", schema::text(schema::kToken, kNameBytes)), optional("digest", digest())});
  checked::add_fields(node, kLog);
  return node;
}

RunnerLog read_log(const json::Value& value) {
  RunnerLog log{checked::text_of(value, "name"), checked::optional_digest(value, "digest")};
  checked::read_rows(value, kLog, log);
  return log;
}

json::Value write_log(const RunnerLog& from, json::Arena& arena) {
  json::ObjectBuilder out(arena);
  out.add("name", from.name);
  if (from.digest) out.add("digest", from.digest->text());
  checked::write_rows(from, kLog, out);
  return out.finish();
}

}  // namespace kernelindex::result_members
