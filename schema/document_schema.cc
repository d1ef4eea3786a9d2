// SPDX-License-Identifier: Apache-2.0
#include "schema/document_schema.h"

#include <cassert>
#include <utility>

#include "schema/canonical_json.h"

namespace kernelindex::schema {
namespace {

constexpr std::size_t kMaxFields = 64;  // one bit each in the set of members that were seen

Node of_type(Type type) {
  Node node;
  node.type = type;
  return node;
}

std::string number_text(double number) {
  std::string out;
  json::append_number(number, out);
  return out;
}

std::string joined(const std::vector<std::string_view>& values) {
  std::string out;
  for (const std::string_view value : values) {
    if (!out.empty()) out += ", ";
    out += value;
  }
  return out;
}

// " from 0 to 1", " of at least 1", " above 0" or nothing.
std::string describe_range(const Node& node) {
  const double low = node.type == Type::integer ? -limits::kSafeInteger : -kInfinity;
  const double high = node.type == Type::integer ? limits::kSafeInteger : kInfinity;
  if (node.above_minimum) return " above " + number_text(node.minimum);
  if (node.minimum > low && node.maximum < high) {
    return " from " + number_text(node.minimum) + " to " + number_text(node.maximum);
  }
  if (node.minimum > low) return " of at least " + number_text(node.minimum);
  if (node.maximum < high) return " of at most " + number_text(node.maximum);
  return {};
}

}  // namespace

Node any() { return of_type(Type::any); }
Node null() { return of_type(Type::null); }
Node boolean() { return of_type(Type::boolean); }

Node integer(double minimum, double maximum) {
  assert(minimum >= -limits::kSafeInteger && maximum <= limits::kSafeInteger);
  Node node = of_type(Type::integer);
  node.minimum = minimum;
  node.maximum = maximum;
  return node;
}

Node number() { return of_type(Type::number); }

Node number_at_least(double minimum) {
  Node node = number();
  node.minimum = minimum;
  return node;
}

Node number_above(double minimum) {
  Node node = number_at_least(minimum);
  node.above_minimum = true;
  return node;
}

Node number_between(double minimum, double maximum) {
  Node node = number_at_least(minimum);
  node.maximum = maximum;
  return node;
}

Node text(std::size_t max_length) {
  Node node = of_type(Type::string);
  node.max_length = max_length;
  return node;
}

Node text(const Grammar& grammar, std::size_t max_length) {
  Node node = text(max_length);
  node.grammar = &grammar;
  return node;
}

Node one_of(std::initializer_list<std::string_view> values) {
  Node node = of_type(Type::enumeration);
  node.values = values;
  return node;
}

Node duration() { return of_type(Type::duration); }

Node list(Node item, std::size_t min_count, std::size_t max_count) {
  Node node = of_type(Type::array);
  node.min_count = min_count;
  node.max_count = max_count;
  node.parts.push_back(std::move(item));
  return node;
}

Node set(Node item) {
  assert(item.type == Type::string || item.type == Type::enumeration);
  Node node = list(std::move(item));
  node.set_like = true;
  return node;
}

Node tuple(std::initializer_list<Node> items) {
  Node node = of_type(Type::tuple);
  node.parts = items;
  return node;
}

Node map(Node name, Node value) {
  assert(name.type == Type::string || name.type == Type::enumeration);
  Node node = of_type(Type::map);
  node.parts.push_back(std::move(name));
  node.parts.push_back(std::move(value));
  return node;
}

Node object(std::initializer_list<Field> fields, std::initializer_list<Rule> rules) {
  assert(fields.size() <= kMaxFields);
  Node node = of_type(Type::object);
  node.fields = fields;
  node.rules = rules;
  return node;
}

Node any_of(std::initializer_list<Node> options) {
  assert(options.size() > 0);
  Node node = of_type(Type::any_of);
  node.parts = options;
  return node;
}

Field required(std::string_view name, Node node) { return {name, true, std::move(node)}; }
Field optional(std::string_view name, Node node) { return {name, false, std::move(node)}; }

std::string describe(const Node& node) {
  switch (node.type) {
    case Type::any:
      return "any value";
    case Type::null:
      return "null";
    case Type::boolean:
      return "true or false";
    case Type::integer:
      return "an integer" + describe_range(node);
    case Type::number:
      return "a number" + describe_range(node);
    case Type::string:
      return node.grammar != nullptr ? std::string(node.grammar->phrase) : "a string";
    case Type::enumeration:
      return (node.values.size() == 1 ? "" : "one of ") + joined(node.values);
    case Type::duration:
      return "a duration, nanoseconds or a text such as \"8.5 us\"";
    case Type::array:
      return "a list";
    case Type::tuple:
      return "a list of " + std::to_string(node.parts.size());
    case Type::map:
    case Type::object:
      return "an object";
    case Type::any_of:
      break;
  }
  std::string out;
  for (const Node& option : node.parts) out += (out.empty() ? "" : ", or ") + describe(option);
  return out;
}

}  // namespace kernelindex::schema
