// SPDX-License-Identifier: Apache-2.0
// Rows of operations, workloads, implementations and benchmark runs.
#include <algorithm>

#include "ingest/catalog_columns.h"
#include "ingest/catalog_row_reader.h"
#include "ingest/catalog_sources.h"
#include "ingest/upstream_ids.h"

namespace kernelindex::ingest {
namespace {

using json::Value;

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

void check_environment(const EnvironmentColumns& derived, ColumnCheck& check) {
  check.text("hardwareVendor", derived.vendor);
  check.text("hardwareModel", derived.product);
  check.text("hardwareArchitecture", derived.architecture);
  check.number_or_null("driverMajor", derived.driver_major);
  check.number_or_null("cudaMajor", derived.cuda_major);
  check.text("environmentSummary", derived.summary);
}

void check_primary(const PrimaryColumns& derived, ColumnCheck& check) {
  check.text("primaryMetric", derived.metric);
  check.text_or_null("primaryStatistic", derived.statistic);
  check.text_or_null("primaryUnit", derived.unit);
  check.number_or_null("primaryValue", derived.value);
  check.number_or_null("sampleCount", derived.sample_count);
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
  out.detail = OperationColumns{first_tensor_name(*document)};
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
  TensorColumns tensors = tensor_columns(spec);
  check.texts("dtypes", tensors.dtypes);
  check.texts("layoutKeys", tensors.layouts);
  columns.shapes = std::move(tensors.shapes);
  if (is_suite) {
    check.text("shapeSummary", suite_summary(std::get<WorkloadFacts>(manifest->facts)));
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
  out.keys.project = reader.optional_key("projectId");
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
  const ImplementationColumns derived = implementation_columns(facts, spec);
  check.text_or_null("sourceRevision", derived.revision);
  check.text("language", facts.language);
  check.text_or_null("framework", derived.framework);
  check.boolean("sourceAvailable", derived.source_available);
  check.boolean("installable", derived.installable);
  check.texts("targetArchitectures", derived.architectures);
  reader.conclude(check);
  out.upstream_id = upstream_implementation_id(*manifest, *document);
  if (const Value* source = spec.find("source")) {
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
  check_environment(environment_columns(*parts[1], *parts[0]), check);
  check_primary(primary_columns(facts), check);
  check.boolean("sourceNative", facts.source_native.has_value());
  check.boolean("hasRawEvidence", has_raw_evidence(facts));
  reader.conclude(check);
  columns.measurements = run_measurements(spec);
  out.upstream_id = upstream_run_id(run);
  name_artifact(reader, "log", spec.find({"evidence", "logs"}), "digest", {});
  name_artifact(reader, "samples", spec.find({"evidence", "rawSamples"}), "digest", {});
  name_artifact(reader, "samples", spec.find({"timing", "rawSamples"}), "digest", {});
  out.detail = std::move(columns);
}

}  // namespace kernelindex::ingest
