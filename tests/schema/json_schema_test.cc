// SPDX-License-Identifier: Apache-2.0
#include "schema/json_schema.h"

#include <gtest/gtest.h>

#include "schema/canonical_json.h"
#include "schema/manifest_schema.h"

namespace kernelindex::schema {
namespace {

std::string schema_of(const Node& node) {
  json::Arena arena;
  return json::canonical(json_schema(node, arena));
}

TEST(JsonSchema, EachWordOfTheLanguageHasItsKeywords) {
  EXPECT_EQ(schema_of(any()), "{}");
  EXPECT_EQ(schema_of(null()), R"({"type":"null"})");
  EXPECT_EQ(schema_of(boolean()), R"({"type":"boolean"})");
  EXPECT_EQ(schema_of(integer(1)), R"({"maximum":9007199254740991,"minimum":1,"type":"integer"})");
  EXPECT_EQ(schema_of(integer(8, 8)), R"({"const":8,"type":"integer"})");
  EXPECT_EQ(schema_of(number()), R"({"type":"number"})");
  EXPECT_EQ(schema_of(number_above(0)), R"({"exclusiveMinimum":0,"type":"number"})");
  EXPECT_EQ(schema_of(number_between(0, 1)), R"({"maximum":1,"minimum":0,"type":"number"})");
  EXPECT_EQ(schema_of(text()), R"({"type":"string"})");
  EXPECT_EQ(schema_of(text(kHex64, 64)),
            R"({"maxLength":64,"pattern":"^[0-9a-f]{64}$","type":"string"})");
  EXPECT_EQ(schema_of(text(kHttpsUrl)),
            R"({"pattern":"^[hH][tT][tT][pP][sS]://","type":"string"})");
  EXPECT_EQ(schema_of(one_of({"b", "a"})), R"({"enum":["b","a"]})");
  EXPECT_EQ(schema_of(duration()), R"({"maximum":9007199254740991,"minimum":0,"type":"integer"})");
  EXPECT_EQ(schema_of(list(null(), 1, 2)),
            R"({"items":{"type":"null"},"maxItems":2,"minItems":1,"type":"array"})");
  EXPECT_EQ(schema_of(set(text())),
            R"({"items":{"type":"string"},"type":"array","uniqueItems":true})");
  EXPECT_EQ(schema_of(tuple({null(), boolean()})),
            R"({"items":false,"minItems":2,"prefixItems":[{"type":"null"},{"type":"boolean"}],)"
            R"("type":"array"})");
  Node counts = map(text(3), integer(1, 1));
  counts.min_count = 1;
  counts.max_count = 2;
  EXPECT_EQ(schema_of(counts),
            R"({"additionalProperties":{"const":1,"type":"integer"},"maxProperties":2,)"
            R"("minProperties":1,"propertyNames":{"maxLength":3,"type":"string"},)"
            R"("type":"object"})");
  EXPECT_EQ(schema_of(any_of({null(), boolean()})),
            R"({"anyOf":[{"type":"null"},{"type":"boolean"}]})");
}

TEST(JsonSchema, ObjectsAreClosedAndTheirRulesAreToldInWords) {
  const auto holds = [](const json::Value&) { return true; };
  EXPECT_EQ(schema_of(object({required("b", null()), optional("a", boolean())},
                             {{"r1", "needs a", holds}, {"r2", "or b", holds}})),
            R"({"$comment":"needs a; or b","additionalProperties":false,)"
            R"("properties":{"a":{"type":"boolean"},"b":{"type":"null"}},"required":["b"],)"
            R"("type":"object"})");
  EXPECT_EQ(schema_of(object({})),
            R"({"additionalProperties":false,"properties":{},"type":"object"})");
}

TEST(JsonSchema, EveryKindOfManifestHasOne) {
  for (std::size_t i = 1; i <= kManifestKinds; ++i) {
    const auto kind = static_cast<ManifestKind>(i);
    json::Arena arena;
    const json::Value document =
        json_schema_document(document_schema(kind), "id", kind_name(kind), "about", arena);
    EXPECT_EQ(document.text("$schema"), kJsonSchemaDialect);
    EXPECT_EQ(document.text("title"), kind_name(kind));
    EXPECT_NE(document.find({"properties", "spec"}), nullptr) << kind_name(kind);
  }
}

}  // namespace
}  // namespace kernelindex::schema
