// SPDX-License-Identifier: Apache-2.0
// What a trace becomes: the environment it names, its run, and the protocol that all traces of a
// source share. IMPORT section 5.8.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ingest/trace_record.h"
#include "schema/manifest.h"
#include "schema/result.h"

namespace kernelindex::ingest {

struct TraceProtocolTexts {
  std::string_view name;  // of the document, "flashinfer-bench-trace"
  std::string_view title;
  std::string_view harness;
  std::string_view repository;
  std::string_view comparator;
  std::string_view family;
};
Result<Manifest> make_trace_protocol(const TraceProtocolTexts& texts, json::Arena& arena);

// `libs.cuda` is the toolkit, `libs.torch` the framework, the rest libraries.
Result<Manifest> make_trace_environment(const TraceEvaluation& evaluation, json::Arena& arena);

// What a run refers to.
struct TraceRunParts {
  Digest implementation;
  Digest workload;
  Digest protocol;
  Digest environment;
  std::string_view source;    // slug
  std::string_view case_key;  // of the workload
};

struct TraceRun {
  Manifest manifest;
  bool zone_assumed = false;
  std::optional<Digest> log;  // SHA-256 of the log, when there is one
};

// Error BAD_TIME, or what the schema refuses. Requires: trace.evaluation.
Result<TraceRun> make_trace_run(const Trace& trace, const TraceRunParts& parts, json::Arena& arena);

}  // namespace kernelindex::ingest
