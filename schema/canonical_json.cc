// SPDX-License-Identifier: Apache-2.0
#include "schema/canonical_json.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace kernelindex::json {
namespace {

// True for the bytes that a string literal cannot hold as they are.
constexpr std::array<bool, 256> kEscaped = [] {
  std::array<bool, 256> table{};
  for (std::size_t i = 0; i < 0x20; ++i) table[i] = true;
  table['"'] = true;
  table['\\'] = true;
  return table;
}();

// Whether none of eight bytes needs an escape: no byte of the word is below 0x20, '"' or '\\'.
// (x - n) & ~x has the high bit of the lowest byte that is below n set, and of none when none is.
bool all_plain(const char* bytes) {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  const std::uint64_t quote = word ^ kOnes * '"';
  const std::uint64_t backslash = word ^ kOnes * '\\';
  const std::uint64_t found = ((word - kOnes * 0x20) & ~word) | ((quote - kOnes) & ~quote) |
                              ((backslash - kOnes) & ~backslash);
  return (found & kOnes * 0x80) == 0;
}

void append_escape(char c, std::string& out) {
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\b':
      out += "\\b";
      return;
    case '\t':
      out += "\\t";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\f':
      out += "\\f";
      return;
    case '\r':
      out += "\\r";
      return;
    default:
      constexpr char kHex[] = "0123456789abcdef";
      out += "\\u00";
      out += kHex[static_cast<std::uint8_t>(c) >> 4];
      out += kHex[static_cast<std::uint8_t>(c) & 15];
  }
}

// Lead bytes EE and EF (U+E000..U+FFFF) sort after F0..F4 (surrogate pairs D800..DFFF) in UTF-16.
int utf16_rank(char c) {
  const auto byte = static_cast<std::uint8_t>(c);
  return byte == 0xEE || byte == 0xEF ? byte + 0x10 : byte;
}

void append_object(std::span<const Member> members, std::string& out) {
  constexpr std::size_t kOnStack = 32;
  std::array<const Member*, kOnStack> few;
  std::vector<const Member*> many;
  std::span<const Member*> order(few.data(), std::min(members.size(), kOnStack));
  if (members.size() > kOnStack) {
    many.resize(members.size());
    order = many;
  }
  bool sorted = true;
  for (std::size_t i = 0; i < members.size(); ++i) {
    order[i] = &members[i];
    if (i > 0 && compare_utf16(members[i - 1].name, members[i].name) > 0) sorted = false;
  }
  if (!sorted) {
    std::sort(order.begin(), order.end(),
              [](const Member* a, const Member* b) { return compare_utf16(a->name, b->name) < 0; });
  }
  out += '{';
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i > 0) out += ',';
    append_string(order[i]->name, out);
    out += ':';
    append_canonical(order[i]->value, out);
  }
  out += '}';
}

}  // namespace

int compare_utf16(std::string_view a, std::string_view b) {
  const std::size_t common = std::min(a.size(), b.size());
  for (std::size_t i = 0; i < common; ++i) {
    if (a[i] != b[i]) return utf16_rank(a[i]) - utf16_rank(b[i]);
  }
  return a.size() == b.size() ? 0 : a.size() < b.size() ? -1 : 1;
}

std::size_t utf16_length(std::string_view text) {
  std::size_t units = 0;
  for (const char c : text) {
    const auto byte = static_cast<std::uint8_t>(c);
    units += (byte & 0xC0) != 0x80;  // each character once, at its lead byte
    units += byte >= 0xF0;           // and supplementary characters once more
  }
  return units;
}

void append_number(double number, std::string& out) {
  assert(std::isfinite(number));
  if (number == 0) {
    out += '0';
    return;
  }
  if (std::abs(number) <= 9007199254740991.0 && number == std::trunc(number)) {
    std::array<char, 24> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(),
                                   static_cast<std::int64_t>(number));
    out.append(digits.data(), end.ptr);
    return;
  }
  // The shortest digits that round-trip, laid out again: plain to_chars prints large integers in
  // full ("123456789012345683968"), where ECMAScript pads with zeros ("123456789012345680000").
  std::array<char, 40> buffer;
  const auto printed = std::to_chars(buffer.data(), buffer.data() + buffer.size(), std::abs(number),
                                     std::chars_format::scientific);
  const std::string_view text(buffer.data(), static_cast<std::size_t>(printed.ptr - buffer.data()));
  const std::size_t e = text.find('e');
  std::array<char, 24> digits;
  std::size_t count = 0;
  for (const char c : text.substr(0, e)) {
    if (c != '.') digits[count++] = c;
  }
  int exponent = 0;
  const std::size_t sign = text[e + 1] == '+' ? 2 : 1;
  std::from_chars(text.data() + e + sign, text.data() + text.size(), exponent);
  const int k = static_cast<int>(count);
  const int n = exponent + 1;  // value = 0.d1..dk * 10^n
  const std::string_view d(digits.data(), count);
  if (number < 0) out += '-';
  if (k <= n && n <= 21) {
    out.append(d).append(static_cast<std::size_t>(n - k), '0');
  } else if (0 < n && n <= 21) {
    out.append(d.substr(0, static_cast<std::size_t>(n))).append(1, '.');
    out.append(d.substr(static_cast<std::size_t>(n)));
  } else if (-6 < n && n <= 0) {
    out.append("0.").append(static_cast<std::size_t>(-n), '0').append(d);
  } else {
    out += d[0];
    if (k > 1) out.append(1, '.').append(d.substr(1));
    out += n > 0 ? "e+" : "e-";
    out += std::to_string(std::abs(n - 1));
  }
}

void append_string(std::string_view text, std::string& out) {
  out += '"';
  std::size_t start = 0;
  std::size_t i = 0;
  while (i < text.size()) {
    if (text.size() - i >= 8 && all_plain(text.data() + i)) {
      i += 8;
      continue;
    }
    // The byte that needs an escape is one of the next eight, or these are the last few.
    for (const std::size_t end = std::min(i + 8, text.size()); i < end; ++i) {
      if (!kEscaped[static_cast<std::uint8_t>(text[i])]) continue;
      out.append(text, start, i - start);
      append_escape(text[i], out);
      start = i + 1;
    }
  }
  out.append(text, start);
  out += '"';
}

void append_canonical(const Value& value, std::string& out) {
  switch (value.kind()) {
    case Kind::null:
      out += "null";
      return;
    case Kind::boolean:
      out += value.boolean() ? "true" : "false";
      return;
    case Kind::number:
      append_number(value.number(), out);
      return;
    case Kind::string:
      append_string(value.string(), out);
      return;
    case Kind::array: {
      out += '[';
      bool first = true;
      for (const Value& item : value.array()) {
        if (!first) out += ',';
        first = false;
        append_canonical(item, out);
      }
      out += ']';
      return;
    }
    case Kind::object:
      append_object(value.object(), out);
  }
}

std::string canonical(const Value& value) {
  std::string out;
  append_canonical(value, out);
  return out;
}

}  // namespace kernelindex::json
