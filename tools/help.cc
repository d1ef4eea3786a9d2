// SPDX-License-Identifier: Apache-2.0
#include "tools/help.h"

#include <algorithm>
#include <sstream>

#include "tools/display_text.h"

namespace kernelindex::tools {
namespace {

constexpr std::string_view kProgram = "kernelindex";
constexpr std::size_t kTextColumns = 80;

std::string usage_word(const OptionSpec& option) {
  std::string word(option.name);
  if (!option.positional() && !option.flag()) word += " " + std::string(option.value);
  if (option.repeated) word += "...";
  return option.required ? word : "[" + word + "]";
}

// Words filled into lines, every line but the first behind `indent` spaces.
std::string filled(std::string_view text, std::size_t indent, std::size_t column) {
  std::string out;
  std::istringstream words{std::string(text)};
  std::string word;
  bool line_start = true;
  while (words >> word) {
    const std::size_t width = display_width(word);
    if (!line_start && column + 1 + width > kTextColumns) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
      line_start = true;
    }
    if (!line_start) {
      out += ' ';
      ++column;
    }
    out += word;
    column += width;
    line_start = false;
  }
  return out;
}

// Paragraphs are separated by an empty line; a line that begins with a space stays as it is.
std::string paragraphs(std::string_view text) {
  std::string out;
  std::string paragraph;
  const auto finish = [&] {
    if (!paragraph.empty()) out += filled(paragraph, 0, 0) + "\n";
    paragraph.clear();
  };
  std::istringstream lines{std::string(text)};
  std::string line;
  while (std::getline(lines, line)) {
    if (line.empty() || line.front() == ' ') {
      finish();
      out += line + "\n";
    } else {
      paragraph += line + "\n";
    }
  }
  finish();
  return out;
}

void append_options(std::span<const OptionSpec> options, std::string& out) {
  std::size_t width = 0;
  const auto shown = [](const OptionSpec& option) {
    return std::string(option.name) +
           (option.positional() || option.flag() ? "" : " " + std::string(option.value));
  };
  for (const OptionSpec& option : options) width = std::max(width, shown(option).size());
  const std::size_t column = 2 + width + 2;
  for (const OptionSpec& option : options) {
    out += "  " + pad_right(shown(option), width + 2) + filled(option.help, column, column) + "\n";
  }
}

void append_verbs(std::span<const Verb* const> verbs, std::string_view group, std::string& out) {
  std::size_t width = 0;
  for (const Verb* verb : verbs) width = std::max(width, verb->name.size());
  for (const Verb* verb : verbs) {
    if (!group.empty() && !verb->name.starts_with(std::string(group) + " ")) continue;
    out += "  " + pad_right(verb->name, width + 2) + std::string(verb->summary) + "\n";
  }
}

}  // namespace

std::string usage_line(const Verb& verb) {
  std::string line(verb.name);
  for (const OptionSpec& option : verb.options) {
    if (!option.positional()) line += " " + usage_word(option);
  }
  for (const OptionSpec& option : verb.options) {
    if (option.positional()) line += " " + usage_word(option);
  }
  return line;
}

std::string program_help(std::span<const Verb* const> verbs, std::string_view group,
                         const Terminal& terminal) {
  const auto heading = [&](std::string_view text) {
    return "\n" + terminal.tinted(text, Tone::strong) + "\n";
  };
  std::string out;
  if (group.empty()) {
    out += paragraphs(
        "kernelindex keeps published GPU-kernel benchmark results as evidence: each number with "
        "the "
        "bytes it came from, in an append-only log that anyone can check.");
  }
  const std::string lead = group.empty() ? "" : std::string(group) + " ";
  out += heading("Usage") + "  " + std::string(kProgram) + " " + lead +
         "VERB [OPTION...] [ARGUMENT...]\n";
  out += heading("Verbs");
  append_verbs(verbs, group, out);
  out += heading("Options of every verb");
  append_options(common_options(), out);
  if (!group.empty()) return out;
  out += heading("Exit status");
  out +=
      "  0  done\n"
      "  1  a check failed, or an import set items aside (the rest is recorded)\n"
      "  2  wrong usage\n"
      "  3  bad input: malformed, missing, unknown or ambiguous id, no ledger here\n"
      "  4  stored bytes or derived data disagree\n"
      "  5  refused by policy\n"
      "  6  the system refused: I/O, disk full, permission, lock held, network, time\n"
      "  130  interrupted\n";
  out += "\n" + std::string(kProgram) + " VERB --help tells more about a verb.\n";
  return out;
}

std::string verb_help(const Verb& verb, const Terminal& terminal) {
  const auto heading = [&](std::string_view text) {
    return "\n" + terminal.tinted(text, Tone::strong) + "\n";
  };
  std::string out = std::string(verb.summary) + "\n";
  out += heading("Usage") + "  " + std::string(kProgram) + " " +
         filled(usage_line(verb), 6, kProgram.size() + 3) + "\n";
  if (!verb.details.empty()) out += "\n" + paragraphs(verb.details);
  std::vector<OptionSpec> arguments;
  std::vector<OptionSpec> options;
  for (const OptionSpec& option : verb.options) {
    (option.positional() ? arguments : options).push_back(option);
  }
  if (!arguments.empty()) {
    out += heading("Arguments");
    append_options(arguments, out);
  }
  if (!options.empty()) {
    out += heading("Options");
    append_options(options, out);
  }
  out += heading("Options of every verb (kernelindex --help)");
  std::string common;
  for (const OptionSpec& option : common_options()) {
    common +=
        std::string(option.name) + (option.flag() ? "" : " " + std::string(option.value)) + "  ";
  }
  out += "  " + filled(common, 2, 2) + "\n";
  if (!verb.examples.empty()) {
    out += heading("Examples");
    for (const std::string_view example : verb.examples) {
      out += "  " + std::string(kProgram) + " " + std::string(example) + "\n";
    }
  }
  return out;
}

}  // namespace kernelindex::tools
