// SPDX-License-Identifier: Apache-2.0
#include "tools/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

namespace kernelindex::tools {
namespace {

constexpr std::size_t kLeastColumns = 40;  // a narrower terminal wraps; tables stay readable

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

std::size_t columns_of(int descriptor) {
  winsize size{};
  std::size_t columns = 80;
  if (::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) columns = size.ws_col;
  return columns < kLeastColumns ? kLeastColumns : columns;
}

std::string_view escape_code(Tone tone) {
  switch (tone) {
    case Tone::plain:
      return "";
    case Tone::strong:
      return "\x1b[1m";
    case Tone::dim:
      return "\x1b[2m";
    case Tone::good:
      return "\x1b[32m";
    case Tone::warning:
      return "\x1b[33m";
    case Tone::bad:
      return "\x1b[31m";
  }
  return "";
}

}  // namespace

std::string Terminal::tinted(std::string_view text, Tone tone) const {
  if (!colour || tone == Tone::plain || text.empty()) return std::string(text);
  return std::string(escape_code(tone)).append(text).append("\x1b[0m");
}

Terminal inspect_terminal(int descriptor) {
  Terminal terminal;
  terminal.attached = ::isatty(descriptor) == 1;
  if (!terminal.attached) return terminal;
  terminal.columns = columns_of(descriptor);
  terminal.colour = environment("NO_COLOR").empty() && environment("TERM") != "dumb";
  return terminal;
}

}  // namespace kernelindex::tools
