// SPDX-License-Identifier: Apache-2.0
#include "cuda/stopping_rule.h"

#include <algorithm>
#include <vector>

#include "schema/statistics.h"

namespace kernelindex::runner {
namespace {

constexpr std::uint64_t kMillion = 1'000'000;
__extension__ using Wide = unsigned __int128;

// |a - b| / base <= ppm / 10^6, exactly.
bool within_ppm(std::uint64_t a, std::uint64_t b, std::uint64_t base, std::int64_t ppm) {
  const std::uint64_t difference = a > b ? a - b : b - a;
  return Wide{difference} * kMillion <= Wide{base} * static_cast<std::uint64_t>(ppm);
}

// Twice the half width of the interval, so that nothing is halved.
struct Interval {
  std::uint64_t width = 0;
  std::uint64_t median = 0;
};

Interval interval_of(std::span<const std::uint64_t> samples) {
  std::vector<std::uint64_t> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  const auto ranks = median_interval_ranks(sorted.size());
  return {sorted[ranks->second - 1] - sorted[ranks->first - 1], median_of(samples)};
}

}  // namespace

Stop decide_stop(std::span<const std::uint64_t> samples, std::int64_t elapsed_ns,
                 const StoppingRule& rule) {
  const bool exhausted = samples.size() >= rule.most || elapsed_ns >= rule.wall_ns;
  if (samples.size() < rule.least || samples.size() < 6) {
    return exhausted ? Stop::too_wide : Stop::go_on;
  }
  const Interval interval = interval_of(samples);
  const bool narrow =
      Wide{interval.width} * kMillion <=
          2 * Wide{interval.median} * static_cast<std::uint64_t>(rule.half_width_ppm) ||
      interval.width <= 2 * static_cast<std::uint64_t>(rule.half_width_ns);
  const std::uint64_t first = median_of(samples.first(samples.size() / 2));
  const std::uint64_t last = median_of(samples.last(samples.size() / 2));
  const bool stationary = within_ppm(last, first, first, rule.halves_differ_ppm);
  if (narrow && stationary) return Stop::precise;
  if (!exhausted) return Stop::go_on;
  const bool too_wide = Wide{interval.width} * kMillion >
                        2 * Wide{interval.median} * static_cast<std::uint64_t>(rule.too_wide_ppm);
  return too_wide ? Stop::too_wide : Stop::exhausted;
}

bool warmup_is_steady(std::span<const std::uint64_t> calls_ns) {
  constexpr std::size_t kBlock = 10;
  if (calls_ns.size() < 2 * kBlock) return false;
  const std::uint64_t last = median_of(calls_ns.last(kBlock));
  const std::uint64_t before = median_of(calls_ns.last(2 * kBlock).first(kBlock));
  return within_ppm(last, before, before, 10'000);
}

bool too_many_discards(std::size_t kept, std::size_t discarded) {
  return discarded * 20 > kept + discarded;
}

}  // namespace kernelindex::runner
