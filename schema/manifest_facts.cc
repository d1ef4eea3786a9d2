// SPDX-License-Identifier: Apache-2.0
#include "schema/manifest_facts.h"

#include <algorithm>
#include <cassert>
#include <initializer_list>

#include "schema/canonical_json.h"
#include "schema/comparison_key.h"

namespace kernelindex {
namespace {

using json::Value;

// The schema has checked the grammar of every digest before facts are read.
Digest valid_digest(std::string_view text) {
  const Result<Digest> digest = Digest::parse(text);
  assert(digest.has_value());
  return *digest;
}

Digest digest_at(const Value& object, std::string_view name) {
  return valid_digest(object.text(name));
}

void add_digest_at(const Value& spec, std::initializer_list<std::string_view> path,
                   std::vector<Digest>& digests) {
  const Value* value = spec.find(path);
  if (value != nullptr) digests.push_back(valid_digest(value->string()));
}

UtcMicros instant_at(const Value& object, std::string_view name) {
  const Result<UtcMicros> instant = parse_utc_instant(object.text(name));
  assert(instant.has_value());
  return *instant;
}

std::string string_at(const Value& object, std::string_view name) {
  return std::string(object.text(name));
}

std::string string_or(const Value& object, std::string_view name, std::string_view otherwise) {
  const Value* value = object.find(name);
  return std::string(value != nullptr ? value->string() : otherwise);
}

std::optional<double> number_at(const Value& object, std::string_view name) {
  const Value* value = object.find(name);
  return value != nullptr ? std::optional(value->number()) : std::nullopt;
}

std::optional<std::int64_t> integer_at(const Value& object, std::string_view name) {
  const std::optional<double> number = number_at(object, name);
  return number ? std::optional(static_cast<std::int64_t>(*number)) : std::nullopt;
}

std::string number_text_at(const Value& object, std::string_view name) {
  std::string out;
  json::append_number(number_at(object, name).value_or(0), out);
  return out;
}

std::optional<PrimaryMeasurement> first_measurement(const Value& spec) {
  const Value* measurements = spec.find("measurements");
  if (measurements == nullptr || measurements->array().empty()) return std::nullopt;
  const Value& first = measurements->array().front();
  return PrimaryMeasurement{.metric = string_at(first, "metric"),
                            .statistic = string_at(first, "statistic"),
                            .unit = string_at(first, "unit"),
                            .value = number_at(first, "value"),
                            .statistic_present = true,
                            .sample_count = integer_at(first, "sampleCount")};
}

// DESIGN section 4: timing goes before measurements; statistics other than mean take the median,
// and each of the two falls back on the other.
std::optional<PrimaryMeasurement> primary_measurement(const Value& spec) {
  const Value* timing = spec.find("timing");
  if (timing == nullptr) return first_measurement(spec);
  const Value& latency = *timing->find("latencyNs");
  const std::optional<double> mean = number_at(latency, "mean");
  const std::optional<double> median = number_at(latency, "median");
  const std::string statistic = string_at(*timing, "primaryStatistic");
  const bool by_mean = statistic == "mean";
  return PrimaryMeasurement{
      .metric = "latency",
      .statistic = statistic,
      .unit = "ns",
      .value = by_mean ? (mean ? mean : median) : (median ? median : mean),
      .statistic_present = by_mean ? mean.has_value() : statistic == "median" && median.has_value(),
      .sample_count = integer_at(*timing, "samples")};
}

std::optional<SourceNative> source_native(const Value& spec) {
  const Value* native = spec.find("sourceNative");
  if (native == nullptr) return std::nullopt;
  return SourceNative{string_at(*native, "source"), string_at(*native, "benchmark"),
                      string_at(*native, "externalId")};
}

WorkloadFacts workload_facts(const Value& spec) {
  const Value& correctness = *spec.find("correctness");
  const Value* cases = spec.find("cases");
  WorkloadFacts facts;
  facts.operation = digest_at(spec, "operationSpecDigest");
  facts.correctness_key = correctness_key(correctness);
  facts.suite_cases = cases != nullptr ? static_cast<std::uint32_t>(cases->array().size()) : 0;
  facts.comparator = string_at(correctness, "comparator");
  return facts;
}

ImplementationFacts implementation_facts(const Value& spec) {
  const Value& project = *spec.find("projectRevision");
  ImplementationFacts facts;
  facts.operation = digest_at(*spec.find("operation"), "specDigest");
  facts.language = string_at(*spec.find("callable"), "language");
  facts.revision = string_or(project, "commit", project.text("version"));
  add_digest_at(spec, {"source", "contentDigest"}, facts.source_digests);
  add_digest_at(spec, {"projectRevision", "treeDigest"}, facts.source_digests);
  return facts;
}

ProtocolFacts protocol_facts(const Value& spec) {
  const Value& harness = *spec.find("harness");
  const Value* version = harness.find("version");
  std::string text = string_at(harness, "name");
  if (version != nullptr) text.append(" ").append(version->string());
  return {std::move(text)};
}

EnvironmentFacts environment_facts(const Value& spec) {
  const Value& hardware = *spec.find("hardware");
  return {string_at(hardware, "vendor"), string_at(hardware, "product"),
          string_at(hardware, "architecture")};
}

BenchmarkRunFacts benchmark_run_facts(const Value& spec) {
  BenchmarkRunFacts facts;
  facts.implementation = digest_at(spec, "implementationDigest");
  facts.workload = digest_at(spec, "workloadDigest");
  facts.protocol = digest_at(spec, "protocolDigest");
  facts.environment = digest_at(spec, "environmentDigest");
  facts.status = string_at(spec, "status");
  facts.primary = primary_measurement(spec);
  facts.source_native = source_native(spec);
  add_digest_at(spec, {"timing", "rawSamples", "digest"}, facts.raw_samples);
  add_digest_at(spec, {"evidence", "rawSamples", "digest"}, facts.raw_samples);
  add_digest_at(spec, {"evidence", "logs", "digest"}, facts.logs);
  facts.observed_at = instant_at(spec, "observedAt");
  return facts;
}

ModelFacts model_facts(const Value& spec) {
  ModelFacts facts;
  facts.model = string_at(spec, "model");
  const Value* tokenizer = spec.find({"tokenizer", "name"});
  if (tokenizer != nullptr) facts.tokenizer = std::string(tokenizer->string());
  return facts;
}

std::string topology_key(const Value& topology) {
  return string_or(topology, "acceleratorVendor", "unknown") + "/" +
         string_at(topology, "acceleratorModel") + "/" +
         number_text_at(topology, "acceleratorsPerNode") + "x" +
         number_text_at(topology, "nodeCount") + "/" +
         string_or(topology, "interconnect", "unspecified");
}

// "metric·statistic" of every measurement, sorted, each once. Tokens are ASCII, where byte order is
// the order of UTF-16 code units.
std::string metric_set_key(const Value& measurements) {
  std::vector<std::string> keys;
  for (const Value& measurement : measurements.array()) {
    keys.push_back(string_at(measurement, "metric") + "\xC2\xB7" +
                   string_at(measurement, "statistic"));
  }
  std::ranges::sort(keys);
  const auto repeated = std::ranges::unique(keys);
  keys.erase(repeated.begin(), repeated.end());
  std::string out;
  for (const std::string& key : keys) {
    if (!out.empty()) out += ',';
    out += key;
  }
  return out;
}

ServingRunFacts serving_run_facts(const Value& spec) {
  const Value& topology = *spec.find("topology");
  const Value& harness = *spec.find("harness");
  ServingRunFacts facts;
  facts.model = digest_at(spec, "modelDigest");
  facts.configuration = digest_at(spec, "configurationDigest");
  facts.workload = digest_at(spec, "workloadDigest");
  facts.status = string_at(spec, "status");
  facts.primary = first_measurement(spec);
  facts.source_native = source_native(spec);
  facts.harness = string_at(harness, "name") + "/" + string_at(harness, "version");
  facts.placement = string_or(spec, "placement", "unspecified");
  facts.quality_policy = string_at(spec, "qualityPolicy");
  facts.topology_key = topology_key(topology);
  facts.metric_set_key = metric_set_key(*spec.find("measurements"));
  facts.accelerator = string_at(topology, "acceleratorModel");
  facts.observed_at = instant_at(spec, "observedAt");
  return facts;
}

}  // namespace

KindFacts facts_of(ManifestKind kind, const Value& spec) {
  switch (kind) {
    case ManifestKind::operation_spec:
      return OperationFacts{string_at(spec, "family")};
    case ManifestKind::workload_case:
    case ManifestKind::workload_suite:
      return workload_facts(spec);
    case ManifestKind::software_project:
      return ProjectFacts{string_at(spec, "name")};
    case ManifestKind::implementation_revision:
      return implementation_facts(spec);
    case ManifestKind::benchmark_protocol:
      return protocol_facts(spec);
    case ManifestKind::execution_environment:
      return environment_facts(spec);
    case ManifestKind::benchmark_run:
      return benchmark_run_facts(spec);
    case ManifestKind::model_revision:
      return model_facts(spec);
    case ManifestKind::serving_stack_revision:
      return NoFacts{};
    case ManifestKind::serving_configuration:
      return ServingConfigurationFacts{digest_at(spec, "stackDigest")};
    case ManifestKind::serving_workload:
      return ServingWorkloadFacts{spec.find("streaming")->boolean(),
                                  string_at(spec, "loadGeneration")};
    case ManifestKind::serving_run:
      return serving_run_facts(spec);
  }
  return NoFacts{};
}

std::vector<Reference> references_of(ManifestKind kind, const Value& spec) {
  const auto fields = [&](std::initializer_list<std::string_view> names) {
    std::vector<Reference> references;
    for (const std::string_view name : names) {
      references.push_back({"spec." + std::string(name), digest_at(spec, name)});
    }
    return references;
  };
  switch (kind) {
    case ManifestKind::workload_case:
    case ManifestKind::workload_suite:
      return fields({"operationSpecDigest"});
    case ManifestKind::implementation_revision:
      return {{"spec.operation.specDigest", digest_at(*spec.find("operation"), "specDigest")}};
    case ManifestKind::benchmark_run:
      return fields(
          {"environmentDigest", "implementationDigest", "protocolDigest", "workloadDigest"});
    case ManifestKind::serving_configuration:
      return fields({"stackDigest"});
    case ManifestKind::serving_run:
      return fields({"configurationDigest", "modelDigest", "workloadDigest"});
    case ManifestKind::operation_spec:
    case ManifestKind::software_project:
    case ManifestKind::benchmark_protocol:
    case ManifestKind::execution_environment:
    case ManifestKind::model_revision:
    case ManifestKind::serving_stack_revision:
    case ManifestKind::serving_workload:
      break;
  }
  return {};
}

}  // namespace kernelindex
