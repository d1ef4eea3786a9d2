// SPDX-License-Identifier: Apache-2.0
// Reads the members of a JSON object of a closed set, remembering the first thing that is wrong.
//
// Reading goes on after a fault with empty values, so that a reader is a straight list of members
// and one `finish()` at its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "schema/digest.h"
#include "schema/json_value.h"
#include "schema/result.h"

namespace kernelindex {

class ObjectReader {
 public:
  // `place` names the object in errors: "predicate.seen". Values that are no object are a fault.
  // Requires: `object` outlives this reader.
  ObjectReader(const json::Value& object, std::string place);

  // The member, or null when it is absent, which is no fault.
  const json::Value* optional(std::string_view name);
  // The member; absent is the fault MISSING_MEMBER and gives a JSON null.
  const json::Value& required(std::string_view name);

  // A text of 1..`bytes` bytes.
  std::string text(std::string_view name, std::size_t bytes);
  std::string optional_text(std::string_view name, std::size_t bytes);  // empty when absent
  // A text of [a-z0-9][a-z0-9-]*.
  std::string slug(std::string_view name, std::size_t bytes);
  // "sha256:" and 64 hex digits.
  Digest digest(std::string_view name);
  std::optional<Digest> optional_digest(std::string_view name);
  // 64 hex digits alone.
  Digest hex_digest(std::string_view name);
  // An integer in [low, high]. Requires: both are safe integers.
  std::int64_t integer(std::string_view name, std::int64_t low, std::int64_t high);
  // An index or a size: 0..2^53 - 1.
  std::uint64_t count(std::string_view name);
  std::optional<std::uint64_t> optional_count(std::string_view name);
  // true or false; false after a fault.
  bool boolean(std::string_view name);
  // The items of an array of at most `most`; empty when it is absent and `required` is false.
  std::span<const json::Value> array(std::string_view name, std::size_t most, bool required);
  // Requires that the member is exactly this text.
  void expect_text(std::string_view name, std::string_view text);

  // Where a member stands: "predicate.seen.root".
  std::string place_of(std::string_view name) const;
  // Records a fault unless there is one already.
  void fault(std::string_view name, std::string_view code, std::string message,
             std::string remedy = {});
  void fault(Error error);
  bool ok() const { return !error_.has_value(); }
  // The first fault, or success. Unlike finish() it lets unknown members be.
  Status status() const;

  // The first fault; else UNKNOWN_MEMBER when the object has a member that was never asked for.
  Status finish();

 private:
  const json::Value& object_;
  std::string place_;
  std::vector<std::string_view> asked_;
  std::optional<Error> error_;
};

// Whether a text is a slug: [a-z0-9][a-z0-9-]*, at most `bytes`.
bool is_slug(std::string_view text, std::size_t bytes);

}  // namespace kernelindex
