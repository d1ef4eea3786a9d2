// SPDX-License-Identifier: Apache-2.0
#include "cuda/child_plan.h"

#include <cstdlib>
#include <optional>
#include <span>

#include "cuda/host_tensor.h"
#include "cuda/launch_expression.h"
#include "cuda/reference_operation.h"

namespace kernelindex::runner {
namespace {

// A tensor of a workload as the child sees it.
ChildTensor describe(const BoundWorkload& workload, Dtype dtype,
                     std::span<const std::string_view> axes) {
  const HostTensor shape("", dtype, *extents(axes, workload.axes));
  ChildTensor tensor;
  tensor.dtype = dlpack_code(dtype);
  tensor.shape.assign(shape.shape().begin(), shape.shape().end());
  tensor.bytes = shape.bytes().size();
  return tensor;
}

Result<double> scalar_of(const BoundWorkload& workload, const std::string& name) {
  const auto value = workload.scalars.find(name);
  if (value != workload.scalars.end()) return value->second;
  return fail(ErrorKind::invalid, "MISSING_SCALAR", name, "the workload gives it no value");
}

Result<ChildTensor> plan_input(const BoundWorkload& workload, const InputSpec& input) {
  if (input.role != InputRole::scalar) return describe(workload, input.dtype, input.axes);
  const Result<double> value = scalar_of(workload, std::string(input.name));
  if (!value) return fail(value.error());
  ChildTensor tensor;
  tensor.scalar = true;
  tensor.value = *value;
  return tensor;
}

Result<ChildArgument> plan_argument(const BoundWorkload& workload, const LaunchArgument& argument) {
  ChildArgument planned;
  const auto place = [&argument](const auto& specs) -> std::optional<std::uint64_t> {
    std::uint64_t at = 0;
    for (const auto& spec : specs) {
      if (spec.name == argument.text) return at;
      if constexpr (requires { spec.role; }) {
        if (spec.role == InputRole::scalar) continue;
      }
      ++at;
    }
    return std::nullopt;
  };
  switch (argument.kind) {
    case LaunchArgument::Kind::input:
    case LaunchArgument::Kind::output: {
      const bool input = argument.kind == LaunchArgument::Kind::input;
      const auto index =
          input ? place(workload.operation->inputs) : place(workload.operation->outputs);
      if (!index)
        return fail(ErrorKind::invalid, "UNKNOWN_TENSOR", argument.text, "there is no such tensor");
      planned.kind = input ? ChildArgument::Kind::input : ChildArgument::Kind::output;
      planned.index = *index;
      return planned;
    }
    case LaunchArgument::Kind::workspace:
      planned.kind = ChildArgument::Kind::workspace;
      return planned;
    case LaunchArgument::Kind::i32:
    case LaunchArgument::Kind::i64: {
      const Result<std::int64_t> value = evaluate_expression(argument.text, workload.axes);
      if (!value) return fail(value.error());
      const bool narrow = argument.kind == LaunchArgument::Kind::i32;
      if (narrow && *value != static_cast<std::int32_t>(*value)) {
        return fail(ErrorKind::invalid, "EXPRESSION_OVERFLOW", argument.text,
                    "a value does not fit 32 bits");
      }
      planned.kind = narrow ? ChildArgument::Kind::i32 : ChildArgument::Kind::i64;
      planned.integer = *value;
      return planned;
    }
    case LaunchArgument::Kind::f32:
    case LaunchArgument::Kind::f64: {
      planned.kind = argument.kind == LaunchArgument::Kind::f32 ? ChildArgument::Kind::f32
                                                                : ChildArgument::Kind::f64;
      planned.real = std::strtod(argument.text.c_str(), nullptr);
      return planned;
    }
    case LaunchArgument::Kind::scalar: {
      const Result<double> value = scalar_of(workload, argument.text);
      if (!value) return fail(value.error());
      planned.kind = ChildArgument::Kind::f32;
      planned.real = *value;
      return planned;
    }
  }
  return planned;
}

Result<ChildKernel> plan_kernel(const BoundWorkload& workload, const LaunchKernel& kernel,
                                const std::map<std::string, std::string>& lowered_names) {
  const auto name = lowered_names.find(kernel.name);
  if (name == lowered_names.end()) {
    return fail(ErrorKind::invalid, "NO_LOWERED_NAME", kernel.name, "the image has no such kernel");
  }
  const Result<LaunchShape> shape = evaluate_launch(kernel.grid, kernel.block, kernel.cluster,
                                                    kernel.shared_bytes, workload.axes);
  if (!shape) return fail(shape.error());
  if (!kernel.cluster.empty()) {
    return fail(ErrorKind::invalid, "LAUNCH_LIMIT", kernel.name, "clusters are not launched yet");
  }
  ChildKernel planned;
  planned.symbol = name->second;
  planned.shared_bytes = shape->shared_bytes;
  for (std::size_t i = 0; i < 3; ++i) {
    planned.grid[i] = shape->grid[i];
    planned.block[i] = shape->block[i];
  }
  for (const LaunchArgument& argument : kernel.args) {
    Result<ChildArgument> one = plan_argument(workload, argument);
    if (!one) return fail(one.error());
    planned.arguments.push_back(*one);
  }
  return planned;
}

}  // namespace

Result<ChildLoad> plan_load(const BoundWorkload& workload, const BuildRecipe& recipe,
                            const LaunchManifest* manifest,
                            const std::map<std::string, std::string>& lowered_names,
                            std::string artifact_path) {
  ChildLoad load;
  load.binding = recipe.binding == BuildRecipe::Binding::torch    ? ChildLoad::Binding::torch
                 : recipe.binding == BuildRecipe::Binding::ki_abi ? ChildLoad::Binding::ki_abi
                                                                  : ChildLoad::Binding::ki_kernel;
  load.artifact = std::move(artifact_path);
  load.symbol = recipe.entry_symbol;
  load.destination_passing = recipe.destination_passing;
  for (const InputSpec& input : workload.operation->inputs) {
    Result<ChildTensor> tensor = plan_input(workload, input);
    if (!tensor) return fail(tensor.error());
    load.inputs.push_back(std::move(*tensor));
  }
  for (const OutputSpec& output : workload.operation->outputs) {
    load.outputs.push_back(describe(workload, output.dtype, output.axes));
  }
  if (manifest == nullptr) return load;
  const Result<std::int64_t> workspace =
      evaluate_expression(manifest->workspace_bytes, workload.axes);
  if (!workspace) return fail(workspace.error());
  if (*workspace < 0 || *workspace > LaunchLimits{}.workspace_bytes) {
    return fail(ErrorKind::invalid, "LAUNCH_LIMIT", manifest->workspace_bytes,
                "the workspace is out of range");
  }
  load.workspace_bytes = static_cast<std::uint64_t>(*workspace);
  for (const LaunchKernel& kernel : manifest->kernels) {
    Result<ChildKernel> planned = plan_kernel(workload, kernel, lowered_names);
    if (!planned) return fail(planned.error());
    load.kernels.push_back(std::move(*planned));
  }
  return load;
}

}  // namespace kernelindex::runner
