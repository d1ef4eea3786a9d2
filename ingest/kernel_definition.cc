// SPDX-License-Identifier: Apache-2.0
#include "ingest/kernel_definition.h"

#include <algorithm>

#include "ingest/case_key.h"

namespace kernelindex::ingest {
namespace {

using json::Member;
using json::Value;

// Faults of parts bubble up as the fault of the kernel.
template <typename T>
bool take_part(Result<T> part, std::vector<T>& parts, std::optional<Error>& fault) {
  if (!part) {
    fault = std::move(part.error());
    return false;
  }
  parts.push_back(std::move(*part));
  return true;
}

Result<AxisDefinition> read_axis(const Member& member, DriftLog& drift) {
  ItemReader reader(member.value, "axes." + std::string(member.name));
  AxisDefinition axis;
  axis.name = member.name;
  const std::string_view type = reader.text("type");
  axis.value = reader.optional_integer("value");
  axis.expression = reader.optional_text("expression");
  reader.optional_text("description");
  if (type == "const") {
    axis.role = AxisDefinition::Role::constant;
  } else if (type == "expr") {
    axis.role = AxisDefinition::Role::derived;
  } else if (type != "var") {
    reader.refuse("type", "var, const or expr");
  }
  reader.report_unknown("kernelDetail.axes", drift);
  if (reader.fault()) return fail(*reader.fault());
  return axis;
}

Result<Argument> read_argument(std::string_view list, const Member& member, DriftLog& drift) {
  ItemReader reader(member.value, std::string(list) + "." + std::string(member.name));
  Argument argument;
  argument.name = member.name;
  argument.dtype = reader.text("dtype");
  reader.optional_text("description");
  if (const Value* shape = reader.optional_array("shape")) {
    argument.shape.assign(shape->array().begin(), shape->array().end());
    const auto is_dimension = [](const Value& dimension) {
      return dimension.is_string() ||
             (dimension.is_number() && is_safe_integer(dimension.number()));
    };
    if (!std::ranges::all_of(argument.shape, is_dimension)) {
      reader.refuse("shape", "a list of axis names and integers");
    }
  }
  reader.report_unknown("kernelDetail.arguments", drift);
  if (reader.fault()) return fail(*reader.fault());
  return argument;
}

void check_descriptor(const Member& member, const std::string& place, ItemReader& entry,
                      DriftLog& drift) {
  ItemReader reader(member.value, place + ".inputs." + std::string(member.name));
  reader.text("type");
  const Value* value = reader.any("value");
  if (value != nullptr && !value->is_null() && !value->is_number() && !value->is_boolean()) {
    reader.refuse("value", "a number, true or false");
  }
  reader.optional_text("path");
  reader.optional_text("tensor_key");
  reader.ignore({"generator"});
  reader.report_unknown("workload.inputs", drift);
  if (reader.fault())
    entry.refuse_part("inputs." + std::string(member.name), "expected an input descriptor");
}

void read_tolerance(const Value& tolerance, WorkloadEntry& entry, ItemReader& parent,
                    DriftLog& drift) {
  ItemReader reader(tolerance, "tolerance");
  entry.max_absolute_error = reader.optional_number("max_atol");
  entry.max_relative_error = reader.optional_number("max_rtol");
  reader.ignore({"required_matched_ratio", "max_error_cap", "allow_negative_inf"});
  reader.report_unknown("workload.tolerance", drift);
  const auto negative = [](std::optional<double> bound) { return bound && *bound < 0; };
  if (reader.fault() || negative(entry.max_absolute_error) || negative(entry.max_relative_error)) {
    parent.refuse("tolerance", "bounds that are numbers, 0 or more");
  }
}

}  // namespace

Result<WorkloadEntry> read_workload_entry(const Value& item, const std::string& place,
                                          DriftLog& drift) {
  ItemReader reader(item, place);
  WorkloadEntry entry;
  entry.uuid = reader.optional_text("uuid").value_or(std::string_view());
  if (const Value* axes = reader.object("axes")) {
    entry.axes.assign(axes->object().begin(), axes->object().end());
    for (const Member& axis : entry.axes) {
      if (!axis.value.is_number() || !is_safe_integer(axis.value.number())) {
        reader.refuse_part("axes." + std::string(axis.name), "expected an integer");
      }
    }
  }
  entry.inputs = reader.optional_object("inputs");
  if (entry.inputs != nullptr) {
    for (const Member& input : entry.inputs->object())
      check_descriptor(input, place, reader, drift);
  }
  if (const Value* tolerance = reader.optional_object("tolerance")) {
    read_tolerance(*tolerance, entry, reader, drift);
  }
  entry.sol_ms = reader.optional_number("sol_ms");
  reader.optional_number("baseline_latency_ms");
  reader.report_unknown("workload", drift);
  if (reader.fault()) return fail(*reader.fault());
  return entry;
}

Result<KernelDefinition> read_kernel_definition(const Value& item, DriftLog& drift) {
  ItemReader reader(item, {});
  std::optional<Error> part_fault;
  KernelDefinition kernel;
  kernel.id = reader.optional_integer("id");
  kernel.name = reader.text("name");
  kernel.description = reader.optional_text("description");
  kernel.op_type = reader.optional_text("op_type").value_or(std::string_view());
  kernel.tags = reader.optional_texts("tags");
  kernel.sol_is_dummy = reader.optional_boolean("sol_is_dummy").value_or(false);
  kernel.has_reference = !reader.optional_text("reference").value_or(std::string_view()).empty();
  const Value* axes = reader.object("axes");
  const Value* inputs = reader.object("inputs");
  const Value* outputs = reader.object("outputs");
  const Value* workloads = reader.optional_array("workloads");
  reader.ignore({"title", "gpu_types", "baseline", "baseline_latency_ms", "latency_unit", "hf_id",
                 "custom_inputs_entrypoint", "submission_count"});
  reader.report_unknown("kernelDetail", drift);
  if (reader.fault()) return fail(*reader.fault());

  for (const Member& axis : axes->object()) {
    if (!take_part(read_axis(axis, drift), kernel.axes, part_fault)) return fail(*part_fault);
  }
  for (const Member& input : inputs->object()) {
    if (!take_part(read_argument("inputs", input, drift), kernel.inputs, part_fault)) {
      return fail(*part_fault);
    }
  }
  for (const Member& output : outputs->object()) {
    if (!take_part(read_argument("outputs", output, drift), kernel.outputs, part_fault)) {
      return fail(*part_fault);
    }
  }
  if (workloads == nullptr) return kernel;
  for (const Value& entry : workloads->array()) {
    const std::string place = "workloads[" + std::to_string(kernel.workloads.size()) + "]";
    if (!take_part(read_workload_entry(entry, place, drift), kernel.workloads, part_fault)) {
      return fail(*part_fault);
    }
  }
  return kernel;
}

std::string key_of(const WorkloadEntry& entry) {
  if (!entry.uuid.empty()) return std::string(entry.uuid);
  std::vector<AxisValue> axes;
  for (const Member& axis : entry.axes) axes.push_back({axis.name, axis.value.number()});
  return case_key(std::move(axes));
}

std::optional<double> speed_of_light_ms(const KernelDefinition& kernel) {
  if (kernel.sol_is_dummy || kernel.workloads.empty()) return std::nullopt;
  std::optional<double> least;
  for (const WorkloadEntry& entry : kernel.workloads) {
    if (!entry.sol_ms || *entry.sol_ms <= 0) return std::nullopt;
    least = std::min(least.value_or(*entry.sol_ms), *entry.sol_ms);
  }
  return least;
}

}  // namespace kernelindex::ingest
