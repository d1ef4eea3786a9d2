// SPDX-License-Identifier: Apache-2.0
// kernelindex: the command line. Words become a verb (command_line), a verb says what it found
// (output) and returns an exit code or an Error; everything else is in the rooms below.
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "tools/command_line.h"
#include "tools/display_text.h"
#include "tools/help.h"
#include "tools/session.h"

namespace kernelindex::tools {
namespace {

// What was committed stays: the ledger is whole after every batch, so there is nothing to undo.
extern "C" void on_interrupt(int) {
  static constexpr char kText[] = "\nkernelindex: interrupted; what was committed is kept\n";
  [[maybe_unused]] const ssize_t ignored = ::write(STDERR_FILENO, kText, sizeof kText - 1);
  ::_exit(static_cast<int>(ExitCode::interrupted));
}

ExitCode report(const Error& error) {
  const Terminal terminal = inspect_terminal(STDERR_FILENO);
  // Line breaks are ours (lists of candidates); all else may come from outside and is spelled out.
  std::string text;
  Error shown = error;
  if (shown.kind == ErrorKind::usage) shown.code.clear();  // exit 2 says as much
  if (!shown.remedy.empty() && shown.remedy[0] >= 'a' && shown.remedy[0] <= 'z') {
    shown.remedy[0] = static_cast<char>(shown.remedy[0] - 'a' + 'A');  // it begins a sentence
  }
  const std::string whole = shown.text();
  for (std::size_t from = 0, to = 0; from <= whole.size(); from = to + 1) {
    to = std::min(whole.find('\n', from), whole.size());
    text += (from == 0 ? "" : "\n") + escape_text(std::string_view(whole).substr(from, to - from));
  }
  std::fprintf(stderr, "%s %s\n", terminal.tinted("kernelindex: error:", Tone::bad).c_str(),
               text.c_str());
  return exit_code(error.kind);
}

Result<ExitCode> obey(const Command& command) {
  const Terminal terminal = inspect_terminal(STDOUT_FILENO);
  Output plain(STDOUT_FILENO, OutputForm::text);
  switch (command.what) {
    case Command::What::version:
      plain.write("kernelindex " KERNELINDEX_VERSION "\n");
      break;
    case Command::What::help:
      plain.write(command.verb != nullptr ? verb_help(*command.verb, terminal)
                                          : program_help(all_verbs(), command.group, terminal));
      break;
    case Command::What::run: {
      Result<Session> session = Session::start(*command.common);
      if (!session) return fail(session.error());
      const Result<ExitCode> code = command.verb->run(*session, *command.arguments);
      const Status written = session->out().flush();
      if (!code || written) return code;
      return fail(written.error());
    }
  }
  const Status written = plain.flush();
  if (!written) return fail(written.error());
  return ExitCode::done;
}

ExitCode run(int argc, char** argv) {
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  const Result<Command> command = parse_command_line(words, all_verbs());
  if (!command) return report(command.error());
  const Result<ExitCode> code = obey(*command);
  return code ? *code : report(code.error());
}

}  // namespace
}  // namespace kernelindex::tools

int main(int argc, char** argv) {
  using kernelindex::tools::ExitCode;
  std::signal(SIGINT, kernelindex::tools::on_interrupt);
  try {
    return static_cast<int>(kernelindex::tools::run(argc, argv));
  } catch (const std::bad_alloc&) {
    std::fputs("kernelindex: error: out of memory\n", stderr);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "kernelindex: internal error: %s\n", error.what());
  }
  return static_cast<int>(ExitCode::system);
}
