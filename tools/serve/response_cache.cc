// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/response_cache.h"

namespace kernelindex::serve {
namespace {

constexpr std::size_t kLargestShare = 8;
// Of the list, the table and the allocator: measured as some 300 bytes an answer.
constexpr std::size_t kOverhead = 384;

}  // namespace

PreparedPointer ResponseCache::find(std::string_view key) {
  const MutexLock lock(mutex_);
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->answer;
}

void ResponseCache::put(std::string_view key, PreparedPointer answer) {
  const std::size_t bytes = kOverhead + 2 * key.size() + answer->head.size() +
                            answer->unchanged.size() + answer->body->size();
  if (bytes > bytes_max_ / kLargestShare) return;
  const MutexLock lock(mutex_);
  if (by_key_.contains(key)) return;
  while (bytes_ + bytes > bytes_max_) {
    bytes_ -= entries_.back().bytes;
    by_key_.erase(entries_.back().key);
    entries_.pop_back();
  }
  entries_.push_front({std::string(key), std::move(answer), bytes});
  by_key_.emplace(entries_.front().key, entries_.begin());
  bytes_ += bytes;
}

std::size_t ResponseCache::bytes() const {
  const MutexLock lock(mutex_);
  return bytes_;
}

}  // namespace kernelindex::serve
