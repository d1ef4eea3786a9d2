// SPDX-License-Identifier: Apache-2.0
// Help, the manual page and shell completion, all written from the table of verbs.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "tools/terminal.h"
#include "tools/verb.h"

namespace kernelindex::tools {

// "history [--as-of SIZE] [--all] KEY|RUN".
std::string usage_line(const Verb& verb);

// `--help` for the program (group empty), or for a group of verbs such as "manifest".
std::string program_help(std::span<const Verb* const> verbs, std::string_view group,
                         const Terminal& terminal);
std::string verb_help(const Verb& verb, const Terminal& terminal);

// roff for man(1).
std::string manual_page(std::span<const Verb* const> verbs);

std::string bash_completion(std::span<const Verb* const> verbs);
std::string zsh_completion(std::span<const Verb* const> verbs);

}  // namespace kernelindex::tools
