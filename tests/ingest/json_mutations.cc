// SPDX-License-Identifier: Apache-2.0
#include "tests/ingest/json_mutations.h"

#include <algorithm>
#include <array>
#include <random>
#include <utility>

#include "schema/canonical_json.h"
#include "schema/json_reader.h"

namespace kernelindex::test {
namespace {

using json::Member;
using json::Value;

constexpr std::array<std::string_view, 12> kReplacements = {
    "null", "true",  "-1", "0",  "1e308", "0.1", "9007199254740993",
    "\"\"", "\"x\"", "[]", "{}", "[[]]"};

struct Place {
  const Value* value = nullptr;
  std::string path;
  bool member = false;  // of an object: it can be removed or repeated
};

void collect(const Value& value, const std::string& path, bool member, std::vector<Place>& out) {
  if (!path.empty()) out.push_back({&value, path, member});
  if (value.is_object()) {
    for (const Member& child : value.object()) {
      collect(child.value, path + "/" + std::string(child.name), true, out);
    }
  } else if (value.is_array()) {
    for (std::size_t i = 0; i < value.array().size(); ++i) {
      collect(value.array()[i], path + "/" + std::to_string(i), false, out);
    }
  }
}

enum class Change { replace, remove, repeat, extend };

class Writer {
 public:
  Writer(const Value* target, Change change, std::string_view replacement)
      : target_(target), change_(change), replacement_(replacement) {}

  std::string text(const Value& value) {
    write(value);
    return std::move(out_);
  }

 private:
  void write(const Value& value) {
    if (&value == target_ && change_ == Change::replace) {
      out_ += replacement_;
    } else if (value.is_object()) {
      out_ += '{';
      bool first = true;
      for (const Member& member : value.object()) {
        if (&member.value == target_ && change_ == Change::remove) continue;
        write_member(member, first);
        if (&member.value == target_ && change_ == Change::repeat) write_member(member, first);
      }
      if (&value == target_ && change_ == Change::extend) {
        out_ += first ? "\"zz_unknown\":1" : ",\"zz_unknown\":1";
      }
      out_ += '}';
    } else if (value.is_array()) {
      out_ += '[';
      for (std::size_t i = 0; i < value.array().size(); ++i) {
        if (i > 0) out_ += ',';
        write(value.array()[i]);
      }
      out_ += ']';
    } else {
      json::append_canonical(value, out_);
    }
  }

  void write_member(const Member& member, bool& first) {
    if (!std::exchange(first, false)) out_ += ',';
    json::append_string(member.name, out_);
    out_ += ':';
    write(member.value);
  }

  const Value* target_;
  Change change_;
  std::string_view replacement_;
  std::string out_;
};

}  // namespace

std::vector<Mutation> mutations_of(std::string_view text, std::uint32_t seed, std::size_t count) {
  json::Arena arena;
  const Value value = json::parse(text, arena).value();
  std::vector<Place> places;
  collect(value, {}, false, places);
  std::vector<Mutation> all;
  for (const Place& place : places) {
    for (const std::string_view replacement : kReplacements) {
      all.push_back({place.path + " is " + std::string(replacement),
                     Writer(place.value, Change::replace, replacement).text(value)});
    }
    if (!place.member) continue;
    all.push_back({place.path + " removed", Writer(place.value, Change::remove, {}).text(value)});
    all.push_back({place.path + " repeated", Writer(place.value, Change::repeat, {}).text(value)});
  }
  std::mt19937 random(seed);
  std::ranges::shuffle(all, random);
  if (all.size() > count) all.resize(count);
  return all;
}

std::vector<Mutation> with_unknown_members(std::string_view text) {
  json::Arena arena;
  const Value value = json::parse(text, arena, {limits::kSourceJsonBytes}).value();
  std::vector<Place> places;
  collect(value, {}, false, places);
  places.insert(places.begin(), {&value, "", false});
  std::vector<Mutation> out;
  for (const Place& place : places) {
    if (!place.value->is_object()) continue;
    out.push_back({"an unknown member at \"" + place.path + "\"",
                   Writer(place.value, Change::extend, {}).text(value)});
  }
  return out;
}

}  // namespace kernelindex::test
