// SPDX-License-Identifier: Apache-2.0
#include "tools/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>

namespace kernelindex::tools {
namespace {

std::string in_quotes(std::string_view word) { return "'" + std::string(word) + "'"; }

std::string help_hint(const std::string& words) {
  return "Try " + in_quotes("kernelindex " + (words.empty() ? "" : words + " ") + "--help");
}

std::unexpected<Error> usage(const std::string& words, std::string message,
                             std::string remedy = {}) {
  return fail(ErrorKind::usage, "USAGE", "", std::move(message),
              remedy.empty() ? help_hint(words) : std::move(remedy));
}

using Declared = std::vector<std::pair<const OptionSpec*, CLI::Option*>>;

Declared declare(CLI::App& app, std::span<const OptionSpec> options) {
  Declared declared;
  bool choice_in_front = false;
  for (const OptionSpec& option : options) {
    const std::string name(option.name);
    CLI::Option* made = nullptr;
    if (option.flag()) {
      made = app.add_flag(name)->disable_flag_override();
    } else if (option.positional()) {
      made = app.add_option(name);
      made->expected(1, option.repeated ? CLI::detail::expected_max_vector_size : 1);
      made->allow_extra_args(option.repeated);
      // A word for it may have gone to the optional choice in front; interpret() asks.
      made->required(option.required && !choice_in_front);
      choice_in_front = option.kind == ValueKind::choice && !option.required;
    } else {
      made = app.add_option(name)->expected(1)->allow_extra_args(false);
      made->multi_option_policy(option.repeated ? CLI::MultiOptionPolicy::TakeAll
                                                : CLI::MultiOptionPolicy::Throw);
    }
    declared.emplace_back(&option, made);
  }
  return declared;
}

bool is_choice_of(const OptionSpec& option, const std::string& value) {
  const std::string choices = "|" + std::string(option.choices) + "|";
  return value.find('|') == std::string::npos && choices.contains("|" + value + "|");
}

Status check_value(const OptionSpec& option, const std::string& value, const std::string& words) {
  if (option.kind == ValueKind::count) {
    std::uint64_t number = 0;
    const char* end = value.data() + value.size();
    const auto [stop, error] = std::from_chars(value.data(), end, number);
    if (error != std::errc() || stop != end) {
      return usage(words,
                   std::string(option.name) + " takes a whole number, not " + in_quotes(value));
    }
  }
  if (option.kind == ValueKind::choice) {
    if (!is_choice_of(option, value)) {
      return usage(words, std::string(option.name) + " is one of " + std::string(option.choices) +
                              ", not " + in_quotes(value));
    }
  }
  if (value.empty() && !option.flag()) {
    return usage(words, std::string(option.name) + " must not be empty");
  }
  return {};
}

// A word at the place of an optional choice that is none of the choices is the first of what
// follows: "import dump/" and "import sol-execbench dump/".
Status collect(const Declared& declared, const std::string& words, Arguments& arguments) {
  std::vector<std::string> passed_on;
  const OptionSpec* passed_by = nullptr;
  for (const auto& [spec, option] : declared) {
    std::vector<std::string> values = option->results();
    if (spec->positional()) {
      values.insert(values.begin(), passed_on.begin(), passed_on.end());
      passed_on.clear();
      const bool optional_choice = spec->kind == ValueKind::choice && !spec->required;
      if (optional_choice && !values.empty() && !is_choice_of(*spec, values.front())) {
        passed_on = std::move(values);
        passed_by = spec;
        continue;
      }
    }
    for (const std::string& value : values) {
      if (Status status = check_value(*spec, value, words); !status) return status;
      arguments.values(spec->name).push_back(value);
    }
  }
  // Nothing follows: then it is a wrong choice.
  return passed_on.empty() ? Status() : check_value(*passed_by, passed_on.front(), words);
}

// The CLI11 applications made from the table, and which verb each of them stands for.
struct Parser {
  CLI::App app;
  std::map<const CLI::App*, const Verb*> verbs;
  std::map<const CLI::App*, std::string> groups;
  std::map<const CLI::App*, Declared> declared;
  std::map<const CLI::App*, Declared> common;

  explicit Parser(std::span<const Verb* const> table) {
    prepare(app);
    app.require_subcommand(1);
    app.add_flag("--version")->disable_flag_override();
    common[&app] = declare(app, common_options());
    for (const Verb* verb : table) add(*verb);
  }

  // The innermost application that the words reached.
  const CLI::App* reached() const {
    const CLI::App* at = &app;
    while (!at->get_subcommands().empty()) at = at->get_subcommands().front();
    return at;
  }

  std::string words(const CLI::App* at) const {
    if (const auto verb = verbs.find(at); verb != verbs.end()) {
      return std::string(verb->second->name);
    }
    const auto group = groups.find(at);
    return group == groups.end() ? std::string() : group->second;
  }

  // The names that may follow.
  std::vector<std::string> names_below(const CLI::App* at) const {
    std::vector<std::string> names;
    for (const CLI::App* sub : at->get_subcommands(nullptr)) names.push_back(sub->get_name());
    return names;
  }

 private:
  static void prepare(CLI::App& at) { at.set_help_flag("-h,--help"); }

  CLI::App* below(CLI::App& at, const std::string& name) {
    for (CLI::App* sub : at.get_subcommands(nullptr)) {
      if (sub->get_name() == name) return sub;
    }
    CLI::App* made = at.add_subcommand(name);
    prepare(*made);
    return made;
  }

  void add(const Verb& verb) {
    CLI::App* at = &app;
    std::string name(verb.name);
    if (const auto space = name.find(' '); space != std::string::npos) {
      at = below(app, name.substr(0, space));
      groups[at] = name.substr(0, space);
      settle(*at);
      name = name.substr(space + 1);
    }
    CLI::App* made = below(*at, name);
    verbs[made] = &verb;
    declared[made] = declare(*made, verb.options);
    common[made] = declare(*made, common_options());
    settle(*made);
  }

  // `verify FILE` and `verify tiles DIR`: a first word may be a verb and lead to others. Then its
  // own arguments are not demanded of the others; interpret() asks for what is missing.
  void settle(CLI::App& at) {
    if (!groups.contains(&at)) return;
    if (!verbs.contains(&at)) {
      at.require_subcommand(1);
      return;
    }
    at.require_subcommand(0, 1);
    for (const auto& [spec, option] : declared.at(&at)) option->required(false);
  }
};

// CLI11's messages in the words of this program.
std::string plain_words(const CLI::ParseError& error) {
  std::string message = error.what();
  if (const auto line_end = message.find('\n'); line_end != std::string::npos) {
    message.resize(line_end);
  }
  const std::string subject = message.substr(0, message.find_first_of(": "));
  if (message.contains("disallowed flag override")) return "--" + subject + " takes no value";
  if (message.contains("At Most")) return subject + " is given twice";
  if (message.contains("missing")) return subject + " needs a value";
  return message;
}

std::unexpected<Error> explain(const Parser& parser, const CLI::ParseError& error) {
  const CLI::App* at = parser.reached();
  const std::string words = parser.words(at);
  const std::vector<std::string> extras = at->remaining();
  if (!extras.empty() && !parser.verbs.contains(at)) {
    const std::string near = nearest_name(extras.front(), parser.names_below(at));
    const std::string lead = words.empty() ? "" : words + " ";
    return usage(words, "there is no verb " + in_quotes(lead + extras.front()),
                 near.empty() ? "" : "Did you mean " + in_quotes(lead + near) + "?");
  }
  if (!extras.empty()) {
    return usage(words, words + ": unexpected argument " + in_quotes(extras.front()));
  }
  if (!parser.verbs.contains(at)) return usage(words, "a verb is missing");
  return usage(words, words + ": " + plain_words(error));
}

Result<Command> interpret(const Parser& parser, std::span<const OptionSpec> common) {
  const CLI::App* at = parser.reached();
  Command command;
  command.verb = parser.verbs.at(at);
  command.arguments.emplace(command.verb->options);
  command.common.emplace(common);
  const std::string words = parser.words(at);
  if (Status status = collect(parser.declared.at(at), words, *command.arguments); !status) {
    return fail(status.error());
  }
  for (const OptionSpec& option : command.verb->options) {
    if (option.required && !command.arguments->given(option.name)) {
      return usage(words, words + ": " + std::string(option.name) + " is required");
    }
  }
  for (const CLI::App* app : {&parser.app, at}) {
    if (Status status = collect(parser.common.at(app), words, *command.common); !status) {
      return fail(status.error());
    }
  }
  for (const OptionSpec& option : common) {
    if (!option.flag() && command.common->list(option.name).size() > 1) {
      return usage(words, std::string(option.name) + " is given twice");
    }
  }
  return command;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({changed, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string nearest_name(std::string_view mistyped, std::span<const std::string> names) {
  std::string nearest;
  std::size_t least = 3;  // two slips at most, and fewer than the letters that are right
  for (const std::string& name : names) {
    const std::size_t distance = edit_distance(mistyped, name);
    if (distance < least && distance * 2 <= name.size()) {
      least = distance;
      nearest = name;
    }
  }
  return nearest;
}

Result<Command> parse_command_line(std::span<const std::string> words,
                                   std::span<const Verb* const> verbs) {
  std::vector<std::string> reversed(words.rbegin(), words.rend());
  if (!words.empty() && words.front() == "help") {  // `help VERB` is `VERB --help`
    reversed.pop_back();
    reversed.insert(reversed.begin(), "--help");
  }
  Parser parser(verbs);
  try {
    parser.app.parse(reversed);  // CLI11 takes them last word first
  } catch (const CLI::CallForHelp&) {
    const CLI::App* at = parser.reached();
    Command command{.what = Command::What::help};
    if (const auto verb = parser.verbs.find(at); verb != parser.verbs.end()) {
      command.verb = verb->second;
    } else if (const auto group = parser.groups.find(at); group != parser.groups.end()) {
      command.group = group->second;
    }
    return command;
  } catch (const CLI::ParseError& error) {
    if (parser.app.count("--version") > 0) return Command{.what = Command::What::version};
    return explain(parser, error);
  }
  if (parser.app.count("--version") > 0) return Command{.what = Command::What::version};
  return interpret(parser, common_options());
}

}  // namespace kernelindex::tools
