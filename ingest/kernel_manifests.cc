// SPDX-License-Identifier: Apache-2.0
#include "ingest/kernel_manifests.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>

#include "ingest/axis_expression.h"
#include "ingest/kebab.h"
#include "ingest/lower_case.h"
#include "ingest/manifest_document.h"
#include "ingest/text_cut.h"
#include "ingest/token_map.h"
#include "schema/canonical_json.h"

namespace kernelindex::ingest {
namespace {

using json::Arena;
using json::Member;
using json::ObjectBuilder;
using json::Value;

constexpr std::string_view kComparator = "sol_execbench_eval";
constexpr std::array<std::string_view, 4> kSubsetMarkers = {"L1", "L2", "Quant",
                                                            "FlashInfer-Bench"};
constexpr std::string_view kModelPrefix = "model:";

bool is_subset_marker(std::string_view tag) {
  return std::ranges::find(kSubsetMarkers, tag) != kSubsetMarkers.end();
}

std::string family_of(const KernelDefinition& kernel, std::span<const std::string_view> tags) {
  if (std::string family = kebab(kernel.op_type); !family.empty()) return family;
  for (const std::string_view tag : tags) {
    if (!is_subset_marker(tag) && !tag.starts_with(kModelPrefix)) return kebab(tag);
  }
  return "uncategorized";
}

// Objects whose names are lower-cased: of two that become equal the later one stays.
Value object_of(const std::map<std::string, Value, std::less<>>& members, Arena& arena) {
  ObjectBuilder object(arena);
  for (const auto& [name, value] : members) object.add(arena.copy(name), value);
  return object.finish();
}

Value axis_value(const AxisDefinition& axis, Arena& arena) {
  ObjectBuilder object(arena);
  switch (axis.role) {
    case AxisDefinition::Role::constant:
      object.add("role", "constant").add("type", "integer");
      if (axis.value) object.add("value", Value(*axis.value));
      break;
    case AxisDefinition::Role::derived:
      object.add("role", "derived").add("type", "integer");
      if (axis.expression) object.add("expression", lower_case(*axis.expression));
      break;
    case AxisDefinition::Role::variable:
      object.add("role", "variable").add("type", "integer");
      break;
  }
  return object.finish();
}

// A number stands for itself, a text of digits too, any other text for an axis.
std::optional<double> literal_dimension(const Value& dimension) {
  if (dimension.is_number()) return dimension.number();
  const std::string_view text = dimension.string();
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (text.empty() || !std::ranges::all_of(text, is_digit)) return std::nullopt;
  const double value = std::strtod(std::string(text).c_str(), nullptr);
  return is_safe_integer(value) ? std::optional(value) : std::nullopt;
}

Value argument_value(const Argument& argument, Arena& arena) {
  ObjectBuilder object(arena);
  object.add("name", argument_name(argument.name));
  const Value dtype = arena.string(dtype_token(argument.dtype));
  if (argument.shape.empty()) {
    return object.add("scalar", arena.object({{"dtype", dtype}})).finish();
  }
  std::vector<Value> shape;
  for (const Value& dimension : argument.shape) {
    const std::optional<double> literal = literal_dimension(dimension);
    shape.push_back(literal ? Value(*literal) : arena.string(lower_case(dimension.string())));
  }
  const Value tensor = arena.object({{"shape", arena.array(shape)}, {"dtype", dtype}});
  return object.add("tensor", tensor).finish();
}

Value argument_list(const std::vector<Argument>& arguments, Arena& arena) {
  std::vector<Value> list;
  for (const Argument& argument : arguments) list.push_back(argument_value(argument, arena));
  return arena.array(list);
}

Value entry_axes(const WorkloadEntry& entry, Arena& arena) {
  std::map<std::string, Value, std::less<>> axes;
  for (const Member& axis : entry.axes) axes[lower_case(axis.name)] = axis.value;
  return object_of(axes, arena);
}

// Values of all axes: the entry's own, over them the constants, then what can be derived of these
// in the order of the source.
Result<AxisValues> bind_axes(const KernelDefinition& kernel, const WorkloadEntry& entry) {
  AxisValues values;
  for (const Member& axis : entry.axes) values[lower_case(axis.name)] = axis.value.number();
  for (const AxisDefinition& axis : kernel.axes) {
    if (axis.role == AxisDefinition::Role::constant && axis.value) {
      values[lower_case(axis.name)] = *axis.value;
    }
  }
  for (const AxisDefinition& axis : kernel.axes) {
    std::string name = lower_case(axis.name);
    if (axis.role != AxisDefinition::Role::derived || values.contains(name)) continue;
    Result<double> value = evaluate_axis_expression(axis.expression.value_or(""), values);
    if (!value) return fail_in("axes." + std::string(axis.name), std::move(value.error()));
    values[std::move(name)] = *value;
  }
  return values;
}

Result<Value> bound_shape(const Argument& argument, const AxisValues& values, Arena& arena) {
  std::vector<Value> shape;
  for (const Value& dimension : argument.shape) {
    std::optional<double> size = literal_dimension(dimension);
    if (!size) {
      const auto found = values.find(lower_case(dimension.string()));
      if (found != values.end()) size = found->second;
    }
    if (!size || !std::isfinite(*size)) {
      return fail(ErrorKind::invalid, "UNBOUND_AXIS", "inputs." + std::string(argument.name),
                  "the dimension \"" + std::string(first_utf16(dimension.string(), 100)) +
                      "\" has no value in this case");
    }
    shape.emplace_back(*size);
  }
  return arena.array(shape);
}

struct CaseArguments {
  std::map<std::string, Value, std::less<>> tensors;
  std::map<std::string, Value, std::less<>> scalars;
};

Result<CaseArguments> bind_arguments(const KernelDefinition& kernel, const WorkloadEntry& entry,
                                     const AxisValues& values, Arena& arena) {
  CaseArguments out;
  for (const Argument& input : kernel.inputs) {
    const Value* descriptor = entry.inputs == nullptr ? nullptr : entry.inputs->find(input.name);
    const Value dtype = arena.string(dtype_token(input.dtype));
    const std::string_view type = descriptor == nullptr ? "" : descriptor->text("type");
    const Value* value = descriptor == nullptr ? nullptr : descriptor->find("value");
    if (type == "scalar" && value != nullptr && value->is_number()) {
      out.scalars[argument_name(input.name)] = arena.object({{"dtype", dtype}, {"value", *value}});
      continue;
    }
    if (input.shape.empty()) continue;
    Result<Value> shape = bound_shape(input, values, arena);
    if (!shape) return fail(std::move(shape.error()));
    ObjectBuilder tensor(arena);
    tensor.add("shape", *shape).add("dtype", dtype);
    if (descriptor != nullptr) {
      const std::string_view generator = type == "safetensors" ? "safetensors" : "random";
      tensor.add("data", arena.object({{"generator", Value(generator)}}));
    }
    out.tensors[argument_name(input.name)] = tensor.finish();
  }
  return out;
}

// "<name> · a=1, b=2", in the order and spelling of the source.
std::string case_title(const KernelDefinition& kernel, const WorkloadEntry& entry) {
  std::string title = std::string(kernel.name) + " \xC2\xB7 ";
  for (std::size_t i = 0; i < entry.axes.size(); ++i) {
    if (i > 0) title += ", ";
    title += entry.axes[i].name;
    title += '=';
    json::append_number(entry.axes[i].value.number(), title);
  }
  return title_cut(title);
}

}  // namespace

Result<Manifest> make_operation(const KernelDefinition& kernel,
                                std::span<const std::string_view> tags, std::string_view source_url,
                                Arena& arena) {
  ObjectBuilder metadata(arena);
  metadata.add("name", kebab(kernel.name)).add("title", kernel.name);
  if (kernel.description) metadata.add("description", *kernel.description);
  const Value source_ref = arena.object({{"url", arena.string(source_url)}});
  metadata.add("sourceRefs", arena.array({source_ref}));

  std::map<std::string, Value, std::less<>> axes;
  for (const AxisDefinition& axis : kernel.axes) {
    axes[lower_case(axis.name)] = axis_value(axis, arena);
  }
  ObjectBuilder spec(arena);
  spec.add("family", family_of(kernel, tags)).add("axes", object_of(axes, arena));
  spec.add("inputs", argument_list(kernel.inputs, arena));
  spec.add("outputs", argument_list(kernel.outputs, arena));
  ObjectBuilder semantics(arena);
  semantics.add("mutation", "none").add("determinism", "unspecified");
  spec.add("semantics", semantics.finish());
  if (kernel.has_reference) {
    spec.add("reference", ObjectBuilder(arena).add("language", "python").finish());
  }
  return make_manifest(
      manifest_document(ManifestKind::operation_spec, metadata.finish(), spec.finish(), arena),
      arena);
}

Result<Manifest> make_case(const KernelDefinition& kernel, const Digest& operation,
                           const WorkloadEntry& entry, std::string_view key, Arena& arena) {
  constexpr std::size_t kKeyInName = 8;
  const std::string name = kebab(kernel.name) + "-" + std::string(first_utf16(key, kKeyInName));
  Result<AxisValues> values = bind_axes(kernel, entry);
  if (!values) return fail(std::move(values.error()));
  Result<CaseArguments> arguments = bind_arguments(kernel, entry, *values, arena);
  if (!arguments) return fail(std::move(arguments.error()));

  ObjectBuilder spec(arena);
  spec.add("operationSpecDigest", operation.text()).add("axes", entry_axes(entry, arena));
  spec.add("tensors", object_of(arguments->tensors, arena));
  if (!arguments->scalars.empty()) spec.add("scalars", object_of(arguments->scalars, arena));
  ObjectBuilder correctness(arena);
  correctness.add("comparator", kComparator);
  if (entry.max_absolute_error) {
    correctness.add("maxAbsoluteError", Value(*entry.max_absolute_error));
  }
  if (entry.max_relative_error) {
    correctness.add("maxRelativeError", Value(*entry.max_relative_error));
  }
  spec.add("correctness", correctness.finish());
  const Value metadata = named(name, case_title(kernel, entry), arena);
  return make_manifest(
      manifest_document(ManifestKind::workload_case, metadata, spec.finish(), arena), arena);
}

Result<Manifest> make_suite(const KernelDefinition& kernel, const Digest& operation,
                            std::span<const std::string> keys, Arena& arena) {
  std::vector<Value> cases;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    cases.push_back(arena.object(
        {{"externalId", arena.string(keys[i])}, {"axes", entry_axes(kernel.workloads[i], arena)}}));
  }
  ObjectBuilder correctness(arena);
  correctness.add("comparator", kComparator)
      .add("description", "Correctness must pass on every case in the SOL evaluation stack.");
  ObjectBuilder aggregation(arena);
  aggregation.add("metric", "latency").add("statistic", "mean");
  ObjectBuilder spec(arena);
  spec.add("operationSpecDigest", operation.text()).add("cases", arena.array(cases));
  spec.add("correctness", correctness.finish()).add("aggregation", aggregation.finish());
  const Value metadata = named(kebab(kernel.name) + "-suite",
                               title_cut("SOL workload suite: " + std::string(kernel.name)), arena);
  return make_manifest(
      manifest_document(ManifestKind::workload_suite, metadata, spec.finish(), arena), arena);
}

std::vector<std::string> shown_tags(std::span<const std::string_view> tags) {
  std::vector<std::string> shown;
  for (const std::string_view tag : tags) {
    if (is_subset_marker(tag)) continue;
    std::string text = tag.starts_with(kModelPrefix)
                           ? std::string(kModelPrefix) + kebab(tag.substr(kModelPrefix.size()))
                           : kebab(tag);
    if (text.empty() || std::ranges::find(shown, text) != shown.end()) continue;
    shown.push_back(std::move(text));
  }
  return shown;
}

}  // namespace kernelindex::ingest
