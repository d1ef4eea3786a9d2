// SPDX-License-Identifier: Apache-2.0
// Row ids of the catalog, and an index by them that is small enough to hold every row of a long
// file.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelindex::ingest {

struct Uuid {
  std::array<std::uint8_t, 16> bytes{};

  // Accepts the lower-case form with hyphens only: one id, one spelling.
  static std::optional<Uuid> parse(std::string_view text);
  std::string text() const;

  auto operator<=>(const Uuid&) const = default;
};

// Which of a list's items has an id. About 30 bytes an item.
class UuidIndex {
 public:
  // Remembers the id for `item`; false when the id is known already, and nothing changes then.
  bool insert(const Uuid& id, std::uint32_t item);
  std::optional<std::uint32_t> find(const Uuid& id) const;

 private:
  struct Slot {
    Uuid id;
    std::uint32_t item_plus_1 = 0;  // 0: free
  };
  std::size_t slot_of(const Uuid& id) const;
  void grow();

  std::vector<Slot> slots_;  // a power of two of them, at most three quarters in use
  std::size_t used_ = 0;
};

}  // namespace kernelindex::ingest
