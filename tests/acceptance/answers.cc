// SPDX-License-Identifier: Apache-2.0
#include "tests/acceptance/answers.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "schema/canonical_json.h"

namespace kernelindex::test {
namespace {

constexpr json::ReadLimits kBounds{256 * limits::kMiB, limits::kJsonDepth};

std::string words_text(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

json::Value stripped(json::Arena& arena, const json::Value& value,
                     const std::set<std::string_view>& names) {
  if (value.is_object()) {
    json::ObjectBuilder out(arena);
    for (const json::Member& member : value.object()) {
      if (names.contains(member.name)) continue;
      out.add(member.name, stripped(arena, member.value, names));
    }
    return out.finish();
  }
  if (!value.is_array()) return value;
  std::vector<std::pair<std::string, json::Value>> items;
  for (const json::Value& item : value.array()) {
    const json::Value kept = stripped(arena, item, names);
    items.emplace_back(json::canonical(kept), kept);
  }
  std::ranges::sort(items, {}, &std::pair<std::string, json::Value>::first);
  std::vector<json::Value> sorted;
  for (const auto& [text, item] : items) sorted.push_back(item);
  return arena.array(sorted);
}

}  // namespace

Answers ask(const Room& room, const std::vector<std::vector<std::string>>& commands) {
  Answers out;
  for (std::vector<std::string> words : commands) {
    const std::string name = words_text(words);
    words.emplace_back("--json");
    const Outcome outcome = room.run(words);
    EXPECT_EQ(outcome.exit_code, 0) << name << ": " << outcome.err;
    out[name] = outcome.out;
  }
  return out;
}

std::vector<std::vector<std::string>> all_questions(const std::vector<std::string>& ids) {
  std::vector<std::vector<std::string>> out = {
      {"status"},
      {"runs"},
      {"runs", "--ranking", "ranking-v0"},
      {"runs", "--serving"},
      {"runs", "--status", "passed", "--level", "reported"},
      {"records"},
      {"records", "--ranking", "ranking-v0"},
      {"search", "sol", "--limit", "1000"},
      {"search", "backward", "--limit", "1000"}};
  for (const std::string& id : ids) {
    out.push_back({"history", id});
    out.push_back({"history", id, "--ranking", "ranking-v0"});
    out.push_back({"show", id});
    out.push_back({"provenance", id});
  }
  return out;
}

std::string difference(const Answers& a, const Answers& b) {
  for (const auto& [name, text] : a) {
    const auto other = b.find(name);
    if (other == b.end()) return name + " was not asked";
    if (other->second == text) continue;
    const auto at = std::ranges::mismatch(text, other->second);
    const auto from =
        static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, (at.in1 - text.begin()) - 300));
    return name + "\n  " + text.substr(from, 600) + "\n  " + other->second.substr(from, 600);
  }
  return {};
}

std::string without(std::string_view document, const std::set<std::string_view>& names) {
  const Document read(document);
  json::Arena arena;
  return json::canonical(stripped(arena, *read, names));
}

Document::Document(std::string_view text) : value_(must(json::parse(text, arena_, kBounds))) {}

}  // namespace kernelindex::test
