// SPDX-License-Identifier: Apache-2.0
#include "schema/comparison_key.h"

#include "schema/canonical_json.h"

namespace kernelindex {
namespace {

constexpr std::string_view kNoMetric = "none";

// Canonical text is written directly: the members below stand in canonical order, and a digest
// needs no escapes.
class CanonicalObject {
 public:
  CanonicalObject& member(std::string_view name, std::string_view text) {
    begin(name);
    json::append_string(text, text_);
    return *this;
  }
  CanonicalObject& member(std::string_view name, const Digest& digest) {
    return member(name, std::string_view(digest.text()));
  }
  CanonicalObject& literal(std::string_view name, std::string_view text) {
    begin(name);
    text_ += text;
    return *this;
  }
  Digest digest() {
    text_ += '}';
    return sha256(text_);
  }

 private:
  void begin(std::string_view name) {
    text_ += text_.empty() ? '{' : ',';
    json::append_string(name, text_);
    text_ += ':';
  }

  std::string text_;
};

}  // namespace

Digest correctness_key(const json::Value& correctness) {
  return CanonicalObject().literal("correctness", json::canonical(correctness)).digest();
}

Digest comparison_key(const BenchmarkRunFacts& run, const WorkloadFacts& workload) {
  return CanonicalObject()
      .member("correctness", workload.correctness_key)
      .member("environment", run.environment)
      .member("metric", run.primary ? run.primary->key() : std::string(kNoMetric))
      .member("operation", workload.operation)
      .member("protocol", run.protocol)
      .literal("v", "1")
      .member("workload", run.workload)
      .digest();
}

std::string serving_protocol_key(const ServingRunFacts& run, const ServingWorkloadFacts& workload) {
  return run.harness + "/" + run.placement + "/" +
         (workload.streaming ? "streaming" : "non_streaming") + "/" + workload.load_generation;
}

Digest cohort_key(const ServingRunFacts& run, const ServingWorkloadFacts& workload,
                  const std::optional<std::string>& tokenizer) {
  CanonicalObject text;
  text.member("metricSetKey", run.metric_set_key)
      .member("modelDigest", run.model)
      .member("protocolKey", serving_protocol_key(run, workload))
      .member("qualityPolicy", run.quality_policy);
  if (tokenizer) {
    text.member("tokenizer", *tokenizer);
  } else {
    text.literal("tokenizer", "null");
  }
  return text.member("topologyKey", run.topology_key)
      .member("workloadDigest", run.workload)
      .digest();
}

}  // namespace kernelindex
