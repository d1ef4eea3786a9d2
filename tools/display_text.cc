// SPDX-License-Identifier: Apache-2.0
#include "tools/display_text.h"

#include <fmt/format.h>

#include <cassert>
#include <cmath>
#include <cstdint>

#include "tools/character_width.h"

namespace kernelindex::tools {
namespace {

struct Decoded {
  char32_t character = 0;
  std::size_t size = 0;  // 0: the byte begins no character
};

// One character of UTF-8: shortest form, no surrogates, at most U+10FFFF.
Decoded decode(std::string_view text) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  std::size_t size = 0;
  char32_t character = 0;
  if (lead >= 0xc2 && lead <= 0xdf) {
    size = 2;
    character = lead & 0x1fu;
  } else if (lead >= 0xe0 && lead <= 0xef) {
    size = 3;
    character = lead & 0x0fu;
  } else if (lead >= 0xf0 && lead <= 0xf4) {
    size = 4;
    character = lead & 0x07u;
  }
  if (size == 0 || text.size() < size) return {};
  for (std::size_t at = 1; at < size; ++at) {
    if ((byte(at) & 0xc0u) != 0x80u) return {};
    character = (character << 6) | (byte(at) & 0x3fu);
  }
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = character >= 0xd800 && character <= 0xdfff;
  if (character < kLeast[size] || surrogate || character > 0x10ffff) return {};
  return {character, size};
}

// Characters that move the cursor, end the line, turn the direction of text or hide in it.
bool unsafe(char32_t character) {
  return character < 0x20 || (character >= 0x7f && character <= 0x9f) || character == 0x61c ||
         (character >= 0x200e && character <= 0x200f) ||
         (character >= 0x2028 && character <= 0x202e) ||
         (character >= 0x2066 && character <= 0x2069) || character == 0xfeff ||
         (character >= 0xe0000 && character <= 0xe007f);
}

}  // namespace

std::string escape_text(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Decoded next = decode(text);
    if (next.size == 0 || (unsafe(next.character) && next.character < 0x80)) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
      text.remove_prefix(1);
      continue;
    }
    if (unsafe(next.character)) {
      out += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(next.character));
    } else {
      out += text.substr(0, next.size);
    }
    text.remove_prefix(next.size);
  }
  return out;
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const Decoded next = decode(text);
    if (next.size == 0) {
      text.remove_prefix(1);
      ++width;
      continue;
    }
    width += character_width(next.character);
    text.remove_prefix(next.size);
  }
  return width;
}

std::string fit_width(std::string_view text, std::size_t width) {
  assert(width >= 1);
  if (display_width(text) <= width) return std::string(text);
  std::size_t used = 0;
  std::size_t kept = 0;
  while (kept < text.size()) {
    const Decoded next = decode(text.substr(kept));
    const std::size_t step = next.size == 0 ? 1 : next.size;
    const std::size_t columns = next.size == 0 ? 1 : character_width(next.character);
    if (used + columns > width - 1) break;
    used += columns;
    kept += step;
  }
  return std::string(text.substr(0, kept)) + "…";
}

std::string pad_right(std::string_view text, std::size_t width) {
  const std::size_t used = display_width(text);
  return std::string(text) + std::string(used < width ? width - used : 0, ' ');
}

std::string pad_left(std::string_view text, std::size_t width) {
  const std::size_t used = display_width(text);
  return std::string(used < width ? width - used : 0, ' ') + std::string(text);
}

std::string bar(double part, std::size_t columns) {
  assert(part >= 0 && part <= 1);
  static constexpr std::string_view kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto eighths =
      static_cast<std::size_t>(std::lround(part * static_cast<double>(columns) * 8));
  std::string out;
  for (std::size_t full = 0; full < eighths / 8; ++full) out += "█";
  out += kEighths[eighths % 8];
  return out.empty() ? std::string(kEighths[1]) : out;  // a value that is there shows
}

std::string grouped(std::uint64_t count) {
  std::string digits = std::to_string(count);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, 1, ',');
  return digits;
}

std::string counted(std::uint64_t count, std::string_view singular, std::string_view plural) {
  std::string out = grouped(count) + " ";
  if (count == 1) return out.append(singular);
  return plural.empty() ? out.append(singular).append("s") : out.append(plural);
}

}  // namespace kernelindex::tools
