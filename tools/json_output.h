// SPDX-License-Identifier: Apache-2.0
// Small pieces of machine output.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/merkle.h"
#include "schema/digest.h"
#include "schema/json_value.h"

namespace kernelindex::tools {

// Builds values in one arena; what it gives lives as long as the arena.
class JsonOutput {
 public:
  explicit JsonOutput(json::Arena& arena) : arena_(arena) {}

  json::ObjectBuilder object() const { return json::ObjectBuilder(arena_); }
  json::Value text(std::string_view value) const { return arena_.string(value); }
  json::Value digest(const Digest& value) const { return arena_.string(value.text()); }
  json::Value digest(const std::optional<Digest>& value) const {
    return value ? digest(*value) : json::Value();
  }
  // Requires: at most 2^53 - 1, which sizes, indexes and counts here never reach.
  json::Value count(std::uint64_t value) const { return json::Value(static_cast<double>(value)); }
  json::Value count(const std::optional<std::uint64_t>& value) const {
    return value ? count(*value) : json::Value();
  }
  json::Value array(std::span<const json::Value> items) const { return arena_.array(items); }
  template <typename Texts>
  json::Value texts(const Texts& values) const {
    std::vector<json::Value> items;
    for (const auto& value : values) items.push_back(text(value));
    return array(items);
  }
  json::Arena& arena() const { return arena_; }

 private:
  json::Arena& arena_;
};

}  // namespace kernelindex::tools
