// SPDX-License-Identifier: Apache-2.0
// Operations that a curated table describes, because their source states no shapes: axes, tensors
// and what follows from them for a case. IMPORT sections 7 and 8.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/axis_expression.h"
#include "schema/json_value.h"
#include "schema/manifest.h"
#include "schema/result.h"

namespace kernelindex::ingest {

// All texts and values are views into the table.
struct CuratedTensor {
  std::string_view name;
  std::span<const json::Value> shape;  // integers and names of axes
  std::string_view dtype;
  std::string_view layout;  // empty when the table states none
};

struct CuratedAxis {
  enum class Role : std::uint8_t { variable, constant, derived };
  std::string_view name;
  Role role = Role::variable;
  double value = 0;             // of a constant
  std::string_view expression;  // of a derived one
};

struct CuratedOperation {
  std::string_view slug;
  std::string_view title;
  std::string_view family;
  std::vector<CuratedAxis> axes;
  std::vector<CuratedTensor> inputs;
  std::vector<CuratedTensor> outputs;
};

// Requires: a list of the table's tensors.
std::vector<CuratedTensor> curated_tensors(const json::Value& list);

// `generic_dtype` takes the place of the table's "cfg", a type that only a case decides.
Result<Manifest> make_curated_operation(const CuratedOperation& operation, std::string_view url,
                                        std::string_view generic_dtype, json::Arena& arena);

// All axes: the given ones, the constants, and what can be derived of these in the table's order.
Result<AxisValues> bind_curated_axes(const CuratedOperation& operation, AxisValues values);

// {name: {shape, dtype}} of the inputs. `dtype` takes the place of "cfg". Error UNBOUND_AXIS.
Result<json::Value> bound_tensors(const CuratedOperation& operation, const AxisValues& values,
                                  std::string_view dtype, json::Arena& arena);

// "k7168-m1024": the axes of a case in the order of their names.
std::string axis_key(const AxisValues& axes);

// {"k": 7168, "m": 1024}
json::Value axes_value(const AxisValues& axes, json::Arena& arena);

}  // namespace kernelindex::ingest
