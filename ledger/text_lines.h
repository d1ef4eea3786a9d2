// SPDX-License-Identifier: Apache-2.0
// Texts of lines that each end with a newline, read line by line.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace kernelindex {

// Takes the next line off the front of `text`, without its newline; nothing when no newline is
// left.
inline std::optional<std::string_view> take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end + 1);
  return line;
}

}  // namespace kernelindex
