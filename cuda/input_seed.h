// SPDX-License-Identifier: Apache-2.0
// From the nonce of a job and the runner's own entropy to the stream of each tensor of each sample.
// PROTOCOL section 3.1.
//
//   prk  = HMAC-SHA256("ki-controlled-v1", nonce || entropy)
//   seed = HKDF-Expand(prk, "in" || workload digest || u32 trial || u32 round || u32 sample
//                           || tensor name, 24 bytes)            RFC 5869; integers little-endian
//   key  = bytes 0..7;  counter = {element / 4 low, high, bytes 8..15}
//
// Neither side alone can predict or choose an input: the controller does not know the entropy
// before the result reveals it, and the runner gets the nonce with a job that one result spends.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "cuda/philox.h"
#include "schema/digest.h"

namespace kernelindex::runner {

// HMAC, RFC 2104, over SHA-256. 32 bytes.
std::string hmac_sha256(std::string_view key, std::string_view message);
// HKDF-Expand, RFC 5869 section 2.3. Requires: length <= 255 * 32.
std::string hkdf_expand(std::string_view pseudo_random_key, std::string_view info,
                        std::size_t length);

// Which tensor of which sample.
struct SampleName {
  Digest workload;
  std::uint32_t trial = 0;
  std::uint32_t round = 0;
  std::uint32_t sample = 0;
  std::string_view tensor;
};

// The random words of one tensor; a value that can be copied and sent.
class WordStream {
 public:
  static constexpr std::size_t kSeedBytes = 24;

  // Requires: seed.size() == kSeedBytes.
  explicit WordStream(std::string_view seed);

  // The word of one element, whatever was asked before.
  std::uint32_t word(std::uint64_t element) const { return block(element / 4)[element % 4]; }
  // The four words from element 4 * index on.
  PhiloxCounter block(std::uint64_t index) const {
    return philox({static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32),
                   high_[0], high_[1]},
                  key_);
  }
  PhiloxKey key() const { return key_; }
  std::array<std::uint32_t, 2> counter_high() const { return high_; }

 private:
  PhiloxKey key_{};
  std::array<std::uint32_t, 2> high_{};
};

// Derives all streams of a job. Lives in the parent alone: a child gets one seed when its sample
// starts.
class SeedSource {
 public:
  // Requires: 32 bytes each.
  SeedSource(std::string_view nonce, std::string_view entropy);
  // The 24 bytes of a seed.
  std::string seed(const SampleName& name) const;
  WordStream stream(const SampleName& name) const { return WordStream(seed(name)); }

 private:
  std::string pseudo_random_key_;
};

}  // namespace kernelindex::runner
