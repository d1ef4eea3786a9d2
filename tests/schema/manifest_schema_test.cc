// SPDX-License-Identifier: Apache-2.0
// Our schemas against the machine-readable table, which was compared with the forerunner's own JSON
// Schemas: the same nodes, limits, patterns and rules, nothing more and nothing less.
#include "schema/manifest_schema.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "schema/canonical_json.h"
#include "schema/json_reader.h"
#include "support/corpus.h"

namespace kernelindex::schema {
namespace {

std::string_view type_name(Type type) {
  switch (type) {
    case Type::boolean:
      return "boolean";
    case Type::integer:
      return "integer";
    case Type::number:
      return "number";
    case Type::string:
      return "string";
    case Type::enumeration:
      return "enum";
    case Type::duration:
      return "durationNs";
    case Type::array:
      return "array";
    case Type::tuple:
      return "tuple";
    case Type::map:
      return "map";
    case Type::object:
      return "object";
    case Type::any_of:
      return "anyOf";
    case Type::any:
    case Type::null:
      break;
  }
  return "not in the table";
}

// Walks the table and our nodes side by side.
class Comparison {
 public:
  void compare(const json::Value& row, const Node& node, const std::string& path) {
    SCOPED_TRACE(path);
    ++nodes_;
    EXPECT_EQ(row.text("type"), type_name(node.type));
    compare_bounds(row, node);
    compare_text(row, node);
    std::vector<std::string_view> rules;
    for (const Rule& rule : node.rules) rules.push_back(rule.name);
    EXPECT_EQ(strings(row.find("rules")), rules);
    EXPECT_EQ(strings(row.find("values")), node.values);
    compare_parts(row, node, path);
  }

  std::size_t nodes() const { return nodes_; }

 private:
  static std::vector<std::string_view> strings(const json::Value* list) {
    std::vector<std::string_view> out;
    if (list == nullptr) return out;
    for (const json::Value& item : list->array()) out.push_back(item.string());
    return out;
  }

  static double number(const json::Value& row, std::string_view name, double otherwise) {
    const json::Value* value = row.find(name);
    return value != nullptr ? value->number() : otherwise;
  }

  static void compare_bounds(const json::Value& row, const Node& node) {
    if (node.type == Type::array) {
      EXPECT_EQ(number(row, "min", 0), static_cast<double>(node.min_count));
      EXPECT_EQ(number(row, "max", static_cast<double>(kUnlimited)),
                static_cast<double>(node.max_count));
      const json::Value* set_like = row.find("setLike");
      EXPECT_EQ(set_like != nullptr && set_like->boolean(), node.set_like);
      return;
    }
    const json::Value* exclusive = row.find("exclusiveMin");
    EXPECT_EQ(exclusive != nullptr, node.above_minimum);
    EXPECT_EQ(exclusive != nullptr ? exclusive->number() : number(row, "min", -kInfinity),
              node.minimum);
    EXPECT_EQ(number(row, "max", kInfinity), node.maximum);
  }

  static void compare_text(const json::Value& row, const Node& node) {
    EXPECT_EQ(number(row, "maxUtf16", static_cast<double>(kUnlimited)),
              static_cast<double>(node.max_length));
    if (row.find("format") != nullptr) {
      ASSERT_NE(node.grammar, nullptr);
      EXPECT_EQ(row.text("format"), node.grammar->name);
      return;
    }
    EXPECT_EQ(row.find("pattern") != nullptr, node.grammar != nullptr);
    if (node.grammar == nullptr) return;
    EXPECT_EQ(row.text("pattern"), node.grammar->expression);
    EXPECT_EQ(row.text("name"), node.grammar->name);
  }

  void compare_parts(const json::Value& row, const Node& node, const std::string& path) {
    if (node.type == Type::array) return compare(*row.find("item"), node.parts[0], path + "[]");
    if (node.type == Type::map) {
      compare(*row.find("key"), node.parts[0], path + "{key}");
      return compare(*row.find("value"), node.parts[1], path + "{}");
    }
    if (node.type == Type::tuple || node.type == Type::any_of) {
      const auto parts = row.find(node.type == Type::tuple ? "items" : "options")->array();
      ASSERT_EQ(parts.size(), node.parts.size());
      for (std::size_t i = 0; i < parts.size(); ++i) {
        compare(parts[i], node.parts[i], path + "[" + std::to_string(i) + "]");
      }
      return;
    }
    if (node.type != Type::object) return;
    const auto fields = row.find("fields")->object();
    ASSERT_EQ(fields.size(), node.fields.size());
    for (std::size_t i = 0; i < fields.size(); ++i) {
      EXPECT_EQ(fields[i].name, node.fields[i].name);
      EXPECT_EQ(fields[i].value.find("required")->boolean(), node.fields[i].required)
          << path << "." << fields[i].name;
      compare(fields[i].value, node.fields[i].node, path + "." + std::string(fields[i].name));
    }
  }

  std::size_t nodes_ = 0;
};

// Every member name of the table that a comparison looks at; a new one would pass unseen.
void collect_names(const json::Value& row, std::set<std::string_view>& names) {
  if (row.is_array()) {
    for (const json::Value& item : row.array()) collect_names(item, names);
  }
  if (!row.is_object()) return;
  const bool is_node = row.find("type") != nullptr && row.find("type")->is_string();
  for (const json::Member& member : row.object()) {
    if (is_node) names.insert(member.name);
    collect_names(member.value, names);
  }
}

class ManifestSchemaTable : public testing::Test {
 protected:
  void SetUp() override {
    KERNELINDEX_REQUIRE_CORPUS();
    const std::string text = test::read_file(test::corpus_path("data/tables/manifest_schema.json"));
    Result<json::Value> parsed = json::parse(text, arena_, {limits::kSourceJsonBytes});
    ASSERT_TRUE(parsed.has_value());
    table_ = *parsed;
  }

  json::Arena arena_;
  json::Value table_;
};

TEST_F(ManifestSchemaTable, EveryNodeOfEveryKindEqualsTheTable) {
  Comparison comparison;
  const auto kinds = table_.find("kinds")->object();
  ASSERT_EQ(kinds.size(), kManifestKinds);
  for (const json::Member& kind : kinds) {
    const std::optional<ManifestKind> known = kind_from_name(kind.name);
    ASSERT_TRUE(known.has_value()) << kind.name;
    comparison.compare(kind.value, spec_schema(*known), std::string(kind.name));
    const Field& metadata = document_schema(*known).fields[2];
    ASSERT_EQ(metadata.name, "metadata");
    comparison.compare(*table_.find("metadata"), metadata.node, "metadata");
  }
  EXPECT_EQ(comparison.nodes(), 565u);
}

TEST_F(ManifestSchemaTable, TheTableSaysNothingThatIsNotCompared) {
  std::set<std::string_view> names;
  collect_names(*table_.find("kinds"), names);
  collect_names(*table_.find("metadata"), names);
  const std::set<std::string_view> compared = {
      "type", "fields",  "required", "rules",   "item",   "min",
      "max",  "setLike", "key",      "value",   "values", "pattern",
      "name", "format",  "maxUtf16", "options", "items",  "exclusiveMin"};
  EXPECT_EQ(names, compared);
}

TEST_F(ManifestSchemaTable, TheEnvelopeHasTheMembersOfTheTableAndNoOthers) {
  std::vector<std::string_view> expected;
  for (const json::Value& name : table_.find("envelope")->array()) {
    expected.push_back(name.string());
  }
  EXPECT_EQ(table_.text("apiVersion"), kApiVersion);
  for (std::size_t i = 1; i <= kManifestKinds; ++i) {
    std::vector<std::string_view> found;
    for (const Field& field : document_schema(static_cast<ManifestKind>(i)).fields) {
      EXPECT_TRUE(field.required);
      found.push_back(field.name);
    }
    EXPECT_EQ(found, expected);
  }
}

}  // namespace
}  // namespace kernelindex::schema
