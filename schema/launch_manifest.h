// SPDX-License-Identifier: Apache-2.0
// The launch manifest ki-kernel/1: how a runner launches kernels that came without host code.
// REFERENCES section 4.2.
//
//   {"format":"kernelindex.launch/1",
//    "kernels":[{"file":"rope.cu","name":"rope_kernel",
//                "args":["in:query_or_key","out:output","i32:B","i32:24","f32:1e-5","workspace"],
//                "grid":["ceil_div(B*S*24*64,256)","1","1"],"block":["256","1","1"],
//                "cluster":["1","1","1"],"smem":"0"}],
//    "workspace":"0","flags":["--use_fast_math"]}
//
// Kernels are launched in this order on one stream. Expressions know integers, names of axes,
// + - * / % ( ), ceil_div, min and max, and are evaluated in checked 64-bit integers by the runner.
// Arguments: "in:", "out:" and the name of a tensor; "scalar:" and that of a scalar of the
// operation; "i32:", "i64:" and an expression; "f32:", "f64:" and a decimal number; "workspace".
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "schema/result.h"

namespace kernelindex {

namespace schema {
struct Node;
}

inline constexpr std::string_view kLaunchFormat = "kernelindex.launch/1";
inline constexpr std::size_t kLaunchKernels = 64;
inline constexpr std::size_t kLaunchArguments = 64;
inline constexpr std::size_t kLaunchExpressionBytes = 200;
inline constexpr std::size_t kLaunchNameBytes = 500;

struct LaunchArgument {
  enum class Kind : std::uint8_t { input, output, scalar, i32, i64, f32, f64, workspace };
  Kind kind{};
  std::string text;  // a name, an expression or a number; empty for workspace

  bool operator==(const LaunchArgument&) const = default;
};

struct LaunchKernel {
  std::string file;                  // of the sources: the translation unit; is_source_path()
  std::string name;                  // a C++ name expression: "rope_kernel<float>"
  std::vector<LaunchArgument> args;  // at most kLaunchArguments
  std::vector<std::string> grid;     // three expressions
  std::vector<std::string> block;    // three
  std::vector<std::string> cluster;  // three; empty: no clusters
  std::string shared_bytes = "0";    // dynamic shared memory, `smem` in documents

  bool operator==(const LaunchKernel&) const = default;
};

struct LaunchManifest {
  std::vector<LaunchKernel> kernels;  // 1..kLaunchKernels
  std::string workspace_bytes = "0";  // an expression, `workspace` in documents
  std::vector<std::string> flags;     // of NVRTC; whether they are allowed is for the runner

  bool operator==(const LaunchManifest&) const = default;
};

// Errors (invalid): those of json::parse and of the schema; WRONG_FORMAT; BAD_MEMBER.
// Expressions are checked for their characters alone.
Result<LaunchManifest> read_launch_manifest(std::string_view text);
// Canonical JSON. Error: what read_launch_manifest() says about it.
Result<std::string> write_launch_manifest(const LaunchManifest& manifest);

schema::Node launch_manifest_shape();

}  // namespace kernelindex
