// SPDX-License-Identifier: Apache-2.0
#include "tools/pretty_json.h"

#include "schema/canonical_json.h"
#include "tools/display_text.h"

namespace kernelindex::tools {
namespace {

constexpr std::size_t kLineColumns = 80;

std::string plain(const json::Value& value) { return escape_text(json::canonical(value)); }

void append(const json::Value& value, std::size_t indent, std::string& out) {
  const std::string compact = plain(value);
  const bool container = value.is_array() || value.is_object();
  if (!container || indent + compact.size() <= kLineColumns / 2) {
    out += compact;
    return;
  }
  const std::string fill(indent + 2, ' ');
  std::string separator = "\n";
  out += value.is_array() ? "[" : "{";
  if (value.is_array()) {
    for (const json::Value& item : value.array()) {
      out += separator + fill;
      append(item, indent + 2, out);
      separator = ",\n";
    }
  } else {
    for (const json::Member& member : value.object()) {
      std::string name;
      json::append_string(member.name, name);
      out += separator + fill + escape_text(name) + ": ";
      append(member.value, indent + 2, out);
      separator = ",\n";
    }
  }
  out += "\n" + std::string(indent, ' ') + (value.is_array() ? "]" : "}");
}

}  // namespace

std::string pretty_json(const json::Value& value) {
  std::string out;
  append(value, 0, out);
  return out + "\n";
}

}  // namespace kernelindex::tools
