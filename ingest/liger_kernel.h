// SPDX-License-Identifier: Apache-2.0
// The kernels, providers and devices of the Liger-Kernel benchmark, from the curated table, and
// what each becomes by itself. IMPORT section 8.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ingest/curated_operation.h"
#include "schema/json_value.h"
#include "schema/manifest.h"
#include "schema/result.h"

namespace kernelindex::ingest {

// How one x_name of a kernel is bound to its axes. Texts are views into the table.
struct LigerVariant {
  std::vector<std::string_view> x_names;                            // empty: any other
  std::vector<std::pair<std::string_view, std::string_view>> axes;  // name; "x", "cfg:K", "cfg:A*B"
  std::string_view dtype;                                           // "cfg" or a type
  std::vector<json::Member> equals;                                 // members of the configuration
  std::vector<std::pair<std::string_view, std::string_view>> divisible;  // axes
  std::vector<std::string_view> even;                                    // axes
  std::vector<std::pair<std::string_view, std::string_view>> scalars;  // name; "positive:eps", …
};

struct LigerKernel {
  std::string_view name;  // kernel_name
  CuratedOperation operation;
  std::vector<LigerVariant> variants;
};
// Null when the kernel is not curated.
const LigerKernel* find_liger_kernel(std::string_view name);

struct LigerProvider {
  std::string_view title;
  std::string_view project;  // slug
  std::string_view language;
  std::string_view declared;   // licence
  std::string_view concluded;  // empty when the table states none
  std::string_view package;    // of pip; empty when there is none
  bool baseline = false;
};
std::optional<LigerProvider> find_liger_provider(std::string_view name);

// The words for a timed pass in the protocol; empty when the mode is none of the three.
std::string_view liger_mode_text(std::string_view mode);

// A case as a row says it.
struct LigerCase {
  AxisValues axes;  // as bound: derived axes are not among them
  std::string dtype;
  std::vector<std::pair<std::string_view, double>> scalars;
  std::string key;  // "tokens16384-vocab4096-fp32"
};
// Nothing when the row is not one that the table binds: an axis, type or scalar is missing or none,
// or a condition does not hold.
std::optional<LigerCase> bind_liger_case(const LigerKernel& kernel, std::string_view x_name,
                                         double x_value, const json::Value& configuration);

// `commit` names the revision of the scripts in the operation's source, "main" for none.
Result<Manifest> make_liger_operation(const LigerKernel& kernel, std::string_view commit,
                                      json::Arena& arena);
Result<Manifest> make_liger_case(const LigerKernel& kernel, const Digest& operation,
                                 const LigerCase& of, json::Arena& arena);
Result<Manifest> make_liger_protocol(std::string_view mode, json::Arena& arena);
Result<Manifest> make_liger_project(std::string_view slug, json::Arena& arena);
Result<Manifest> make_liger_implementation(const LigerKernel& kernel, const LigerProvider& provider,
                                           const Digest& operation, json::Arena& arena);
// Nothing when the device is not in the table.
std::optional<Result<Manifest>> make_liger_environment(std::string_view gpu, json::Arena& arena);

}  // namespace kernelindex::ingest
