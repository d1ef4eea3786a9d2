// SPDX-License-Identifier: Apache-2.0
#include "schema/document_schema.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "schema/canonical_json.h"
#include "schema/json_reader.h"

namespace kernelindex::schema {
namespace {

struct Checked {
  std::string canonical;            // of the normal form, when there are no faults
  std::vector<std::string> faults;  // "place CODE"
  std::vector<std::string> messages;
  bool shared = false;  // the normal form is the very same tree
};

Checked check_text(const Node& node, std::string_view text, std::size_t limit = 10) {
  json::Arena arena;
  const Result<json::Value> value = json::parse(text, arena);
  if (!value) return {value.error().text(), {}, {}, false};
  std::vector<Fault> faults;
  const json::Value normal = check(node, *value, arena, faults, limit);
  Checked out;
  for (const Fault& fault : faults) {
    out.faults.push_back(fault.error.place + " " + fault.error.code);
    out.messages.push_back(fault.error.message);
  }
  if (faults.empty()) out.canonical = json::canonical(normal);
  out.shared = normal.is_object() && normal.object().data() == value->object().data();
  return out;
}

using Faults = std::vector<std::string>;

Faults faults_of(const Node& node, std::string_view text, std::size_t limit = 10) {
  return check_text(node, text, limit).faults;
}

const Node& sample() {
  static const Node node =
      object({required("name", text(kToken)), optional("size", integer(1)),
              optional("items", list(object({optional("x", number_between(0, 1))}), 1, 2)),
              optional("labels", map(text(kToken), text(3))), optional("time", duration()),
              optional("tags", set(text())), optional("pair", tuple({integer(), boolean()})),
              optional("either", any_of({integer(0), text(kToken)})),
              optional("mode", one_of({"a", "b"}))},
             {{"no-size-b", "mode b has no size", [](const json::Value& value) {
                 return value.text("mode") != "b" || value.find("size") == nullptr;
               }}});
  return node;
}

TEST(DocumentSchema, ASoundDocumentIsGivenBackAsItIs) {
  const Checked checked = check_text(
      sample(),
      R"({"name":"n","size":1,"items":[{"x":0},{}],"labels":{"a":"abc"},"time":5,"tags":["a","b"],)"
      R"("pair":[1,true],"either":"m","mode":"a"})");
  EXPECT_EQ(checked.faults, Faults{});
  EXPECT_TRUE(checked.shared) << "nothing changed, so nothing is copied";
}

TEST(DocumentSchema, UnknownFieldsAreRefusedWithTheirPath) {
  EXPECT_EQ(faults_of(sample(), R"({"name":"n","foo":1})"), Faults{"foo UNKNOWN_FIELD"});
  EXPECT_EQ(faults_of(sample(), R"({"name":"n","items":[{},{"y":1}]})"),
            Faults{"items[1].y UNKNOWN_FIELD"});
}

TEST(DocumentSchema, MapsAreCounted) {
  Node node = map(text(), null());
  node.min_count = 1;
  node.max_count = 2;
  EXPECT_EQ(faults_of(node, "{}"), Faults{" TOO_FEW_ITEMS"});
  EXPECT_EQ(faults_of(node, R"({"a":null,"b":null})"), Faults{});
  EXPECT_EQ(faults_of(node, R"({"a":null,"b":null,"c":null})"), Faults{" TOO_MANY_ITEMS"});
}

TEST(DocumentSchema, PathsQuoteNamesThatAreNotPlain) {
  EXPECT_EQ(faults_of(sample(), R"({"name":"n","a b":1})"), Faults{"[\"a b\"] UNKNOWN_FIELD"});
  EXPECT_EQ(faults_of(sample(), R"({"name":"n","labels":{"\n":"x"}})"),
            Faults{"labels[\"\\n\"] BAD_TEXT"});
  const std::string path =
      faults_of(sample(), R"({"name":"n",")" + std::string(5000, 'x') + "\":1}")[0];
  EXPECT_LT(path.size(), 120u) << "a name from outside is cut";
}

TEST(DocumentSchema, NullIsNeverAccepted) {
  for (const std::string_view name :
       {"name", "size", "items", "labels", "time", "tags", "pair", "either", "mode"}) {
    std::string text = name == "name" ? "{" : R"({"name":"n",)";
    text += "\"" + std::string(name) + "\":null}";
    EXPECT_EQ(faults_of(sample(), text), Faults{std::string(name) + " NULL_FIELD"});
  }
  EXPECT_EQ(faults_of(any_of({null(), integer()}), "null"), Faults{}) << "unless it is named";
}

TEST(DocumentSchema, IntegersAreSafeWholeAndInRange) {
  EXPECT_EQ(faults_of(integer(), "9007199254740991"), Faults{});
  EXPECT_EQ(faults_of(integer(), "-9007199254740991"), Faults{});
  EXPECT_EQ(faults_of(integer(), "8.0"), Faults{});
  EXPECT_EQ(faults_of(integer(), "8e0"), Faults{});
  for (const std::string_view text : {"9007199254740992", "-9007199254740992", "1.5", "1e300"}) {
    EXPECT_EQ(faults_of(integer(), text), Faults{" OUT_OF_RANGE"}) << text;
  }
  EXPECT_EQ(faults_of(integer(1), "0"), Faults{" OUT_OF_RANGE"});
  EXPECT_EQ(faults_of(integer(0, 7), "8"), Faults{" OUT_OF_RANGE"});
  EXPECT_EQ(faults_of(integer(), "\"1\""), Faults{" WRONG_TYPE"});
}

TEST(DocumentSchema, NumbersKeepTheirBounds) {
  EXPECT_EQ(faults_of(number_between(0, 1), "1"), Faults{});
  EXPECT_EQ(faults_of(number_between(0, 1), "1.0000000000000002"), Faults{" OUT_OF_RANGE"});
  EXPECT_EQ(faults_of(number_above(0), "5e-324"), Faults{});
  EXPECT_EQ(faults_of(number_above(0), "0"), Faults{" OUT_OF_RANGE"});
  EXPECT_EQ(faults_of(number_at_least(0), "-0"), Faults{});
  EXPECT_EQ(faults_of(number(), "true"), Faults{" WRONG_TYPE"});
}

TEST(DocumentSchema, TextLimitsCountUtf16CodeUnits) {
  EXPECT_EQ(faults_of(text(2), "\"\xF0\x9F\x98\x82\""), Faults{});
  EXPECT_EQ(faults_of(text(1), "\"\xF0\x9F\x98\x82\""), Faults{" TOO_LONG"});
  EXPECT_EQ(faults_of(text(3), "\"\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\""), Faults{});
  EXPECT_EQ(faults_of(text(2), "\"abc\""), Faults{" TOO_LONG"});
}

TEST(DocumentSchema, ListsKeepTheirCounts) {
  EXPECT_EQ(faults_of(sample(), R"({"name":"n","items":[]})"), Faults{"items TOO_FEW_ITEMS"});
  EXPECT_EQ(faults_of(sample(), R"({"name":"n","items":[{},{},{}]})"),
            Faults{"items TOO_MANY_ITEMS"});
  EXPECT_EQ(faults_of(sample(), R"({"name":"n","pair":[1]})"), Faults{"pair TOO_FEW_ITEMS"});
  EXPECT_EQ(faults_of(sample(), R"({"name":"n","pair":[1,true,2]})"),
            Faults{"pair TOO_MANY_ITEMS"});
  EXPECT_EQ(faults_of(sample(), R"({"name":"n","pair":[true,1]})"),
            (Faults{"pair[0] WRONG_TYPE", "pair[1] WRONG_TYPE"}));
}

TEST(DocumentSchema, AlternativesAreTriedInOrder) {
  EXPECT_EQ(faults_of(sample(), R"({"name":"n","either":3})"), Faults{});
  EXPECT_EQ(faults_of(sample(), R"({"name":"n","either":-1})"), Faults{"either NO_ALTERNATIVE"});
  const Node nested = any_of({list(duration()), duration()});
  EXPECT_EQ(check_text(nested, R"(["1 us",2])").canonical, "[1000,2]");
  EXPECT_EQ(check_text(nested, R"("1 us")").canonical, "1000");
  EXPECT_EQ(faults_of(nested, R"(["x"])"), Faults{" NO_ALTERNATIVE"});
}

TEST(DocumentSchema, DurationsBecomeIntegersWhereverTheyStand) {
  EXPECT_EQ(check_text(sample(), R"({"time":"1.5 ms","name":"n"})").canonical,
            R"({"name":"n","time":1500000})");
  EXPECT_EQ(
      check_text(map(text(), list(tuple({duration(), text()}))), R"({"a":[["2 s","x"],[1,"y"]]})")
          .canonical,
      R"({"a":[[2000000000,"x"],[1,"y"]]})");
  EXPECT_EQ(faults_of(sample(), R"({"name":"n","time":-1})"), Faults{"time OUT_OF_RANGE"});
  EXPECT_EQ(faults_of(sample(), R"({"name":"n","time":0.5})"), Faults{"time OUT_OF_RANGE"});
  EXPECT_EQ(faults_of(sample(), R"({"name":"n","time":"soon"})"), Faults{"time BAD_DURATION"});
  EXPECT_EQ(faults_of(sample(), R"({"name":"n","time":"1.001 us"})"),
            Faults{"time AMBIGUOUS_DURATION"});
}

TEST(DocumentSchema, SetsAreSortedByUtf16CodeUnitWithoutDuplicates) {
  EXPECT_EQ(check_text(set(text()), R"(["b","a","b","B"])").canonical, R"(["B","a","b"])");
  EXPECT_EQ(check_text(set(text()), "[\"\xEF\xAC\xB3\",\"\xF0\x9F\x98\x82\"]").canonical,
            "[\"\xF0\x9F\x98\x82\",\"\xEF\xAC\xB3\"]");
  EXPECT_EQ(check_text(set(text()), "[]").canonical, "[]");
  EXPECT_EQ(faults_of(set(text(kToken)), R"(["a","A"])"), Faults{"[1] BAD_TEXT"});
}

TEST(DocumentSchema, ABuiltDocumentWithARepeatedNameIsRefused) {
  json::Arena arena;
  std::vector<json::Member> labels;
  for (int i = 0; i < 30; ++i)
    labels.push_back({arena.copy("k" + std::to_string(i)), arena.string("v")});
  const auto faults_with = [&](const json::Value& document) {
    std::vector<Fault> faults;
    check(sample(), document, arena, faults);
    return faults.empty() ? "" : faults[0].error.place + " " + faults[0].error.code;
  };
  const json::Value name = arena.string("n");
  EXPECT_EQ(faults_with(arena.object({{"name", name}, {"labels", arena.object(labels)}})), "");
  labels.push_back({"k7", arena.string("v")});
  EXPECT_EQ(faults_with(arena.object({{"name", name}, {"labels", arena.object(labels)}})),
            "labels.k7 DUPLICATE_KEY");
  const json::Value two = arena.object({{"a", name}, {"a", name}});
  EXPECT_EQ(faults_with(arena.object({{"name", name}, {"labels", two}})), "labels.a DUPLICATE_KEY");
  EXPECT_EQ(faults_with(arena.object({{"name", name}, {"name", name}})), "name DUPLICATE_KEY");
}

TEST(DocumentSchema, RulesAreAskedOfSoundObjects) {
  EXPECT_EQ(faults_of(sample(), R"({"name":"n","mode":"b","size":2})"), Faults{" RULE_BROKEN"});
  EXPECT_EQ(faults_of(sample(), R"({"name":"n","mode":"b","size":0})"),
            Faults{"size OUT_OF_RANGE"});
}

TEST(DocumentSchema, AllFaultsComeInTheOrderOfTheDocumentUpToTheLimit) {
  const std::string text = R"({"size":0,"mode":"c","items":[{"x":2},{"z":1}],"either":true})";
  EXPECT_EQ(
      faults_of(sample(), text),
      (Faults{"name MISSING_FIELD", "size OUT_OF_RANGE", "mode UNKNOWN_VALUE",
              "items[0].x OUT_OF_RANGE", "items[1].z UNKNOWN_FIELD", "either NO_ALTERNATIVE"}));
  EXPECT_EQ(faults_of(sample(), text, 2), (Faults{"size OUT_OF_RANGE", "mode UNKNOWN_VALUE"}));
}

TEST(DocumentSchema, MessagesSayWhatToWrite) {
  EXPECT_EQ(describe(integer(1)), "an integer of at least 1");
  EXPECT_EQ(describe(integer()), "an integer");
  EXPECT_EQ(describe(number_above(0)), "a number above 0");
  EXPECT_EQ(describe(number_between(0, 1)), "a number from 0 to 1");
  EXPECT_EQ(describe(one_of({"a", "b"})), "one of a, b");
  EXPECT_EQ(describe(any_of({integer(0), boolean()})),
            "an integer of at least 0, or true or false");
  EXPECT_EQ(check_text(sample(), R"({"name":3})").messages[0],
            "must be a token, a lower-case letter and then letters, digits or _, not a number");
}

}  // namespace
}  // namespace kernelindex::schema
