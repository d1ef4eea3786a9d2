// SPDX-License-Identifier: Apache-2.0
// Rows of operations, workloads, implementations and benchmark runs.
#include <algorithm>
#include <charconv>
#include <set>

#include "ingest/catalog_row_reader.h"
#include "ingest/catalog_sources.h"
#include "ingest/upstream_ids.h"
#include "schema/canonical_json.h"

namespace kernelindex::ingest {
namespace {

using json::Member;
using json::Value;

constexpr std::string_view kDot = " \xC2\xB7 ";

// Strides as C lays a tensor out; without strides it is contiguous.
std::string layout_key(const Value& tensor) {
  const Value* strides = tensor.find("strides");
  const Value* shape = tensor.find("shape");
  if (strides == nullptr || !strides->is_array()) return "contiguous";
  if (shape == nullptr || shape->array().size() != strides->array().size()) return "strided";
  double expected = 1;
  for (std::size_t i = strides->array().size(); i-- > 0;) {
    const Value& stride = strides->array()[i];
    const Value& size = shape->array()[i];
    if (!stride.is_number() || stride.number() != expected) return "strided";
    expected *= size.number();
  }
  return "row_major";
}

std::string shape_text(const Value& tensor) {
  std::string text = "[";
  if (const Value* shape = tensor.find("shape")) {
    for (const Value& size : shape->array()) {
      if (text.size() > 1) text += ", ";
      json::append_canonical(size, text);
    }
  }
  return text + "]";
}

std::vector<std::string> sorted(const std::set<std::string>& texts) {
  return {texts.begin(), texts.end()};
}

void check_tensors(const Value& spec, ColumnCheck& check, WorkloadColumns& columns) {
  std::set<std::string> dtypes;
  std::set<std::string> layouts;
  const Value* tensors = spec.find("tensors");
  if (tensors != nullptr && tensors->is_object()) {
    for (const Member& tensor : tensors->object()) {
      dtypes.emplace(tensor.value.text("dtype"));
      layouts.insert(layout_key(tensor.value));
      columns.shapes += tensor.name;
      columns.shapes += '\n';
      columns.shapes += shape_text(tensor.value) + '\n';
    }
  }
  check.texts("dtypes", sorted(dtypes));
  check.texts("layoutKeys", sorted(layouts));
}

void name_artifact(CatalogRowReader& reader, std::string role, const Value* reference,
                   std::string_view digest_member, std::string path) {
  if (reference == nullptr) return;
  Result<Digest> digest = Digest::parse(reference->text(digest_member));
  if (!digest) return;
  std::vector<NamedArtifact>& artifacts = reader.out().facts.artifacts;
  if (std::ranges::find(artifacts, *digest, &NamedArtifact::digest) != artifacts.end()) return;
  NamedArtifact artifact;
  artifact.role = std::move(role);
  artifact.digest = *digest;
  artifact.path = std::move(path);
  artifacts.push_back(std::move(artifact));
}

std::vector<CatalogMeasurement> expected_measurements(const Value& spec) {
  constexpr std::pair<std::string_view, std::string_view> kStatistics[] = {
      {"median", "median"}, {"mean", "mean"},   {"p05", "p05"}, {"p95", "p95"},
      {"minimum", "min"},   {"maximum", "max"}, {"mad", "mad"}};
  std::vector<CatalogMeasurement> out;
  if (const Value* latency = spec.find({"timing", "latencyNs"})) {
    const std::optional<double> samples = number_member(*spec.find("timing"), "samples");
    for (const auto& [member, statistic] : kStatistics) {
      const std::optional<double> value = number_member(*latency, member);
      if (value) out.push_back({"latency", std::string(statistic), "ns", *value, samples});
    }
  }
  std::vector<CatalogMeasurement> listed = listed_measurements(spec);
  out.insert(out.end(), std::make_move_iterator(listed.begin()),
             std::make_move_iterator(listed.end()));
  return out;
}

// The integer that a version text begins with: 13 of "13.0".
std::optional<double> major_version(const std::optional<std::string>& version) {
  int major = 0;
  if (!version) return std::nullopt;
  const auto read = std::from_chars(version->data(), version->data() + version->size(), major);
  return read.ec == std::errc() && major >= 0 ? std::optional<double>(major) : std::nullopt;
}

void check_environment(const Value& environment, const Value& protocol, ColumnCheck& check) {
  const Value empty;
  const Value* found = environment.find({"spec", "software"});
  const Value& software = found == nullptr ? empty : *found;
  const Value* hardware = environment.find({"spec", "hardware"});
  check.text("hardwareVendor", hardware->text("vendor"));
  check.text("hardwareModel", hardware->text("product"));
  check.text("hardwareArchitecture", hardware->text("architecture"));
  check.number_or_null("driverMajor", major_version(text_member(software, "driver")));
  const std::optional<std::string> cuda = text_member(software, "cudaToolkit");
  check.number_or_null("cudaMajor", major_version(cuda));
  std::string summary;
  if (cuda) summary += "CUDA " + *cuda + std::string(kDot);
  if (const Value* framework = software.find("framework")) {
    summary += std::string(framework->text("name")) + " " + std::string(framework->text("version"));
    summary += kDot;
  }
  summary += protocol.find({"spec", "harness"})->text("name");
  check.text("environmentSummary", summary);
}

void check_primary(const BenchmarkRunFacts& run, ColumnCheck& check) {
  const PrimaryMeasurement* primary = run.primary ? &*run.primary : nullptr;
  const auto text = [&](const std::string PrimaryMeasurement::*member) {
    return primary == nullptr ? std::nullopt : std::optional<std::string>(primary->*member);
  };
  check.text("primaryMetric", primary == nullptr ? std::string_view("none") : primary->metric);
  check.text_or_null("primaryStatistic", text(&PrimaryMeasurement::statistic));
  check.text_or_null("primaryUnit", text(&PrimaryMeasurement::unit));
  check.number_or_null("primaryValue", primary == nullptr ? std::nullopt : primary->value);
  const bool counted = primary != nullptr && primary->sample_count.has_value();
  check.number_or_null(
      "sampleCount",
      counted ? std::optional(static_cast<double>(*primary->sample_count)) : std::nullopt);
}

// The row's own columns, whether or not its manifest agrees: record events were derived from them.
void take_run_columns(CatalogRowReader& reader, RunColumns& columns) {
  columns.correctness_key = reader.optional_digest("correctnessKey");
  columns.comparison_key = reader.optional_digest("comparisonKey");
  columns.primary_value = reader.optional_number("primaryValue");
  if (const Result<UtcMicros> at = parse_utc_instant(reader.row().text("observedAt"))) {
    columns.observed_at = *at;
  }
  const ClaimFacts& facts = reader.out().facts;
  columns.eligible = reader.row().text("status") == "passed" && !facts.published_at.empty() &&
                     facts.retracted_at.empty() && facts.supersedes.empty() &&
                     columns.primary_value.has_value();
}

}  // namespace

void read_operation_row(CatalogRowReader& reader) {
  CatalogRow& out = reader.out();
  out.slug = reader.text("slug");
  reader.take_digest("semanticDigest");
  reader.take_supersession();
  if (const Value* tags = reader.row().find("tags"); tags != nullptr && tags->is_array()) {
    for (const Value& tag : tags->array()) {
      if (tag.is_string()) out.facts.tags.emplace_back(tag.string());
    }
  }
  const Value* document = reader.row().find("manifest");
  const Manifest* manifest = reader.take_manifest(document, ManifestKind::operation_spec);
  if (manifest == nullptr) return;
  ColumnCheck check(reader.row());
  check.digest("semanticDigest", manifest->identity, "DIGEST_DIFFERS");
  check.text("family", std::get<OperationFacts>(manifest->facts).family);
  check.text("name", manifest->label());
  check.text("schemaVersion", kApiVersion);
  reader.conclude(check);
  out.source = source_of_operation(*document);
  OperationColumns columns;
  for (const Value& input : document->find({"spec", "inputs"})->array()) {
    if (input.find("tensor") == nullptr) continue;
    columns.first_tensor = input.text("name");
    break;
  }
  out.detail = std::move(columns);
}

void read_workload_row(CatalogRowReader& reader) {
  CatalogRow& out = reader.out();
  out.keys.operation = reader.required_key("operationId");
  reader.take_digest("workloadDigest");
  const Value* document = reader.row().find("manifest");
  const bool is_suite = document != nullptr && document->text("kind") == "WorkloadSuite";
  const Manifest* manifest = reader.take_manifest(
      document, is_suite ? ManifestKind::workload_suite : ManifestKind::workload_case);
  if (manifest == nullptr) return;
  const Value& spec = *document->find("spec");
  ColumnCheck check(reader.row());
  WorkloadColumns columns;
  check.digest("workloadDigest", manifest->identity, "DIGEST_DIFFERS");
  check.text("schemaVersion", kApiVersion);
  check_tensors(spec, check, columns);
  if (is_suite) {
    const auto cases = std::get<WorkloadFacts>(manifest->facts).suite_cases;
    check.text("shapeSummary", "suite of " + std::to_string(cases) + " cases");
  } else {
    columns.shape_summary = text_member(reader.row(), "shapeSummary");
    columns.axes_key = key_by_title(*manifest);
    columns.axes_list = key_by_axes(*manifest, *document);
  }
  reader.conclude(check);
  out.detail = std::move(columns);
}

void read_implementation_row(CatalogRowReader& reader) {
  CatalogRow& out = reader.out();
  out.slug = reader.text("slug");
  out.keys.project = reader.required_key("projectId");
  out.keys.operation = reader.required_key("operationId");
  reader.take_digest("implementationDigest");
  reader.take_supersession();
  const Value* document = reader.row().find("manifest");
  const Manifest* manifest = reader.take_manifest(document, ManifestKind::implementation_revision);
  if (manifest == nullptr) return;
  const Value& spec = *document->find("spec");
  const auto& facts = std::get<ImplementationFacts>(manifest->facts);
  ColumnCheck check(reader.row());
  check.digest("implementationDigest", manifest->identity, "DIGEST_DIFFERS");
  const auto revision = facts.revision.empty() ? std::nullopt : std::optional(facts.revision);
  check.text_or_null("sourceRevision", revision);
  check.text("language", facts.language);
  check.text_or_null("framework", text_member(*spec.find("callable"), "interface"));
  const Value* source = spec.find("source");
  const bool available =
      source != nullptr || spec.find({"projectRevision", "repository"}) != nullptr;
  check.boolean("sourceAvailable", available);
  const Value* variants = spec.find("buildVariants");
  check.boolean("installable", variants != nullptr && !variants->array().empty());
  std::set<std::string> architectures;
  for (const Value& name : spec.find({"support", "hardwareArchitectures"})->array()) {
    architectures.emplace(name.string());
  }
  check.texts("targetArchitectures", sorted(architectures));
  reader.conclude(check);
  out.upstream_id = upstream_implementation_id(*manifest, *document);
  if (source != nullptr) {
    name_artifact(reader, "source", source, "contentDigest", std::string(source->text("fileName")));
    if (!out.facts.artifacts.empty()) {
      const std::optional<double> size = number_member(*source, "sizeBytes");
      if (size) out.facts.artifacts[0].size = static_cast<std::uint64_t>(*size);
    }
  }
}

void read_benchmark_run_row(CatalogRowReader& reader) {
  CatalogRow& out = reader.out();
  out.keys.implementation = reader.required_key("implementationId");
  out.keys.workload = reader.required_key("workloadId");
  out.keys.source = reader.required_key("sourceId");
  reader.take_digest("runDigest");
  reader.take_publication();
  RunColumns columns;
  take_run_columns(reader, columns);
  const Value* document = reader.row().find("manifest");
  const Value* parts[3] = {};
  constexpr std::string_view kParts[] = {"protocol", "environment", "run"};
  constexpr ManifestKind kKinds[] = {ManifestKind::benchmark_protocol,
                                     ManifestKind::execution_environment,
                                     ManifestKind::benchmark_run};
  out.manifests.reserve(std::size(kParts));
  for (std::size_t i = 0; i < std::size(kParts); ++i) {
    parts[i] = document == nullptr ? nullptr : document->find(kParts[i]);
    if (reader.take_manifest(parts[i], kKinds[i]) == nullptr) {
      out.manifests.clear();
      out.detail = std::move(columns);
      return;
    }
  }
  const Manifest& protocol = out.manifests[0];
  const Manifest& environment = out.manifests[1];
  const Manifest& run = out.manifests[2];
  const auto& facts = std::get<BenchmarkRunFacts>(run.facts);
  const Value& spec = *parts[2]->find("spec");
  if (facts.protocol != protocol.identity) {
    reader.refuse(both_values("DIGEST_DIFFERS", "manifest.protocol", facts.protocol.text(),
                              protocol.identity.text()));
  }
  if (facts.environment != environment.identity) {
    reader.refuse(both_values("DIGEST_DIFFERS", "manifest.environment", facts.environment.text(),
                              environment.identity.text()));
  }
  ColumnCheck check(reader.row());
  check.digest("runDigest", run.identity, "DIGEST_DIFFERS");
  check.digest("protocolKey", protocol.identity, "KEY_DIFFERS");
  check.digest("environmentKey", environment.identity, "KEY_DIFFERS");
  check.text("status", facts.status);
  check.instant("observedAt", facts.observed_at);
  check_environment(*parts[1], *parts[0], check);
  check_primary(facts, check);
  check.boolean("sourceNative", facts.source_native.has_value());
  check.boolean("hasRawEvidence", !facts.raw_samples.empty() || !facts.logs.empty());
  reader.conclude(check);
  columns.measurements = expected_measurements(spec);
  out.upstream_id = upstream_run_id(run);
  name_artifact(reader, "log", spec.find({"evidence", "logs"}), "digest", {});
  name_artifact(reader, "samples", spec.find({"evidence", "rawSamples"}), "digest", {});
  name_artifact(reader, "samples", spec.find({"timing", "rawSamples"}), "digest", {});
  out.detail = std::move(columns);
}

}  // namespace kernelindex::ingest
