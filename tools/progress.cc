// SPDX-License-Identifier: Apache-2.0
#include "tools/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include "tools/display_text.h"
#include "tools/terminal.h"

namespace kernelindex::tools {
namespace {

using std::chrono::steady_clock;
constexpr std::chrono::milliseconds kPatience{1000};
constexpr std::chrono::milliseconds kRedraw{100};

void draw(const std::string& line) {
  // A lost progress line is no loss.
  [[maybe_unused]] const ssize_t ignored = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace

Progress::Progress(std::string_view label, bool quiet)
    : label_(escape_text(label)),
      enabled_(!quiet && inspect_terminal(STDERR_FILENO).attached),
      next_(steady_clock::now() + kPatience) {}

Progress::~Progress() { clear(); }

void Progress::clear() {
  if (drawn_) draw("\r\x1b[K");
  drawn_ = false;
}

void Progress::update(std::uint64_t done, std::uint64_t total, std::string_view unit) {
  if (!enabled_) return;
  const auto now = steady_clock::now();
  if (now < next_) return;
  next_ = now + kRedraw;
  std::string line = label_ + "  " + grouped(done);
  if (total != 0) {
    const double part =
        done >= total ? 1.0 : static_cast<double>(done) / static_cast<double>(total);
    line += fmt::format(" of {} {}  {:.0f} %", grouped(total), unit, part * 100);
  } else {
    line += fmt::format(" {}", unit);
  }
  draw("\r\x1b[K" + fit_width(line, inspect_terminal(STDERR_FILENO).columns - 1));
  drawn_ = true;
}

}  // namespace kernelindex::tools
