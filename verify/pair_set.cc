// SPDX-License-Identifier: Apache-2.0
#include "verify/pair_set.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <tuple>

#include "ledger/signing_key.h"

namespace kernelindex::auditing {
namespace {

constexpr std::uint64_t kMet = std::uint64_t{1} << 63;
constexpr std::uint64_t kIndexes = std::uint64_t{1} << 54;
constexpr std::uint64_t kWhole = std::uint64_t{1} << 8;
constexpr int kIndexShift = 9;

__extension__ typedef unsigned __int128 Wide;

// Both halves of a product: each bit of it depends on every lower bit of both factors.
std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

std::uint64_t word(const char* bytes) {
  std::uint64_t value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

// Sixteen bytes a step, in the manner of wyhash.
std::uint64_t keyed_hash(std::string_view bytes, std::uint64_t first, std::uint64_t second) {
  std::uint64_t state = first ^ fold(bytes.size() ^ second, first);
  while (bytes.size() >= 16) {
    state = fold(word(bytes.data()) ^ second, word(bytes.data() + 8) ^ state);
    bytes.remove_prefix(16);
  }
  std::array<char, 16> rest{};
  std::ranges::copy(bytes, rest.begin());
  state = fold(word(rest.data()) ^ second, word(rest.data() + 8) ^ state);
  return fold(state ^ first, second ^ 0x9e3779b97f4a7c15ull);
}

}  // namespace

PairSet::PairSet(unsigned workers) : pending_(workers) {
  const std::string random = random_bytes(sizeof secret_.words);
  std::memcpy(secret_.words.data(), random.data(), random.size());
}

PairSet::Pair PairSet::hash(std::string_view key, std::string_view value) const {
  const auto& s = secret_.words;
  return {keyed_hash(key, s[0], s[1]), keyed_hash(key, s[2], s[3]), keyed_hash(value, s[4], s[5]),
          0};
}

void PairSet::expect(unsigned worker, std::string_view key, std::string_view value,
                     std::uint64_t index, bool whole) {
  assert(!key.empty());
  assert(index < kIndexes);
  Pair pair = hash(key, value);
  pair.origin =
      index << kIndexShift | (whole ? kWhole : 0) | static_cast<std::uint8_t>(key.front());
  pending_[worker][pair.key_high >> 56].push_back(pair);
}

void PairSet::seal(Workers& workers) {
  const auto by_key_then_entry = [](const Pair& pair) {
    return std::tuple(pair.key_high, pair.key_low, pair.origin);
  };
  workers.run(kBuckets, [&](std::size_t number, unsigned) {
    Bucket& bucket = sealed_[number];
    for (Buckets& part : pending_) {
      bucket.insert(bucket.end(), part[number].begin(), part[number].end());
      part[number] = {};
    }
    std::ranges::sort(bucket, {}, by_key_then_entry);
    // Of equal keys the last one stays.
    std::size_t kept = 0;
    for (std::size_t i = 0; i < bucket.size(); ++i) {
      const bool last = i + 1 == bucket.size() || bucket[i].key_high != bucket[i + 1].key_high ||
                        bucket[i].key_low != bucket[i + 1].key_low;
      if (last) bucket[kept++] = bucket[i];
    }
    bucket.resize(kept);
  });
}

// Hashes lie evenly, so the place of one is known to within some steps.
const PairSet::Pair* PairSet::find(const Pair& wanted) const {
  const Bucket& bucket = sealed_[wanted.key_high >> 56];
  const auto guess =
      static_cast<std::size_t>(static_cast<Wide>(wanted.key_high << 8) * bucket.size() >> 64);
  std::size_t at = std::min(guess, bucket.size());
  while (at > 0 && bucket[at - 1].key_high >= wanted.key_high) --at;
  for (; at < bucket.size() && bucket[at].key_high <= wanted.key_high; ++at) {
    if (bucket[at].key_high == wanted.key_high && bucket[at].key_low == wanted.key_low) {
      return &bucket[at];
    }
  }
  return nullptr;
}

PairSet::Match PairSet::meet(std::string_view key, std::string_view value) {
  const Pair wanted = hash(key, value);
  const Pair* found = find(wanted);
  if (found == nullptr) return Match::unknown;
  Bucket& bucket = sealed_[wanted.key_high >> 56];
  bucket[static_cast<std::size_t>(found - bucket.data())].origin |= kMet;
  return found->value == wanted.value ? Match::same : Match::different;
}

std::optional<std::uint64_t> PairSet::entry_of(std::string_view key) const {
  const Pair* found = find(hash(key, {}));
  if (found == nullptr) return std::nullopt;
  return (found->origin & ~kMet) >> kIndexShift;
}

bool PairSet::missed(std::string_view key) const {
  const Pair* found = find(hash(key, {}));
  return found != nullptr && (found->origin & kMet) == 0;
}

void PairSet::for_missing(const std::function<void(char, std::uint64_t)>& missing) const {
  for (const Bucket& bucket : sealed_) {
    for (const Pair& pair : bucket) {
      if ((pair.origin & kMet) == 0)
        missing(static_cast<char>(pair.origin), pair.origin >> kIndexShift);
    }
  }
}

std::size_t PairSet::size() const {
  std::size_t count = 0;
  for (const Bucket& bucket : sealed_) count += bucket.size();
  return count;
}

}  // namespace kernelindex::auditing
