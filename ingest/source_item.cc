// SPDX-License-Identifier: Apache-2.0
#include "ingest/source_item.h"

#include <algorithm>
#include <cmath>

#include "ingest/text_cut.h"
#include "schema/limits.h"

namespace kernelindex::ingest {

using json::Kind;
using json::Value;

namespace {

constexpr std::size_t kShownUnits = 100;  // of a foreign name or value in a report

}  // namespace

bool is_safe_integer(double number) {
  return std::abs(number) <= limits::kSafeInteger && std::trunc(number) == number;
}

void DriftLog::set_place(std::string locator, std::string item) {
  locator_ = std::move(locator);
  item_ = std::move(item);
}

void DriftLog::unknown(std::string_view label, std::string_view member) {
  report("UNKNOWN_FIELD", std::string(label) + ": unknown upstream field '" +
                              std::string(first_utf16(member, kShownUnits)) + "'");
}

void DriftLog::unknown_value(std::string_view label, std::string_view member,
                             std::string_view value) {
  report("UNKNOWN_VALUE", std::string(label) + ": unknown upstream value '" +
                              std::string(first_utf16(value, kShownUnits)) + "' of '" +
                              std::string(member) + "'");
}

void DriftLog::report(std::string code, std::string what) {
  if (!said_.insert(what).second) return;
  sink_.finding({FindingClass::drift, locator_, item_, std::move(code), std::move(what)});
}

ItemReader::ItemReader(const Value& object, std::string place)
    : object_(object), place_(std::move(place)) {
  if (!object.is_object()) refuse({}, "an object");
}

const Value* ItemReader::take(std::string_view name) {
  asked_.push_back(name);
  const Value* value = object_.find(name);
  return value == nullptr || value->is_null() ? nullptr : value;
}

const Value* ItemReader::take_of_kind(std::string_view name, Kind kind, std::string_view expected,
                                      bool required) {
  const Value* value = take(name);
  if (value == nullptr ? required : value->kind() != kind) {
    refuse(name, expected);
    return nullptr;
  }
  return value;
}

std::string_view ItemReader::text(std::string_view name) {
  const Value* value = take_of_kind(name, Kind::string, "a text", true);
  return value == nullptr ? std::string_view() : value->string();
}

std::optional<std::string_view> ItemReader::optional_text(std::string_view name) {
  const Value* value = take_of_kind(name, Kind::string, "a text", false);
  return value == nullptr ? std::nullopt : std::optional(value->string());
}

std::optional<double> ItemReader::optional_number(std::string_view name) {
  const Value* value = take_of_kind(name, Kind::number, "a number", false);
  return value == nullptr ? std::nullopt : std::optional(value->number());
}

double ItemReader::integer(std::string_view name) {
  const Value* value = take_of_kind(name, Kind::number, "an integer", true);
  if (value != nullptr && !is_safe_integer(value->number())) refuse(name, "an integer");
  return value == nullptr ? 0 : value->number();
}

std::optional<double> ItemReader::optional_integer(std::string_view name) {
  const std::optional<double> number = optional_number(name);
  if (number && !is_safe_integer(*number)) refuse(name, "an integer");
  return number;
}

std::optional<bool> ItemReader::optional_boolean(std::string_view name) {
  const Value* value = take_of_kind(name, Kind::boolean, "true or false", false);
  return value == nullptr ? std::nullopt : std::optional(value->boolean());
}

const Value* ItemReader::object(std::string_view name) {
  return take_of_kind(name, Kind::object, "an object", true);
}

const Value* ItemReader::optional_object(std::string_view name) {
  return take_of_kind(name, Kind::object, "an object", false);
}

const Value* ItemReader::optional_array(std::string_view name) {
  return take_of_kind(name, Kind::array, "a list", false);
}

std::vector<std::string_view> ItemReader::texts(std::string_view name) {
  std::optional<std::vector<std::string_view>> found = optional_texts(name);
  if (!found) refuse(name, "a list of texts");
  return found.value_or(std::vector<std::string_view>());
}

std::optional<std::vector<std::string_view>> ItemReader::optional_texts(std::string_view name) {
  const Value* list = optional_array(name);
  if (list == nullptr) return std::nullopt;
  std::vector<std::string_view> out;
  for (const Value& item : list->array()) {
    if (!item.is_string()) {
      refuse(name, "a list of texts");
      break;
    }
    out.push_back(item.string());
  }
  return out;
}

const Value* ItemReader::any(std::string_view name) {
  asked_.push_back(name);
  return object_.find(name);
}

void ItemReader::ignore(std::initializer_list<std::string_view> names) {
  asked_.insert(asked_.end(), names);
}

void ItemReader::refuse(std::string_view name, std::string_view expectation) {
  const Value* found = name.empty() ? &object_ : object_.find(name);
  const bool missing = found == nullptr || (found->is_null() && !name.empty());
  refuse_part(std::string(name),
              (missing ? "missing: expected " : "expected ") + std::string(expectation));
}

void ItemReader::refuse_part(const std::string& path, std::string_view expectation) {
  if (fault_) return;
  std::string place = place_;
  if (!path.empty() && !place.empty()) place += '.';
  place += path;
  fault_ = Error{ErrorKind::invalid, "BAD_SHAPE", std::move(place), std::string(expectation), {}};
}

void ItemReader::report_unknown(std::string_view label, DriftLog& drift) const {
  if (!object_.is_object()) return;
  for (const json::Member& member : object_.object()) {
    if (std::ranges::find(asked_, member.name) == asked_.end()) drift.unknown(label, member.name);
  }
}

}  // namespace kernelindex::ingest
