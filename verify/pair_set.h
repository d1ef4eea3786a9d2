// SPDX-License-Identifier: Apache-2.0
// The keys and values that derived data must have, compactly: 32 bytes for each, whatever its size.
//
// A key is kept as 128 bits and a value as 64 bits of a hash that is keyed anew in each process. So
// two of them are mistaken for each other with a chance of about 2^-64, and nobody can arrange it
// in the bytes of a ledger, since the key is not known before. Nothing is ever named by these
// hashes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "verify/workers.h"

namespace kernelindex::auditing {

class PairSet {
 public:
  explicit PairSet(unsigned workers);

  // Adds what must be there. Of several values of one key that of the highest entry counts, and of
  // one entry's the one that is `whole`: made from all entries that the key follows from.
  // Requires: not sealed; one thread a worker; index < 2^54.
  void expect(unsigned worker, std::string_view key, std::string_view value, std::uint64_t index,
              bool whole = false);

  // Nothing is added any more.
  void seal(Workers& workers);

  enum class Match { same, different, unknown };
  // Compares, and remembers that the key is there. Requires: sealed; each key once.
  Match meet(std::string_view key, std::string_view value);
  // The entry that a key follows from; nothing for an unknown key. Requires: sealed.
  std::optional<std::uint64_t> entry_of(std::string_view key) const;
  // Whether the key is known and was not met. Requires: sealed.
  bool missed(std::string_view key) const;
  // Calls for each key that was not met: the letter of its table, and the entry that it follows
  // from.
  void for_missing(const std::function<void(char table, std::uint64_t index)>& missing) const;

  std::size_t size() const;

 private:
  struct Pair {
    std::uint64_t key_high = 0;
    std::uint64_t key_low = 0;
    std::uint64_t value = 0;
    std::uint64_t origin = 0;  // met (1 bit), entry (54 bits), whole (1 bit), table (8 bits)
  };
  using Bucket = std::vector<Pair>;
  static constexpr std::size_t kBuckets = 256;  // by the highest bits of the key's hash
  using Buckets = std::array<Bucket, kBuckets>;

  struct Secret {
    std::array<std::uint64_t, 6> words{};
  };

  Pair hash(std::string_view key, std::string_view value) const;
  // The pair of that key, or null.
  const Pair* find(const Pair& wanted) const;

  Secret secret_;
  std::vector<Buckets> pending_;  // by worker
  Buckets sealed_;
};

}  // namespace kernelindex::auditing
