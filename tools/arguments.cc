// SPDX-License-Identifier: Apache-2.0
#include <cassert>
#include <charconv>

#include "tools/verb.h"

namespace kernelindex::tools {

Arguments::Arguments(std::span<const OptionSpec> options) {
  for (const OptionSpec& option : options) values_.emplace(option.name, std::vector<std::string>());
}

std::string Arguments::text(std::string_view name) const {
  const std::vector<std::string>& found = values(name);
  return found.empty() ? std::string() : found.front();
}

std::optional<std::uint64_t> Arguments::count(std::string_view name) const {
  const std::vector<std::string>& found = values(name);
  if (found.empty()) return std::nullopt;
  const std::string& digits = found.front();
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  assert(error == std::errc() &&
         end == digits.data() + digits.size());  // checked when it was parsed
  return number;
}

std::vector<std::string>& Arguments::values(std::string_view name) {
  const auto found = values_.find(name);
  assert(found != values_.end());
  return found->second;
}

const std::vector<std::string>& Arguments::values(std::string_view name) const {
  const auto found = values_.find(name);
  assert(found != values_.end());
  return found->second;
}

}  // namespace kernelindex::tools
