// SPDX-License-Identifier: Apache-2.0
#include "verify/json_difference.h"

#include <algorithm>

#include "schema/canonical_json.h"

namespace kernelindex {
namespace {

class Walk {
 public:
  Walk(std::vector<JsonDifference>& out, std::size_t most) : out_(out), most_(most) {}

  // Either may be null: absent. Depth is bounded by the reader of JSON.
  void compare(const std::string& path, const json::Value* expected, const json::Value* found) {
    if (out_.size() >= most_) return;
    if (expected != nullptr && found != nullptr) {
      if (expected->is_object() && found->is_object())
        return compare_objects(path, *expected, *found);
      if (expected->is_array() && found->is_array() &&
          expected->array().size() == found->array().size()) {
        return compare_arrays(path, *expected, *found);
      }
    }
    std::string expected_text = expected != nullptr ? json::canonical(*expected) : std::string();
    std::string found_text = found != nullptr ? json::canonical(*found) : std::string();
    if (expected_text == found_text) return;
    out_.push_back({path, std::move(expected_text), std::move(found_text)});
  }

 private:
  void compare_objects(const std::string& path, const json::Value& expected,
                       const json::Value& found) {
    const auto place = [&](std::string_view name) {
      return path.empty() ? std::string(name) : path + "." + std::string(name);
    };
    for (const json::Member& member : expected.object()) {
      compare(place(member.name), &member.value, found.find(member.name));
    }
    for (const json::Member& member : found.object()) {
      if (expected.find(member.name) == nullptr)
        compare(place(member.name), nullptr, &member.value);
    }
  }

  void compare_arrays(const std::string& path, const json::Value& expected,
                      const json::Value& found) {
    for (std::size_t i = 0; i < expected.array().size(); ++i) {
      compare(path + "[" + std::to_string(i) + "]", &expected.array()[i], &found.array()[i]);
    }
  }

  std::vector<JsonDifference>& out_;
  const std::size_t most_;
};

}  // namespace

std::vector<JsonDifference> json_differences(const json::Value& expected, const json::Value& found,
                                             std::size_t most) {
  std::vector<JsonDifference> out;
  Walk(out, most).compare({}, &expected, &found);
  return out;
}

}  // namespace kernelindex
