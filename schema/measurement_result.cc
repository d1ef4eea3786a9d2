// SPDX-License-Identifier: Apache-2.0
#include "schema/measurement_result.h"

#include <algorithm>
#include <functional>
#include <set>

#include "schema/canonical_json.h"
#include "schema/checked_members.h"
#include "schema/result_members.h"
#include "schema/sentinel_members.h"

namespace kernelindex {
namespace {

using checked::bad_member;
using checked::digest;
using checked::one_of_words;
using schema::Node;
using schema::optional;
using schema::required;

constexpr std::array<std::string_view, 2> kClocks = {"unlocked", "locked"};
constexpr std::array<std::string_view, 2> kTrust = {"device_only", "native_host"};
constexpr std::array<std::string_view, 12> kStatuses = {
    "invalid_reference",     "compile_error",       "policy_violation",
    "suspected_reward_hack", "resource_exceeded",   "timeout",
    "runtime_error",         "incorrect_shape",     "incorrect_dtype",
    "incorrect_numerical",   "incomplete_evidence", "passed"};

Node codes_shape() {
  Node node = schema::list(schema::text(checked::kCode, kCodeBytes), 0, kResultCodes);
  node.set_like = true;
  return node;
}

// ---- What a shape cannot say ----

Status check_samples(const std::vector<Trial>& trials, const std::optional<Digest>& samples,
                     std::string_view name) {
  std::int64_t count = 0;
  std::map<Digest, std::int64_t> by_workload;
  std::size_t number = 0;
  for (const Trial& trial : trials) {
    const std::string place =
        (name == "samples" ? "trials[" : "diagnostics[") + std::to_string(number++) + "]";
    if ((trial.kind == Trial::Kind::timed) != (name == "samples")) {
      return fail(
          bad_member(place + ".kind", "timed trials, and only those, are among the `trials`"));
    }
    if (trial.kind == Trial::Kind::wall_clock && trial.samples > 0 &&
        (!trial.calls || !trial.overhead_ns)) {
      return fail(bad_member(place, "a trial by the wall clock says its calls and their overhead"));
    }
    std::set<Observation::What> seen;
    for (const Observation& one : trial.observations) {
      if (!seen.insert(one.what).second || one.failed > one.checked) {
        return fail(bad_member(place + ".observations",
                               "each thing is observed once, and fails no oftener than checked"));
      }
    }
    count += trial.samples;
    if ((by_workload[trial.workload] += trial.samples) >
        static_cast<std::int64_t>(kPooledSamples)) {
      return fail(bad_member(std::string(name), "one workload has more than " +
                                                    std::to_string(kPooledSamples) + " samples"));
    }
  }
  if ((count > 0) != samples.has_value()) {
    return fail(bad_member(std::string(name),
                           "the artifact of samples is named exactly when there are samples"));
  }
  return {};
}

Status check_rounds(const std::vector<CorrectnessRound>& rounds) {
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    const CorrectnessRound& round = rounds[i];
    if (round.matched > round.elements || round.nans > round.elements ||
        round.infinities > round.elements) {
      return fail(bad_member("correctness.rounds[" + std::to_string(i) + "]",
                             "more elements are counted than were compared"));
    }
  }
  return {};
}

Status check_whole(const MeasurementResult& result) {
  if (Status ok = check_samples(result.trials, result.samples, "samples"); !ok) return ok;
  if (Status ok = check_samples(result.diagnostics, result.diagnostic_samples, "diagnosticSamples");
      !ok) {
    return ok;
  }
  if (Status ok = check_rounds(result.rounds); !ok) return ok;
  if (result.finished_at < result.started_at) {
    return fail(bad_member("finishedAt", "this is before startedAt"));
  }
  if (result.countable != result.uncountable_reasons.empty()) {
    return fail(bad_member("countability",
                           "a result is countable exactly when no reason speaks "
                           "against it"));
  }
  if (result.sentinels.empty() == result.sentinel_samples.has_value()) {
    return fail(bad_member("sentinels", "samples are named exactly when there are sessions"));
  }
  for (std::size_t i = 0; i < result.logs.size(); ++i) {
    const RunnerLog& log = result.logs[i];
    if (log.kept_bytes > log.original_bytes || (log.kept_bytes > 0) != log.digest.has_value()) {
      return fail(bad_member("logs[" + std::to_string(i) + "]",
                             "a log keeps at most what there was, and names what it keeps"));
    }
  }
  return {};
}

// ---- Lists of parts ----

template <typename Part>
std::vector<Part> read_parts(const json::Value& object, std::string_view name,
                             Part (*read)(const json::Value&)) {
  std::vector<Part> parts;
  for (const json::Value& item : checked::items_of(object, name)) parts.push_back(read(item));
  return parts;
}

template <typename Part>
json::Value write_parts(const std::vector<Part>& parts,
                        json::Value (*write)(const Part&, json::Arena&), json::Arena& arena) {
  std::vector<json::Value> values;
  values.reserve(parts.size());
  for (const Part& part : parts) values.push_back(write(part, arena));
  return arena.array(values);
}

void read_head(const json::Value& value, MeasurementResult& out) {
  out.ledger = checked::digest_of(value, "ledger");
  out.job = checked::digest_of(value, "job");
  out.nonce = checked::bytes32_of(value, "nonce");
  out.runner = checked::hex_digest_of(value, "runner");
  out.protocol = checked::digest_of(value, "protocol");
  out.harness = checked::digest_of(value, "harness");
  out.clocks = checked::word_of<ClockVariant>(value, "clocks", kClocks);
  out.trust = checked::word_of<TrustMode>(value, "trust", kTrust);
  out.started_at = checked::micros_of(value, "startedAt");
  out.finished_at = checked::micros_of(value, "finishedAt");
  out.entropy = checked::bytes32_of(value, "entropy");
}

void read_measured(const json::Value& value, MeasurementResult& out) {
  if (const json::Value* sentinels = value.find("sentinels")) {
    out.sentinels = read_parts(*sentinels, "sessions", checked::read_session);
    out.sentinel_samples = checked::digest_of(*sentinels, "samples");
  }
  const json::Value& correctness = *value.find("correctness");
  out.rounds = read_parts(correctness, "rounds", result_members::read_round);
  out.controls = read_parts(correctness, "controls", result_members::read_control);
  out.trials = read_parts(value, "trials", result_members::read_trial);
  out.samples = checked::optional_digest(value, "samples");
  out.diagnostics = read_parts(value, "diagnostics", result_members::read_trial);
  out.diagnostic_samples = checked::optional_digest(value, "diagnosticSamples");
  for (const json::Member& member : value.find("statistics")->object()) {
    out.statistics.emplace(Digest::parse(member.name).value(),
                           result_members::read_statistics(member.value));
  }
}

void read_verdict(const json::Value& value, MeasurementResult& out) {
  out.checks = read_parts(value, "checks", result_members::read_check);
  out.status = checked::word_of<RunStatus>(value, "status", kStatuses);
  out.codes = checked::texts_of(value, "codes");
  const json::Value& countability = *value.find("countability");
  out.countable = checked::flag_of(countability, "countable");
  out.uncountable_reasons = checked::texts_of(countability, "reasons");
  out.logs = read_parts(value, "logs", result_members::read_log);
}

void write_head(const MeasurementResult& from, json::ObjectBuilder& out) {
  out.add("format", kResultFormat)
      .add("ledger", from.ledger.text())
      .add("job", from.job.text())
      .add("nonce", checked::base64(from.nonce))
      .add("runner", from.runner.hex())
      .add("protocol", from.protocol.text())
      .add("harness", from.harness.text())
      .add("clocks", clock_variant_name(from.clocks))
      .add("trust", trust_mode_name(from.trust))
      .add("startedAt", format_utc_micros(from.started_at))
      .add("finishedAt", format_utc_micros(from.finished_at))
      .add("entropy", checked::base64(from.entropy));
}

void write_measured(const MeasurementResult& from, json::ObjectBuilder& out, json::Arena& arena) {
  if (from.sentinel_samples) {
    out.add("sentinels",
            json::ObjectBuilder(arena)
                .add("sessions", write_parts(from.sentinels, checked::write_session, arena))
                .add("samples", from.sentinel_samples->text())
                .finish());
  }
  out.add("correctness",
          json::ObjectBuilder(arena)
              .add("rounds", write_parts(from.rounds, result_members::write_round, arena))
              .add("controls", write_parts(from.controls, result_members::write_control, arena))
              .finish());
  out.add("trials", write_parts(from.trials, result_members::write_trial, arena));
  if (from.samples) out.add("samples", from.samples->text());
  out.add("diagnostics", write_parts(from.diagnostics, result_members::write_trial, arena));
  if (from.diagnostic_samples) out.add("diagnosticSamples", from.diagnostic_samples->text());
  json::ObjectBuilder statistics(arena);
  for (const auto& [workload, one] : from.statistics) {
    statistics.add(arena.copy(workload.text()), result_members::write_statistics(one, arena));
  }
  out.add("statistics", statistics.finish());
}

void write_verdict(const MeasurementResult& from, json::ObjectBuilder& out, json::Arena& arena) {
  out.add("checks", write_parts(from.checks, result_members::write_check, arena))
      .add("status", run_status_name(from.status))
      .add("codes", checked::texts(from.codes, arena))
      .add("countability", json::ObjectBuilder(arena)
                               .add("countable", json::Value(from.countable))
                               .add("reasons", checked::texts(from.uncountable_reasons, arena))
                               .finish())
      .add("logs", write_parts(from.logs, result_members::write_log, arena));
}

}  // namespace

std::string_view run_status_name(RunStatus status) {
  return kStatuses[static_cast<std::size_t>(status)];
}

std::optional<RunStatus> run_status_from_name(std::string_view name) {
  const auto found = std::ranges::find(kStatuses, name);
  if (found == kStatuses.end()) return std::nullopt;
  return static_cast<RunStatus>(found - kStatuses.begin());
}

Node measurement_result_shape() {
  const Node trials = schema::list(result_members::trial_shape(), 0, kResultTrials);
  Node statistics = schema::map(digest(), result_members::statistics_shape());
  statistics.max_count = kJobWorkloads;
  return schema::object({
      required("format", schema::one_of({kResultFormat})),
      required("ledger", digest()),
      required("job", digest()),
      required("nonce", schema::text(checked::kBytes32)),
      required("runner", schema::text(schema::kHex64)),
      required("protocol", digest()),
      required("harness", digest()),
      required("clocks", one_of_words(kClocks)),
      required("trust", one_of_words(kTrust)),
      required("startedAt", schema::text(checked::kMicros)),
      required("finishedAt", schema::text(checked::kMicros)),
      required("entropy", schema::text(checked::kBytes32)),
      required("environment", result_members::environment_shape()),
      required("sandbox", schema::object({required("builder", result_members::sandbox_shape()),
                                          required("child", result_members::sandbox_shape())})),
      optional("polls", result_members::polls_shape()),
      required("build", result_members::build_shape()),
      optional("sentinels",
               schema::object({required("sessions", schema::list(checked::session_shape(), 1,
                                                                 kCalibrationSessions)),
                               required("samples", digest())})),
      required("correctness",
               schema::object({required("rounds", schema::list(result_members::round_shape(), 0,
                                                               kResultRounds)),
                               required("controls", schema::list(result_members::control_shape(), 0,
                                                                 kResultRounds))})),
      required("trials", trials),
      optional("samples", digest()),
      required("diagnostics", trials),
      optional("diagnosticSamples", digest()),
      required("statistics", statistics),
      required("checks", schema::list(result_members::check_shape(), 0, kResultChecks)),
      required("status", one_of_words(kStatuses)),
      required("codes", codes_shape()),
      required("countability", schema::object({required("countable", schema::boolean()),
                                               required("reasons", codes_shape())})),
      required("logs", schema::list(result_members::log_shape(), 0, kResultLogs)),
  });
}

Result<MeasurementResult> read_measurement_result(std::string_view text) {
  static const Node shape = measurement_result_shape();
  json::Arena arena;
  const Result<json::Value> value =
      checked::parse_document(text, kResultFormat, shape, kResultDocumentBytes, arena);
  if (!value) return fail(value.error());
  MeasurementResult result;
  read_head(*value, result);
  result_members::read_environment(*value->find("environment"), result);
  const json::Value& sandbox = *value->find("sandbox");
  result.builder_sandbox = result_members::read_sandbox(*sandbox.find("builder"));
  result.child_sandbox = result_members::read_sandbox(*sandbox.find("child"));
  if (const json::Value* polls = value->find("polls")) {
    result.polls = result_members::read_polls(*polls);
  }
  result.build = result_members::read_build(*value->find("build"));
  read_measured(*value, result);
  read_verdict(*value, result);
  if (Status ok = check_whole(result); !ok) return fail(ok.error());
  return result;
}

Result<std::string> write_measurement_result(const MeasurementResult& result) {
  json::Arena arena;
  json::ObjectBuilder out(arena);
  write_head(result, out);
  out.add("environment", result_members::write_environment(result, arena))
      .add("sandbox",
           json::ObjectBuilder(arena)
               .add("builder", result_members::write_sandbox(result.builder_sandbox, arena))
               .add("child", result_members::write_sandbox(result.child_sandbox, arena))
               .finish());
  if (result.polls) out.add("polls", result_members::write_polls(*result.polls, arena));
  out.add("build", result_members::write_build(result.build, arena));
  write_measured(result, out, arena);
  write_verdict(result, out, arena);
  std::string text = json::canonical(out.finish());
  if (const auto read = read_measurement_result(text); !read) return fail(read.error());
  return text;
}

std::vector<Digest> artifacts_of(const MeasurementResult& result) {
  std::vector<Digest> out;
  const auto add = [&](const std::optional<Digest>& digest) {
    if (digest) out.push_back(*digest);
  };
  for (const std::optional<Digest>* digest :
       {&result.samples, &result.diagnostic_samples, &result.sentinel_samples,
        &result.build.artifact_digest}) {
    add(*digest);
  }
  for (const RunnerLog& log : result.logs) add(log.digest);
  for (const RunnerCheck& check : result.checks) add(check.evidence);
  std::ranges::sort(out);
  const auto repeated = std::ranges::unique(out);
  out.erase(repeated.begin(), repeated.end());
  return out;
}

}  // namespace kernelindex
