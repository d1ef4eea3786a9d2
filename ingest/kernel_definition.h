// SPDX-License-Identifier: Apache-2.0
// A kernel as SOL-ExecBench describes it (`/api/kernels/<id>`, definition.json): axes, arguments
// and the list of workloads. IMPORT section 5.1.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/source_item.h"
#include "schema/json_value.h"
#include "schema/result.h"

namespace kernelindex::ingest {

// All texts and values are views into the document that was read.
struct AxisDefinition {
  enum class Role : std::uint8_t { variable, constant, derived };
  std::string_view name;
  Role role = Role::variable;
  std::optional<double> value;
  std::optional<std::string_view> expression;
};

struct Argument {
  std::string_view name;
  std::string_view dtype;
  std::vector<json::Value> shape;  // integers and texts; empty for a scalar
};

struct WorkloadEntry {
  std::string_view uuid;  // empty when the source gave none
  std::vector<json::Member> axes;
  const json::Value* inputs = nullptr;  // object of descriptors by argument, or null
  std::optional<double> max_absolute_error;
  std::optional<double> max_relative_error;
  std::optional<double> sol_ms;
};

struct KernelDefinition {
  std::optional<double> id;
  std::string_view name;
  std::optional<std::string_view> description;
  std::string_view op_type;
  std::optional<std::vector<std::string_view>> tags;
  bool has_reference = false;
  bool sol_is_dummy = false;
  std::vector<AxisDefinition> axes;  // in the order of the source
  std::vector<Argument> inputs;
  std::vector<Argument> outputs;
  std::vector<WorkloadEntry> workloads;
};

// Checks the shape of a kernel's description. One bad workload entry spoils the whole kernel: what
// its suite would list is not known then.
Result<KernelDefinition> read_kernel_definition(const json::Value& item, DriftLog& drift);

// Checks the shape of one workload entry. `place` names it in a fault: "workloads[3]", or empty.
Result<WorkloadEntry> read_workload_entry(const json::Value& item, const std::string& place,
                                          DriftLog& drift);

// The uuid of an entry, else the key made of its axes.
std::string key_of(const WorkloadEntry& entry);

// The least time that the source's hardware model allows, in milliseconds: the minimum over the
// cases. Absent when it is not known for each of them.
std::optional<double> speed_of_light_ms(const KernelDefinition& kernel);

}  // namespace kernelindex::ingest
