// SPDX-License-Identifier: Apache-2.0
// Row ids of the catalog, and an index by them that is small enough to hold every row of a long
// file.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schema/digest.h"

namespace kernelindex::ingest {

struct Uuid {
  std::array<std::uint8_t, 16> bytes{};

  // Accepts the lower-case form with hyphens only: one id, one spelling.
  static std::optional<Uuid> parse(std::string_view text);
  std::string text() const;
  // The version that RFC 9562 section 4.2 gives it: 7 for ids that begin with their time.
  unsigned version() const { return bytes[6] >> 4; }

  auto operator<=>(const Uuid&) const = default;
};

// The UUIDv8 of a digest (RFC 9562 section 5.8): its first 16 bytes, with the bits of version and
// variant set. An id for what has none, the same wherever it is made.
Uuid uuid_of(const Digest& digest);

// Which of a list's items has an id. About 30 bytes an item, most of them in a deque: growing moves
// only the slots.
class UuidIndex {
 public:
  // Remembers the id for `item`; false when the id is known already, and nothing changes then.
  bool insert(const Uuid& id, std::uint32_t item);
  std::optional<std::uint32_t> find(const Uuid& id) const;

  // How many ids are known, and the id that was inserted as the `place`th, from 0.
  std::size_t size() const { return known_.size(); }
  const Uuid& id(std::size_t place) const { return known_[place].id; }

 private:
  struct Known {
    Uuid id;
    std::uint32_t item = 0;
  };
  std::size_t slot_of(const Uuid& id) const;
  void grow();

  std::deque<Known> known_;           // in order of insertion
  std::vector<std::uint32_t> slots_;  // place in known_ plus 1, 0 when free; a power of two of
                                      // them, at most three quarters in use
};

}  // namespace kernelindex::ingest
