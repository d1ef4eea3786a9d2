// SPDX-License-Identifier: Apache-2.0
// Statistics of timed samples: integer nanoseconds in, integer nanoseconds out, so that everybody
// computes the same from the same bytes. PROTOCOL section 11; the noise floor is section 6.
//
// With x(1) <= ... <= x(n):
//
//   median  x((n+1)/2), or floor((x(n/2) + x(n/2+1)) / 2) for even n
//   mean    sum / n, rounded half to even
//   p05     x(ceil(n/20)), p95 x(ceil(19n/20)): nearest rank, no interpolation
//   mad     median of |x(i) - median|, unscaled
//   ranks   of the 95 % interval of the median: (r, n+1-r) with the greatest r for which
//           2 P(Bin(n, 1/2) <= r-1) <= 1/20; exact. There is none below six samples.
//
// A published interval is the hull of the pooled one and of the medians of the trials, because
// samples of one process hang together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "schema/measurement_result.h"

namespace kernelindex {

using Samples = std::vector<std::uint64_t>;

// Samples of an artifact. Nothing when the length is no multiple of 8 or a value is above 2^53 - 1,
// the largest integer that a document can say.
std::optional<Samples> read_samples(std::string_view bytes);
std::string write_samples(std::span<const std::uint64_t> samples);

// Requires: at least one sample.
std::uint64_t median_of(std::span<const std::uint64_t> samples);

// Ranks of the interval, counted from 1. Requires: n <= kPooledSamples.
std::optional<std::pair<std::size_t, std::size_t>> median_interval_ranks(std::size_t n);

// Of all samples of the trials of one workload. Nothing without samples.
// Requires: at most kPooledSamples together, none above 2^53 - 1.
std::optional<ResultStatistics> pooled_statistics(
    std::span<const std::span<const std::uint64_t>> trials);

// What the noise of a job is made of.
struct NoiseParts {
  std::vector<std::uint64_t> trial_medians;  // of the timed trials of a workload, at least one
  std::uint64_t pooled_median = 0;           // above 0
  // A sentinel's medians before and after: bandwidth, compute, tensor.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> sentinels;
};

// The noise floor in parts per million, rounded up:
//   max(5000, 2|a-b|/(a+b) over the sentinels, |m/M - 1| over the trials, 500 ns / M)
std::uint64_t noise_ppm(const NoiseParts& parts);

}  // namespace kernelindex
