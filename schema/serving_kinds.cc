// SPDX-License-Identifier: Apache-2.0
// The schemas of the kinds about serving: models, stacks, their configurations, loads and runs.
#include "schema/kind_schemas.h"

namespace kernelindex::schema {

Node model_revision() {
  const Node repository = object({
      required("host", one_of({"huggingface", "github", "other"})),
      required("id", text(200)),
      optional("revision", text(100)),
  });
  const Node tokenizer = object({
      optional("name", text(200)),
      optional("revision", text(100)),
      optional("digest", digest()),
  });
  return object({
      required("model", text(200)),
      optional("repository", repository),
      optional("tokenizer", tokenizer),
      optional("architecture", text(100)),
      optional("parameterCount", count()),
      optional("contextLength", count()),
      optional("modality", token()),
      optional("license", text(200)),
  });
}

Node serving_stack_revision() {
  return object({
      required("project",
               object({required("name", text(200)), optional("repository", https_url())})),
      required("revision", object({
                               optional("version", text(120)),
                               optional("commit", git_commit()),
                               optional("containerDigest", digest()),
                           })),
      optional("backends", list(token(), 0, 8)),
      optional("apiProtocol", token()),
      optional("license", text(200)),
  });
}

Node serving_configuration() {
  const Node parallelism = object({
      optional("tensor", count()),
      optional("pipeline", count()),
      optional("data", count()),
      optional("expert", count()),
      optional("context", count()),
  });
  const Node bounds = object({
      optional("maxSequenceLength", count()),
      optional("maxBatchSize", count()),
      optional("maxNumTokens", count()),
  });
  return object({
      required("stackDigest", digest()),
      optional("dtype", token()),
      optional("quantization", token()),
      optional("parallelism", parallelism),
      optional("attentionBackend", token()),
      optional("kvCache",
               object({optional("dtype", token()), optional("capacityTokens", count())})),
      optional("limits", bounds),
      optional("speculative",
               object({required("method", token()), optional("draftModel", text(200))})),
      optional("options", map(token(), text(500))),
  });
}

Node serving_workload() {
  const Node tokens = object({
      required("distribution", token()),
      optional("mean", number_above(0)),
      optional("maximum", count()),
      optional("artifactDigest", digest()),
  });
  const Node objective = object({
      required("metric", token()),
      required("statistic", token()),
      required("operator", one_of({"<=", "<"})),
      required("value", number_above(0)),
      required("unit", token()),
  });
  return object({
      optional("dataset", object({required("name", text(200)), optional("digest", digest())})),
      optional("tokens", object({optional("prompt", tokens), optional("output", tokens)})),
      required("streaming", boolean()),
      required("loadGeneration", one_of({"open_loop", "closed_loop", "offline"})),
      optional("arrival", token()),
      optional("requestRatePerSecond", number_above(0)),
      optional("slo", list(objective, 0, 8)),
      optional("sampling",
               object({optional("temperature", number()), optional("seeded", boolean())})),
      optional("durationSeconds", count()),
      optional("requestCount", count()),
  });
}

Node serving_run() {
  const Node topology = object({
      optional("acceleratorVendor", token()),
      required("acceleratorModel", text(200)),
      required("acceleratorsPerNode", count()),
      required("nodeCount", count()),
      optional("interconnect", text(200)),
  });
  const Node source_native = object({
      required("source", slug()),
      required("benchmark", text(200)),
      required("scenario", token()),
      required("division", token()),
      required("category", token()),
      required("externalId", text(500)),
      optional("metrics", map(token(), any_of({number(), text(500)}))),
  });
  return object({
      required("modelDigest", digest()),
      required("configurationDigest", digest()),
      required("workloadDigest", digest()),
      required("topology", topology),
      required("harness", object({required("name", token()), required("version", text(100))})),
      optional("placement", token()),
      required("qualityPolicy", token()),
      required("status", one_of({"valid", "invalid", "incomplete_evidence"})),
      required("measurements", list(measurement(), 1, 64)),
      optional("sourceNative", source_native),
      optional("caveats", list(text(500), 0, 16)),
      required("observedAt", text(kUtcInstant)),
  });
}

}  // namespace kernelindex::schema
