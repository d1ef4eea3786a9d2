// SPDX-License-Identifier: Apache-2.0
// One JSON value spoilt in one place at a time: members removed, nulled, retyped, repeated or given
// extremes, by a seeded choice.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kernelindex::test {

struct Mutation {
  std::string what;  // "/evaluation/status removed"
  std::string text;  // the whole value, spoilt, on one line
};

// `count` of all mutations of `json`, chosen by `seed`; all when there are no more.
std::vector<Mutation> mutations_of(std::string_view json, std::uint32_t seed, std::size_t count);

// `json` once for each object in it, with a member "zz_unknown" put into that object.
std::vector<Mutation> with_unknown_members(std::string_view json);

}  // namespace kernelindex::test
