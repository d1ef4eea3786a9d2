// SPDX-License-Identifier: Apache-2.0
#include "ingest/curated_operation.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "ingest/case_key.h"
#include "ingest/manifest_document.h"
#include "schema/canonical_json.h"

namespace kernelindex::ingest {
namespace {

using json::Arena;
using json::ObjectBuilder;
using json::Value;

constexpr std::string_view kCaseDtype = "cfg";

Value axis_value(const CuratedAxis& axis, Arena& arena) {
  ObjectBuilder out(arena);
  switch (axis.role) {
    case CuratedAxis::Role::variable:
      out.add("role", "variable").add("type", "integer");
      break;
    case CuratedAxis::Role::constant:
      out.add("role", "constant").add("type", "integer").add("value", Value(axis.value));
      break;
    case CuratedAxis::Role::derived:
      out.add("role", "derived").add("type", "integer").add("expression", axis.expression);
      break;
  }
  return out.finish();
}

std::string_view dtype_of(const CuratedTensor& tensor, std::string_view of_case) {
  return tensor.dtype == kCaseDtype ? of_case : tensor.dtype;
}

Value tensor_list(const std::vector<CuratedTensor>& tensors, std::string_view generic_dtype,
                  Arena& arena) {
  std::vector<Value> list;
  for (const CuratedTensor& tensor : tensors) {
    ObjectBuilder spec(arena);
    spec.add("shape", arena.array(tensor.shape)).add("dtype", dtype_of(tensor, generic_dtype));
    spec.add_if(!tensor.layout.empty(), "layout", tensor.layout);
    list.push_back(arena.object({{"name", Value(tensor.name)}, {"tensor", spec.finish()}}));
  }
  return arena.array(list);
}

}  // namespace

std::vector<CuratedTensor> curated_tensors(const Value& list) {
  std::vector<CuratedTensor> out;
  for (const Value& tensor : list.array()) {
    out.push_back({tensor.text("name"), tensor.find("shape")->array(), tensor.text("dtype"),
                   tensor.text("layout")});
  }
  return out;
}

Result<Manifest> make_curated_operation(const CuratedOperation& operation, std::string_view url,
                                        std::string_view generic_dtype, Arena& arena) {
  ObjectBuilder axes(arena);
  for (const CuratedAxis& axis : operation.axes) axes.add(axis.name, axis_value(axis, arena));
  ObjectBuilder spec(arena);
  spec.add("family", operation.family).add("axes", axes.finish());
  spec.add("inputs", tensor_list(operation.inputs, generic_dtype, arena));
  spec.add("outputs", tensor_list(operation.outputs, generic_dtype, arena));
  spec.add("semantics",
           ObjectBuilder(arena).add("mutation", "none").add("determinism", "unspecified").finish());
  ObjectBuilder metadata(arena);
  metadata.add("name", operation.slug).add("title", operation.title);
  metadata.add("sourceRefs", arena.array({ObjectBuilder(arena).add("url", url).finish()}));
  return make_manifest(
      manifest_document(ManifestKind::operation_spec, metadata.finish(), spec.finish(), arena),
      arena);
}

Result<AxisValues> bind_curated_axes(const CuratedOperation& operation, AxisValues values) {
  for (const CuratedAxis& axis : operation.axes) {
    if (axis.role == CuratedAxis::Role::constant) values[std::string(axis.name)] = axis.value;
  }
  for (const CuratedAxis& axis : operation.axes) {
    if (axis.role != CuratedAxis::Role::derived || values.contains(axis.name)) continue;
    Result<double> value = evaluate_axis_expression(axis.expression, values);
    if (!value) return fail_in("axes." + std::string(axis.name), std::move(value.error()));
    values[std::string(axis.name)] = *value;
  }
  return values;
}

Result<Value> bound_tensors(const CuratedOperation& operation, const AxisValues& values,
                            std::string_view dtype, Arena& arena) {
  ObjectBuilder tensors(arena);
  for (const CuratedTensor& tensor : operation.inputs) {
    std::vector<Value> shape;
    for (const Value& dimension : tensor.shape) {
      if (dimension.is_number()) {
        shape.push_back(dimension);
        continue;
      }
      const auto value = values.find(dimension.string());
      if (value == values.end() || !std::isfinite(value->second)) {
        return fail(ErrorKind::invalid, "UNBOUND_AXIS", "inputs." + std::string(tensor.name),
                    "the axis \"" + std::string(dimension.string()) + "\" has no value");
      }
      shape.emplace_back(value->second);
    }
    tensors.add(tensor.name, arena.object({{"shape", arena.array(shape)},
                                           {"dtype", arena.string(dtype_of(tensor, dtype))}}));
  }
  return tensors.finish();
}

std::string axis_key(const AxisValues& axes) {
  std::vector<std::pair<std::string_view, double>> order(axes.begin(), axes.end());
  std::ranges::sort(
      order, [](const auto& a, const auto& b) { return compare_axis_names(a.first, b.first) < 0; });
  std::string key;
  for (const auto& [name, value] : order) {
    if (!key.empty()) key += '-';
    key += name;
    json::append_number(value, key);
  }
  return key;
}

Value axes_value(const AxisValues& axes, Arena& arena) {
  ObjectBuilder out(arena);
  for (const auto& [name, value] : axes) out.add(arena.copy(name), Value(value));
  return out.finish();
}

}  // namespace kernelindex::ingest
