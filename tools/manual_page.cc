// SPDX-License-Identifier: Apache-2.0
#include <sstream>

#include "tools/help.h"

namespace kernelindex::tools {
namespace {

// roff takes a leading period or quote for a request, and a backslash for an escape.
std::string roff(std::string_view text) {
  std::string out;
  bool line_start = true;
  for (const char c : text) {
    if (line_start && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
    line_start = c == '\n';
  }
  return out;
}

std::string bold(std::string_view text) { return "\\fB" + roff(text) + "\\fR"; }
std::string italic(std::string_view text) { return "\\fI" + roff(text) + "\\fR"; }

void append_option(const OptionSpec& option, std::string& out) {
  out += ".TP\n";
  if (option.positional()) {
    out += italic(option.name);
  } else {
    out += bold(option.name);
    if (!option.flag()) out += " " + italic(option.value);
  }
  out += "\n" + roff(option.help) + "\n";
}

void append_details(std::string_view details, std::string& out) {
  std::istringstream lines{std::string(details)};
  std::string line;
  bool literal = false;
  while (std::getline(lines, line)) {
    const bool indented = line.starts_with(' ');
    if (indented != literal) out += indented ? ".nf\n" : ".fi\n";
    literal = indented;
    out += line.empty() ? ".PP\n" : roff(line) + "\n";
  }
  if (literal) out += ".fi\n";
}

void append_verb(const Verb& verb, std::string& out) {
  out += ".SS " + roff(usage_line(verb)) + "\n" + roff(verb.summary) + ".\n";
  if (!verb.details.empty()) {
    out += ".PP\n";
    append_details(verb.details, out);
  }
  for (const OptionSpec& option : verb.options) append_option(option, out);
  if (verb.examples.empty()) return;
  out += ".PP\nExamples:\n.PP\n.nf\n";
  for (const std::string_view example : verb.examples) {
    out += "    " + roff("kernelindex " + std::string(example)) + "\n";
  }
  out += ".fi\n";
}

}  // namespace

std::string manual_page(std::span<const Verb* const> verbs) {
  std::string out =
      ".TH KERNELINDEX 1 \"\" \"kernelindex " KERNELINDEX_VERSION
      "\" \"User Commands\"\n"
      ".SH NAME\nkernelindex \\- evidence ledger for GPU\\-kernel benchmark results\n"
      ".SH SYNOPSIS\n.B kernelindex\n.I verb\n[\\fIoption\\fR ...] [\\fIargument\\fR ...]\n"
      ".SH DESCRIPTION\n"
      "KernelIndex keeps each published number as evidence: an immutable manifest that names the\n"
      "implementation, workload, protocol and environment by digest, with the source bytes it "
      "came\n"
      "from, inside an append\\-only log that anyone can check offline.\n"
      ".SH OPTIONS OF EVERY VERB\n";
  for (const OptionSpec& option : common_options()) append_option(option, out);
  out += ".TP\n" + bold("--help") + "\nHelp on the program or a verb.\n";
  out += ".TP\n" + bold("--version") + "\nThe program's version.\n";
  out += ".SH VERBS\n";
  for (const Verb* verb : verbs) append_verb(*verb, out);
  out +=
      ".SH EXIT STATUS\n"
      ".TP\n0\nDone.\n"
      ".TP\n1\nA check failed, or an import set items aside (the rest is recorded).\n"
      ".TP\n2\nWrong usage.\n"
      ".TP\n3\nBad input: malformed, missing, unknown or ambiguous id, no ledger here.\n"
      ".TP\n4\nStored bytes or derived data disagree.\n"
      ".TP\n5\nRefused by policy.\n"
      ".TP\n6\nThe system refused: I/O, disk full, permission, lock held, network, time.\n"
      ".TP\n130\nInterrupted.\n"
      ".SH ENVIRONMENT\n"
      ".TP\n.B KERNELINDEX_LEDGER\nThe ledger's folder when \\fB\\-\\-ledger\\fR is not given.\n"
      ".TP\n.B KERNELINDEX_NOW\nA fixed clock when \\fB\\-\\-now\\fR is not given.\n"
      ".TP\n.B NO_COLOR\nAny value: no colours.\n"
      ".SH FILES\n"
      ".TP\n.I kernelindex.ledger\nThe ledger of the current folder.\n"
      ".TP\n.I kernelindex.ledger/keys\nIts private keys; move \\fIroot.key\\fR away.\n";
  return out;
}

}  // namespace kernelindex::tools
