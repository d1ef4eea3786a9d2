// SPDX-License-Identifier: Apache-2.0
#include "ingest/uuid.h"

#include <algorithm>
#include <cstring>

namespace kernelindex::ingest {
namespace {

constexpr std::array<std::size_t, 4> kHyphens = {8, 13, 18, 23};
constexpr std::size_t kTextSize = 36;
constexpr std::size_t kFirstSlots = 64;

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

}  // namespace

std::optional<Uuid> Uuid::parse(std::string_view text) {
  if (text.size() != kTextSize) return std::nullopt;
  Uuid id;
  std::size_t digit = 0;
  for (std::size_t i = 0; i < kTextSize; ++i) {
    if (std::ranges::find(kHyphens, i) != kHyphens.end()) {
      if (text[i] != '-') return std::nullopt;
      continue;
    }
    const int value = hex_value(text[i]);
    if (value < 0) return std::nullopt;
    std::uint8_t& byte = id.bytes[digit++ / 2];
    byte = static_cast<std::uint8_t>(byte << 4 | value);
  }
  return id;
}

std::string Uuid::text() const {
  std::string out =
      to_hex(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  for (const std::size_t hyphen : kHyphens) out.insert(hyphen, 1, '-');
  return out;
}

Uuid uuid_of(const Digest& digest) {
  Uuid id;
  std::copy_n(digest.bytes.begin(), id.bytes.size(), id.bytes.begin());
  id.bytes[6] = static_cast<std::uint8_t>((id.bytes[6] & 0x0F) | 0x80);
  id.bytes[8] = static_cast<std::uint8_t>((id.bytes[8] & 0x3F) | 0x80);
  return id;
}

// The place of the id, or the free one where it would go. Row ids begin with their time, so that
// all of a catalog share their first bytes: both halves are mixed.
std::size_t UuidIndex::slot_of(const Uuid& id) const {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  std::memcpy(&high, id.bytes.data(), sizeof high);
  std::memcpy(&low, id.bytes.data() + sizeof high, sizeof low);
  std::uint64_t hash = (high ^ (low * 0x9E3779B97F4A7C15ULL)) * 0xD6E8FEB86659FD93ULL;
  hash ^= hash >> 32;
  std::size_t slot = hash & (slots_.size() - 1);
  while (slots_[slot] != 0 && known_[slots_[slot] - 1].id != id) {
    slot = (slot + 1) & (slots_.size() - 1);
  }
  return slot;
}

bool UuidIndex::insert(const Uuid& id, std::uint32_t item) {
  if ((known_.size() + 1) * 4 > slots_.size() * 3) grow();
  std::uint32_t& slot = slots_[slot_of(id)];
  if (slot != 0) return false;
  known_.push_back({id, item});
  slot = static_cast<std::uint32_t>(known_.size());
  return true;
}

std::optional<std::uint32_t> UuidIndex::find(const Uuid& id) const {
  if (slots_.empty()) return std::nullopt;
  const std::uint32_t slot = slots_[slot_of(id)];
  if (slot == 0) return std::nullopt;
  return known_[slot - 1].item;
}

void UuidIndex::grow() {
  const std::size_t count = slots_.empty() ? kFirstSlots : slots_.size() * 2;
  slots_ = {};  // its memory goes before the new is taken
  slots_.resize(count);
  for (std::size_t place = 0; place < known_.size(); ++place) {
    slots_[slot_of(known_[place].id)] = static_cast<std::uint32_t>(place + 1);
  }
}

}  // namespace kernelindex::ingest
