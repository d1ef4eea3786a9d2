// SPDX-License-Identifier: Apache-2.0
#include "ingest/trace_dialect.h"

#include <algorithm>
#include <vector>

#include "ingest/manifest_document.h"
#include "ingest/token_map.h"

namespace kernelindex::ingest {
namespace {

using json::Arena;
using json::ObjectBuilder;
using json::Value;

constexpr std::string_view kLocalHardware = "LOCAL";  // wherever it is run

}  // namespace

Value solution_support(const SolutionDocument& solution, const KernelDefinition& kernel,
                       Arena& arena) {
  std::vector<Value> architectures;
  std::vector<Value> products;
  for (const std::string_view name : solution.target_hardware) {
    if (name == kLocalHardware) continue;
    const Hardware hardware = hardware_of(name);
    architectures.push_back(arena.string(hardware.architecture));
    products.push_back(arena.string(hardware.product));
  }
  if (architectures.empty()) architectures.emplace_back(std::string_view("unknown"));
  std::vector<Value> dtypes;
  for (const Argument& input : kernel.inputs) {
    dtypes.push_back(arena.string(dtype_token(input.dtype)));
  }
  ObjectBuilder support(arena);
  support.add("hardwareArchitectures", arena.array(architectures));
  support.add("productsTested", arena.array(products)).add("dtypes", arena.array(dtypes));
  return support.finish();
}

bool is_hardware_listed(const SolutionDocument& solution) {
  return std::ranges::all_of(solution.target_hardware, [](std::string_view name) {
    return name == kLocalHardware || hardware_of(name).listed;
  });
}

bool is_commit(std::string_view text) {
  constexpr std::size_t kDigits = 40;
  return text.size() == kDigits && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

Error no_pinned_commit(std::string_view option) {
  return {ErrorKind::invalid,
          "NO_PINNED_COMMIT",
          {},
          "which commit of its repository the solution was taken from was not said: give " +
              std::string(option) + " with 40 hex digits",
          {}};
}

}  // namespace kernelindex::ingest
