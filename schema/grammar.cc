// SPDX-License-Identifier: Apache-2.0
#include "schema/grammar.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>

#include "schema/https_url.h"
#include "schema/limits.h"
#include "schema/utc_time.h"

namespace kernelindex::schema {
namespace {

// A set of bytes as a table: one load a character.
using CharacterSet = std::array<bool, 256>;

constexpr CharacterSet characters(std::string_view singles, bool lower_case, bool digits) {
  CharacterSet set{};
  for (const char c : singles) set[static_cast<std::uint8_t>(c)] = true;
  for (char c = 'a'; lower_case && c <= 'z'; ++c) set[static_cast<std::uint8_t>(c)] = true;
  for (char c = '0'; digits && c <= '9'; ++c) set[static_cast<std::uint8_t>(c)] = true;
  return set;
}

constexpr CharacterSet kLetters = characters("", true, false);
constexpr CharacterSet kDigits = characters("", false, true);
constexpr CharacterSet kHexDigits = characters("abcdef", false, true);
constexpr CharacterSet kLettersAndDigits = characters("", true, true);
constexpr CharacterSet kTokenRest = characters("_", true, true);
constexpr CharacterSet kSlugRest = characters("-", true, true);
constexpr CharacterSet kNameRest = characters("._-", true, true);
constexpr CharacterSet kExpressionText = characters("_+-*%/() ", true, true);

bool has(const CharacterSet& set, char c) { return set[static_cast<std::uint8_t>(c)]; }

bool all_of(std::string_view text, const CharacterSet& set) {
  return std::ranges::all_of(text, [&](char c) { return has(set, c); });
}

bool starts_and_goes_on(std::string_view text, const CharacterSet& first,
                        const CharacterSet& rest) {
  return !text.empty() && has(first, text[0]) && all_of(text.substr(1), rest);
}

bool is_token(std::string_view text) { return starts_and_goes_on(text, kLetters, kTokenRest); }
bool is_slug(std::string_view text) {
  return starts_and_goes_on(text, kLettersAndDigits, kSlugRest);
}
bool is_manifest_name(std::string_view text) {
  return starts_and_goes_on(text, kLettersAndDigits, kNameRest);
}
bool is_hex64(std::string_view text) { return text.size() == 64 && all_of(text, kHexDigits); }
bool is_digest(std::string_view text) {
  return text.starts_with("sha256:") && is_hex64(text.substr(7));
}
bool is_git_commit(std::string_view text) { return text.size() == 40 && all_of(text, kHexDigits); }
bool is_expression(std::string_view text) { return !text.empty() && all_of(text, kExpressionText); }
bool is_utc_instant(std::string_view text) { return parse_utc_instant(text).has_value(); }

// What \s of ECMAScript matches, as UTF-8.
constexpr std::array<std::string_view, 25> kWhiteSpace = {" ",
                                                          "\t",
                                                          "\n",
                                                          "\v",
                                                          "\f",
                                                          "\r",
                                                          "\xC2\xA0",
                                                          "\xE1\x9A\x80",
                                                          "\xE2\x80\x80",
                                                          "\xE2\x80\x81",
                                                          "\xE2\x80\x82",
                                                          "\xE2\x80\x83",
                                                          "\xE2\x80\x84",
                                                          "\xE2\x80\x85",
                                                          "\xE2\x80\x86",
                                                          "\xE2\x80\x87",
                                                          "\xE2\x80\x88",
                                                          "\xE2\x80\x89",
                                                          "\xE2\x80\x8A",
                                                          "\xE2\x80\xA8",
                                                          "\xE2\x80\xA9",
                                                          "\xE2\x80\xAF",
                                                          "\xE2\x81\x9F",
                                                          "\xE3\x80\x80",
                                                          "\xEF\xBB\xBF"};

struct Unit {
  std::string_view name;
  double nanoseconds;
};
constexpr std::array<Unit, 5> kUnits = {
    {{"ns", 1}, {"us", 1e3}, {"\xC2\xB5s", 1e3}, {"ms", 1e6}, {"s", 1e9}}};

std::size_t digits_at(std::string_view text, std::size_t start) {
  std::size_t end = start;
  while (end < text.size() && has(kDigits, text[end])) ++end;
  return end - start;
}

}  // namespace

inline namespace grammars {
const Grammar kDigest = {"digest", "^sha256:[0-9a-f]{64}$",
                         "a digest, sha256: and 64 lower-case hex digits", is_digest};
const Grammar kHex64 = {"hex64", "^[0-9a-f]{64}$", "64 lower-case hex digits", is_hex64};
const Grammar kToken = {"token", "^[a-z][a-z0-9_]*$",
                        "a token, a lower-case letter and then letters, digits or _", is_token};
const Grammar kAxisName = {"axisName", "^[a-z][a-z0-9_]*$",
                           "the name of an axis, a lower-case letter and then letters, digits or _",
                           is_token};
const Grammar kSlug = {"slug", "^[a-z0-9][a-z0-9-]*$",
                       "a slug, lower-case letters, digits and inner -", is_slug};
const Grammar kManifestName = {"manifestName", "^[a-z0-9][a-z0-9._-]*$",
                               "a name of lower-case letters, digits and inner . _ -",
                               is_manifest_name};
const Grammar kGitCommit = {"gitCommit", "^[0-9a-f]{40}$", "a commit, 40 lower-case hex digits",
                            is_git_commit};
const Grammar kExpression = {"expression", "^[a-z0-9_+\\-*%/() ]+$",
                             "an axis expression of names, digits and + - * / % ( )",
                             is_expression};
const Grammar kUtcInstant = {
    "utcInstant",
    "^(?:(?:\\d\\d[2468][048]|\\d\\d[13579][26]|\\d\\d0[48]|[02468][048]00|[13579][26]00)-02-29|"
    "\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|"
    "(?:02)-(?:0[1-9]|1\\d|2[0-8])))T(?:(?:[01]\\d|2[0-3]):[0-5]\\d(?::[0-5]\\d(?:\\.\\d+)?)?"
    "(?:Z))$",
    "a UTC instant such as 2026-06-29T21:49:23.345Z", is_utc_instant};
const Grammar kHttpsUrl = {"https-url", "", "an https URL", is_https_url};
}  // namespace grammars

std::string_view trimmed(std::string_view text) {
  for (bool more = true; more;) {
    more = false;
    for (const std::string_view space : kWhiteSpace) {
      if (text.starts_with(space)) {
        text.remove_prefix(space.size());
        more = true;
      } else if (text.ends_with(space)) {
        text.remove_suffix(space.size());
        more = true;
      }
    }
  }
  return text;
}

DurationText parse_duration_text(std::string_view text) {
  std::size_t size = digits_at(text, 0);
  if (size == 0) return {};
  if (size < text.size() && text[size] == '.') {
    const std::size_t fraction = digits_at(text, size + 1);
    if (fraction == 0) return {};
    size += 1 + fraction;
  }
  const std::string_view number = text.substr(0, size);
  std::string_view rest = text.substr(size);
  for (const std::string_view space : kWhiteSpace) {
    if (!rest.starts_with(space)) continue;
    rest.remove_prefix(space.size());
    break;
  }
  const auto unit = std::ranges::find(kUnits, rest, &Unit::name);
  if (unit == kUnits.end()) return {};

  double value = 0;
  const auto scanned = std::from_chars(number.data(), number.data() + number.size(), value);
  // Out of range is a number beyond binary64 or one below its smallest: neither is a duration.
  if (scanned.ec != std::errc()) return {true, std::nullopt};
  const double nanoseconds = value * unit->nanoseconds;
  if (nanoseconds > limits::kSafeInteger || nanoseconds != std::trunc(nanoseconds)) {
    return {true, std::nullopt};
  }
  return {true, nanoseconds};
}

}  // namespace kernelindex::schema
