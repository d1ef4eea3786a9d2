// SPDX-License-Identifier: Apache-2.0
#include "ingest/trace_record.h"

#include <algorithm>
#include <array>
#include <utility>

#include "ingest/lower_case.h"
#include "ingest/text_cut.h"

namespace kernelindex::ingest {
namespace {

using json::Member;
using json::Value;

constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kStatuses = {{
    {"PASSED", "passed"},
    {"INCORRECT_SHAPE", "incorrect_shape"},
    {"INCORRECT_NUMERICAL", "incorrect_numerical"},
    {"INCORRECT_DTYPE", "incorrect_dtype"},
    {"RUNTIME_ERROR", "runtime_error"},
    {"COMPILE_ERROR", "compile_error"},
    {"TIMEOUT", "timeout"},
    {"REWARD_HACK", "suspected_reward_hack"},
    {"INVALID_REFERENCE", "invalid_reference"},
}};

// Python's own spellings of what JSON has no number for, in any case.
bool is_not_finite(std::string_view text) {
  constexpr std::array<std::string_view, 5> kTexts = {"infinity", "-infinity", "inf", "-inf",
                                                      "nan"};
  return std::ranges::find(kTexts, lower_case(text)) != kTexts.end();
}

std::optional<double> error_bound(ItemReader& reader, std::string_view name) {
  const Value* value = reader.any(name);
  if (value != nullptr && value->is_number()) return value->number();
  if (value == nullptr || !value->is_string() || !is_not_finite(value->string())) {
    reader.refuse(name, "a number, \"Infinity\" or \"NaN\"");
  }
  return std::nullopt;
}

void take_fault(const ItemReader& part, ItemReader& parent) {
  if (part.fault()) parent.refuse_part(part.fault()->place, part.fault()->message);
}

void read_correctness(const Value& value, TraceEvaluation& out, ItemReader& parent,
                      DriftLog& drift) {
  ItemReader reader(value, "correctness");
  out.has_correctness = true;
  out.max_relative_error = error_bound(reader, "max_relative_error");
  out.max_absolute_error = error_bound(reader, "max_absolute_error");
  reader.ignore({"has_nan", "has_inf", "extra"});
  reader.report_unknown("trace.correctness", drift);
  take_fault(reader, parent);
}

void read_performance(const Value& value, TraceEvaluation& out, ItemReader& parent,
                      DriftLog& drift) {
  ItemReader reader(value, "performance");
  out.latency_ms = reader.optional_number("latency_ms");
  if (!out.latency_ms || *out.latency_ms <= 0) reader.refuse("latency_ms", "a number above 0");
  out.reference_latency_ms = reader.optional_number("reference_latency_ms");
  out.speedup_factor = reader.optional_number("speedup_factor");
  reader.report_unknown("trace.performance", drift);
  take_fault(reader, parent);
}

void read_environment(const Value& value, TraceEvaluation& out, ItemReader& parent,
                      DriftLog& drift) {
  ItemReader reader(value, "environment");
  out.hardware = reader.text("hardware");
  if (const Value* libraries = reader.object("libs")) {
    out.libraries = libraries->object();
    for (const Member& library : out.libraries) {
      if (!library.value.is_string()) reader.refuse_part("libs", "expected texts by library");
    }
  }
  reader.ignore({"hardware_id"});
  reader.report_unknown("trace.environment", drift);
  take_fault(reader, parent);
}

Result<TraceEvaluation> read_evaluation(const Value& value, DriftLog& drift) {
  ItemReader reader(value, "evaluation");
  TraceEvaluation out;
  const std::string_view status = reader.text("status");
  out.log = reader.optional_text("log").value_or(std::string_view());
  if (const Value* part = reader.optional_object("correctness")) {
    read_correctness(*part, out, reader, drift);
  }
  if (const Value* part = reader.optional_object("performance")) {
    read_performance(*part, out, reader, drift);
  }
  if (const Value* part = reader.object("environment")) {
    read_environment(*part, out, reader, drift);
  }
  out.timestamp = reader.text("timestamp");
  reader.report_unknown("trace.evaluation", drift);
  if (reader.fault()) return fail(*reader.fault());
  const auto* known = std::ranges::find(kStatuses, status, &decltype(kStatuses)::value_type::first);
  if (known == kStatuses.end()) {
    return fail(ErrorKind::invalid, "UNKNOWN_STATUS", "evaluation.status",
                "\"" + std::string(first_utf16(status, 100)) + "\" is no status that we know");
  }
  out.status = known->second;
  if (out.status == "passed" && !out.latency_ms) {
    return fail(ErrorKind::invalid, "NO_PERFORMANCE", "evaluation.performance",
                "the run passed and no latency is given");
  }
  return out;
}

bool is_nothing(const Value* evaluation) {
  return evaluation == nullptr || evaluation->is_null() ||
         (evaluation->is_object() && evaluation->object().empty());
}

}  // namespace

Result<Trace> read_trace(const Value& item, DriftLog& drift) {
  ItemReader reader(item, {});
  Trace out;
  out.definition = reader.text("definition");
  out.solution = reader.optional_text("solution").value_or(std::string_view());
  const Value* workload = reader.object("workload");
  const Value* evaluation = reader.any("evaluation");
  reader.report_unknown("trace", drift);
  if (reader.fault()) return fail(*reader.fault());
  Result<WorkloadEntry> entry = read_workload_entry(*workload, "workload", drift);
  if (!entry) return fail(std::move(entry.error()));
  out.workload = std::move(*entry);
  if (is_nothing(evaluation)) {
    if (out.solution.empty()) return out;
    return fail(ErrorKind::invalid, "NO_EVALUATION", "evaluation",
                "a solution is named and what came of it is not");
  }
  Result<TraceEvaluation> read = read_evaluation(*evaluation, drift);
  if (!read) return fail(std::move(read.error()));
  out.evaluation = *read;
  return out;
}

}  // namespace kernelindex::ingest
