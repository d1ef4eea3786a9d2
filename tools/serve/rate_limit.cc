// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/rate_limit.h"

#include <algorithm>

namespace kernelindex::serve {

bool RateLimit::take(std::string_view name, UtcMicros now) {
  const MutexLock lock(mutex_);
  auto found = buckets_.find(name);
  if (found == buckets_.end()) {
    if (buckets_.size() >= options_.names_max) forget_full(now);
    if (buckets_.size() >= options_.names_max) return false;
    found = buckets_.emplace(std::string(name), Bucket{options_.burst, now}).first;
  }
  Bucket& bucket = found->second;
  const auto filled =
      static_cast<std::uint64_t>(std::max<UtcMicros>(0, now - bucket.filled_at) / options_.refill);
  bucket.left = std::min(options_.burst, bucket.left + filled);
  bucket.filled_at += static_cast<UtcMicros>(filled) * options_.refill;
  if (bucket.left == 0) return false;
  --bucket.left;
  return true;
}

// A bucket that time has filled again says no more than none.
void RateLimit::forget_full(UtcMicros now) {
  std::erase_if(buckets_, [&](const auto& entry) {
    const auto missing = static_cast<UtcMicros>(options_.burst - entry.second.left);
    return now - entry.second.filled_at >= missing * options_.refill;
  });
}

}  // namespace kernelindex::serve
