// SPDX-License-Identifier: Apache-2.0
#include "schema/yaml_scalar.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>

#include "schema/limits.h"

namespace kernelindex {
namespace {

using Kind = PlainScalar::Kind;

constexpr std::array<std::string_view, 5> kNull = {"", "~", "null", "Null", "NULL"};
constexpr std::array<std::string_view, 3> kTrue = {"true", "True", "TRUE"};
constexpr std::array<std::string_view, 3> kFalse = {"false", "False", "FALSE"};
constexpr std::array<std::string_view, 3> kInfinity = {".inf", ".Inf", ".INF"};
constexpr std::array<std::string_view, 3> kNotANumber = {".nan", ".NaN", ".NAN"};

template <std::size_t Count>
bool is_one_of(std::string_view text, const std::array<std::string_view, Count>& words) {
  return std::ranges::find(words, text) != words.end();
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view without_sign(std::string_view text) {
  return text.starts_with('-') || text.starts_with('+') ? text.substr(1) : text;
}

std::size_t leading_digits(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::find_if_not(text, is_digit) - text.begin());
}

// [0-9]+ or ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?
bool is_decimal(std::string_view text) {
  const std::size_t whole = leading_digits(text);
  text.remove_prefix(whole);
  std::size_t fraction = 0;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    fraction = leading_digits(text);
    text.remove_prefix(fraction);
  }
  if (whole + fraction == 0) return false;
  if (!text.starts_with('e') && !text.starts_with('E')) return text.empty();
  text = without_sign(text.substr(1));
  return !text.empty() && leading_digits(text) == text.size();
}

PlainScalar number_or_out_of_range(double number) {
  return std::isfinite(number) ? PlainScalar{.kind = Kind::number, .number = number}
                               : PlainScalar{.kind = Kind::out_of_range};
}

// 0o17, 0xff; no sign. Absent when the text is neither.
std::optional<PlainScalar> based_integer(std::string_view text) {
  const bool hexadecimal = text.starts_with("0x");
  if (!hexadecimal && !text.starts_with("0o")) return std::nullopt;
  const std::string_view digits = text.substr(2);
  std::uint64_t value = 0;
  const auto end = digits.data() + digits.size();
  const auto scanned = std::from_chars(digits.data(), end, value, hexadecimal ? 16 : 8);
  if (digits.empty() || digits[0] == '-' || scanned.ptr != end) return std::nullopt;
  const bool fits =
      scanned.ec == std::errc() && value <= static_cast<std::uint64_t>(limits::kSafeInteger);
  return fits ? PlainScalar{.kind = Kind::number, .number = static_cast<double>(value)}
              : PlainScalar{.kind = Kind::out_of_range};
}

}  // namespace

PlainScalar resolve_plain_scalar(std::string_view text) {
  if (is_one_of(text, kNull)) return {.kind = Kind::null};
  if (is_one_of(text, kTrue)) return {.kind = Kind::boolean, .boolean = true};
  if (is_one_of(text, kFalse)) return {.kind = Kind::boolean, .boolean = false};
  if (is_one_of(without_sign(text), kInfinity) || is_one_of(text, kNotANumber)) {
    return {.kind = Kind::not_finite};
  }
  if (const std::optional<PlainScalar> integer = based_integer(text)) return *integer;
  if (!is_decimal(without_sign(text))) return {.kind = Kind::text};
  // strtod also takes "1." and ".5", rounds correctly at any length, and turns what overflows into
  // infinity; the program runs in the C locale.
  return number_or_out_of_range(std::strtod(std::string(text).c_str(), nullptr));
}

}  // namespace kernelindex
