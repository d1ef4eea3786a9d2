// SPDX-License-Identifier: Apache-2.0
#include "schema/random_json.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <set>
#include <string>
#include <vector>

namespace kernelindex::test {
namespace {

constexpr std::array<std::string_view, 18> kPieces = {"a",
                                                      "b",
                                                      "Z",
                                                      "0",
                                                      "_",
                                                      " ",
                                                      "\"",
                                                      "\\",
                                                      "/",
                                                      "\n",
                                                      "\x01",
                                                      "\x1f",
                                                      "\x7f",
                                                      "\xC3\xA9",
                                                      "\xE2\x80\xA8",
                                                      "\xEF\xAC\xB3",
                                                      "\xEE\x80\x80",
                                                      "\xF0\x9F\x98\x82"};

std::string random_text(std::mt19937_64& random) {
  std::string out;
  for (std::uint64_t i = random() % 6; i > 0; --i) out += kPieces[random() % kPieces.size()];
  return out;
}

double random_number(std::mt19937_64& random) {
  switch (random() % 3) {
    case 0:
      return static_cast<double>(static_cast<std::int64_t>(random() % 2001) - 1000);
    case 1:
      return static_cast<double>(random() >> 11);
    default:
      return random_double(random);
  }
}

}  // namespace

double random_double(std::mt19937_64& random) {
  while (true) {
    const double number = std::bit_cast<double>(static_cast<std::uint64_t>(random()));
    if (std::isfinite(number)) return number;
  }
}

json::Value random_json(std::mt19937_64& random, json::Arena& arena, unsigned depth) {
  switch (random() % (depth == 0 ? 4 : 6)) {
    case 0:
      return json::Value();
    case 1:
      return json::Value(random() % 2 == 0);
    case 2:
      return json::Value(random_number(random));
    case 3:
      return arena.string(random_text(random));
    case 4: {
      std::vector<json::Value> items(random() % 5);
      for (json::Value& item : items) item = random_json(random, arena, depth - 1);
      return arena.array(items);
    }
    default: {
      std::set<std::string> names;
      for (std::uint64_t i = random() % 20; i > 0; --i) names.insert(random_text(random));
      std::vector<json::Member> members;
      for (const std::string& name : names) {
        members.push_back({arena.copy(name), random_json(random, arena, depth - 1)});
      }
      std::shuffle(members.begin(), members.end(), random);
      return arena.object(members);
    }
  }
}

}  // namespace kernelindex::test
