// SPDX-License-Identifier: Apache-2.0
#include "ingest/kernelbench_result.h"

#include <utility>

#include "ingest/kebab.h"
#include "ingest/manifest_document.h"
#include "ingest/nanoseconds.h"
#include "ingest/text_cut.h"
#include "ingest/token_map.h"

namespace kernelindex::ingest {
namespace {

using json::Arena;
using json::ObjectBuilder;
using json::Value;

constexpr std::string_view kSource = "kernelbench";
constexpr std::string_view kRepository = "https://github.com/ScalingIntelligence/KernelBench";
constexpr std::string_view kDot = " \xC2\xB7 ";
constexpr std::string_view kNotes =
    "Baseline of the reference module as the KernelBench repository states it. Comparable only "
    "within one problem and GPU; the files state no software versions.";

Result<Manifest> make_project(Arena& arena) {
  ObjectBuilder spec(arena);
  spec.add("name", "PyTorch").add("kind", "library");
  spec.add("repository", "https://github.com/pytorch/pytorch");
  spec.add("host",
           ObjectBuilder(arena).add("kind", "github").add("id", "pytorch/pytorch").finish());
  return make_manifest(
      manifest_document(ManifestKind::software_project, named("kernelbench-pytorch", {}, arena),
                        spec.finish(), arena),
      arena);
}

Result<Manifest> make_implementation(const KernelbenchProblem& problem, const Digest& operation,
                                     Arena& arena) {
  ObjectBuilder callable(arena);
  callable.add("language", "pytorch").add("symbol", problem.variant);
  ObjectBuilder support(arena);
  support.add("hardwareArchitectures", text_list({}, arena)).add("dtypes", text_list({}, arena));
  ObjectBuilder spec(arena);
  spec.add("projectRevision", ObjectBuilder(arena).finish());
  spec.add("operation", ObjectBuilder(arena).add("specDigest", operation.text()).finish());
  spec.add("callable", callable.finish()).add("support", support.finish());
  spec.add("licensing", ObjectBuilder(arena).add("declared", "BSD-3-Clause").finish());
  ObjectBuilder metadata(arena);
  metadata.add("name",
               kebab("kernelbench-" + problem.variant + "-" + problem.level + "-" + problem.name));
  metadata.add("title", title_cut(problem.variant + std::string(kDot) + problem.name));
  metadata.add("labels", ObjectBuilder(arena).add("role", "baseline").finish());
  return make_manifest(manifest_document(ManifestKind::implementation_revision, metadata.finish(),
                                         spec.finish(), arena),
                       arena);
}

Result<Manifest> make_protocol(Arena& arena) {
  ObjectBuilder spec(arena);
  spec.add("harness",
           ObjectBuilder(arena).add("name", "KernelBench").add("repository", kRepository).finish());
  spec.add("measurement", ObjectBuilder(arena)
                              .add("timer", "harness_reported")
                              .add("primaryStatistic", "mean")
                              .finish());
  spec.add(
      "comparability",
      ObjectBuilder(arena).add("family", "kernelbench_baseline").add("notes", kNotes).finish());
  return make_manifest(
      manifest_document(ManifestKind::benchmark_protocol,
                        named("kernelbench-baseline", "KernelBench baseline timing", arena),
                        spec.finish(), arena),
      arena);
}

Result<Manifest> make_environment(const Hardware& hardware, std::string_view name, Arena& arena) {
  ObjectBuilder spec(arena);
  spec.add("hardware", hardware_value(hardware, arena));
  spec.add("software", ObjectBuilder(arena).finish());
  const std::string title = title_cut("KernelBench" + std::string(kDot) + hardware.product);
  return make_manifest(
      manifest_document(ManifestKind::execution_environment,
                        named("kernelbench-" + kebab(name), title, arena), spec.finish(), arena),
      arena);
}

Result<Manifest> make_run(const KernelbenchResult& result, const KernelbenchProblem& problem,
                          const KernelbenchManifests& parts, const Digest& suite,
                          std::string_view observed_at, Arena& arena) {
  ObjectBuilder latency(arena);
  latency.add("mean", Value(nanoseconds_of(result.mean)));
  if (result.min) latency.add("minimum", Value(nanoseconds_of(*result.min)));
  if (result.max) latency.add("maximum", Value(nanoseconds_of(*result.max)));
  ObjectBuilder timing(arena);
  timing.add("primaryStatistic", "mean");
  if (result.trials) timing.add("samples", Value(*result.trials));
  timing.add("latencyNs", latency.finish());
  ObjectBuilder metrics(arena);
  metrics.add("mean_ms", Value(result.mean));
  if (result.std) metrics.add("std_ms", Value(*result.std));
  if (result.min) metrics.add("min_ms", Value(*result.min));
  if (result.max) metrics.add("max_ms", Value(*result.max));
  ObjectBuilder native(arena);
  native.add("source", kSource).add("benchmark", problem.level + "/" + problem.name);
  native.add("externalId", problem.id()).add("metrics", metrics.finish());
  ObjectBuilder spec(arena);
  spec.add("implementationDigest", parts.implementation.identity.text());
  spec.add("workloadDigest", suite.text());
  spec.add("protocolDigest", parts.protocol.identity.text());
  spec.add("environmentDigest", parts.environment.identity.text());
  spec.add("status", "passed").add("timing", timing.finish());
  if (result.std) {
    ObjectBuilder spread(arena);
    spread.add("metric", "latency").add("unit", "ns").add("statistic", "std");
    spread.add("value", Value(*result.std * 1e6));
    if (result.trials) spread.add("sampleCount", Value(*result.trials));
    spec.add("measurements", arena.array({spread.finish()}));
  }
  spec.add("sourceNative", native.finish()).add("observedAt", observed_at);
  const std::string title = title_cut(problem.variant + std::string(kDot) + problem.name +
                                      std::string(kDot) + problem.host);
  return make_manifest(manifest_document(ManifestKind::benchmark_run,
                                         named(kebab("kernelbench-" + problem.id()), title, arena),
                                         spec.finish(), arena),
                       arena);
}

}  // namespace

std::string KernelbenchProblem::id() const {
  return host + "/" + variant + "/" + level + "/" + name;
}

std::string kernelbench_operation_name(std::string_view level, std::string_view problem) {
  return kebab("kernelbench-" + std::string(level) + "-" + std::string(problem));
}

Result<KernelbenchResult> read_kernelbench_result(const Value& item, DriftLog& drift) {
  ItemReader reader(item, {});
  KernelbenchResult out;
  out.mean = reader.optional_number("mean").value_or(0);
  if (out.mean <= 0) reader.refuse("mean", "a number above 0");
  const auto time = [&](std::string_view name) {
    const std::optional<double> value = reader.optional_number(name);
    if (value && *value < 0) reader.refuse(name, "a number, 0 or more");
    return value;
  };
  out.std = time("std");
  out.min = time("min");
  out.max = time("max");
  out.trials = reader.optional_integer("num_trials");
  if (out.trials && *out.trials < 1) reader.refuse("num_trials", "an integer above 0");
  out.hardware = reader.text("hardware");
  reader.ignore({"device"});
  reader.report_unknown("timing", drift);
  if (reader.fault()) return fail(*reader.fault());
  return out;
}

Result<KernelbenchManifests> make_kernelbench_result(const KernelbenchResult& result,
                                                     const KernelbenchProblem& problem,
                                                     const Digest& operation, const Digest& suite,
                                                     std::string_view observed_at, Arena& arena) {
  const Hardware hardware = hardware_of(result.hardware);
  KernelbenchManifests out;
  out.hardware_listed = hardware.listed;
  const auto keep = [](std::string_view part, Result<Manifest> made, Manifest& place) -> Status {
    if (!made) return fail_in(std::string(part), std::move(made.error()));
    place = std::move(*made);
    return {};
  };
  if (Status made = keep("project", make_project(arena), out.project); !made) {
    return fail(made.error());
  }
  if (Status made = keep("implementation", make_implementation(problem, operation, arena),
                         out.implementation);
      !made) {
    return fail(made.error());
  }
  if (Status made = keep("protocol", make_protocol(arena), out.protocol); !made) {
    return fail(made.error());
  }
  if (Status made =
          keep("environment", make_environment(hardware, result.hardware, arena), out.environment);
      !made) {
    return fail(made.error());
  }
  if (Status made = keep("run", make_run(result, problem, out, suite, observed_at, arena), out.run);
      !made) {
    return fail(made.error());
  }
  return out;
}

}  // namespace kernelindex::ingest
