// SPDX-License-Identifier: Apache-2.0
// What the server counts, as text for Prometheus (exposition format 0.0.4).
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

namespace kernelindex::serve {

// Counted from any thread; each number is right by itself.
class Metrics {
 public:
  // Upper bounds of the buckets, in microseconds.
  static constexpr std::array<std::uint64_t, 7> kBuckets = {500,     1'000,   5'000,    25'000,
                                                            100'000, 500'000, 2'500'000};

  // One answer that was sent, or given up while sending.
  void answered(unsigned status, std::uint64_t body_bytes, std::uint64_t micros);

  std::atomic<std::uint64_t> cache_hits = 0;
  std::atomic<std::uint64_t> cache_misses = 0;
  std::atomic<std::uint64_t> connections_accepted = 0;
  std::atomic<std::uint64_t> connections_refused = 0;  // at the limit
  std::atomic<std::uint64_t> connections_expired = 0;  // too slow, or idle for too long
  std::atomic<std::int64_t> connections_open = 0;
  std::atomic<std::int64_t> answers_in_work = 0;
  std::atomic<std::uint64_t> reloads = 0;  // of the ledger
  std::atomic<std::uint64_t> reload_faults = 0;

  struct Gauges {
    std::uint64_t ledger_size = 0;
    std::uint64_t checkpoint_size = 0;
    std::uint64_t cache_bytes = 0;
  };
  std::string text(const Gauges& gauges) const;

 private:
  std::array<std::atomic<std::uint64_t>, 6> by_class_ = {};  // of status / 100
  std::array<std::atomic<std::uint64_t>, kBuckets.size() + 1> durations_ = {};
  std::atomic<std::uint64_t> duration_micros_ = 0;
  std::atomic<std::uint64_t> body_bytes_ = 0;
};

}  // namespace kernelindex::serve
