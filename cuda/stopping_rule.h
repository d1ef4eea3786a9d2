// SPDX-License-Identifier: Apache-2.0
// When a trial has enough samples, and when a warm-up has settled. PROTOCOL sections 7 and 10.
// Integers in, decisions out: no floating point.
#pragma once

#include <cstdint>
#include <span>

namespace kernelindex::runner {

struct StoppingRule {
  std::size_t least = 200;
  std::size_t block = 50;
  std::size_t most = 2000;
  std::int64_t wall_ns = 15'000'000'000;
  // Half the width of the 95 % interval of the median: in parts per million, or absolutely.
  std::int64_t half_width_ppm = 2500;
  std::int64_t half_width_ns = 250;
  std::int64_t halves_differ_ppm = 5000;  // of the medians of the halves
  std::int64_t too_wide_ppm = 10'000;     // CI_TOO_WIDE
};

enum class Stop : std::uint8_t {
  go_on,
  precise,    // narrow and stationary
  exhausted,  // the most samples, or the wall clock; not too wide
  too_wide,   // the same, and wider than 1 %: CI_TOO_WIDE
};

// Asked after every block. `samples` in the order of measuring.
Stop decide_stop(std::span<const std::uint64_t> samples, std::int64_t elapsed_ns,
                 const StoppingRule& rule = {});

// Whether the medians of the last two blocks of ten differ by at most 1 %.
bool warmup_is_steady(std::span<const std::uint64_t> calls_ns);

// Discards above 5 % of what was tried: TOO_MANY_DISCARDS.
bool too_many_discards(std::size_t kept, std::size_t discarded);

}  // namespace kernelindex::runner
