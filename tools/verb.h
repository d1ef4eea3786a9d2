// SPDX-License-Identifier: Apache-2.0
// A verb of the command line as data: its words, its options, and the function that does it.
// Parsing, help, shell completion and the manual page are all made from this one description.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "schema/result.h"
#include "tools/exit_code.h"

namespace kernelindex::tools {

class Session;

enum class ValueKind {
  text,
  count,   // a whole number from 0
  choice,  // one of `choices`
  file,    // a path that exists, to be read
  folder,
  output,  // a path to be written
};

// An option ("--as-of") or, without dashes, a positional argument ("ID").
struct OptionSpec {
  std::string_view name = {};
  std::string_view value = {};  // what the help calls the value: "SIZE"; empty: a flag
  std::string_view help = {};
  ValueKind kind = ValueKind::text;
  std::string_view choices = {};  // "json|text"
  bool required = false;          // positional arguments only
  bool repeated = false;

  bool positional() const { return !name.starts_with('-'); }
  bool flag() const { return !positional() && value.empty(); }
};

// What was given for one verb. Asking for a name that the verb does not declare is a bug.
class Arguments {
 public:
  explicit Arguments(std::span<const OptionSpec> options);

  bool given(std::string_view name) const { return !values(name).empty(); }
  // The value, or empty when it was not given.
  std::string text(std::string_view name) const;
  const std::vector<std::string>& list(std::string_view name) const { return values(name); }
  // Requires: an option of kind count.
  std::optional<std::uint64_t> count(std::string_view name) const;

  std::vector<std::string>& values(std::string_view name);
  const std::vector<std::string>& values(std::string_view name) const;

 private:
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
};

struct Verb {
  std::string_view name = {};     // "history", "manifest digest"
  std::string_view summary = {};  // one line, no period
  std::string_view details = {};  // paragraphs for --help and the manual
  std::span<const OptionSpec> options = {};
  std::span<const std::string_view> examples = {};  // without the program's name
  Result<ExitCode> (*run)(Session& session, const Arguments& arguments) = nullptr;
};

// Options that every verb takes.
std::span<const OptionSpec> common_options();

// Every verb, in the order of the help.
std::span<const Verb* const> all_verbs();

}  // namespace kernelindex::tools
