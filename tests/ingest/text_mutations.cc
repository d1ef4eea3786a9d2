// SPDX-License-Identifier: Apache-2.0
#include "tests/ingest/text_mutations.h"

#include <algorithm>
#include <array>
#include <random>
#include <vector>

namespace kernelindex::test {
namespace {

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1);
    lines.emplace_back(text.substr(0, end + 1));
    text.remove_prefix(end + 1);
  }
  return lines;
}

std::string join(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) out += line;
  return out;
}

std::string as_utf16(std::string_view text) {
  std::string out = "\xFF\xFE";
  for (const char c : text) (out += c) += '\0';
  return out;
}

std::string with_crlf(std::string_view text) {
  std::string out;
  for (const char c : text) (c == '\n' ? out += '\r' : out) += c;
  return out;
}

// What no text of a source holds.
constexpr std::array<std::string_view, 7> kForeignBytes = {
    "\xFF", "\xC3", "\xED\xA0\x80", "\\ud800", std::string_view("\0", 1), "\x1B[31m", "\""};

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

}  // namespace

Mutation text_mutation(std::string_view text, std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&](std::size_t bound) { return bound == 0 ? 0 : random() % bound; };
  std::vector<std::string> lines = split(text);
  const std::size_t at = below(lines.size());
  const std::string number = std::to_string(at + 1);
  switch (below(11)) {
    case 0: {
      std::string& line = lines[at];
      line = line.substr(0, below(line.size())) + "\n";
      return {"line " + number + " cut", join(lines)};
    }
    case 1:
      while (!lines[at].empty() && (lines[at].back() == '\n' || lines[at].back() == '\r')) {
        lines[at].pop_back();
      }
      return {"line " + number + " glued to the next", join(lines)};
    case 2:
      lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(at), lines[at]);
      return {"line " + number + " doubled", join(lines)};
    case 3:
      lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(at));
      return {"line " + number + " dropped", join(lines)};
    case 4: {
      const std::size_t other = below(lines.size());
      std::swap(lines[at], lines[other]);
      return {"lines " + number + " and " + std::to_string(other + 1) + " swapped", join(lines)};
    }
    case 5:
    case 6: {
      const std::string_view foreign = kForeignBytes[below(kForeignBytes.size())];
      std::string out(text);
      const std::size_t place = below(out.size());
      out.insert(place, foreign);
      return {"foreign bytes at " + std::to_string(place), out};
    }
    case 7: {
      const std::size_t end = below(text.size());
      return {"ends at byte " + std::to_string(end), std::string(text.substr(0, end))};
    }
    case 8:
      return {"in UTF-16", as_utf16(text)};
    case 9:
      return {"with CR LF", with_crlf(text)};
    default:
      return {"with a byte order mark", "\xEF\xBB\xBF" + std::string(text)};
  }
}

std::size_t count_lines(std::string_view text) {
  const std::vector<std::string> lines = split(text);
  return static_cast<std::size_t>(
      std::ranges::count_if(lines, [](const std::string& line) { return !is_blank(line); }));
}

std::size_t count_csv_records(std::string_view text) {
  std::size_t records = 0;
  bool quoted = false;
  bool any = false;
  for (const char c : text) {
    if (c == '"') quoted = !quoted;
    if ((c == '\n' || c == '\r') && !quoted) {
      records += any ? 1 : 0;
      any = false;
    } else {
      any = true;
    }
  }
  return records + (any ? 1 : 0);
}

}  // namespace kernelindex::test
