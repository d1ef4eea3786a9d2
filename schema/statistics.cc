// SPDX-License-Identifier: Apache-2.0
#include "schema/statistics.h"

#include <algorithm>
#include <cassert>
#include <limits>

namespace kernelindex {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::uint64_t kSafe = (std::uint64_t{1} << 53) - 1;
constexpr std::uint64_t kMillion = 1'000'000;
constexpr std::uint64_t kLeastNoisePpm = 5'000;
constexpr std::uint64_t kEventResolutionNs = 500;
constexpr std::size_t kSampleBytes = 8;

std::uint64_t distance(std::uint64_t a, std::uint64_t b) { return a > b ? a - b : b - a; }

// Requires: sorted, not empty.
std::uint64_t sorted_median(std::span<const std::uint64_t> x) {
  const std::size_t n = x.size();
  if (n % 2 == 1) return x[n / 2];
  const std::uint64_t low = x[n / 2 - 1];
  return low + (x[n / 2] - low) / 2;
}

std::uint64_t mean_half_even(std::span<const std::uint64_t> x) {
  Wide sum = 0;
  for (const std::uint64_t value : x) sum += value;
  const Wide n = x.size();
  const Wide whole = sum / n;
  const Wide twice = 2 * (sum % n);
  const bool up = twice > n || (twice == n && whole % 2 == 1);
  return static_cast<std::uint64_t>(whole + (up ? 1 : 0));
}

// x(ceil(percent n / 100)), counted from 1.
std::uint64_t nearest_rank(std::span<const std::uint64_t> x, std::size_t percent) {
  const std::size_t rank = (percent * x.size() + 99) / 100;
  return x[rank - 1];
}

// An unsigned integer of as many bits as needed, least significant word first.
class BigNumber {
 public:
  explicit BigNumber(std::uint32_t value) : words_{value} {}

  static BigNumber power_of_two(std::size_t exponent) {
    BigNumber out(0);
    out.words_.assign(exponent / 32 + 1, 0);
    out.words_.back() = std::uint32_t{1} << (exponent % 32);
    return out;
  }
  void multiply(std::uint32_t factor) {
    std::uint64_t carry = 0;
    for (std::uint32_t& word : words_) {
      carry += std::uint64_t{word} * factor;
      word = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    if (carry != 0) words_.push_back(static_cast<std::uint32_t>(carry));
  }
  // Requires: it divides without remainder.
  void divide(std::uint32_t divisor) {
    std::uint64_t rest = 0;
    for (std::size_t i = words_.size(); i-- > 0;) {
      rest = rest << 32 | words_[i];
      words_[i] = static_cast<std::uint32_t>(rest / divisor);
      rest %= divisor;
    }
    assert(rest == 0);
    trim();
  }
  void add(const BigNumber& other) {
    words_.resize(std::max(words_.size(), other.words_.size()), 0);
    std::uint64_t carry = 0;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      carry += std::uint64_t{words_[i]} + (i < other.words_.size() ? other.words_[i] : 0);
      words_[i] = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    if (carry != 0) words_.push_back(static_cast<std::uint32_t>(carry));
  }
  // Requires: neither has leading zero words, which only power_of_two(0) of 0 would.
  bool operator<=(const BigNumber& other) const {
    if (words_.size() != other.words_.size()) return words_.size() < other.words_.size();
    for (std::size_t i = words_.size(); i-- > 0;) {
      if (words_[i] != other.words_[i]) return words_[i] < other.words_[i];
    }
    return true;
  }

 private:
  void trim() {
    while (words_.size() > 1 && words_.back() == 0) words_.pop_back();
  }

  std::vector<std::uint32_t> words_;
};

// Copies all trials into one sorted list.
Samples pooled(std::span<const std::span<const std::uint64_t>> trials) {
  Samples all;
  for (const auto& trial : trials) all.insert(all.end(), trial.begin(), trial.end());
  std::ranges::sort(all);
  return all;
}

std::uint64_t deviation(const Samples& sorted, std::uint64_t median) {
  Samples distances;
  distances.reserve(sorted.size());
  for (const std::uint64_t value : sorted) distances.push_back(distance(value, median));
  return median_of(distances);
}

// 10^6 a / b, rounded up; as much as fits for what does not.
std::uint64_t ppm_up(std::uint64_t a, std::uint64_t b) {
  const Wide ppm = (Wide{a} * kMillion + b - 1) / b;
  constexpr Wide kMost = std::numeric_limits<std::uint64_t>::max();
  return static_cast<std::uint64_t>(std::min(ppm, kMost));
}

}  // namespace

std::optional<Samples> read_samples(std::string_view bytes) {
  if (bytes.size() % kSampleBytes != 0) return std::nullopt;
  Samples samples;
  samples.reserve(bytes.size() / kSampleBytes);
  for (std::size_t i = 0; i < bytes.size(); i += kSampleBytes) {
    std::uint64_t value = 0;
    for (std::size_t k = kSampleBytes; k-- > 0;) {
      value = value << 8 | static_cast<unsigned char>(bytes[i + k]);
    }
    if (value > kSafe) return std::nullopt;
    samples.push_back(value);
  }
  return samples;
}

std::string write_samples(std::span<const std::uint64_t> samples) {
  std::string bytes;
  bytes.reserve(samples.size() * kSampleBytes);
  for (const std::uint64_t value : samples) {
    for (std::size_t k = 0; k < kSampleBytes; ++k) {
      bytes += static_cast<char>((value >> (8 * k)) & 0xff);
    }
  }
  return bytes;
}

std::uint64_t median_of(std::span<const std::uint64_t> samples) {
  assert(!samples.empty());
  Samples sorted(samples.begin(), samples.end());
  std::ranges::sort(sorted);
  return sorted_median(sorted);
}

std::optional<std::pair<std::size_t, std::size_t>> median_interval_ranks(std::size_t n) {
  assert(n <= kPooledSamples);
  if (n < 6) return std::nullopt;
  // 40 (C(n,0) + ... + C(n,r-1)) <= 2^n. The terms are summed until one more is too many.
  const BigNumber most = BigNumber::power_of_two(n);
  BigNumber term(40);  // 40 C(n,k)
  BigNumber sum(40);
  std::size_t r = 0;
  for (std::size_t k = 0; sum <= most; ++k) {
    r = k + 1;
    term.multiply(static_cast<std::uint32_t>(n - k));
    term.divide(static_cast<std::uint32_t>(k + 1));
    sum.add(term);
  }
  return std::pair{r, n + 1 - r};
}

std::optional<ResultStatistics> pooled_statistics(
    std::span<const std::span<const std::uint64_t>> trials) {
  const Samples x = pooled(trials);
  if (x.empty()) return std::nullopt;
  assert(x.size() <= kPooledSamples && x.back() <= kSafe);
  const auto signed_of = [](std::uint64_t value) { return static_cast<std::int64_t>(value); };
  const std::uint64_t median = sorted_median(x);
  ResultStatistics out;
  out.samples = static_cast<std::int64_t>(x.size());
  out.median_ns = signed_of(median);
  out.mean_ns = signed_of(mean_half_even(x));
  out.p05_ns = signed_of(nearest_rank(x, 5));
  out.p95_ns = signed_of(nearest_rank(x, 95));
  out.minimum_ns = signed_of(x.front());
  out.maximum_ns = signed_of(x.back());
  out.mad_ns = signed_of(deviation(x, median));
  if (const auto ranks = median_interval_ranks(x.size())) {
    std::uint64_t low = x[ranks->first - 1];
    std::uint64_t high = x[ranks->second - 1];
    for (const auto& trial : trials) {
      if (trial.empty()) continue;
      const std::uint64_t of_trial = median_of(trial);
      low = std::min(low, of_trial);
      high = std::max(high, of_trial);
    }
    out.low_ns = signed_of(low);
    out.high_ns = signed_of(high);
  }
  return out;
}

std::uint64_t noise_ppm(const NoiseParts& parts) {
  assert(parts.pooled_median > 0);
  std::uint64_t noise = std::max(kLeastNoisePpm, ppm_up(kEventResolutionNs, parts.pooled_median));
  for (const std::uint64_t median : parts.trial_medians) {
    noise = std::max(noise, ppm_up(distance(median, parts.pooled_median), parts.pooled_median));
  }
  for (const auto& [before, after] : parts.sentinels) {
    if (before + after == 0) continue;
    noise = std::max(noise, ppm_up(2 * distance(before, after), before + after));
  }
  return noise;
}

}  // namespace kernelindex
