// SPDX-License-Identifier: Apache-2.0
// The schemas of the kinds about kernels: what is computed, by what, measured how, with what
// result.
#include "schema/kind_schemas.h"

namespace kernelindex::schema {
namespace {

bool is_role(const json::Value& axis, std::string_view role) { return axis.text("role") == role; }

constexpr Rule kConstantNeedsValue = {
    "constant-needs-value", "an axis of role constant needs a value", [](const json::Value& axis) {
      return !is_role(axis, "constant") || axis.find("value") != nullptr;
    }};

constexpr Rule kDerivedNeedsExpression = {
    "derived-needs-expression", "an axis of role derived needs an expression",
    [](const json::Value& axis) {
      return !is_role(axis, "derived") || axis.find("expression") != nullptr;
    }};

constexpr Rule kTensorOrScalar = {
    "exactly-one-of-tensor-scalar", "needs exactly one of tensor and scalar",
    [](const json::Value& argument) {
      return (argument.find("tensor") != nullptr) != (argument.find("scalar") != nullptr);
    }};

constexpr Rule kMedianOrMean = {
    "median-or-mean", "needs median or mean", [](const json::Value& latency) {
      return latency.find("median") != nullptr || latency.find("mean") != nullptr;
    }};

Node axis() {
  return object({required("role", one_of({"variable", "constant", "derived"})),
                 required("type", one_of({"integer"})), optional("value", integer()),
                 optional("minimum", integer()), optional("maximum", integer()),
                 optional("expression", text(kExpression, 200))},
                {kConstantNeedsValue, kDerivedNeedsExpression});
}

// An input or output of an operation.
Node argument() {
  const Node tensor = object({
      required("shape", list(any_of({integer(0), text(kAxisName)}), 1)),
      required("dtype", token()),
      optional("layout", one_of({"row_major", "col_major", "contiguous", "strided"})),
  });
  return object({required("name", token()), optional("tensor", tensor),
                 optional("scalar", object({required("dtype", token())}))},
                {kTensorOrScalar});
}

// What an implementation's `install` says about getting it built.
Node install() {
  return object({
      required("kind", one_of({"git", "pip", "package", "container", "source"})),
      optional("repository", https_url()),
      optional("commit", git_commit()),
      optional("package", text(200)),
      optional("version", text(100)),
      optional("command", text(1000)),
  });
}

Node latency() {
  return object(
      {optional("median", duration()), optional("mean", duration()), optional("p05", duration()),
       optional("p95", duration()), optional("minimum", duration()),
       optional("maximum", duration()), optional("mad", duration()),
       optional("confidence95", tuple({duration(), duration()}))},
      {kMedianOrMean});
}

}  // namespace

Node artifact() { return object({required("uri", text(2000)), required("digest", digest())}); }

Node measurement() {
  return object({
      required("metric", token()),
      required("unit", token()),
      required("statistic", token()),
      required("value", number()),
      optional("sampleCount", count()),
  });
}

Node operation_spec() {
  return object({
      required("family", slug()),
      required("axes", map(text(kAxisName), axis())),
      required("inputs", list(argument(), 1)),
      required("outputs", list(argument(), 1)),
      required(
          "semantics",
          object({
              optional("expression", text(2000)),
              required("mutation", one_of({"none", "in_place", "destination"})),
              required("determinism", one_of({"deterministic", "nondeterministic", "unspecified"})),
          })),
      optional("reference",
               object({required("language", token()), optional("artifact", artifact())})),
  });
}

Node workload_case() {
  const Node data = object({
      required("generator", token()),
      optional("seed", integer(0)),
      optional("parameters", map(token(), number())),
      optional("artifact", artifact()),
  });
  const Node tensor = object({
      required("shape", list(integer(0), 1)),
      required("dtype", token()),
      optional("strides", list(integer())),
      optional("alignmentBytes", count()),
      optional("data", data),
  });
  const Node scalar = object({required("dtype", token()), required("value", number())});
  const Node correctness = object({
      required("comparator", token()),
      optional("maxAbsoluteError", number_at_least(0)),
      optional("maxRelativeError", number_at_least(0)),
      optional("requiredMatchedRatio", number_between(0, 1)),
      optional("nanPolicy", one_of({"reject", "exact_match", "ignore"})),
      optional("infinityPolicy", one_of({"reject", "exact_match", "ignore"})),
  });
  return object({
      required("operationSpecDigest", digest()),
      required("axes", map(text(kAxisName), integer())),
      required("tensors", map(token(), tensor)),
      optional("scalars", map(token(), scalar)),
      required("correctness", correctness),
  });
}

Node workload_suite() {
  const Node one_case = object({
      required("externalId", text(200)),
      required("axes", map(text(kAxisName), integer())),
  });
  return object({
      required("operationSpecDigest", digest()),
      required("cases", list(one_case, 1)),
      required("correctness",
               object({required("comparator", token()), optional("description", text(500))})),
      required("aggregation",
               object({required("metric", token()), required("statistic", token())})),
  });
}

Node software_project() {
  return object({
      required("name", text(200)),
      optional("kind", one_of({"library", "individual", "vendor"})),
      optional("repository", https_url()),
      optional("homepage", https_url()),
      optional("host", object({
                           required("kind", one_of({"github", "huggingface", "gitlab", "other"})),
                           required("id", text(200)),
                       })),
      optional("packages",
               list(object({required("ecosystem", token()), required("name", text(200))}))),
  });
}

Node implementation_revision() {
  const Node project = object({
      optional("repository", https_url()),
      optional("commit", git_commit()),
      optional("version", text(100)),
      optional("treeDigest", digest()),
  });
  const Node callable = object({
      required("language", token()),
      optional("path", text(500)),
      optional("symbol", text(200)),
      optional("interface", token()),
  });
  const Node support = object({
      required("hardwareArchitectures", set(token())),
      optional("productsTested", set(text(100))),
      optional("axes", set(text(200))),
      required("dtypes", set(token())),
      optional("layouts", set(text(50))),
  });
  const Node source = object({
      required("contentDigest", digest()),
      optional("fileName", text(200)),
      optional("sizeBytes", count()),
  });
  const Node build_variant = object({
      required("name", text(kManifestName, kManifestNameLength)),
      required("install", install()),
      optional("requirements", map(token(), text(200))),
  });
  const Node licensing = object({
      optional("declared", text(200)),
      optional("concluded", text(200)),
      optional("evidence", object({required("path", text(500)), optional("digest", digest())})),
  });
  return object({
      required("projectRevision", project),
      required("operation", object({required("specDigest", digest())})),
      required("callable", callable),
      required("support", support),
      optional("source", source),
      optional("buildVariants", list(build_variant)),
      required("licensing", licensing),
  });
}

Node benchmark_protocol() {
  const Node harness = object({
      required("name", text(200)),
      optional("version", text(100)),
      optional("repository", https_url()),
      optional("commit", git_commit()),
  });
  const Node measured = object({
      required("timer", token()),
      optional("synchronization", token()),
      optional("compileIncluded", boolean()),
      optional("setupIncluded", boolean()),
      optional("warmupIterations", integer(0)),
      optional("warmupDuration", duration()),
      optional("measuredIterations", count()),
      optional("samples", count()),
      optional("inputRegeneration", token()),
      optional("outlierPolicy", text(500)),
      required("primaryStatistic", token()),
  });
  return object({
      required("harness", harness),
      required("measurement", measured),
      optional("correctness",
               object({required("reference", text(500)), required("comparator", token())})),
      optional("devicePolicy", object({
                                   optional("clocksLocked", boolean()),
                                   optional("powerLimitWatts", number_above(0)),
                                   optional("persistenceMode", boolean()),
                               })),
      optional("comparability",
               object({required("family", token()), optional("notes", text(1000))})),
  });
}

Node execution_environment() {
  const Node hardware = object({
      required("vendor", token()),
      required("product", text(200)),
      required("architecture", token()),
      optional("formFactor", text(100)),
      optional("memoryBytes", count()),
      optional("count", count()),
      optional("interconnect", text(200)),
  });
  const Node software = object({
      optional("operatingSystem", text(200)),
      optional("kernel", text(200)),
      optional("driver", text(100)),
      optional("cudaToolkit", text(100)),
      optional("compiler", text(200)),
      optional("framework", object({required("name", token()), required("version", text(100))})),
      optional("libraries", map(token(), text(100))),
  });
  const Node settings = object({
      optional("clocksLocked", boolean()),
      optional("powerLimitWatts", number_above(0)),
      optional("persistenceMode", boolean()),
      optional("eccEnabled", boolean()),
      optional("environmentVariables", map(text(200), text(500))),
  });
  return object({
      required("hardware", hardware),
      required("software", software),
      optional("settings", settings),
      optional("imageDigest", digest()),
  });
}

Node benchmark_run() {
  const Node correctness = object({
      required("comparator", token()),
      optional("maximumAbsoluteError", number_at_least(0)),
      optional("maximumRelativeError", number_at_least(0)),
      optional("matchedRatio", number_between(0, 1)),
  });
  const Node timing = object({
      required("primaryStatistic", token()),
      optional("samples", count()),
      required("latencyNs", latency()),
      optional("rawSamples", artifact()),
  });
  const Node source_native = object({
      required("source", slug()),
      optional("benchmark", text(200)),
      optional("externalId", text(500)),
      optional("metrics", map(token(), number())),
  });
  const Node evidence = object({
      optional("logs", artifact()),
      optional("rawSamples", artifact()),
      optional("harness",
               object({required("repository", https_url()), required("commit", git_commit())})),
  });
  return object({
      required("implementationDigest", digest()),
      required("workloadDigest", digest()),
      required("protocolDigest", digest()),
      required("environmentDigest", digest()),
      required("status", one_of({"passed", "incorrect_shape", "incorrect_dtype",
                                 "incorrect_numerical", "compile_error", "runtime_error", "timeout",
                                 "resource_exceeded", "invalid_reference", "policy_violation",
                                 "suspected_reward_hack", "incomplete_evidence", "revoked"})),
      optional("correctness", correctness),
      optional("timing", timing),
      optional("measurements", list(measurement())),
      optional("sourceNative", source_native),
      optional("evidence", evidence),
      required("observedAt", text(kUtcInstant)),
  });
}

}  // namespace kernelindex::schema
