// SPDX-License-Identifier: Apache-2.0
#include "schema/json_value.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace kernelindex::json {
namespace {

// Enough for a log entry. Larger ones cost more than reading the entry when an arena lives briefly:
// freeing 64 KiB makes malloc put its free memory in order.
constexpr std::size_t kFirstBlockBytes = 8 * 1024;
constexpr std::size_t kLargestBlockBytes = 4 * 1024 * 1024;

std::uint32_t checked_count(std::size_t count) {
  assert(count <= std::numeric_limits<std::uint32_t>::max());
  return static_cast<std::uint32_t>(count);
}

}  // namespace

Value::Value(std::string_view text) : kind_(Kind::string), count_(checked_count(text.size())) {
  data_.text = text.data();
}

Value::Value(std::span<const Value> items)
    : kind_(Kind::array), count_(checked_count(items.size())) {
  data_.items = items.data();
}

Value::Value(std::span<const Member> members)
    : kind_(Kind::object), count_(checked_count(members.size())) {
  data_.members = members.data();
}

const Value* Value::find(std::string_view name) const {
  if (!is_object()) return nullptr;
  for (const Member& member : object()) {
    if (member.name == name) return &member.value;
  }
  return nullptr;
}

const Value* Value::find(std::initializer_list<std::string_view> path) const {
  const Value* value = this;
  for (const std::string_view name : path) {
    value = value->find(name);
    if (value == nullptr) return nullptr;
  }
  return value;
}

std::string_view Value::text(std::string_view name) const {
  const Value* value = find(name);
  return value != nullptr && value->is_string() ? value->string() : std::string_view();
}

void* Arena::allocate(std::size_t bytes, std::size_t alignment) {
  while (true) {
    if (current_ < blocks_.size()) {
      Block& block = blocks_[current_];
      const std::size_t start = (used_ + alignment - 1) / alignment * alignment;
      if (start + bytes <= block.size) {
        used_ = start + bytes;
        return block.bytes.get() + start;
      }
      ++current_;
      used_ = 0;
      if (current_ < blocks_.size()) continue;
    }
    // Doubling keeps the number of blocks small however large the document.
    const std::size_t last = blocks_.empty() ? kFirstBlockBytes / 2 : blocks_.back().size;
    const std::size_t size = std::max(std::min(last * 2, kLargestBlockBytes), bytes + alignment);
    blocks_.push_back({std::make_unique_for_overwrite<std::byte[]>(size), size});
    current_ = blocks_.size() - 1;
    used_ = 0;
  }
}

void Arena::reset() {
  current_ = 0;
  used_ = 0;
}

std::string_view Arena::copy(std::string_view text) {
  if (text.empty()) return {};
  auto* target = static_cast<char*>(allocate(text.size(), 1));
  std::memcpy(target, text.data(), text.size());
  return {target, text.size()};
}

Value Arena::array(std::span<const Value> items) {
  if (items.empty()) return Value(std::span<const Value>());
  auto* target = static_cast<Value*>(allocate(items.size_bytes(), alignof(Value)));
  std::uninitialized_copy(items.begin(), items.end(), target);
  return Value(std::span<const Value>(target, items.size()));
}

Value Arena::object(std::span<const Member> members) {
  if (members.empty()) return Value(std::span<const Member>());
  auto* target = static_cast<Member*>(allocate(members.size_bytes(), alignof(Member)));
  std::uninitialized_copy(members.begin(), members.end(), target);
  return Value(std::span<const Member>(target, members.size()));
}

ObjectBuilder& ObjectBuilder::add(std::string_view name, Value value) {
  members_.push_back({name, value});
  return *this;
}

ObjectBuilder& ObjectBuilder::add(std::string_view name, std::string_view text) {
  return add(name, arena_.string(text));
}

ObjectBuilder& ObjectBuilder::add_if(bool present, std::string_view name, std::string_view text) {
  return present ? add(name, text) : *this;
}

}  // namespace kernelindex::json
