// SPDX-License-Identifier: Apache-2.0
#include "ledger/controlled_manifests.h"

#include <algorithm>

#include "schema/canonical_json.h"

namespace kernelindex {
namespace {

using json::ObjectBuilder;
using json::Value;

Value number(std::int64_t value) { return Value(static_cast<double>(value)); }

Value manifest(std::string_view kind, std::string_view name, Value spec, json::Arena& arena) {
  return ObjectBuilder(arena)
      .add("apiVersion", kApiVersion)
      .add("kind", kind)
      .add("metadata", ObjectBuilder(arena).add("name", name).finish())
      .add("spec", spec)
      .finish();
}

Value text_map(const std::map<std::string, std::string>& items, json::Arena& arena) {
  ObjectBuilder out(arena);
  for (const auto& [name, value] : items) out.add(arena.copy(name), value);
  return out.finish();
}

Value hardware(const MeasuredDevice& device, json::Arena& arena) {
  const bool simulated = device.kind == MeasuredDevice::Kind::simulated;
  ObjectBuilder out(arena);
  out.add("vendor", "nvidia")
      .add("product", device.product + (simulated ? " (simulated)" : ""))
      .add("architecture", device.architecture)
      .add_if(!device.form_factor.empty(), "formFactor", device.form_factor);
  if (device.memory_bytes) out.add("memoryBytes", number(*device.memory_bytes));
  return out.add("count", number(device.count)).finish();
}

Value software(const MeasuredSoftware& from, json::Arena& arena) {
  ObjectBuilder out(arena);
  out.add_if(!from.operating_system.empty(), "operatingSystem", from.operating_system)
      .add_if(!from.kernel.empty(), "kernel", from.kernel)
      .add_if(!from.driver.empty(), "driver", from.driver)
      .add_if(!from.cuda_toolkit.empty(), "cudaToolkit", from.cuda_toolkit)
      .add_if(!from.compiler.empty(), "compiler", from.compiler);
  if (!from.libraries.empty()) out.add("libraries", text_map(from.libraries, arena));
  return out.finish();
}

Value settings(const MeasuredSettings& from, json::Arena& arena) {
  ObjectBuilder out(arena);
  if (from.clocks_locked) out.add("clocksLocked", Value(*from.clocks_locked));
  if (from.power_limit_milliwatts) {
    out.add("powerLimitWatts", Value(static_cast<double>(*from.power_limit_milliwatts) / 1000));
  }
  if (from.persistence_mode) out.add("persistenceMode", Value(*from.persistence_mode));
  if (from.ecc_enabled) out.add("eccEnabled", Value(*from.ecc_enabled));
  if (!from.environment_variables.empty()) {
    out.add("environmentVariables", text_map(from.environment_variables, arena));
  }
  return out.finish();
}

Value environment(const MeasurementResult& result, json::Arena& arena) {
  ObjectBuilder spec(arena);
  spec.add("hardware", hardware(result.device, arena))
      .add("software", software(result.software, arena));
  const Value set = settings(result.settings, arena);
  if (!set.object().empty()) spec.add("settings", set);
  return manifest("ExecutionEnvironment", "controlled-environment", spec.finish(), arena);
}

// The worst of the rounds of a workload.
Value correctness(const MeasurementResult& result, const Digest& workload,
                  std::string_view comparator, json::Arena& arena) {
  std::optional<double> absolute;
  std::optional<double> relative;
  std::optional<double> matched;
  for (const CorrectnessRound& round : result.rounds) {
    if (round.workload != workload) continue;
    if (round.max_absolute_error) {
      absolute = std::max(absolute.value_or(0), *round.max_absolute_error);
    }
    if (round.max_relative_error) {
      relative = std::max(relative.value_or(0), *round.max_relative_error);
    }
    if (round.elements > 0) {
      const double ratio = static_cast<double>(round.matched) / static_cast<double>(round.elements);
      matched = std::min(matched.value_or(1), ratio);
    }
  }
  ObjectBuilder out(arena);
  out.add("comparator", comparator);
  if (absolute) out.add("maximumAbsoluteError", Value(*absolute));
  if (relative) out.add("maximumRelativeError", Value(*relative));
  if (matched) out.add("matchedRatio", Value(*matched));
  return out.finish();
}

Value timing(const MeasurementResult& result, const ResultStatistics& of, json::Arena& arena) {
  ObjectBuilder latency(arena);
  latency.add("median", number(of.median_ns))
      .add("mean", number(of.mean_ns))
      .add("p05", number(of.p05_ns))
      .add("p95", number(of.p95_ns))
      .add("minimum", number(of.minimum_ns))
      .add("maximum", number(of.maximum_ns))
      .add("mad", number(of.mad_ns));
  if (of.low_ns && of.high_ns) {
    latency.add("confidence95", arena.array({number(*of.low_ns), number(*of.high_ns)}));
  }
  const std::string digest = result.samples->text();
  return ObjectBuilder(arena)
      .add("primaryStatistic", "median")
      .add("samples", number(of.samples))
      .add("latencyNs", latency.finish())
      .add("rawSamples", ObjectBuilder(arena).add("uri", digest).add("digest", digest).finish())
      .finish();
}

}  // namespace

Result<ControlledManifests> controlled_manifests(const MeasurementResult& result,
                                                 const Digest& implementation,
                                                 const Digest& workload,
                                                 std::string_view comparator) {
  json::Arena arena;
  Result<Manifest> where = make_manifest(environment(result, arena), arena);
  if (!where) return fail_in("environment", where.error());
  ObjectBuilder spec(arena);
  spec.add("implementationDigest", implementation.text())
      .add("workloadDigest", workload.text())
      .add("protocolDigest", result.protocol.text())
      .add("environmentDigest", where->identity.text())
      .add("status", run_status_name(result.status))
      .add("correctness", correctness(result, workload, comparator, arena));
  const auto statistics = result.statistics.find(workload);
  if (statistics != result.statistics.end() && result.samples) {
    spec.add("timing", timing(result, statistics->second, arena));
  }
  for (const RunnerLog& log : result.logs) {
    if (!log.digest) continue;
    const std::string digest = log.digest->text();
    spec.add(
        "evidence",
        ObjectBuilder(arena)
            .add("logs", ObjectBuilder(arena).add("uri", digest).add("digest", digest).finish())
            .finish());
    break;
  }
  spec.add("observedAt", format_utc_micros(result.finished_at));
  Result<Manifest> run =
      make_manifest(manifest("BenchmarkRun", "controlled-run", spec.finish(), arena), arena);
  if (!run) return fail_in("run", run.error());
  return ControlledManifests{std::move(*where), std::move(*run)};
}

}  // namespace kernelindex
