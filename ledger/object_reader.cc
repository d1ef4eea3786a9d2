// SPDX-License-Identifier: Apache-2.0
#include "ledger/object_reader.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include "schema/limits.h"

namespace kernelindex {
namespace {

constexpr std::int64_t kSafeInteger = static_cast<std::int64_t>(limits::kSafeInteger);
const json::Value kNull;

}  // namespace

bool is_slug(std::string_view text, std::size_t bytes) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !text.empty() && text.size() <= bytes && letter(text.front()) &&
         std::ranges::all_of(text, [&](char c) { return letter(c) || c == '-'; });
}

ObjectReader::ObjectReader(const json::Value& object, std::string place)
    : object_(object), place_(std::move(place)) {
  if (!object.is_object()) {
    fault(Error{ErrorKind::invalid, "BAD_MEMBER", place_, "this must be an object", {}});
  }
}

const json::Value* ObjectReader::optional(std::string_view name) {
  asked_.push_back(name);
  return object_.find(name);
}

const json::Value& ObjectReader::required(std::string_view name) {
  const json::Value* value = optional(name);
  if (value == nullptr) {
    fault(name, "MISSING_MEMBER", "the member is missing");
    return kNull;
  }
  return *value;
}

std::string ObjectReader::text(std::string_view name, std::size_t bytes) {
  const json::Value& value = required(name);
  if (!value.is_string() || value.string().empty() || value.string().size() > bytes) {
    fault(name, "BAD_MEMBER", "this must be a text of 1 to " + std::to_string(bytes) + " bytes");
    return {};
  }
  return std::string(value.string());
}

std::string ObjectReader::optional_text(std::string_view name, std::size_t bytes) {
  return object_.find(name) != nullptr ? text(name, bytes)
                                       : (asked_.push_back(name), std::string());
}

std::string ObjectReader::slug(std::string_view name, std::size_t bytes) {
  std::string value = text(name, bytes);
  if (ok() && !is_slug(value, bytes)) {
    fault(name, "BAD_MEMBER", "this must be lower-case letters, digits and hyphens");
  }
  return value;
}

Digest ObjectReader::digest(std::string_view name) {
  const json::Value& value = required(name);
  const Result<Digest> digest = Digest::parse(value.is_string() ? value.string() : "");
  if (digest) return *digest;
  fault(name, "BAD_DIGEST", digest.error().message);
  return {};
}

std::optional<Digest> ObjectReader::optional_digest(std::string_view name) {
  if (object_.find(name) != nullptr) return digest(name);
  asked_.push_back(name);
  return std::nullopt;
}

Digest ObjectReader::hex_digest(std::string_view name) {
  const json::Value& value = required(name);
  const Result<Digest> digest = Digest::parse_hex(value.is_string() ? value.string() : "");
  if (digest) return *digest;
  fault(name, "BAD_DIGEST", digest.error().message);
  return {};
}

std::int64_t ObjectReader::integer(std::string_view name, std::int64_t low, std::int64_t high) {
  assert(low >= -kSafeInteger);
  assert(high <= kSafeInteger);
  const json::Value& value = required(name);
  if (value.is_number()) {
    const double number = value.number();
    // Compared as doubles first: converting one that is out of range is undefined.
    if (number >= static_cast<double>(low) && number <= static_cast<double>(high) &&
        number == std::trunc(number)) {
      return static_cast<std::int64_t>(number);
    }
  }
  fault(name, "BAD_MEMBER",
        "this must be an integer from " + std::to_string(low) + " to " + std::to_string(high));
  return low;
}

std::uint64_t ObjectReader::count(std::string_view name) {
  return static_cast<std::uint64_t>(integer(name, 0, kSafeInteger));
}

std::optional<std::uint64_t> ObjectReader::optional_count(std::string_view name) {
  if (object_.find(name) != nullptr) return count(name);
  asked_.push_back(name);
  return std::nullopt;
}

bool ObjectReader::boolean(std::string_view name) {
  const json::Value& value = required(name);
  if (value.is_boolean()) return value.boolean();
  fault(name, "BAD_MEMBER", "this must be true or false");
  return false;
}

std::span<const json::Value> ObjectReader::array(std::string_view name, std::size_t most,
                                                 bool is_required) {
  const json::Value* value = is_required ? &required(name) : optional(name);
  if (value == nullptr) return {};
  if (!value->is_array() || value->array().size() > most) {
    fault(name, "BAD_MEMBER", "this must be an array of at most " + std::to_string(most));
    return {};
  }
  return value->array();
}

void ObjectReader::expect_text(std::string_view name, std::string_view text) {
  const json::Value& value = required(name);
  if (value.is_string() && value.string() == text) return;
  fault(name, "BAD_MEMBER", "this must be \"" + std::string(text) + "\"");
}

std::string ObjectReader::place_of(std::string_view name) const {
  return place_.empty() ? std::string(name) : place_ + "." + std::string(name);
}

void ObjectReader::fault(std::string_view name, std::string_view code, std::string message,
                         std::string remedy) {
  fault(Error{ErrorKind::invalid, std::string(code), place_of(name), std::move(message),
              std::move(remedy)});
}

void ObjectReader::fault(Error error) {
  if (!error_) error_ = std::move(error);
}

Status ObjectReader::status() const {
  if (error_) return fail(*error_);
  return {};
}

Status ObjectReader::finish() {
  if (error_) return fail(*error_);
  for (const json::Member& member : object_.object()) {
    if (std::ranges::find(asked_, member.name) == asked_.end()) {
      return fail(ErrorKind::invalid, "UNKNOWN_MEMBER", place_of(member.name),
                  "the member is not one that this program knows");
    }
  }
  return {};
}

}  // namespace kernelindex
