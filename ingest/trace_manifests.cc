// SPDX-License-Identifier: Apache-2.0
#include "ingest/trace_manifests.h"

#include <cassert>
#include <map>
#include <utility>

#include "ingest/kebab.h"
#include "ingest/manifest_document.h"
#include "ingest/nanoseconds.h"
#include "ingest/text_cut.h"
#include "ingest/token_map.h"
#include "schema/utc_time.h"

namespace kernelindex::ingest {
namespace {

using json::Arena;
using json::Member;
using json::ObjectBuilder;
using json::Value;

constexpr std::string_view kDot = " \xC2\xB7 ";
constexpr std::size_t kNameBytes = 200;

Value software_value(const TraceEvaluation& evaluation, Arena& arena) {
  ObjectBuilder software(arena);
  std::map<std::string, Value, std::less<>> libraries;
  for (const Member& library : evaluation.libraries) {
    if (library.name == "cuda") {
      software.add("cudaToolkit", library.value);
    } else if (library.name != "torch") {
      libraries[token_of(library.name)] = library.value;
    } else if (!library.value.string().empty()) {
      software.add("framework", arena.object({{"name", Value(std::string_view("pytorch"))},
                                              {"version", library.value}}));
    }
  }
  if (!libraries.empty()) {
    ObjectBuilder list(arena);
    for (const auto& [name, value] : libraries) list.add(arena.copy(name), value);
    software.add("libraries", list.finish());
  }
  return software.finish();
}

Value correctness_value(const TraceEvaluation& evaluation, Arena& arena) {
  ObjectBuilder out(arena);
  out.add("comparator", "sol_execbench_eval");  // of either source: digests depend on it
  if (evaluation.max_absolute_error) {
    out.add("maximumAbsoluteError", Value(*evaluation.max_absolute_error));
  }
  if (evaluation.max_relative_error) {
    out.add("maximumRelativeError", Value(*evaluation.max_relative_error));
  }
  return out.finish();
}

Value metrics_value(const TraceEvaluation& evaluation, Arena& arena) {
  ObjectBuilder out(arena);
  out.add("latency_ms", Value(*evaluation.latency_ms));
  if (evaluation.reference_latency_ms) {
    out.add("reference_latency_ms", Value(*evaluation.reference_latency_ms));
  }
  if (evaluation.speedup_factor) out.add("speedup_factor", Value(*evaluation.speedup_factor));
  return out.finish();
}

}  // namespace

Result<Manifest> make_trace_protocol(const TraceProtocolTexts& texts, Arena& arena) {
  ObjectBuilder harness(arena);
  harness.add("name", texts.harness).add("repository", texts.repository);
  ObjectBuilder measurement(arena);
  measurement.add("timer", "harness_reported").add("primaryStatistic", "mean");
  ObjectBuilder correctness(arena);
  correctness.add("reference", "definition reference implementation")
      .add("comparator", texts.comparator);
  ObjectBuilder spec(arena);
  spec.add("harness", harness.finish()).add("measurement", measurement.finish());
  spec.add("correctness", correctness.finish());
  spec.add("comparability", ObjectBuilder(arena).add("family", texts.family).finish());
  const Value metadata = named(texts.name, texts.title, arena);
  return make_manifest(
      manifest_document(ManifestKind::benchmark_protocol, metadata, spec.finish(), arena), arena);
}

Result<Manifest> make_trace_environment(const TraceEvaluation& evaluation, Arena& arena) {
  const Hardware hardware = hardware_of(evaluation.hardware);
  ObjectBuilder spec(arena);
  spec.add("hardware", hardware_value(hardware, arena));
  spec.add("software", software_value(evaluation, arena));
  std::string name = "sol-trace-" + kebab(evaluation.hardware);
  for (const Member& library : evaluation.libraries) {
    const std::string version = kebab(library.value.string());
    if (!version.empty()) name += "-" + version;
  }
  if (name.size() > kNameBytes) name.resize(kNameBytes);
  const std::string title = title_cut(hardware.product + " (trace-reported software)");
  return make_manifest(manifest_document(ManifestKind::execution_environment,
                                         named(name, title, arena), spec.finish(), arena),
                       arena);
}

Result<TraceRun> make_trace_run(const Trace& trace, const TraceRunParts& parts, Arena& arena) {
  assert(trace.evaluation.has_value());
  const TraceEvaluation& evaluation = *trace.evaluation;
  Result<SourceTime> time = parse_source_time(evaluation.timestamp);
  if (!time) return fail_in("evaluation.timestamp", std::move(time.error()));
  TraceRun out;
  out.zone_assumed = time->zone_assumed;

  ObjectBuilder spec(arena);
  spec.add("implementationDigest", parts.implementation.text());
  spec.add("workloadDigest", parts.workload.text());
  spec.add("protocolDigest", parts.protocol.text());
  spec.add("environmentDigest", parts.environment.text());
  spec.add("status", evaluation.status);
  if (evaluation.has_correctness) spec.add("correctness", correctness_value(evaluation, arena));
  ObjectBuilder native(arena);
  native.add("source", parts.source).add("benchmark", trace.definition);
  if (evaluation.latency_ms) {
    ObjectBuilder timing(arena);
    timing.add("primaryStatistic", "mean");
    timing.add("latencyNs",
               arena.object({{"mean", Value(nanoseconds_of(*evaluation.latency_ms))}}));
    spec.add("timing", timing.finish());
    native.add("metrics", metrics_value(evaluation, arena));
  }
  spec.add("sourceNative", native.finish());
  if (!evaluation.log.empty()) {
    out.log = sha256(evaluation.log);
    const std::string digest = out.log->text();
    ObjectBuilder logs(arena);
    logs.add("uri", "kernelindex:artifact/" + digest).add("digest", digest);
    spec.add("evidence", arena.object({{"logs", logs.finish()}}));
  }
  spec.add("observedAt", time->text);

  constexpr std::size_t kKeyInName = 8;
  std::string name = "sol-trace-" + kebab(trace.definition) + "-" +
                     std::string(first_utf16(parts.case_key, kKeyInName));
  const std::string solution(trace.solution.empty() ? "unknown" : trace.solution);
  const std::string title = title_cut(solution + std::string(kDot) + std::string(trace.definition));
  Result<Manifest> manifest =
      make_manifest(manifest_document(ManifestKind::benchmark_run, named(name, title, arena),
                                      spec.finish(), arena),
                    arena);
  if (!manifest) return fail(std::move(manifest.error()));
  out.manifest = std::move(*manifest);
  return out;
}

}  // namespace kernelindex::ingest
