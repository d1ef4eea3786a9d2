// SPDX-License-Identifier: Apache-2.0
// What a manifest is: a JSON document {apiVersion, kind, metadata, spec} of one of 13 kinds,
// checked against the kind's strict schema, normalised, canonical, and named by two digests.
//
// The line that computes an identity digest is in manifest.cc, `make_manifest`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "schema/digest.h"
#include "schema/json_value.h"
#include "schema/result.h"
#include "schema/utc_time.h"

namespace kernelindex {

inline constexpr std::string_view kApiVersion = "kernelindex.dev/v1alpha1";

// In the order of the documentation; the numbers are stored in rows and never change.
enum class ManifestKind : std::uint8_t {
  operation_spec = 1,
  workload_case = 2,
  workload_suite = 3,
  software_project = 4,
  implementation_revision = 5,
  benchmark_protocol = 6,
  execution_environment = 7,
  benchmark_run = 8,
  model_revision = 9,
  serving_stack_revision = 10,
  serving_configuration = 11,
  serving_workload = 12,
  serving_run = 13,
};
inline constexpr std::size_t kManifestKinds = 13;

std::string_view kind_name(ManifestKind kind);  // "OperationSpec"
std::optional<ManifestKind> kind_from_name(std::string_view name);

// A digest by which a manifest refers to another one.
struct Reference {
  std::string field;  // "spec.workloadDigest"
  Digest digest;
};

// The number that a run is ranked by. DESIGN section 4.
struct PrimaryMeasurement {
  std::string metric;
  std::string statistic;
  std::string unit;
  std::optional<double> value;     // absent when neither mean nor median is there
  bool statistic_present = false;  // the value is the statistic that is named, not its fallback
  std::optional<std::int64_t> sample_count;

  std::string key() const { return metric + ":" + statistic + ":" + unit; }
};

struct SourceNative {
  std::string source;       // slug
  std::string benchmark;    // empty when absent
  std::string external_id;  // empty when absent
};

// What queries need of a manifest's spec, so that rows can be built without keeping the JSON.
struct OperationFacts {
  std::string family;
};
struct WorkloadFacts {
  Digest operation;
  Digest correctness_key;
  std::uint32_t suite_cases = 0;  // 0 for a single case
  std::string comparator;
};
struct ProjectFacts {
  std::string name;
};
struct ImplementationFacts {
  Digest operation;
  std::string language;
  std::string revision;                // commit, else version, else empty
  std::vector<Digest> source_digests;  // source.contentDigest, projectRevision.treeDigest
};
struct ProtocolFacts {
  std::string harness;  // "name version"
};
struct EnvironmentFacts {
  std::string vendor;
  std::string product;
  std::string architecture;
};
struct BenchmarkRunFacts {
  Digest implementation;
  Digest workload;
  Digest protocol;
  Digest environment;
  std::string status;
  std::optional<PrimaryMeasurement> primary;
  std::optional<SourceNative> source_native;
  std::vector<Digest> raw_samples;  // timing.rawSamples, evidence.rawSamples
  std::vector<Digest> logs;         // evidence.logs
  UtcMicros observed_at = 0;
};
struct ModelFacts {
  std::string model;
  std::optional<std::string> tokenizer;
};
struct ServingConfigurationFacts {
  Digest stack;
};
struct ServingWorkloadFacts {
  bool streaming = false;
  std::string load_generation;
};
struct ServingRunFacts {
  Digest model;
  Digest configuration;
  Digest workload;
  std::string status;
  std::optional<PrimaryMeasurement> primary;  // the first measurement
  std::optional<SourceNative> source_native;
  std::string harness;    // "name/version"
  std::string placement;  // "unspecified" when absent
  std::string quality_policy;
  std::string topology_key;    // IMPORT section 4
  std::string metric_set_key;  // IMPORT section 4
  std::string accelerator;     // topology.acceleratorModel
  UtcMicros observed_at = 0;
};
struct NoFacts {};  // ServingStackRevision: its title says it all

using KindFacts =
    std::variant<NoFacts, OperationFacts, WorkloadFacts, ProjectFacts, ImplementationFacts,
                 ProtocolFacts, EnvironmentFacts, BenchmarkRunFacts, ModelFacts,
                 ServingConfigurationFacts, ServingWorkloadFacts, ServingRunFacts>;

// A valid manifest. Owns all it holds.
struct Manifest {
  ManifestKind kind{};
  Digest identity;                    // SHA-256 of the canonical {apiVersion, kind, spec}
  Digest document;                    // SHA-256 of `bytes`
  std::string bytes;                  // the whole document, normalised and canonical
  std::string name;                   // metadata.name
  std::string title;                  // metadata.title, else empty
  std::vector<Reference> references;  // every manifest digest in spec, in canonical order of fields
  KindFacts facts;

  // Title, else name: what a person is shown.
  const std::string& label() const { return title.empty() ? name : title; }
};

// Validates a document against the envelope, the metadata and the schema of its kind, normalises it
// (durations to integer nanoseconds, set-like lists sorted without duplicates) and computes both
// digests. The first fault is the error: kind invalid, place = field path ("spec.axes.m.role").
// Normalised values are built in `arena`; the manifest needs neither it nor `document` afterwards.
// When `text` is what the document was read from, places carry "line:column" before the field path.
Result<Manifest> make_manifest(const json::Value& document, json::Arena& arena,
                               std::string_view text = {});

// All faults, at most `limit`, in document order; empty when the manifest is valid. `text` as
// above.
std::vector<Error> validate_manifest(const json::Value& document, std::size_t limit = 50,
                                     std::string_view text = {});

// Reads and validates JSON bytes; places carry "line:column" before the field path.
Result<Manifest> read_manifest(std::string_view json_text);

// The canonical bytes of the identity body {apiVersion, kind, spec} of a valid manifest.
std::string identity_body(const Manifest& manifest);

}  // namespace kernelindex
