// SPDX-License-Identifier: Apache-2.0
#include "schema/launch_manifest.h"

#include <algorithm>
#include <array>

#include "schema/canonical_json.h"
#include "schema/checked_members.h"
#include "schema/measurement_job.h"

namespace kernelindex {
namespace {

using checked::bad_member;
using schema::Node;
using schema::optional;
using schema::required;

constexpr std::size_t kManifestBytes = 256 * limits::kKiB;
// In the order of LaunchArgument::Kind.
constexpr std::array<std::string_view, 8> kArguments = {"in",  "out", "scalar", "i32",
                                                        "i64", "f32", "f64",    "workspace"};

bool is_expression(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_+-*/%(), ").contains(c);
  });
}

const schema::Grammar kExpression = {"launchExpression", "^[A-Za-z0-9_+\\-*/%(), ]+$",
                                     "an expression of integers, axes and + - * / % ( )",
                                     is_expression};

Node expression() { return schema::text(kExpression, kLaunchExpressionBytes); }
Node three() { return schema::list(expression(), 3, 3); }

bool is_decimal(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= '0' && c <= '9') || std::string_view("+-.eE").contains(c);
  });
}

std::optional<LaunchArgument> read_argument(std::string_view text) {
  using Kind = LaunchArgument::Kind;
  const std::size_t colon = text.find(':');
  const auto word = std::ranges::find(kArguments, text.substr(0, colon));
  if (word == kArguments.end()) return std::nullopt;
  LaunchArgument argument{static_cast<Kind>(word - kArguments.begin()), {}};
  if (argument.kind == Kind::workspace) {
    return colon == std::string_view::npos ? std::optional(argument) : std::nullopt;
  }
  if (colon == std::string_view::npos) return std::nullopt;
  argument.text = text.substr(colon + 1);
  switch (argument.kind) {
    case Kind::input:
    case Kind::output:
    case Kind::scalar:
      return schema::kToken.matches(argument.text) ? std::optional(argument) : std::nullopt;
    case Kind::f32:
    case Kind::f64:
      return is_decimal(argument.text) ? std::optional(argument) : std::nullopt;
    default:
      return is_expression(argument.text) ? std::optional(argument) : std::nullopt;
  }
}

std::string argument_text(const LaunchArgument& argument) {
  const std::string word(kArguments[static_cast<std::size_t>(argument.kind)]);
  return argument.kind == LaunchArgument::Kind::workspace ? word : word + ":" + argument.text;
}

Result<LaunchKernel> read_kernel(const json::Value& value, const std::string& place) {
  LaunchKernel kernel;
  kernel.file = checked::text_of(value, "file");
  kernel.name = checked::text_of(value, "name");
  kernel.grid = checked::texts_of(value, "grid");
  kernel.block = checked::texts_of(value, "block");
  kernel.cluster = checked::texts_of(value, "cluster");
  kernel.shared_bytes = checked::text_of(value, "smem");
  for (const json::Value& item : checked::items_of(value, "args")) {
    const std::optional<LaunchArgument> argument = read_argument(item.string());
    if (!argument) {
      return fail(bad_member(place + ".args[" + std::to_string(kernel.args.size()) + "]",
                             "this is no argument of a kernel",
                             "write in:NAME, out:NAME, scalar:NAME, i32:EXPRESSION, "
                             "i64:EXPRESSION, f32:NUMBER, f64:NUMBER or workspace"));
    }
    kernel.args.push_back(*argument);
  }
  return kernel;
}

}  // namespace

Node launch_manifest_shape() {
  const Node kernel = schema::object({
      required("file", schema::text(checked::kSourcePath)),
      required("name", checked::line(kLaunchNameBytes)),
      required("args", schema::list(checked::line(kLaunchExpressionBytes), 0, kLaunchArguments)),
      required("grid", three()),
      required("block", three()),
      optional("cluster", three()),
      required("smem", expression()),
  });
  return schema::object({
      required("format", schema::one_of({kLaunchFormat})),
      required("kernels", schema::list(kernel, 1, kLaunchKernels)),
      required("workspace", expression()),
      required("flags", schema::list(checked::line(kRecipeFlagBytes), 0, kRecipeFlags)),
  });
}

Result<LaunchManifest> read_launch_manifest(std::string_view text) {
  json::Arena arena;
  const Result<json::Value> value =
      checked::parse_document(text, kLaunchFormat, launch_manifest_shape(), kManifestBytes, arena);
  if (!value) return fail(value.error());
  LaunchManifest manifest;
  manifest.workspace_bytes = checked::text_of(*value, "workspace");
  manifest.flags = checked::texts_of(*value, "flags");
  for (const json::Value& item : checked::items_of(*value, "kernels")) {
    Result<LaunchKernel> kernel =
        read_kernel(item, "kernels[" + std::to_string(manifest.kernels.size()) + "]");
    if (!kernel) return fail(kernel.error());
    manifest.kernels.push_back(std::move(*kernel));
  }
  return manifest;
}

Result<std::string> write_launch_manifest(const LaunchManifest& manifest) {
  json::Arena arena;
  std::vector<json::Value> kernels;
  for (const LaunchKernel& kernel : manifest.kernels) {
    std::vector<std::string> args;
    for (const LaunchArgument& argument : kernel.args) args.push_back(argument_text(argument));
    json::ObjectBuilder out(arena);
    out.add("file", kernel.file)
        .add("name", kernel.name)
        .add("args", checked::texts(args, arena))
        .add("grid", checked::texts(kernel.grid, arena))
        .add("block", checked::texts(kernel.block, arena));
    if (!kernel.cluster.empty()) out.add("cluster", checked::texts(kernel.cluster, arena));
    kernels.push_back(out.add("smem", kernel.shared_bytes).finish());
  }
  const json::Value value = json::ObjectBuilder(arena)
                                .add("format", kLaunchFormat)
                                .add("kernels", arena.array(kernels))
                                .add("workspace", manifest.workspace_bytes)
                                .add("flags", checked::texts(manifest.flags, arena))
                                .finish();
  std::string text = json::canonical(value);
  if (const auto read = read_launch_manifest(text); !read) return fail(read.error());
  return text;
}

}  // namespace kernelindex
