// SPDX-License-Identifier: Apache-2.0
#include "ingest/upstream_ids.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "ingest/case_key.h"
#include "ingest/lower_case.h"
#include "schema/canonical_json.h"

namespace kernelindex::ingest {
namespace {

using json::Member;
using json::Value;

constexpr std::string_view kDot = " \xC2\xB7 ";
constexpr std::string_view kEllipsis = "\xE2\x80\xA6";
constexpr std::size_t kKeyInName = 8;

// "a=1, b=2"; nothing when it is not that.
std::vector<AxisValue> axes_in(std::string_view text) {
  std::vector<AxisValue> axes;
  while (!text.empty()) {
    const std::size_t comma = text.find(", ");
    const std::string_view pair = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 2);
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos) return {};
    double value = 0;
    const char* end = pair.data() + pair.size();
    const auto read = std::from_chars(pair.data() + equals + 1, end, value);
    if (read.ec != std::errc() || read.ptr != end) return {};
    axes.push_back({pair.substr(0, equals), value});
  }
  return axes;
}

}  // namespace

std::string upstream_run_id(const Manifest& run) {
  const auto& facts = std::get<BenchmarkRunFacts>(run.facts);
  if (!facts.source_native || facts.source_native->external_id.empty()) return {};
  const SourceNative& native = *facts.source_native;
  if (native.source == "sol-execbench") {
    const bool confirmed = run.name == "sol-submission-" + native.external_id;
    return confirmed ? "submission/" + native.external_id : std::string();
  }
  if (!native.external_id.starts_with("submission/")) return {};
  if (facts.primary && facts.primary->metric == "score") return native.external_id + "/leaderboard";
  const std::size_t slash = native.benchmark.rfind('/');
  if (slash == std::string::npos) return {};
  return native.external_id + "/benchmark/" + native.benchmark.substr(slash + 1);
}

std::string upstream_implementation_id(const Manifest& implementation, const Value& document) {
  for (const std::string_view prefix : {"sol-submission-", "kernelbot-submission-"}) {
    if (implementation.name.starts_with(prefix)) {
      return "submission/" + implementation.name.substr(prefix.size());
    }
  }
  const Value* refs = document.find({"metadata", "sourceRefs"});
  if (refs == nullptr || !refs->is_array() || refs->array().empty()) return {};
  const std::string_view url = refs->array()[0].text("url");
  const std::size_t path = url.find("/solutions/");
  return path == std::string_view::npos ? std::string() : std::string(url.substr(path + 1));
}

std::string upstream_serving_run_id(const Manifest& run, const Value& document) {
  const auto& facts = std::get<ServingRunFacts>(run.facts);
  const std::size_t dot = run.title.rfind(kDot);
  if (!facts.source_native || facts.source_native->source != "mlperf-inference") return {};
  if (dot == std::string::npos) return {};
  // The manifest has the scenario in lower case; the title ends in it as the source writes it.
  const std::string scenario = run.title.substr(dot + kDot.size());
  const Value* native = document.find({"spec", "sourceNative"});
  if (native == nullptr || lower_case(scenario) != native->text("scenario")) return {};
  return facts.source_native->external_id + "/" + facts.source_native->benchmark + "/" + scenario;
}

std::string key_by_title(const Manifest& workload_case) {
  const std::string_view title = workload_case.title;
  const std::size_t dot = title.rfind(kDot);
  if (dot == std::string_view::npos || title.ends_with(kEllipsis)) return {};
  std::vector<AxisValue> axes = axes_in(title.substr(dot + kDot.size()));
  if (axes.empty()) return {};
  std::string key = case_key(std::move(axes));
  const bool confirmed = workload_case.name.ends_with("-" + key.substr(0, kKeyInName));
  return confirmed ? key : std::string();
}

std::string key_by_axes(const Manifest& workload_case, const Value& document) {
  const Value* axes = document.find({"spec", "axes"});
  if (axes == nullptr || !axes->is_object() || axes->object().empty()) return {};
  std::vector<Member> order(axes->object().begin(), axes->object().end());
  std::ranges::sort(order, [](const Member& a, const Member& b) {
    return compare_axis_names(a.name, b.name) < 0;
  });
  std::string key;
  for (const Member& axis : order) {
    if (!key.empty()) key += '-';
    key += axis.name;
    json::append_canonical(axis.value, key);
  }
  return workload_case.name.ends_with("-" + key) ? key : std::string();
}

}  // namespace kernelindex::ingest
