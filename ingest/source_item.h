// SPDX-License-Identifier: Apache-2.0
// Reading one object of a foreign source: loosely, so that members we do not know are reported and
// no error; but never wrongly, so that a member of another type than the source documents is an
// error.
#pragma once

#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/draft.h"
#include "schema/json_value.h"
#include "schema/result.h"

namespace kernelindex::ingest {

// Members that a source has and we do not know, each said once however often it occurs.
class DriftLog {
 public:
  explicit DriftLog(DraftSink& sink) : sink_(sink) {}
  // Where the items that follow lie.
  void set_place(std::string locator, std::string item);
  // `label` is the kind of object, "submission".
  void unknown(std::string_view label, std::string_view member);
  // A text where the source documents a closed list.
  void unknown_value(std::string_view label, std::string_view member, std::string_view value);
  // Anything else that the source says of itself otherwise than documented.
  void report(std::string code, std::string what);

 private:
  DraftSink& sink_;
  std::set<std::string> said_;
  std::string locator_;
  std::string item_;
};

// Asks an object for its members one by one. The first that is missing or of a wrong type is the
// fault; what is asked for afterwards has no meaning. A null member counts as absent.
class ItemReader {
 public:
  // `place` names the object in a fault: "workloads[3].axes"; empty for the item itself.
  ItemReader(const json::Value& object, std::string place);

  std::string_view text(std::string_view name);  // required
  std::optional<std::string_view> optional_text(std::string_view name);
  std::optional<double> optional_number(std::string_view name);
  double integer(std::string_view name);  // required; |n| <= 2^53 - 1
  std::optional<double> optional_integer(std::string_view name);
  std::optional<bool> optional_boolean(std::string_view name);
  const json::Value* object(std::string_view name);  // required
  const json::Value* optional_object(std::string_view name);
  const json::Value* optional_array(std::string_view name);
  // Required; false when absent.
  std::vector<std::string_view> texts(std::string_view name);
  std::optional<std::vector<std::string_view>> optional_texts(std::string_view name);
  // Of any type, null too.
  const json::Value* any(std::string_view name);
  // Known and of no use to us.
  void ignore(std::initializer_list<std::string_view> names);

  // Keeps a fault found elsewhere, if it is the first: about a member, or about a part of one
  // ("axes.m").
  void refuse(std::string_view name, std::string_view expectation);
  void refuse_part(const std::string& path, std::string_view expectation);
  const std::optional<Error>& fault() const { return fault_; }

  // Reports the members that were not asked for.
  void report_unknown(std::string_view label, DriftLog& drift) const;

 private:
  // The member, or null when it is absent or null.
  const json::Value* take(std::string_view name);
  const json::Value* take_of_kind(std::string_view name, json::Kind kind, std::string_view expected,
                                  bool required);

  const json::Value& object_;
  std::string place_;
  std::vector<std::string_view> asked_;
  std::optional<Error> fault_;
};

// Whether a number is one of the integers that every reader of JSON agrees on.
bool is_safe_integer(double number);

}  // namespace kernelindex::ingest
