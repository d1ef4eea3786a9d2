// SPDX-License-Identifier: Apache-2.0
// PROTOCOL section 11 against itself, hand-made lists, and an oracle of another kind.
#include "schema/statistics.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numeric>
#include <random>

namespace kernelindex {
namespace {

using Ranks = std::pair<std::size_t, std::size_t>;

ResultStatistics of(const Samples& samples) {
  const std::array<std::span<const std::uint64_t>, 1> trials = {samples};
  return pooled_statistics(trials).value();
}

TEST(Statistics, MedianOfOddAndEvenCounts) {
  EXPECT_EQ(median_of(Samples{7}), 7U);
  EXPECT_EQ(median_of(Samples{9, 1}), 5U);
  EXPECT_EQ(median_of(Samples{9, 2}), 5U);  // floor of 5.5
  EXPECT_EQ(median_of(Samples{3, 1, 2}), 2U);
  constexpr std::uint64_t kMost = (std::uint64_t{1} << 53) - 1;
  EXPECT_EQ(median_of(Samples{kMost, kMost}), kMost);
}

TEST(Statistics, MeanRoundsHalfToEven) {
  EXPECT_EQ(of({1, 2}).mean_ns, 2);  // 1.5
  EXPECT_EQ(of({2, 3}).mean_ns, 2);  // 2.5
  EXPECT_EQ(of({1, 1, 2}).mean_ns, 1);
  EXPECT_EQ(of({1, 2, 2}).mean_ns, 2);
  // A sum that needs more than 64 bits.
  constexpr std::uint64_t kMost = (std::uint64_t{1} << 53) - 1;
  EXPECT_EQ(of(Samples(5000, kMost)).mean_ns, static_cast<std::int64_t>(kMost));
}

TEST(Statistics, PercentilesAreTheNearestRank) {
  const auto ranks = [](std::size_t n) {
    Samples samples(n);
    std::iota(samples.begin(), samples.end(), 1);
    const ResultStatistics s = of(samples);
    return std::pair(s.p05_ns, s.p95_ns);
  };
  EXPECT_EQ(ranks(1), std::pair(std::int64_t{1}, std::int64_t{1}));
  EXPECT_EQ(ranks(2), std::pair(std::int64_t{1}, std::int64_t{2}));
  EXPECT_EQ(ranks(19), std::pair(std::int64_t{1}, std::int64_t{19}));
  EXPECT_EQ(ranks(20), std::pair(std::int64_t{1}, std::int64_t{19}));
  EXPECT_EQ(ranks(21), std::pair(std::int64_t{2}, std::int64_t{20}));
  EXPECT_EQ(ranks(200), std::pair(std::int64_t{10}, std::int64_t{190}));
}

TEST(Statistics, MedianAbsoluteDeviationOfAnEvenCount) {
  EXPECT_EQ(of({1, 2, 4, 9}).mad_ns, 1);  // median 3; distances 2 1 1 6: 1.5
  EXPECT_EQ(of({5}).mad_ns, 0);
}

// The values that PROTOCOL section 11 prints.
TEST(Statistics, RanksOfTheMedianAreThoseOfTheProtocol) {
  EXPECT_EQ(median_interval_ranks(50), Ranks(18, 33));
  EXPECT_EQ(median_interval_ranks(100), Ranks(40, 61));
  EXPECT_EQ(median_interval_ranks(200), Ranks(86, 115));
  EXPECT_EQ(median_interval_ranks(300), Ranks(133, 168));
  EXPECT_EQ(median_interval_ranks(400), Ranks(180, 221));
  EXPECT_EQ(median_interval_ranks(500), Ranks(228, 273));
  EXPECT_EQ(median_interval_ranks(600), Ranks(276, 325));
  EXPECT_EQ(median_interval_ranks(1000), Ranks(469, 532));
  EXPECT_EQ(median_interval_ranks(2000), Ranks(956, 1045));
}

TEST(Statistics, BelowSixSamplesThereIsNoInterval) {
  for (std::size_t n = 0; n < 6; ++n) EXPECT_FALSE(median_interval_ranks(n)) << n;
  EXPECT_EQ(median_interval_ranks(6), Ranks(1, 6));
  EXPECT_FALSE(of({1, 2, 3, 4, 5}).low_ns);
  EXPECT_EQ(of({1, 2, 3, 4, 5, 6}).low_ns, 1);
}

// The same definition in logarithms of binary64, which is exact enough to tell ranks apart: no tail
// of these counts comes near 2.5 %.
TEST(Statistics, RanksAgreeWithTheBinomialDistribution) {
  for (std::size_t n = 6; n <= 700; n += n < 100 ? 1 : 37) {
    double tail = 0;
    std::size_t r = 0;
    for (std::size_t k = 0; k < n; ++k) {
      const double m = static_cast<double>(n);
      const double i = static_cast<double>(k);
      tail += std::exp(std::lgamma(m + 1) - std::lgamma(i + 1) - std::lgamma(m - i + 1) -
                       m * std::log(2.0));
      if (2 * tail > 0.05) break;
      r = k + 1;
    }
    EXPECT_EQ(median_interval_ranks(n), Ranks(r, n + 1 - r)) << n;
  }
}

TEST(Statistics, TheIntervalHoldsTheMediansOfTheTrials) {
  const Samples low(200, 100);
  const Samples high(10, 130);
  const std::array<std::span<const std::uint64_t>, 2> trials = {low, high};
  const ResultStatistics s = pooled_statistics(trials).value();
  EXPECT_EQ(s.median_ns, 100);
  EXPECT_EQ(s.low_ns, 100);
  EXPECT_EQ(s.high_ns, 130);
}

TEST(Statistics, NothingComesOfNoSamples) {
  EXPECT_FALSE(pooled_statistics({}).has_value());
  const std::array<std::span<const std::uint64_t>, 1> trials = {};
  EXPECT_FALSE(pooled_statistics(trials).has_value());
}

TEST(Statistics, BytesOfSamplesAreReadStrictly) {
  const Samples samples = {1, 0x0123456789abc, (std::uint64_t{1} << 53) - 1};
  const std::string bytes = write_samples(samples);
  EXPECT_EQ(bytes.substr(8, 8), std::string("\xbc\x9a\x78\x56\x34\x12\x00\x00", 8));
  EXPECT_EQ(read_samples(bytes), samples);
  EXPECT_FALSE(read_samples(bytes + "x"));
  EXPECT_FALSE(read_samples(write_samples(Samples{std::uint64_t{1} << 53})));
  EXPECT_EQ(read_samples(""), Samples{});
}

TEST(Noise, IsTheGreatestOfItsPartsRoundedUp) {
  NoiseParts parts{{1'000'000}, 1'000'000, {}};
  EXPECT_EQ(noise_ppm(parts), 5'000U);  // never less
  parts.trial_medians = {1'000'000, 1'007'001};
  EXPECT_EQ(noise_ppm(parts), 7'001U);
  parts.sentinels = {{1'000, 1'010}};  // 2 * 10 / 2010 = 9950.25 ppm
  EXPECT_EQ(noise_ppm(parts), 9'951U);
  // The resolution of events: 0.5 us of 20 us is 2.5 %.
  EXPECT_EQ(noise_ppm({{20'000}, 20'000, {}}), 25'000U);
  // Far beyond what fits.
  EXPECT_GT(noise_ppm({{std::uint64_t{1} << 52}, 1, {}}), std::uint64_t{1} << 60);
}

// PROTOCOL section 16, must come out: trial medians 100, 200, 200 us.
TEST(Noise, TrialsThatDisagreeAreNoise) {
  EXPECT_EQ(noise_ppm({{100'000, 200'000, 200'000}, 200'000, {}}), 500'000U);
}

}  // namespace
}  // namespace kernelindex
