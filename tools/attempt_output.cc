// SPDX-License-Identifier: Apache-2.0
#include "tools/attempt_output.h"

#include <fmt/format.h>

#include "schema/utc_time.h"
#include "tools/units.h"

namespace kernelindex::tools {
namespace {

const Acceptance* acceptance_of(const ControlledJob& job) {
  return job.acceptance ? std::get_if<Acceptance>(&job.acceptance->said.predicate) : nullptr;
}

std::string nanoseconds(std::int64_t value) {
  return format_quantity(static_cast<double>(value), "ns");
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

json::Value whole(std::int64_t value) { return json::Value(static_cast<double>(value)); }

json::Value pair(const JsonOutput& json, std::int64_t low, std::int64_t high) {
  return json.array(std::vector<json::Value>{whole(low), whole(high)});
}

// In thousandths, rounded half up: exact enough for people, and the same everywhere.
std::string ratio_text(std::int64_t measured, std::int64_t reported) {
  __extension__ using Wide = __int128;
  const Wide thousandths = (Wide{measured} * 2000 + reported) / (Wide{reported} * 2);
  return fmt::format("{}.{:03}", static_cast<std::int64_t>(thousandths / 1000),
                     static_cast<std::int64_t>(thousandths % 1000));
}

}  // namespace

std::string_view job_state(const ControlledJob& job) {
  if (!job.result) return job.expired ? "expired" : "open";
  return job.acceptance ? "accepted" : "answered";
}

std::string_view job_verdict(const ControlledJob& job) {
  if (!job.judged) return {};
  const Acceptance* acceptance = acceptance_of(job);
  if (acceptance == nullptr) return {};
  const bool agree = acceptance->verdict == job.judged->verdict;
  return verdict_name(agree ? acceptance->verdict : Acceptance::Verdict::refused);
}

std::string comparison_text(const JudgedResult& judged) {
  if (!judged.compared || !judged.decision) return {};
  const DecisionInput& of = *judged.compared;
  const Band& band = judged.decision->confirming;
  std::string out = nanoseconds(of.median_ns) + " [" + nanoseconds(of.low_ns) + ", " +
                    nanoseconds(of.high_ns) + "] against " + nanoseconds(of.reported_ns) +
                    " reported, ratio " + ratio_text(of.median_ns, of.reported_ns);
  if (band.low_ns <= band.high_ns) out += "; confirming band " + band_text(band);
  // Of short kernels the absolute part decides, and who reads "confirms" should know how fine.
  __extension__ using Wide = __int128;
  const Wide relative = Wide{of.reported_ns} * static_cast<Wide>(judged.decision->margin_ppm);
  if (judged.verdict == Acceptance::Verdict::confirms &&
      Wide{judged.decision->absolute_ns} * 1'000'000 > relative) {
    out += ", within +-" + nanoseconds(judged.decision->absolute_ns);
  }
  return out;
}

json::Value judged_document(const JsonOutput& json, const JudgedResult& judged) {
  json::ObjectBuilder value = json.object();
  value.add("verdict", verdict_name(judged.verdict))
      .add("codes", json.texts(judged.codes))
      .add("status", run_status_name(judged.status))
      .add("sourceCovered", json::Value(judged.source_covered))
      .add("revoked", json::Value(judged.revoked))
      .add("loosened", json::Value(judged.loosened));
  if (judged.statistics) {
    value.add("samples", whole(judged.statistics->samples))
        .add("medianNs", whole(judged.statistics->median_ns));
    if (judged.statistics->low_ns && judged.statistics->high_ns) {
      value.add("intervalNs", pair(json, *judged.statistics->low_ns, *judged.statistics->high_ns));
    }
  }
  if (judged.noise_ppm) value.add("noisePpm", json.count(*judged.noise_ppm));
  if (judged.compared && judged.decision) {
    const DecisionInput& of = *judged.compared;
    value.add("reportedNs", whole(of.reported_ns))
        .add("comparedNs", whole(of.median_ns))
        .add("comparedIntervalNs", pair(json, of.low_ns, of.high_ns))
        .add("marginPpm", json.count(judged.decision->margin_ppm))
        .add("absoluteNs", whole(judged.decision->absolute_ns))
        .add("bandNs", pair(json, judged.decision->band.low_ns, judged.decision->band.high_ns))
        .add("confirmingBandNs",
             pair(json, judged.decision->confirming.low_ns, judged.decision->confirming.high_ns));
  }
  return value.finish();
}

json::Value job_value(const JsonOutput& json, const ControlledJob& job) {
  const auto& asked = std::get<MeasurementJob>(job.job.said.predicate);
  json::ObjectBuilder value = json.object();
  value.add("id", json.digest(job.job.id))
      .add("index", json.count(job.job.index))
      .add("recordedAt", json.text(format_utc_micros(job.job.recorded_at)))
      .add("run", json.digest(asked.run))
      .add("runner", json.text(asked.runner.hex()))
      .add("owner", json.text(job.owner))
      .add("byOperator", json::Value(job.by_operator))
      .add("device", json.text(asked.device.product))
      .add("expiresAt", json.text(format_utc_micros(asked.expires_at)))
      .add("state", job_state(job))
      .add_if(!job_verdict(job).empty(), "verdict", job_verdict(job));
  if (job.result) {
    const auto& run = std::get<ControlledRun>(job.result->said.predicate);
    value.add("result", json.object()
                            .add("id", json.digest(job.result->id))
                            .add("index", json.count(job.result->index))
                            .add("document", json.digest(run.result))
                            .add("run", json.digest(run.run))
                            .add("device", json.digest(run.device))
                            .add("host", json.digest(run.host))
                            .finish());
  }
  if (const Acceptance* acceptance = acceptance_of(job)) {
    value.add("acceptance", json.object()
                                .add("id", json.digest(job.acceptance->id))
                                .add("index", json.count(job.acceptance->index))
                                .add("accepted", json::Value(acceptance->accepted))
                                .add("verdict", verdict_name(acceptance->verdict))
                                .add("codes", json.texts(acceptance->codes))
                                .add("allowed", json.texts(acceptance->allowed))
                                .add("policy", json.text(acceptance->policy))
                                .finish());
  }
  if (job.judged) value.add("judged", judged_document(json, *job.judged));
  if (job.more_results != 0) value.add("moreResults", json.count(job.more_results));
  return value.finish();
}

json::Value jobs_value(const JsonOutput& json, const std::vector<ControlledJob>& jobs) {
  std::vector<json::Value> out;
  for (const ControlledJob& job : jobs) out.push_back(job_value(json, job));
  return json.array(out);
}

std::vector<std::string> job_lines(const ControlledJob& job) {
  const auto& asked = std::get<MeasurementJob>(job.job.said.predicate);
  std::string head = "job " + job.job.id.text().substr(0, 15) + ", entry " +
                     std::to_string(job.job.index) + ", on " + asked.device.product + " by " +
                     (job.owner.empty() ? "nobody enrolled" : job.owner) +
                     (job.by_operator ? " (OPERATOR_RAN_IT)" : "") + ": ";
  const std::string_view verdict = job_verdict(job);
  head += verdict.empty() ? job_state(job) : verdict;
  if (!job.result && !job.expired) head += " until " + format_utc_micros(asked.expires_at);
  std::vector<std::string> lines = {head};
  if (!job.judged) return lines;
  const std::string compared = comparison_text(*job.judged);
  if (!compared.empty()) lines.push_back(compared);
  if (!job.judged->codes.empty()) lines.push_back(joined(job.judged->codes));
  if (!job.judged->source_covered) lines.emplace_back("SOURCE_PARTIAL");
  if (job.more_results != 0) {
    lines.push_back(std::to_string(job.more_results) + " more results, which do not count");
  }
  return lines;
}

}  // namespace kernelindex::tools
