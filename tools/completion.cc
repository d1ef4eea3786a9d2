// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <vector>

#include "tools/help.h"

namespace kernelindex::tools {
namespace {

// First words, each with the second words that may follow ("manifest": digest, validate).
std::map<std::string, std::vector<const Verb*>> by_first_word(std::span<const Verb* const> verbs) {
  std::map<std::string, std::vector<const Verb*>> words;
  for (const Verb* verb : verbs) {
    words[std::string(verb->name.substr(0, verb->name.find(' ')))].push_back(verb);
  }
  return words;
}

std::string second_word(const Verb& verb) {
  const auto space = verb.name.find(' ');
  return space == std::string_view::npos ? std::string() : std::string(verb.name.substr(space + 1));
}

// The verbs of two words in a group; a verb of the first word alone may be there beside them.
std::vector<const Verb*> longer_verbs(const std::vector<const Verb*>& group) {
  std::vector<const Verb*> longer;
  for (const Verb* verb : group) {
    if (!second_word(*verb).empty()) longer.push_back(verb);
  }
  return longer;
}

std::string option_names(std::span<const OptionSpec> options) {
  std::string out;
  for (const OptionSpec& option : options) {
    if (!option.positional()) out += std::string(option.name) + " ";
  }
  return out;
}

std::string spaced(std::string_view choices) {
  std::string out(choices);
  for (char& c : out) {
    if (c == '|') c = ' ';
  }
  return out;
}

// What completes the value of an option or an argument, in bash.
std::string bash_action(const OptionSpec& option) {
  switch (option.kind) {
    case ValueKind::choice:
      return "COMPREPLY=($(compgen -W '" + spaced(option.choices) + "' -- \"$word\"))";
    case ValueKind::file:
    case ValueKind::output:
      return "compopt -o filenames; COMPREPLY=($(compgen -f -- \"$word\"))";
    case ValueKind::folder:
      return "compopt -o filenames; COMPREPLY=($(compgen -d -- \"$word\"))";
    case ValueKind::text:
    case ValueKind::count:
      return ":";
  }
  return ":";
}

void append_bash_verb(const Verb& verb, std::string& out) {
  out += "    '" + std::string(verb.name) + "')\n      case $previous in\n";
  for (const OptionSpec& option : verb.options) {
    if (option.positional() || option.flag()) continue;
    out += "        " + std::string(option.name) + ") " + bash_action(option) + "; return ;;\n";
  }
  out += "      esac\n      options='" + option_names(verb.options) + "'\n";
  for (const OptionSpec& option : verb.options) {
    if (!option.positional() || bash_action(option) == ":") continue;
    out += "      [[ $word == -* ]] || { " + bash_action(option) + "; return; }\n";
    break;  // the first argument with something to offer; shells cannot count ours
  }
  out += "      ;;\n";
}

std::string zsh_quoted(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else if (c == '[' || c == ']' || c == ':' || c == '\\') {
      out += std::string("\\") + c;
    } else {
      out += c;
    }
  }
  return out;
}

std::string zsh_action(const OptionSpec& option) {
  switch (option.kind) {
    case ValueKind::choice:
      return "(" + spaced(option.choices) + ")";
    case ValueKind::file:
    case ValueKind::output:
      return "_files";
    case ValueKind::folder:
      return "_files -/";
    case ValueKind::text:
    case ValueKind::count:
      return "";
  }
  return "";
}

void append_zsh_arguments(std::span<const OptionSpec> options, std::string& out) {
  for (const OptionSpec& option : options) {
    out += " \\\n      '";
    if (option.positional()) {
      out += option.repeated ? "*:" : option.required ? ":" : "::";
      out += zsh_quoted(option.name) + ":" + zsh_action(option);
    } else {
      if (option.repeated) out += "*";
      out += std::string(option.name) + "[" + zsh_quoted(option.help) + "]";
      if (!option.flag()) out += ":" + zsh_quoted(option.value) + ":" + zsh_action(option);
    }
    out += "'";
  }
}

void append_zsh_verb(const Verb& verb, std::string& out) {
  out += "    '" + std::string(verb.name) + "') _arguments";
  append_zsh_arguments(verb.options, out);
  append_zsh_arguments(common_options(), out);
  out += " ;;\n";
}

}  // namespace

std::string bash_completion(std::span<const Verb* const> verbs) {
  std::string firsts;
  std::string seconds;
  for (const auto& [first, group] : by_first_word(verbs)) {
    firsts += first + " ";
    const std::vector<const Verb*> longer = longer_verbs(group);
    if (longer.empty()) continue;
    seconds += "    " + first + ") seconds='";
    for (const Verb* verb : longer) seconds += second_word(*verb) + " ";
    seconds += longer.size() < group.size() ? "'; own=yes ;;\n" : "' ;;\n";
  }
  std::string out =
      "# bash completion for kernelindex, written by `kernelindex completion bash`\n"
      "_kernelindex() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
      "  local common='" +
      option_names(common_options()) +
      "--help' options='' seconds='' own='' verb='' at\n"
      "  COMPREPLY=()\n"
      "  case $previous in\n";
  for (const OptionSpec& option : common_options()) {
    if (!option.flag()) {
      out += "    " + std::string(option.name) + ") " + bash_action(option) + "; return ;;\n";
    }
  }
  out +=
      "  esac\n"
      "  # The verb is the first word that is neither an option nor the value of one.\n"
      "  for ((at = 1; at < COMP_CWORD; at++)); do\n"
      "    case ${COMP_WORDS[at]} in\n";
  for (const OptionSpec& option : common_options()) {
    if (!option.flag()) out += "      " + std::string(option.name) + ") ((at++)) ;;\n";
  }
  out +=
      "      -*) ;;\n"
      "      *) verb=${COMP_WORDS[at]}; break ;;\n"
      "    esac\n"
      "  done\n"
      "  if [[ -z $verb ]]; then\n"
      "    COMPREPLY=($(compgen -W '" +
      firsts +
      "'\"$common --version\" -- \"$word\")); return\n"
      "  fi\n"
      "  case $verb in\n" +
      seconds +
      "  esac\n"
      "  if [[ -n $seconds ]]; then\n"
      "    if ((at + 1 == COMP_CWORD)); then\n"
      "      COMPREPLY=($(compgen -W \"$seconds\" -- \"$word\"))\n"
      "      [[ -n $own && -z ${COMPREPLY[0]} ]] || return\n"
      "    elif [[ \" $seconds\" == *\" ${COMP_WORDS[at+1]} \"* ]]; then\n"
      "      verb+=\" ${COMP_WORDS[at+1]}\"\n"
      "    fi\n"
      "  fi\n"
      "  case $verb in\n";
  for (const Verb* verb : verbs) append_bash_verb(*verb, out);
  out +=
      "  esac\n"
      "  COMPREPLY=($(compgen -W \"$options $common\" -- \"$word\"))\n"
      "}\n"
      "complete -F _kernelindex kernelindex\n";
  return out;
}

std::string zsh_completion(std::span<const Verb* const> verbs) {
  std::string out =
      "#compdef kernelindex\n"
      "# zsh completion for kernelindex, written by `kernelindex completion zsh`\n"
      "_kernelindex() {\n"
      "  local verb=${words[2]}\n"
      "  if ((CURRENT == 2)); then\n"
      "    local -a verbs=(\n";
  for (const auto& [first, group] : by_first_word(verbs)) {
    const std::string summary = longer_verbs(group).empty()
                                    ? std::string(group.front()->summary)
                                    : std::to_string(group.size()) + " verbs";
    out += "      '" + first + ":" + zsh_quoted(summary) + "'\n";
  }
  out += "    )\n    _describe verb verbs\n    return\n  fi\n  case $verb in\n";
  for (const auto& [first, group] : by_first_word(verbs)) {
    const std::vector<const Verb*> longer = longer_verbs(group);
    if (longer.empty()) continue;
    std::string described;
    std::string seconds;
    for (const Verb* verb : longer) {
      described += "'" + second_word(*verb) + ":" + zsh_quoted(verb->summary) + "' ";
      seconds += (seconds.empty() ? "" : "|") + second_word(*verb);
    }
    out += "    " + first + ")\n      if ((CURRENT == 3)); then\n        local -a verbs=(" +
           described + ")\n        _describe verb verbs\n" +
           (longer.size() < group.size() ? "" : "        return\n") +
           "      elif [[ ${words[3]} == (" + seconds +
           ") ]]; then\n        verb+=\" ${words[3]}\"\n        shift words; ((CURRENT--))\n"
           "      fi ;;\n";
  }
  out += "  esac\n  shift words; ((CURRENT--))\n  case $verb in\n";
  for (const Verb* verb : verbs) append_zsh_verb(*verb, out);
  out += "  esac\n}\n_kernelindex \"$@\"\n";
  return out;
}

}  // namespace kernelindex::tools
