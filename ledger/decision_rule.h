// SPDX-License-Identifier: Apache-2.0
// How a controlled number relates to a reported one. PROTOCOL section 16 C, decisions (h), (k),
// (m).
//
// Exact: integers and ratios of integers, no floating point anywhere. With the reported value R, a
// relative margin d and an absolute one t, the band is [R(1-d)-t, R(1+d)+t]; what confirms lies in
// it and within 15 % of R as well:
//
//   [low, high] in the band and within 15 % of R     confirms
//   in the band alone                                inconclusive, BELOW_RESOLUTION
//   m > 2R(1+d)+t                                    not_reproduced
//   disjoint from the band                           differs_slower, differs_faster
//   else                                             inconclusive, INTERVAL_OVERLAPS
//
// It looks at one result and never at others, so that attempts in any order come to the same: how
// many are needed is the evidence policy's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/measurement_predicates.h"

namespace kernelindex {

// How the two were timed.
enum class TimerRelation : std::uint8_t {
  same_protocol,  // one protocol digest:      d = max(3 %, 2 noise), t = 0.5 us
  same_family,    // timer kind, cold caches:  d = max(5 %, 3 noise), t = 1 us
  cross_family,   //                           d = max(10 %, 3 noise), t = 3 us a kernel launch
  unknown         // not_comparable
};
// What they were measured on.
enum class EnvironmentRelation : std::uint8_t {
  equal,
  equivalent,  // clocks, power or driver differ: 5 % more
  different    // not_comparable
};

struct DecisionInput {
  std::int64_t reported_ns = 0;  // R, at least 1
  // The controlled statistic of the same kind, and its interval: low <= median <= high.
  std::int64_t median_ns = 0;
  std::int64_t low_ns = 0;
  std::int64_t high_ns = 0;
  std::uint64_t noise_ppm = 0;
  std::int64_t launches = 1;  // kernels of a call, at least 1
  TimerRelation timer{};
  EnvironmentRelation environment{};
};

// The integers that lie in a band; none when low > high.
struct Band {
  std::int64_t low_ns = 0;
  std::int64_t high_ns = 0;

  bool operator==(const Band&) const = default;
};

struct Decision {
  Acceptance::Verdict verdict{};
  std::vector<std::string> codes;  // sorted
  std::uint64_t margin_ppm = 0;    // d
  std::int64_t absolute_ns = 0;    // t
  Band band;                       // by d and t
  Band confirming;                 // what of it lies within 15 % of R
};

// Requires: values within 2^53 and the bounds above.
Decision decide(const DecisionInput& input);

// "confirming band [95000, 105000] ns": printed with every verdict.
std::string band_text(const Band& band);

}  // namespace kernelindex
