// SPDX-License-Identifier: Apache-2.0
#include "schema/json_schema.h"

#include <cmath>
#include <string>
#include <vector>

namespace kernelindex::schema {
namespace {

constexpr std::string_view kHttpsPattern = "^[hH][tT][tT][pP][sS]://";

class Printer {
 public:
  explicit Printer(json::Arena& arena) : arena_(arena) {}

  json::Value print(const Node& node) {
    json::ObjectBuilder out(arena_);
    describe(node, out);
    return out.finish();
  }

  // Adds the keywords of a node to an object.
  void describe(const Node& node, json::ObjectBuilder& out) {
    switch (node.type) {
      case Type::any:
        return;
      case Type::null:
        out.add("type", "null");
        return;
      case Type::boolean:
        out.add("type", "boolean");
        return;
      case Type::integer:
      case Type::number:
        number(node, out);
        return;
      case Type::string:
        text(node, out);
        return;
      case Type::enumeration:
        out.add("enum", texts(node.values));
        return;
      case Type::duration:
        number(integer(0), out);  // nanoseconds
        return;
      case Type::array:
        out.add("type", "array").add("items", print(node.parts[0]));
        counts(node, "minItems", "maxItems", out);
        if (node.set_like) out.add("uniqueItems", json::Value(true));
        return;
      case Type::tuple:
        out.add("type", "array").add("prefixItems", parts(node)).add("items", json::Value(false));
        out.add("minItems", count(node.parts.size()));
        return;
      case Type::map:
        out.add("type", "object").add("propertyNames", print(node.parts[0]));
        out.add("additionalProperties", print(node.parts[1]));
        counts(node, "minProperties", "maxProperties", out);
        return;
      case Type::object:
        object(node, out);
        return;
      case Type::any_of:
        out.add("anyOf", parts(node));
        return;
    }
  }

 private:
  static json::Value count(std::size_t value) { return json::Value(static_cast<double>(value)); }

  json::Value texts(std::span<const std::string_view> values) {
    std::vector<json::Value> items;
    for (const std::string_view value : values) items.push_back(arena_.string(value));
    return arena_.array(items);
  }

  json::Value parts(const Node& node) {
    std::vector<json::Value> items;
    for (const Node& part : node.parts) items.push_back(print(part));
    return arena_.array(items);
  }

  static void counts(const Node& node, std::string_view least, std::string_view most,
                     json::ObjectBuilder& out) {
    if (node.min_count > 0) out.add(least, count(node.min_count));
    if (node.max_count != kUnlimited) out.add(most, count(node.max_count));
  }

  static void number(const Node& node, json::ObjectBuilder& out) {
    out.add("type", node.type == Type::integer ? "integer" : "number");
    if (node.minimum == node.maximum) {
      out.add("const", json::Value(node.minimum));
      return;
    }
    if (std::isfinite(node.minimum)) {
      out.add(node.above_minimum ? "exclusiveMinimum" : "minimum", json::Value(node.minimum));
    }
    if (std::isfinite(node.maximum)) out.add("maximum", json::Value(node.maximum));
  }

  void text(const Node& node, json::ObjectBuilder& out) {
    out.add("type", "string");
    if (node.max_length != kUnlimited) out.add("maxLength", count(node.max_length));
    if (node.grammar == nullptr) return;
    // A grammar without an expression is that of URLs.
    out.add("pattern", arena_.string(node.grammar->expression.empty() ? kHttpsPattern
                                                                      : node.grammar->expression));
  }

  void object(const Node& node, json::ObjectBuilder& out) {
    json::ObjectBuilder properties(arena_);
    std::vector<json::Value> required;
    for (const Field& field : node.fields) {
      properties.add(field.name, print(field.node));
      if (field.required) required.push_back(arena_.string(field.name));
    }
    out.add("type", "object").add("properties", properties.finish());
    if (!required.empty()) out.add("required", arena_.array(required));
    out.add("additionalProperties", json::Value(false));
    if (node.rules.empty()) return;
    std::string comment;
    for (const Rule& rule : node.rules) {
      comment.append(comment.empty() ? "" : "; ").append(rule.message);
    }
    out.add("$comment", arena_.string(comment));
  }

  json::Arena& arena_;
};

}  // namespace

json::Value json_schema(const Node& node, json::Arena& arena) { return Printer(arena).print(node); }

json::Value json_schema_document(const Node& node, std::string_view id, std::string_view title,
                                 std::string_view description, json::Arena& arena) {
  json::ObjectBuilder out(arena);
  out.add("$schema", kJsonSchemaDialect)
      .add("$id", arena.string(id))
      .add("title", arena.string(title))
      .add("description", arena.string(description));
  Printer(arena).describe(node, out);
  return out.finish();
}

}  // namespace kernelindex::schema
