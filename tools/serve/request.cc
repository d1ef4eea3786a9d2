// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/request.h"

#include <algorithm>
#include <charconv>

#include "schema/utf8.h"

namespace kernelindex::serve {
namespace {

std::unexpected<Error> bad(std::string code, std::string message) {
  return fail(ErrorKind::invalid, std::move(code), "", std::move(message));
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

bool is_unreserved(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

Result<std::string> decode(std::string_view text, bool plus_is_space) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_space) {
      out += ' ';
    } else if (text[i] != '%') {
      out += text[i];
    } else {
      const int high = i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
      if (high < 0 || low < 0) return bad("BAD_ESCAPE", "a percent sign without two hex digits");
      out += static_cast<char>(high * 16 + low);
      i += 2;
    }
  }
  if (utf8_prefix(out) != out.size()) return bad("NOT_UTF8", "the address is not UTF-8");
  return out;
}

Status read_path(std::string_view path, Target& target) {
  if (!path.starts_with('/')) return bad("BAD_TARGET", "the target is not a path");
  path.remove_prefix(1);
  while (!path.empty()) {
    if (target.segments.size() == kPathSegments) {
      return bad("TOO_MANY_SEGMENTS", "the path has more than 16 segments");
    }
    const std::size_t slash = path.find('/');
    Result<std::string> segment = decode(path.substr(0, slash), false);
    if (!segment) return fail(segment.error());
    if (segment->empty() || *segment == "." || *segment == ".." ||
        segment->find_first_of("/\\") != std::string::npos ||
        std::ranges::any_of(*segment, is_control)) {
      return bad("BAD_PATH", "the path has an empty, relative or doubtful segment");
    }
    target.segments.push_back(std::move(*segment));
    target.trailing_slash = slash != std::string_view::npos && slash + 1 == path.size();
    path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
  }
  return {};
}

Status read_query(std::string_view query, Target& target) {
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view pair = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    if (pair.empty()) continue;
    if (target.query.size() == kQueryParameters) {
      return bad("TOO_MANY_PARAMETERS", "the query has more than 32 parameters");
    }
    const std::size_t equals = std::min(pair.find('='), pair.size());
    Result<std::string> name = decode(pair.substr(0, equals), true);
    if (!name) return fail(name.error());
    Result<std::string> value = decode(pair.substr(std::min(equals + 1, pair.size())), true);
    if (!value) return fail(value.error());
    target.query.push_back({std::move(*name), std::move(*value)});
  }
  return {};
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// The piece before the next `separator`, trimmed; takes both away.
std::string_view next_piece(std::string_view& list, char separator) {
  const std::size_t end = std::min(list.find(separator), list.size());
  const std::string_view piece = trimmed(list.substr(0, end));
  list.remove_prefix(std::min(end + 1, list.size()));
  return piece;
}

bool same_word(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

// "0", "0.", "0.000"
bool is_zero(std::string_view quality) {
  return quality.starts_with('0') && quality.find_first_not_of("0.") == std::string_view::npos;
}

}  // namespace

std::string Target::path() const {
  if (segments.empty()) return "/";
  std::string out;
  for (const std::string& segment : segments) out += "/" + percent_encode(segment);
  return out;
}

std::string_view origin_form(std::string_view target) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!target.starts_with(scheme)) continue;
    const std::size_t slash = target.find('/', scheme.size());
    return slash == std::string_view::npos ? std::string_view("/") : target.substr(slash);
  }
  return target;
}

Result<Target> parse_target(std::string_view text) {
  if (text.size() > kTargetBytes) {
    return bad("TARGET_TOO_LONG", "the address has more than 8 KiB");
  }
  // What must be escaped in a target, and a fragment, which is never sent (RFC 9112 section 3.2).
  if (std::ranges::any_of(text, [](char c) { return is_control(c) || c == ' ' || c == '#'; })) {
    return bad("BAD_TARGET", "the target has a character that must be escaped");
  }
  Target target;
  const std::size_t question = text.find('?');
  if (Status status = read_path(text.substr(0, question), target); !status) {
    return fail(status.error());
  }
  if (question != std::string_view::npos) {
    if (Status status = read_query(text.substr(question + 1), target); !status) {
      return fail(status.error());
    }
  }
  return target;
}

std::string percent_encode(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    if (is_unreserved(c)) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += '%';
      out += kDigits[byte >> 4u];
      out += kDigits[byte & 15u];
    }
  }
  return out;
}

const std::string* Request::parameter(std::string_view name) const {
  for (const Parameter& parameter : target.query) {
    if (parameter.name == name) return &parameter.value;
  }
  return nullptr;
}

std::string_view Request::text(std::string_view name) const {
  const std::string* value = parameter(name);
  return value == nullptr ? std::string_view() : std::string_view(*value);
}

std::vector<std::string_view> Request::all(std::string_view name) const {
  std::vector<std::string_view> values;
  for (const Parameter& parameter : target.query) {
    if (parameter.name == name) values.push_back(parameter.value);
  }
  return values;
}

Result<std::uint64_t> Request::count(std::string_view name, std::uint64_t absent,
                                     std::uint64_t max) const {
  const std::string* text = parameter(name);
  if (text == nullptr) return absent;
  std::uint64_t value = 0;
  const char* end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, value);
  if (error != std::errc() || stop != end || value > max) {
    return bad("BAD_PARAMETER", "the parameter '" + std::string(name) +
                                    "' is a whole number from 0 to " + std::to_string(max));
  }
  return value;
}

bool accepts(std::string_view accept, std::string_view media_type) {
  while (!accept.empty()) {
    std::string_view range = next_piece(accept, ',');
    if (!same_word(next_piece(range, ';'), media_type)) continue;
    bool wanted = true;
    while (!range.empty()) {
      const std::string_view parameter = next_piece(range, ';');
      if (parameter.starts_with("q=") || parameter.starts_with("Q=")) {
        wanted = !is_zero(parameter.substr(2));
      }
    }
    if (wanted) return true;
  }
  return false;
}

bool matches_tag(std::string_view if_none_match, std::string_view tag) {
  if (tag.empty()) return false;
  while (!if_none_match.empty()) {
    std::string_view candidate = next_piece(if_none_match, ',');
    if (candidate == "*") return true;
    if (candidate.starts_with("W/")) candidate.remove_prefix(2);
    if (candidate == tag) return true;
  }
  return false;
}

}  // namespace kernelindex::serve
