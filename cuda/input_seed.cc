// SPDX-License-Identifier: Apache-2.0
#include "cuda/input_seed.h"

#include <cassert>

namespace kernelindex::runner {
namespace {

constexpr std::size_t kHashBlock = 64;
constexpr std::string_view kSalt = "ki-controlled-v1";

void append_u32(std::string& out, std::uint32_t value) {
  for (int i = 0; i < 4; ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
}

std::uint32_t read_u32(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 4; i-- > 0;) value = value << 8 | static_cast<std::uint8_t>(bytes[at + i]);
  return value;
}

}  // namespace

std::string hmac_sha256(std::string_view key, std::string_view message) {
  std::string block(key.size() > kHashBlock ? std::string(sha256(key).raw()) : std::string(key));
  block.resize(kHashBlock, '\0');
  std::string inner = block;
  std::string outer = block;
  for (std::size_t i = 0; i < kHashBlock; ++i) {
    inner[i] = static_cast<char>(inner[i] ^ 0x36);
    outer[i] = static_cast<char>(outer[i] ^ 0x5c);
  }
  const Digest first = sha256({inner, message});
  return std::string(sha256({outer, first.raw()}).raw());
}

std::string hkdf_expand(std::string_view pseudo_random_key, std::string_view info,
                        std::size_t length) {
  assert(length <= 255 * 32);
  std::string out;
  std::string previous;
  for (char counter = 1; out.size() < length; ++counter) {
    previous = hmac_sha256(pseudo_random_key, previous + std::string(info) + counter);
    out += previous;
  }
  out.resize(length);
  return out;
}

WordStream::WordStream(std::string_view seed) {
  assert(seed.size() == kSeedBytes);
  key_ = {read_u32(seed, 0), read_u32(seed, 4)};
  high_ = {read_u32(seed, 8), read_u32(seed, 12)};
}

SeedSource::SeedSource(std::string_view nonce, std::string_view entropy) {
  assert(nonce.size() == 32);
  assert(entropy.size() == 32);
  pseudo_random_key_ = hmac_sha256(kSalt, std::string(nonce) + std::string(entropy));
}

std::string SeedSource::seed(const SampleName& name) const {
  std::string info = "in";
  info += name.workload.raw();
  append_u32(info, name.trial);
  append_u32(info, name.round);
  append_u32(info, name.sample);
  info += name.tensor;
  return hkdf_expand(pseudo_random_key_, info, WordStream::kSeedBytes);
}

}  // namespace kernelindex::runner
