// SPDX-License-Identifier: Apache-2.0
#include "ingest/kernelbot_submission.h"

#include <charconv>
#include <cmath>
#include <utility>

#include "ingest/kebab.h"
#include "ingest/lower_case.h"
#include "ingest/manifest_document.h"
#include "ingest/nanoseconds.h"
#include "ingest/text_cut.h"
#include "schema/canonical_json.h"
#include "schema/utc_time.h"

namespace kernelindex::ingest {
namespace {

using json::Arena;
using json::ObjectBuilder;
using json::Value;

constexpr std::string_view kSource = "gpumode-kernelbot";
constexpr std::string_view kDot = " \xC2\xB7 ";
constexpr std::string_view kDataSet = "https://huggingface.co/datasets/GPUMODE/kernelbot-data";
constexpr std::string_view kLeaderboard = "leaderboard";
constexpr std::size_t kBenchmarksMost = 10'000;
constexpr std::size_t kLabelUnits = 200;

std::string decimal(std::int64_t number) { return std::to_string(number); }

std::string id_of(const KernelbotSubmission& submission) {
  return "submission/" + decimal(submission.id);
}

std::string_view without_space(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n\f\v";
  const std::size_t start = text.find_first_not_of(kSpace);
  if (start == std::string_view::npos) return {};
  return text.substr(start, text.find_last_not_of(kSpace) - start + 1);
}

// A decimal number as a text, all of it.
std::optional<double> number_of(std::string_view text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  if (text.empty() || read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::unexpected<Error> bad_result(const std::string& member, std::string message) {
  return fail(ErrorKind::invalid, "BAD_RUN_RESULT", "run_result." + member, std::move(message));
}

// "k: 7168; m: 1024"
bool read_axes(std::string_view spec, KernelbotBenchmark& out) {
  while (!spec.empty()) {
    const std::size_t end = spec.find(';');
    const std::string_view pair = without_space(spec.substr(0, end));
    spec = end == std::string_view::npos ? std::string_view() : spec.substr(end + 1);
    const std::size_t colon = pair.find(':');
    if (colon == std::string_view::npos) return false;
    const std::string name = lower_case(without_space(pair.substr(0, colon)));
    const std::string_view digits = without_space(pair.substr(colon + 1));
    std::int64_t value = 0;
    const char* last = digits.data() + digits.size();
    const auto read = std::from_chars(digits.data(), last, value);
    if (name.empty() || digits.empty() || read.ec != std::errc() || read.ptr != last) return false;
    if (!is_safe_integer(static_cast<double>(value))) return false;
    out.axes[name] = static_cast<double>(value);
    if (!out.title_axes.empty()) out.title_axes += ", ";
    out.title_axes += name + "=" + decimal(value);
  }
  return !out.axes.empty();
}

// Member "benchmark.<index>.<name>" as text; empty when it is absent, null or no text.
std::string_view benchmark_text(const Value& result, std::size_t index, std::string_view name) {
  return result.text("benchmark." + std::to_string(index) + "." + std::string(name));
}

Result<KernelbotBenchmark> read_benchmark(const Value& result, std::size_t index) {
  const std::string place = "benchmark." + std::to_string(index);
  const auto number = [&](std::string_view name) {
    return number_of(benchmark_text(result, index, name));
  };
  KernelbotBenchmark out;
  if (!read_axes(benchmark_text(result, index, "spec"), out)) {
    return bad_result(place + ".spec", "expected axes, written \"m: 1024; n: 1536\"");
  }
  const std::optional<double> mean = number("mean");
  if (!mean || *mean <= 0) return bad_result(place + ".mean", "expected a number above 0, as text");
  out.mean_ns = *mean;
  const auto if_positive = [](std::optional<double> value) {
    return value && *value > 0 ? value : std::nullopt;
  };
  out.best_ns = if_positive(number("best"));
  out.worst_ns = if_positive(number("worst"));
  out.std_ns = number("std");
  if (out.std_ns && *out.std_ns < 0) out.std_ns.reset();
  out.runs = if_positive(number("runs"));
  if (out.runs && !is_safe_integer(*out.runs)) out.runs.reset();
  return out;
}

void read_system_info(const Value& value, KernelbotSubmission& out, ItemReader& parent,
                      DriftLog& drift) {
  ItemReader reader(value, "run_system_info");
  out.runner = reader.optional_text("gpu").value_or(std::string_view());
  out.torch = reader.optional_text("torch").value_or(std::string_view());
  out.platform = reader.optional_text("platform").value_or(std::string_view());
  reader.ignore({"cpu", "device_count", "runtime"});
  reader.report_unknown("submission.run_system_info", drift);
  if (reader.fault()) parent.refuse_part(reader.fault()->place, reader.fault()->message);
}

std::string user_of(ItemReader& reader) {
  const Value* user = reader.any("user_id");
  if (user != nullptr && user->is_string() && !user->string().empty()) {
    return std::string(user->string());
  }
  if (user != nullptr && user->is_number() && is_safe_integer(user->number())) {
    return decimal(static_cast<std::int64_t>(user->number()));
  }
  reader.refuse("user_id", "an integer or a text");
  return {};
}

Value run_spec_parts(const KernelbotRunParts& parts, std::string_view observed_at,
                     ObjectBuilder& spec, Arena& arena) {
  spec.add("implementationDigest", parts.implementation.text());
  spec.add("workloadDigest", parts.workload.text());
  spec.add("protocolDigest", parts.protocol.text());
  spec.add("environmentDigest", parts.environment.text());
  spec.add("status", "passed").add("observedAt", arena.string(observed_at));
  return spec.finish();
}

Result<KernelbotRun> finish_run(std::string name, const std::string& title, Value labels,
                                ObjectBuilder& spec, const KernelbotRunParts& parts,
                                const KernelbotSubmission& submission, Arena& arena) {
  Result<SourceTime> time = parse_source_time(submission.submitted_at);
  if (!time) return fail_in("submission_time", std::move(time.error()));
  ObjectBuilder metadata(arena);
  metadata.add("name", name).add("title", title_cut(title));
  if (labels.is_object() && !labels.object().empty()) metadata.add("labels", labels);
  const Value body = run_spec_parts(parts, time->text, spec, arena);
  Result<Manifest> made = make_manifest(
      manifest_document(ManifestKind::benchmark_run, metadata.finish(), body, arena), arena);
  if (!made) return fail(std::move(made.error()));
  return KernelbotRun{std::move(*made), time->zone_assumed};
}

}  // namespace

Result<KernelbotSubmission> read_kernelbot_submission(const Value& row, bool code_is_cut,
                                                      DriftLog& drift) {
  ItemReader reader(row, {});
  const auto text = [&](std::string_view name) {
    return reader.optional_text(name).value_or(std::string_view());
  };
  KernelbotSubmission out;
  const bool per_shape = row.find("leaderboard_id") != nullptr;
  out.id = static_cast<std::int64_t>(reader.integer("submission_id"));
  out.user_id = user_of(reader);
  out.user_name = without_space(text("user_name"));
  out.submitted_at = reader.text("submission_time");
  out.file_name = text("file_name");
  const std::string_view code = text("code");
  out.code = code_is_cut ? std::string_view() : code;
  if (per_shape) {
    out.board_id = static_cast<std::int64_t>(reader.integer("leaderboard_id"));
    out.mode = text("run_mode");
    out.passed = reader.optional_boolean("run_passed").value_or(false);
    out.score = reader.optional_number("run_score");
    out.result = reader.optional_object("run_result");
    if (const Value* info = reader.optional_object("run_system_info")) {
      read_system_info(*info, out, reader, drift);
    }
    reader.ignore({"run_compilation", "run_meta", "run_start_time", "run_end_time"});
  } else {
    out.board_name = reader.text("problem_name");
    out.mode = text("mode");
    out.passed = reader.optional_boolean("passed").value_or(false);
    out.score = reader.optional_number("score");
    out.runner = text("runner");
  }
  reader.ignore({"code_id", "run_id", "__index_level_0__", "leaderboard_name", "status"});
  reader.report_unknown("submission", drift);
  if (reader.fault()) return fail(*reader.fault());
  return out;
}

std::string_view kernelbot_skip_reason(const KernelbotSubmission& submission) {
  if (submission.mode != kLeaderboard) return "not_leaderboard_mode";
  if (!submission.passed) return "not_passed";
  if (!submission.score || *submission.score <= 0) return "no_score";
  return {};
}

Result<std::vector<KernelbotBenchmark>> read_kernelbot_benchmarks(const Value& result) {
  const std::optional<double> count = number_of(result.text("benchmark-count"));
  if (!count || *count < 1 || std::trunc(*count) != *count || *count > kBenchmarksMost) {
    return bad_result("benchmark-count", "expected a whole number above 0 and at most 10,000");
  }
  std::vector<KernelbotBenchmark> out;
  for (std::size_t i = 0; i < static_cast<std::size_t>(*count); ++i) {
    Result<KernelbotBenchmark> benchmark = read_benchmark(result, i);
    if (!benchmark) return fail(std::move(benchmark.error()));
    out.push_back(std::move(*benchmark));
  }
  return out;
}

Result<Manifest> make_kernelbot_project(const KernelbotSubmission& submission, Arena& arena) {
  const std::string name = submission.user_name.empty() ? "KernelBot user " + submission.user_id
                                                        : std::string(submission.user_name);
  ObjectBuilder host(arena);
  host.add("kind", "other").add("id", "gpumode-kernelbot/user/" + submission.user_id);
  ObjectBuilder spec(arena);
  spec.add("name", name).add("kind", "individual").add("host", host.finish());
  return make_manifest(
      manifest_document(ManifestKind::software_project,
                        named("kernelbot-user-" + kebab(submission.user_id), {}, arena),
                        spec.finish(), arena),
      arena);
}

std::optional<KernelbotSource> source_of(const KernelbotSubmission& submission) {
  if (submission.code.empty()) return std::nullopt;
  return KernelbotSource{sha256(submission.code), submission.file_name,
                         static_cast<double>(submission.code.size())};
}

Result<Manifest> make_kernelbot_implementation(const KernelbotBoard& board,
                                               const KernelbotSubmission& submission,
                                               const std::optional<KernelbotSource>& source,
                                               const Digest& operation, std::string_view runner,
                                               Arena& arena) {
  const Hardware hardware = kernelbot_hardware(runner);
  std::vector<Value> dtypes;
  for (const CuratedTensor& input : board.operation.inputs) dtypes.emplace_back(input.dtype);
  ObjectBuilder spec =
      submission_spec({submission.id, operation, "python", hardware, std::move(dtypes)}, arena);
  if (source) {
    ObjectBuilder file(arena);
    file.add("contentDigest", source->digest.text());
    file.add_if(!source->file_name.empty(), "fileName", source->file_name);
    file.add("sizeBytes", Value(source->bytes));
    spec.add("source", file.finish());
  }

  ObjectBuilder metadata(arena);
  metadata.add("name", "kernelbot-submission-" + decimal(submission.id));
  metadata.add("title", std::string(board.name) + std::string(kDot) + "submission " +
                            decimal(submission.id));
  if (!submission.user_name.empty()) {
    const Value author = ObjectBuilder(arena).add("name", submission.user_name).finish();
    metadata.add("authors", arena.array({author}));
  }
  metadata.add("sourceRefs", arena.array({ObjectBuilder(arena).add("url", kDataSet).finish()}));
  metadata.add_if(!submission.file_name.empty(), "description", submission.file_name);
  return make_manifest(manifest_document(ManifestKind::implementation_revision, metadata.finish(),
                                         spec.finish(), arena),
                       arena);
}

Result<KernelbotRun> make_kernelbot_score(const KernelbotBoard& board,
                                          const KernelbotSubmission& submission,
                                          const KernelbotRunParts& parts, Arena& arena) {
  const Value score(*submission.score);
  ObjectBuilder measurement(arena);
  measurement.add("metric", "score").add("unit", "s").add("statistic", board.statistic);
  measurement.add("value", score);
  ObjectBuilder native(arena);
  native.add("source", kSource).add("benchmark", board.name).add("externalId", id_of(submission));
  native.add("metrics", arena.object({{"leaderboard_score_s", score}}));
  ObjectBuilder spec(arena);
  spec.add("measurements", arena.array({measurement.finish()}));
  spec.add("sourceNative", native.finish());
  const std::string id = decimal(submission.id);
  const std::string title = std::string(board.name) + std::string(kDot) + "submission " + id +
                            std::string(kDot) + "leaderboard score";
  return finish_run("kernelbot-" + id + "-leaderboard", title, {}, spec, parts, submission, arena);
}

Result<KernelbotRun> make_kernelbot_timing(const KernelbotBoard& board,
                                           const KernelbotSubmission& submission, std::size_t index,
                                           const KernelbotBenchmark& benchmark,
                                           const KernelbotRunParts& parts, Arena& arena) {
  ObjectBuilder latency(arena);
  latency.add("mean", Value(whole_nanoseconds(benchmark.mean_ns)));
  if (benchmark.best_ns) latency.add("minimum", Value(whole_nanoseconds(*benchmark.best_ns)));
  if (benchmark.worst_ns) latency.add("maximum", Value(whole_nanoseconds(*benchmark.worst_ns)));
  ObjectBuilder timing(arena);
  timing.add("primaryStatistic", "mean");
  if (benchmark.runs) timing.add("samples", Value(*benchmark.runs));
  timing.add("latencyNs", latency.finish());
  ObjectBuilder metrics(arena);
  metrics.add("mean_ns", Value(benchmark.mean_ns));
  if (benchmark.best_ns) metrics.add("best_ns", Value(*benchmark.best_ns));
  if (submission.score) metrics.add("leaderboard_score_s", Value(*submission.score));
  const std::string case_index = std::to_string(index);
  ObjectBuilder native(arena);
  native.add("source", kSource).add("benchmark", std::string(board.name) + "/" + case_index);
  native.add("externalId", id_of(submission)).add("metrics", metrics.finish());
  ObjectBuilder spec(arena);
  spec.add("timing", timing.finish()).add("sourceNative", native.finish());
  if (benchmark.std_ns) {
    ObjectBuilder spread(arena);
    spread.add("metric", "latency").add("unit", "ns").add("statistic", "std");
    spread.add("value", Value(*benchmark.std_ns));
    if (benchmark.runs) spread.add("sampleCount", Value(*benchmark.runs));
    spec.add("measurements", arena.array({spread.finish()}));
  }
  ObjectBuilder labels(arena);
  labels.add_if(!submission.torch.empty(), "torch", first_utf16(submission.torch, kLabelUnits));
  labels.add_if(!submission.platform.empty(), "platform",
                first_utf16(submission.platform, kLabelUnits));
  const std::string id = decimal(submission.id);
  const std::string title = std::string(board.name) + std::string(kDot) + "submission " + id +
                            std::string(kDot) + "case " + case_index;
  return finish_run(kebab("kernelbot-" + id + "-" + axis_key(benchmark.axes)), title,
                    labels.finish(), spec, parts, submission, arena);
}

}  // namespace kernelindex::ingest
