// SPDX-License-Identifier: Apache-2.0
// The log as bytes: leaves in order, their hashes, the tiles and the root that follow from them.
#include <algorithm>

#include "ledger/key_layout.h"
#include "ledger/tile.h"
#include "verify/audit_passes.h"

namespace kernelindex::auditing {
namespace {

// How the canonical bytes of a snapshot entry begin, and of no other.
constexpr std::string_view kSnapshotBegin = "{\"acquired\":";
constexpr std::string_view kEnvelopeMember = "\"mediaType\":\"application/vnd.in-toto+dsse\"";

// Reads the table of leaves and steps over what cannot be read.
class LogScan {
 public:
  explicit LogScan(AuditState& state)
      : state_(state), limit_(state.head ? state.head->size : kNone) {}

  void run() {
    if (state_.head) state_.leaves.reserve(std::min<std::uint64_t>(limit_, 1u << 20));
    while (next_ < limit_ && !state_.faults.full()) {
      if (scan_from_next()) break;
      step_over();
    }
    if (state_.head && next_ < limit_) lose(next_, limit_);
    if (state_.head) name_extra_leaves();
    state_.report.size = state_.head ? limit_ : state_.leaves.size();
    if (!state_.complete) return;
    state_.report.root = tree_.root();
    state_.roots[tree_.size()] = tree_.root();
    if (state_.head && state_.head->root != tree_.root()) {
      state_.faults.add(Fault{}, "ROOT_MISMATCH", "the root of the head is not that of the leaves",
                        state_.head->root.text(), tree_.root().text());
    }
    compare_tiles();
  }

 private:
  // True when the end was reached, false when the store stopped at damage.
  bool scan_from_next() {
    StoreCursor cursor =
        state_.reader.view().scan(Space::evidence, "e", key_layout::big_endian(next_));
    for (; cursor.valid(); cursor.next()) {
      if (cursor.key().size() != 9) {
        state_.faults.add(Fault{}, "UNKNOWN_KEY", "a key among the leaves has another length", "9",
                          std::to_string(cursor.key().size()));
        continue;
      }
      const std::uint64_t index = key_layout::from_big_endian(cursor.key().substr(1));
      if (index >= limit_) return true;
      if (index > next_) lose(next_, index);
      take(index, cursor.value());
    }
    return cursor.status().has_value();
  }

  void step_over() {
    std::string leaf;
    const Result<bool> found =
        state_.reader.view().get(Space::evidence, key_layout::leaf(next_), leaf);
    if (found && *found) {
      take(next_, leaf);
      return;
    }
    if (!found) state_.faults.add(at_entry(next_), found.error());
    if (found) lose(next_, next_ + 1);
    state_.complete = false;
    ++next_;
  }

  void lose(std::uint64_t from, std::uint64_t to) {
    state_.complete = false;
    state_.faults.add(at_entry(from), "MISSING_ENTRY",
                      to - from == 1 ? entry_name(from) + " is lost"
                                     : "entries " + std::to_string(from) + " to " +
                                           std::to_string(to - 1) + " are lost");
  }

  void take(std::uint64_t index, std::string_view leaf) {
    const LeafHash hash = leaf_hash(leaf);
    state_.leaves.emplace_back(index, hash);
    next_ = index + 1;
    if (leaf.starts_with(kSnapshotBegin)) remember_snapshot(index, leaf);
    if (!state_.complete) return;
    tree_.append(hash);
    // What statements saw is, as a rule, the tree after an earlier statement.
    if (leaf.find(kEnvelopeMember) != std::string_view::npos) {
      state_.roots[tree_.size()] = tree_.root();
    }
  }

  void remember_snapshot(std::uint64_t index, std::string_view leaf) {
    const Result<Entry> entry = decode_entry(leaf);
    if (!entry) return;  // check_entries() says so
    if (const auto* snapshot = std::get_if<SnapshotEntry>(&entry->body)) {
      state_.snapshots[entry->content.digest].emplace_back(index, snapshot->acquired == "supplied");
    }
  }

  void name_extra_leaves() {
    StoreCursor cursor =
        state_.reader.view().scan(Space::evidence, "e", key_layout::big_endian(limit_));
    for (; cursor.valid() && !state_.faults.full(); cursor.next()) {
      if (cursor.key().size() != 9) continue;
      const std::uint64_t index = key_layout::from_big_endian(cursor.key().substr(1));
      state_.faults.add(at_entry(index), "EXTRA_ENTRY",
                        entry_name(index) + " stands beyond the size of the head",
                        std::to_string(limit_), {});
    }
  }

  void compare_tiles() {
    std::vector<Tile> expected = tree_.take_changed_tiles();
    const auto place = [](const Tile& tile) { return std::pair(tile.level, tile.index); };
    std::ranges::sort(expected, {}, place);
    auto tile = expected.begin();
    const auto missing = [&] {
      state_.faults.add(Fault{}, "MISSING_TILE", name(*tile) + " is lost");
      ++tile;
    };
    StoreCursor cursor = state_.reader.view().scan(Space::evidence, "t");
    for (; cursor.valid() && !state_.faults.full(); cursor.next()) {
      if (cursor.key().size() != 10) {
        state_.faults.add(Fault{}, "UNKNOWN_KEY", "a key among the tiles has another length", "10",
                          std::to_string(cursor.key().size()));
        continue;
      }
      const std::pair found(static_cast<unsigned>(static_cast<std::uint8_t>(cursor.key()[1])),
                            key_layout::from_big_endian(cursor.key().substr(2)));
      while (tile != expected.end() && place(*tile) < found) missing();
      if (tile == expected.end() || place(*tile) != found) {
        state_.faults.add(Fault{}, "EXTRA_TILE",
                          "a tile of level " + std::to_string(found.first) + " and index " +
                              std::to_string(found.second) + " belongs to no tree of this size");
        continue;
      }
      if (cursor.value() != tile->bytes) differs(*tile, cursor.value());
      ++tile;
    }
    if (const Status status = cursor.status(); !status) {
      state_.faults.add(Fault{}, status.error());
      return;
    }
    while (tile != expected.end() && !state_.faults.full()) missing();
  }

  static std::string name(const Tile& tile) {
    return tile_path_text({false, tile.level, tile.index, tile.width});
  }

  // Names the first hash that differs; at level 0 that is a leaf.
  void differs(const Tile& expected, std::string_view found) {
    const auto [at, ignored] = std::ranges::mismatch(expected.bytes, found);
    const auto hash = static_cast<std::size_t>(at - expected.bytes.begin()) / kHashBytes;
    const auto hash_text = [hash](std::string_view bytes) {
      const std::string_view rest = bytes.substr(std::min(hash * kHashBytes, bytes.size()));
      return rest.size() < kHashBytes ? std::to_string(bytes.size()) + " bytes"
                                      : Digest::from_raw(rest.substr(0, kHashBytes)).text();
    };
    if (hash >= expected.width) {
      state_.faults.add(Fault{}, "TILE_MISMATCH", name(expected) + " is too long",
                        std::to_string(expected.bytes.size()), std::to_string(found.size()));
      return;
    }
    const std::uint64_t number = expected.index * kTileWidth + hash;
    const bool leaf = expected.level == 0;
    state_.faults.add(leaf ? at_entry(number) : Fault{}, "TILE_MISMATCH",
                      name(expected) + (leaf ? " has another hash for " + entry_name(number)
                                             : " has another hash at " + std::to_string(hash)),
                      hash_text(expected.bytes), hash_text(found));
  }

  AuditState& state_;
  const std::uint64_t limit_;
  std::uint64_t next_ = 0;
  TileTree tree_;
};

}  // namespace

std::string entry_name(std::uint64_t index) { return "entry " + std::to_string(index); }

const LeafFact* AuditState::leaf(std::uint64_t index) const {
  if (complete) return index < leaves.size() ? &leaves[index] : nullptr;
  const auto found = std::ranges::lower_bound(leaves, index, {}, &LeafFact::index);
  return found != leaves.end() && found->index == index ? &*found : nullptr;
}

bool AuditState::snapshot_before(const Digest& snapshot, std::uint64_t index) const {
  const auto found = snapshots.find(snapshot);
  return found != snapshots.end() && found->second.front().first < index;
}

bool AuditState::supplied(const Digest& snapshot, std::uint64_t index) const {
  const auto found = snapshots.find(snapshot);
  if (found == snapshots.end()) return true;
  bool supplied = true;
  for (const auto& [at, how] : found->second) {
    if (at >= index) break;
    supplied = how;
  }
  return supplied;
}

std::map<std::uint64_t, Digest> roots_at(const AuditState& state,
                                         const std::set<std::uint64_t>& sizes) {
  std::map<std::uint64_t, Digest> out;
  std::vector<std::uint64_t> unknown;
  for (const std::uint64_t size : sizes) {
    const auto known = state.roots.find(size);
    if (known != state.roots.end()) {
      out.insert(*known);
    } else {
      unknown.push_back(size);
    }
  }
  CompactRange tree;
  auto wanted = unknown.begin();
  std::uint64_t next = 0;
  for (; wanted != unknown.end(); ++wanted) {
    for (; next < *wanted; ++next) {
      if (next >= state.leaves.size() || state.leaves[next].index != next) return out;
      tree.append(state.leaves[next].hash);
    }
    out[*wanted] = tree.root();
  }
  return out;
}

void scan_log(AuditState& state) { LogScan(state).run(); }

}  // namespace kernelindex::auditing
