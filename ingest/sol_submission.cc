// SPDX-License-Identifier: Apache-2.0
#include "ingest/sol_submission.h"

#include <algorithm>
#include <array>

#include "ingest/kebab.h"
#include "ingest/manifest_document.h"
#include "ingest/nanoseconds.h"
#include "ingest/text_cut.h"
#include "ingest/token_map.h"
#include "schema/utc_time.h"

namespace kernelindex::ingest {
namespace {

using json::Arena;
using json::ObjectBuilder;
using json::Value;

constexpr std::string_view kSource = "sol-execbench";
constexpr std::string_view kCompleted = "COMPLETED";
constexpr std::array<std::string_view, 4> kFinalStates = {"FAILED", "ERROR", "REJECTED",
                                                          "CANCELLED"};
constexpr std::array<std::string_view, 3> kInFlightStates = {"QUEUED", "RUNNING", "PENDING_RESULT"};
// Submissions that a person looked at and found to be measurement faults: 1.913 ms where the
// hardware model allows no less than 1.974 ms.
constexpr std::array<std::int64_t, 1> kReviewedImplausible = {36950};

constexpr std::string_view kProtocolNotes =
    "Suite-mean latency and SOL-Score as published by the SOL-ExecBench leaderboard. Comparable "
    "only within one definition, GPU type, and evaluation stack version.";

template <typename List, typename Item>
bool contains(const List& list, const Item& item) {
  return std::ranges::find(list, item) != list.end();
}

bool is_final(const Submission& submission) {
  return submission.status == kCompleted || contains(kFinalStates, submission.status);
}

std::string decimal(std::int64_t number) { return std::to_string(number); }

std::string name_of(const Submission& submission) {
  return "sol-submission-" + decimal(submission.id);
}

std::string joined(std::initializer_list<std::string_view> parts) {
  std::string out;
  for (const std::string_view part : parts) {
    if (!out.empty()) out += " \xC2\xB7 ";
    out += part;
  }
  return out;
}

std::string_view stack_of(const Submission& submission) {
  return submission.stack.empty() ? std::string_view("unknown") : submission.stack;
}

Result<Manifest> make_project(const Submission& submission, const std::string& slug, Arena& arena) {
  ObjectBuilder host(arena);
  host.add("kind", "other").add("id", "sol-execbench/user/" + std::string(submission.username));
  ObjectBuilder spec(arena);
  spec.add("name", submission.username).add("kind", "individual").add("host", host.finish());
  return make_manifest(manifest_document(ManifestKind::software_project, named(slug, {}, arena),
                                         spec.finish(), arena),
                       arena);
}

Result<Manifest> make_implementation(const Submission& submission, const KernelDefinition& kernel,
                                     const Hardware& hardware, const Digest& operation,
                                     Arena& arena) {
  std::vector<Value> dtypes;
  for (const Argument& input : kernel.inputs) {
    dtypes.push_back(arena.string(dtype_token(input.dtype)));
  }
  ObjectBuilder spec =
      submission_spec({submission.id, operation, "unknown", hardware, std::move(dtypes)}, arena);

  const Value author = ObjectBuilder(arena).add("name", submission.username).finish();
  ObjectBuilder metadata(arena);
  metadata.add("name", name_of(submission));
  metadata.add("title", title_cut(joined({submission.username, submission.kernel_name})));
  metadata.add("authors", arena.array({author}));
  return make_manifest(manifest_document(ManifestKind::implementation_revision, metadata.finish(),
                                         spec.finish(), arena),
                       arena);
}

Result<Manifest> make_protocol(const Submission& submission, Arena& arena) {
  const std::string stack(stack_of(submission));
  ObjectBuilder harness(arena);
  harness.add("name", "SOL-ExecBench evaluation stack").add("version", stack);
  ObjectBuilder measurement(arena);
  measurement.add("timer", "harness_reported").add("primaryStatistic", "mean");
  ObjectBuilder correctness(arena);
  correctness.add("reference", "definition reference implementation")
      .add("comparator", "sol_execbench_eval");
  ObjectBuilder comparability(arena);
  comparability.add("family", "sol_execbench_leaderboard").add("notes", kProtocolNotes);
  ObjectBuilder spec(arena);
  spec.add("harness", harness.finish()).add("measurement", measurement.finish());
  spec.add("correctness", correctness.finish()).add("comparability", comparability.finish());
  const Value metadata = named("sol-execbench-leaderboard-" + kebab(stack),
                               title_cut("SOL-ExecBench evaluation stack " + stack), arena);
  return make_manifest(
      manifest_document(ManifestKind::benchmark_protocol, metadata, spec.finish(), arena), arena);
}

Result<Manifest> make_environment(const Submission& submission, const Hardware& hardware,
                                  Arena& arena) {
  const std::string stack(stack_of(submission));
  const Value libraries = ObjectBuilder(arena).add("evaluation_stack", stack).finish();
  ObjectBuilder spec(arena);
  spec.add("hardware", hardware_value(hardware, arena));
  spec.add("software", arena.object({{"libraries", libraries}}));
  const std::string name = "sol-execbench-" + kebab(submission.gpu_type) + "-" + kebab(stack);
  const std::string title = "SOL-ExecBench " + hardware.product + ", stack " + stack;
  return make_manifest(
      manifest_document(ManifestKind::execution_environment, named(name, title_cut(title), arena),
                        spec.finish(), arena),
      arena);
}

Value source_native(const Submission& submission, Arena& arena) {
  ObjectBuilder metrics(arena);
  const auto add = [&](std::string_view name, std::optional<double> value) {
    if (value) metrics.add(name, Value(*value));
  };
  add("latency_ms", submission.latency_ms);
  add("sol_score", submission.sol_score);
  add("avg_speedup", submission.avg_speedup);
  add("fast_1_count", submission.fast_1_count);
  add("fast_1_total", submission.fast_1_total);
  ObjectBuilder native(arena);
  native.add("source", kSource).add("benchmark", submission.kernel_name);
  native.add("externalId", decimal(submission.id)).add("metrics", metrics.finish());
  return native.finish();
}

Result<Manifest> make_run(const Submission& submission, const SubmissionManifests& parts,
                          const Digest& suite, const SourceTime& time, Arena& arena) {
  const Value mean(nanoseconds_of(*submission.latency_ms));
  ObjectBuilder timing(arena);
  timing.add("primaryStatistic", "mean").add("latencyNs", arena.object({{"mean", mean}}));
  ObjectBuilder spec(arena);
  spec.add("implementationDigest", parts.implementation.identity.text());
  spec.add("workloadDigest", suite.text());
  spec.add("protocolDigest", parts.protocol.identity.text());
  spec.add("environmentDigest", parts.environment.identity.text());
  spec.add("status", "passed").add("timing", timing.finish());
  spec.add("sourceNative", source_native(submission, arena)).add("observedAt", time.text);

  ObjectBuilder metadata(arena);
  metadata.add("name", name_of(submission));
  metadata.add(
      "title",
      title_cut(joined({submission.username, submission.kernel_name, submission.gpu_type})));
  if (!submission.worker.empty()) {
    metadata.add("labels", ObjectBuilder(arena).add("worker", submission.worker).finish());
  }
  return make_manifest(
      manifest_document(ManifestKind::benchmark_run, metadata.finish(), spec.finish(), arena),
      arena);
}

}  // namespace

Result<Submission> read_submission(const Value& item, DriftLog& drift) {
  ItemReader reader(item, {});
  const auto text = [&](std::string_view name) {
    return reader.optional_text(name).value_or(std::string_view());
  };
  Submission submission;
  submission.id = static_cast<std::int64_t>(reader.integer("id"));
  submission.kernel_id = static_cast<std::int64_t>(reader.integer("kernel_id"));
  submission.username = reader.text("username");
  submission.kernel_name = reader.text("kernel_name");
  submission.status = reader.text("status");
  submission.gpu_type = reader.text("gpu_type");
  submission.mode = text("submission_mode");
  submission.stack = text("evaluation_stack_version");
  submission.worker = text("worker_id");
  submission.correct = reader.optional_boolean("is_correct").value_or(false);
  submission.disqualified = reader.optional_boolean("is_disqualified").value_or(false);
  submission.disqualification = reader.optional_text("disqualification_reason").value_or("");
  submission.sol_score = reader.optional_number("sol_score");
  submission.latency_ms = reader.optional_number("latency_ms");
  submission.avg_speedup = reader.optional_number("avg_speedup");
  submission.fast_1_count = reader.optional_integer("fast_1_count");
  submission.fast_1_total = reader.optional_integer("fast_1_total");
  submission.submitted_at = reader.optional_text("submitted_at");
  submission.finished_at = reader.optional_text("finished_at");
  reader.ignore({"type",
                 "user_id",
                 "kernel_title",
                 "collection_id",
                 "collection_submission_id",
                 "collection_title",
                 "benchmark_results",
                 "disqualification_source",
                 "disqualified_at",
                 "error_log",
                 "original_filename",
                 "started_at",
                 "profiling_results",
                 "review_status",
                 "review_decision",
                 "review_summary",
                 "review_reasons",
                 "review_policy_version",
                 "review_hard_rule_id",
                 "review_reviewer",
                 "review_model",
                 "run_log"});
  if (reader.fault()) return fail(*reader.fault());
  reader.report_unknown("submission", drift);
  if (!is_final(submission) && !contains(kInFlightStates, submission.status)) {
    drift.unknown_value("submission", "status", submission.status);
  }
  return submission;
}

SubmissionState state_of(const Submission& submission) {
  if (submission.disqualified) return SubmissionState::disqualified;
  return is_final(submission) ? SubmissionState::final_state : SubmissionState::in_flight;
}

std::string_view selection_name(Selection selection) {
  switch (selection) {
    case Selection::usable:
      return "usable";
    case Selection::disqualified:
      return "disqualified";
    case Selection::unfinished:
      return "unfinished";
    case Selection::incorrect:
      return "incorrect";
    case Selection::filtered:
      return "filtered";
    case Selection::reviewed_implausible:
      return "reviewed_implausible";
    case Selection::implausible:
      return "implausible";
  }
  return {};
}

Selection judge_submission(const Submission& submission, std::string_view stack,
                           std::optional<double> bound_ms) {
  if (submission.disqualified) return Selection::disqualified;
  if (!is_final(submission)) return Selection::unfinished;
  if (submission.status != kCompleted || !submission.correct) return Selection::incorrect;
  if (!stack.empty() && submission.stack != stack) return Selection::filtered;
  if (!submission.latency_ms || *submission.latency_ms <= 0) return Selection::incorrect;
  if (bound_ms && *submission.latency_ms < *bound_ms) {
    return contains(kReviewedImplausible, submission.id) ? Selection::reviewed_implausible
                                                         : Selection::implausible;
  }
  return Selection::usable;
}

Result<SubmissionManifests> make_submission(const Submission& submission,
                                            const KernelDefinition& kernel, const Digest& operation,
                                            const Digest& suite, Arena& arena) {
  const std::optional<std::string_view> when =
      submission.finished_at ? submission.finished_at : submission.submitted_at;
  if (!when) {
    return fail(ErrorKind::invalid, "NO_TIME", "finished_at",
                "neither finished_at nor submitted_at is given, so the run has no instant");
  }
  Result<SourceTime> time = parse_source_time(*when);
  if (!time) return fail_in("finished_at", std::move(time.error()));
  const Hardware hardware = hardware_of(submission.gpu_type);

  SubmissionManifests out;
  out.zone_assumed = time->zone_assumed;
  out.hardware_listed = hardware.listed;
  out.project_slug = "sol-user-" + kebab(submission.username);
  out.implementation_slug =
      kebab("sol-" + std::string(submission.kernel_name) + "-" + std::string(submission.username));
  const auto keep = [](Result<Manifest> made, Manifest& place) -> Status {
    if (!made) return fail(std::move(made.error()));
    place = std::move(*made);
    return {};
  };
  if (Status made = keep(make_project(submission, out.project_slug, arena), out.project); !made) {
    return fail_in("project", std::move(made.error()));
  }
  if (Status made = keep(make_implementation(submission, kernel, hardware, operation, arena),
                         out.implementation);
      !made) {
    return fail_in("implementation", std::move(made.error()));
  }
  if (Status made = keep(make_protocol(submission, arena), out.protocol); !made) {
    return fail_in("protocol", std::move(made.error()));
  }
  if (Status made = keep(make_environment(submission, hardware, arena), out.environment); !made) {
    return fail_in("environment", std::move(made.error()));
  }
  if (Status made = keep(make_run(submission, out, suite, *time, arena), out.run); !made) {
    return fail_in("run", std::move(made.error()));
  }
  return out;
}

}  // namespace kernelindex::ingest
