// SPDX-License-Identifier: Apache-2.0
#include "schema/https_url.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kernelindex::schema {
namespace {

constexpr std::string_view kScheme = "https://";
// WHATWG URL, "forbidden domain code point", beyond the control characters and DEL.
constexpr std::string_view kForbiddenInDomain = " #%/:<>?@[\\]^|";
constexpr std::uint64_t kPortLimit = 65'535;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }
bool is_control(char c) { return static_cast<std::uint8_t>(c) < 0x20 || c == 0x7F; }

int hex_value(char c) {
  if (is_digit(c)) return c - '0';
  c = lower(c);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// Decodes %XX; a % without two hex digits stays, and is then forbidden in a domain.
std::string percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escape = text[i] == '%' && i + 2 < text.size() && hex_value(text[i + 1]) >= 0 &&
                        hex_value(text[i + 2]) >= 0;
    out +=
        escape ? static_cast<char>(hex_value(text[i + 1]) * 16 + hex_value(text[i + 2])) : text[i];
    if (escape) i += 2;
  }
  return out;
}

// Decimal, 0octal or 0xhex, as in WHATWG "IPv4 number parser"; values beyond 2^32 stay beyond it.
std::optional<std::uint64_t> ipv4_number(std::string_view text) {
  if (text.empty()) return std::nullopt;
  int base = 10;
  if (text.size() >= 2 && text[0] == '0' && lower(text[1]) == 'x') {
    base = 16;
    text.remove_prefix(2);
  } else if (text.size() >= 2 && text[0] == '0') {
    base = 8;
    text.remove_prefix(1);
  }
  std::uint64_t value = 0;
  for (const char c : text) {
    const int digit = hex_value(c);
    if (digit < 0 || digit >= base) return std::nullopt;
    value = std::min<std::uint64_t>(
        value * static_cast<std::uint64_t>(base) + static_cast<std::uint64_t>(digit),
        std::uint64_t{1} << 40);
  }
  return value;
}

// WHATWG "ends in a number checker": such a host must be an IPv4 address.
bool ends_in_a_number(const std::vector<std::string_view>& labels) {
  const std::string_view last = labels.back();
  return !last.empty() && (std::ranges::all_of(last, is_digit) || ipv4_number(last).has_value());
}

bool is_ipv4(const std::vector<std::string_view>& parts) {
  if (parts.size() > 4) return false;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::optional<std::uint64_t> number = ipv4_number(parts[i]);
    const std::uint64_t limit =
        i + 1 < parts.size() ? 256 : std::uint64_t{1} << 8 * (5 - parts.size());
    if (!number || *number >= limit) return false;
  }
  return true;
}

// The dotted tail of an IPv6 address: four decimals without leading zeros.
bool is_dotted_quad(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, '.');
  return parts.size() == 4 && std::ranges::all_of(parts, [](std::string_view part) {
           if (part.empty() || part.size() > 3 || !std::ranges::all_of(part, is_digit))
             return false;
           if (part.size() > 1 && part[0] == '0') return false;
           return *ipv4_number(part) < 256;
         });
}

// Pieces of 1 to 4 hex digits; an IPv4 tail counts as two. -1 when malformed.
int ipv6_pieces(std::string_view text, bool tail_may_be_ipv4) {
  if (text.empty()) return 0;
  const std::vector<std::string_view> pieces = split(text, ':');
  int count = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const std::string_view piece = pieces[i];
    if (tail_may_be_ipv4 && i + 1 == pieces.size() && is_dotted_quad(piece)) {
      count += 2;
      continue;
    }
    if (piece.empty() || piece.size() > 4) return -1;
    if (std::ranges::any_of(piece, [](char c) { return hex_value(c) < 0; })) return -1;
    ++count;
  }
  return count;
}

bool is_ipv6(std::string_view text) {
  const std::size_t gap = text.find("::");
  if (gap == std::string_view::npos) return ipv6_pieces(text, true) == 8;
  const int before = ipv6_pieces(text.substr(0, gap), false);
  const int after = ipv6_pieces(text.substr(gap + 2), true);
  return before >= 0 && after >= 0 && before + after <= 7;
}

bool is_domain(std::string_view host) {
  const std::string domain = percent_decoded(host);
  if (domain.empty()) return false;
  const bool forbidden = std::ranges::any_of(domain, [](char c) {
    return is_control(c) || kForbiddenInDomain.find(c) != std::string_view::npos;
  });
  if (forbidden) return false;
  std::vector<std::string_view> labels = split(domain, '.');
  // One trailing dot names the root and is dropped before the address check.
  if (labels.size() > 1 && labels.back().empty()) labels.pop_back();
  return !ends_in_a_number(labels) || is_ipv4(labels);
}

bool is_port(std::string_view text) {
  std::uint64_t value = 0;
  for (const char c : text) {
    if (!is_digit(c)) return false;
    value = std::min(value * 10 + static_cast<std::uint64_t>(c - '0'), kPortLimit + 1);
  }
  return value <= kPortLimit;  // an empty port is the default one
}

bool is_host_and_port(std::string_view text) {
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos || !is_ipv6(text.substr(1, close - 1))) return false;
    const std::string_view rest = text.substr(close + 1);
    return rest.empty() || (rest.starts_with(':') && is_port(rest.substr(1)));
  }
  const std::size_t colon = text.find(':');
  if (colon != std::string_view::npos && !is_port(text.substr(colon + 1))) return false;
  return is_domain(text.substr(0, colon));
}

}  // namespace

bool is_https_url(std::string_view text) {
  if (text.size() < kScheme.size()) return false;
  for (std::size_t i = 0; i < kScheme.size(); ++i) {
    if (lower(text[i]) != kScheme[i]) return false;
  }
  if (text.ends_with(' ') ||
      std::ranges::any_of(text, [](char c) { return static_cast<std::uint8_t>(c) < 0x20; })) {
    return false;
  }
  const std::string_view rest = text.substr(kScheme.size());
  const std::string_view authority = rest.substr(0, rest.find_first_of("/?#"));
  if (authority.find('\\') != std::string_view::npos) return false;
  // The last @ ends the user part; everything before it may hold any character.
  const std::size_t at = authority.rfind('@');
  return is_host_and_port(at == std::string_view::npos ? authority : authority.substr(at + 1));
}

}  // namespace kernelindex::schema
