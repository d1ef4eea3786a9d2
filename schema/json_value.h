// SPDX-License-Identifier: Apache-2.0
// A JSON value as a small immutable tree whose nodes and strings lie in an Arena.
//
// Values are views: copy them freely, but never let one outlive its Arena. Objects keep the order
// of the document (the order of a kernel's inputs is the order of its arguments); canonical_json.h
// sorts when it prints.
#pragma once

#include <cassert>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace kernelindex::json {

enum class Kind : std::uint8_t { null, boolean, number, string, array, object };

struct Member;

class Value {
 public:
  Value() = default;
  explicit Value(bool value) : kind_(Kind::boolean) { data_.boolean = value; }
  explicit Value(double value) : kind_(Kind::number) { data_.number = value; }
  // Requires: the text outlives the value; Arena::string copies.
  explicit Value(std::string_view text);
  explicit Value(std::span<const Value> items);
  explicit Value(std::span<const Member> members);

  Kind kind() const { return kind_; }
  bool is_null() const { return kind_ == Kind::null; }
  bool is_boolean() const { return kind_ == Kind::boolean; }
  bool is_number() const { return kind_ == Kind::number; }
  bool is_string() const { return kind_ == Kind::string; }
  bool is_array() const { return kind_ == Kind::array; }
  bool is_object() const { return kind_ == Kind::object; }

  // Each requires the kind that it names.
  bool boolean() const { return assert(is_boolean()), data_.boolean; }
  double number() const { return assert(is_number()), data_.number; }
  std::string_view string() const {
    return assert(is_string()), std::string_view(data_.text, count_);
  }
  std::span<const Value> array() const {
    return assert(is_array()), std::span(data_.items, count_);
  }
  std::span<const Member> object() const;

  // The member of that name, or null when there is none or this is no object.
  const Value* find(std::string_view name) const;
  // find() along a path of member names.
  const Value* find(std::initializer_list<std::string_view> path) const;
  // The text of a string member; empty when it is absent or no string.
  std::string_view text(std::string_view name) const;

  // Where the value stood in the document it was read from, as byte offsets [begin, end); both 0
  // for a value that was built. The end of a container may include white space that follows it.
  std::uint32_t begin() const { return begin_; }
  std::uint32_t end() const { return end_; }
  void set_place(std::uint32_t begin, std::uint32_t end) {
    begin_ = begin;
    end_ = end;
  }

 private:
  Kind kind_ = Kind::null;
  std::uint32_t count_ = 0;  // of bytes, items or members
  std::uint32_t begin_ = 0;
  std::uint32_t end_ = 0;
  union {
    bool boolean;
    double number;
    const char* text;
    const Value* items;
    const Member* members;
  } data_{};
};

struct Member {
  std::string_view name;
  Value value;
};

// Owns the memory of values. Grows only; reset() makes all of it free again and keeps the blocks.
// Not for sharing between threads.
class Arena {
 public:
  Arena() = default;
  Arena(Arena&&) = default;
  Arena& operator=(Arena&&) = default;

  void* allocate(std::size_t bytes, std::size_t alignment);
  void reset();

  std::string_view copy(std::string_view text);
  Value string(std::string_view text) { return Value(copy(text)); }
  Value number(double value) { return Value(value); }
  Value array(std::span<const Value> items);
  Value array(std::initializer_list<Value> items) {
    return array(std::span(items.begin(), items.size()));
  }
  Value object(std::span<const Member> members);
  Value object(std::initializer_list<Member> members) {
    return object(std::span(members.begin(), members.size()));
  }

 private:
  struct Block {
    std::unique_ptr<std::byte[]> bytes;
    std::size_t size = 0;
  };
  std::vector<Block> blocks_;
  std::size_t current_ = 0;  // the block being filled
  std::size_t used_ = 0;     // bytes of it handed out
};

// Collects the members of an object; absent members are simply not added.
class ObjectBuilder {
 public:
  explicit ObjectBuilder(Arena& arena) : arena_(arena) {}
  ObjectBuilder& add(std::string_view name, Value value);
  ObjectBuilder& add(std::string_view name, std::string_view text);
  ObjectBuilder& add_if(bool present, std::string_view name, std::string_view text);
  bool empty() const { return members_.empty(); }
  Value finish() { return arena_.object(members_); }

 private:
  Arena& arena_;
  std::vector<Member> members_;
};

inline std::span<const Member> Value::object() const {
  return assert(is_object()), std::span(data_.members, count_);
}

}  // namespace kernelindex::json
