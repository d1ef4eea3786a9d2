// SPDX-License-Identifier: Apache-2.0
#include "tools/units.h"

#include <fmt/format.h>

#include <cassert>
#include <cmath>

namespace kernelindex::tools {
namespace {

std::string three_digits(double value) {
  // 9.996 is "10.0", not "10.00": the decimals follow the rounded number.
  return std::abs(value) < 9.995 ? fmt::format("{:.2f}", value) : fmt::format("{:.1f}", value);
}

std::string format_nanoseconds(double ns) {
  struct Scale {
    double size;
    std::string_view unit;
  };
  static constexpr Scale kScales[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}};
  for (const Scale& scale : kScales) {
    // From half a last digit below on, so that 999,960 ns is 1.00 ms and never 1000.0 µs.
    if (std::abs(ns) >= scale.size * 0.99995) {
      return fmt::format("{} {}", three_digits(ns / scale.size), scale.unit);
    }
  }
  if (ns == std::floor(ns)) return fmt::format("{:.0f} ns", ns);
  return fmt::format("{} ns", three_digits(ns));
}

}  // namespace

std::string format_quantity(double value, std::string_view unit) {
  if (unit == "ns") return format_nanoseconds(value);
  if (unit == "s") return format_nanoseconds(value * 1e9);
  if (value != 0 && std::abs(value) < 0.001) return fmt::format("{:.4g} {}", value, unit);
  std::string number = fmt::format("{:.4f}", value);
  while (number.ends_with('0')) number.pop_back();
  if (number.ends_with('.')) number.pop_back();
  return unit.empty() ? number : number + " " + std::string(unit);
}

std::string format_ratio(double value, double leader) {
  assert(leader > 0);
  const double ratio = value / leader;
  if (ratio >= 999.95) return fmt::format("{:.0f}×", ratio);
  if (ratio >= 99.95) return fmt::format("{:.1f}×", ratio);
  return fmt::format("{:.2f}×", ratio);
}

std::string format_bytes(std::uint64_t bytes) {
  static constexpr std::string_view kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double size = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (size >= 1023.95 && unit + 1 < std::size(kUnits)) {
    size /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", size, kUnits[unit]);
}

}  // namespace kernelindex::tools
