// SPDX-License-Identifier: Apache-2.0
// Words to a verb and its arguments. The only door to CLI11. All that can be checked without
// opening a file is checked here.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "schema/result.h"
#include "tools/verb.h"

namespace kernelindex::tools {

struct Command {
  enum class What { run, help, version };
  What what = What::run;
  const Verb* verb = nullptr;  // null for help on the whole program or a group, and for the version
  std::string group = {};      // "manifest": help on its verbs
  std::optional<Arguments> arguments = {};
  std::optional<Arguments> common = {};  // of common_options()
};

// Errors have kind usage and say what was wrong, where, and how to get help.
Result<Command> parse_command_line(std::span<const std::string> words,
                                   std::span<const Verb* const> verbs);

// The name nearest to a mistyped one, or empty when none is near.
std::string nearest_name(std::string_view mistyped, std::span<const std::string> names);

}  // namespace kernelindex::tools
