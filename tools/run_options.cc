// SPDX-License-Identifier: Apache-2.0
#include "tools/run_options.h"

namespace kernelindex::tools {

ReadPolicy read_policy(const Arguments& arguments) {
  ReadPolicy policy;
  policy.ranking = policy_from_name(arguments.text("--ranking")).value_or(RankingPolicy::v1);
  policy.as_of = arguments.count("--as-of");
  return policy;
}

Result<RunFilter> read_filter(const Reader& reader, const Arguments& arguments) {
  return read_filter(
      reader, [&](std::string_view name) { return arguments.text("--" + std::string(name)); },
      "--");
}

}  // namespace kernelindex::tools
