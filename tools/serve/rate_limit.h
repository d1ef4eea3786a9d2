// SPDX-License-Identifier: Apache-2.0
// How often somebody may do something: a bucket for each name that fills with time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "schema/mutex.h"
#include "schema/utc_time.h"

namespace kernelindex::serve {

struct RateLimitOptions {
  std::uint64_t burst = 10;        // at once
  UtcMicros refill = 60'000'000;   // until one more is allowed
  std::size_t names_max = 10'000;  // remembered; above it, new names are refused
};

// Safe to use from several threads.
class RateLimit {
 public:
  explicit RateLimit(const RateLimitOptions& options) : options_(options) {}

  // Takes one from the bucket of a name; false when it is empty. `now` may stand still and may go
  // back, which fills nothing.
  bool take(std::string_view name, UtcMicros now);

 private:
  struct Bucket {
    std::uint64_t left = 0;
    UtcMicros filled_at = 0;
  };
  void forget_full(UtcMicros now) REQUIRES_LOCK(mutex_);

  const RateLimitOptions options_;
  Mutex mutex_;
  std::map<std::string, Bucket, std::less<>> buckets_ GUARDED_BY(mutex_);
};

}  // namespace kernelindex::serve
