// SPDX-License-Identifier: Apache-2.0
#include "tools/help.h"
#include "tools/session.h"
#include "tools/verbs.h"

namespace kernelindex::tools {
namespace {

constexpr OptionSpec kOptions[] = {
    {.name = "SHELL",
     .help = "bash, zsh, or man for the manual page",
     .kind = ValueKind::choice,
     .choices = "bash|zsh|man",
     .required = true},
};

constexpr std::string_view kExamples[] = {
    "completion bash > ~/.local/share/bash-completion/completions/kernelindex",
    "completion man | man -l -",
};

Result<ExitCode> run(Session& session, const Arguments& arguments) {
  const std::string shell = arguments.text("SHELL");
  session.out().write(shell == "bash"  ? bash_completion(all_verbs())
                      : shell == "zsh" ? zsh_completion(all_verbs())
                                       : manual_page(all_verbs()));
  return ExitCode::done;
}

}  // namespace

constexpr Verb kCompletionVerb{
    .name = "completion",
    .summary = "print shell completion, or the manual page",
    .details =
        "An installed kernelindex brings all three with it; this is for a program that was\n"
        "only built.",
    .options = kOptions,
    .examples = kExamples,
    .run = run,
};

}  // namespace kernelindex::tools
