// SPDX-License-Identifier: Apache-2.0
#include "ledger/predicate_mutations.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "schema/canonical_json.h"
#include "schema/json_reader.h"

namespace kernelindex::test {
namespace {

// A JSON value that can be changed in place.
struct Tree {
  json::Kind kind = json::Kind::null;
  bool boolean = false;
  double number = 0;
  std::string text;
  std::vector<std::pair<std::string, Tree>> children;  // items have empty names
};

Tree tree_of(const json::Value& value) {
  Tree tree;
  tree.kind = value.kind();
  if (value.is_boolean()) tree.boolean = value.boolean();
  if (value.is_number()) tree.number = value.number();
  if (value.is_string()) tree.text = value.string();
  if (value.is_array()) {
    for (const json::Value& item : value.array()) tree.children.emplace_back("", tree_of(item));
  }
  if (value.is_object()) {
    for (const json::Member& member : value.object()) {
      tree.children.emplace_back(member.name, tree_of(member.value));
    }
  }
  return tree;
}

json::Value value_of(const Tree& tree, json::Arena& arena) {
  switch (tree.kind) {
    case json::Kind::null:
      return {};
    case json::Kind::boolean:
      return json::Value(tree.boolean);
    case json::Kind::number:
      return json::Value(tree.number);
    case json::Kind::string:
      return arena.string(tree.text);
    case json::Kind::array: {
      std::vector<json::Value> items;
      for (const auto& [name, child] : tree.children) items.push_back(value_of(child, arena));
      return arena.array(items);
    }
    case json::Kind::object: {
      std::vector<json::Member> members;
      for (const auto& [name, child] : tree.children) {
        members.push_back({arena.copy(name), value_of(child, arena)});
      }
      return arena.object(members);
    }
  }
  return {};
}

std::vector<Tree> one_of_each_kind() {
  std::vector<Tree> trees(6);
  trees[1].kind = json::Kind::boolean;
  trees[2].kind = json::Kind::number;
  trees[2].number = 1.5;
  trees[3].kind = json::Kind::string;
  trees[4].kind = json::Kind::array;
  trees[5].kind = json::Kind::object;
  return trees;
}

// Changes one place of a tree after another, hands out what results, and puts the place back.
class Spoiler {
 public:
  using Sink = std::function<void(Mutation::Kind, const std::string& path)>;

  explicit Spoiler(Sink sink) : sink_(std::move(sink)) {}

  void spoil(Tree& tree, const std::string& path) {
    for (const Tree& other : one_of_each_kind()) {
      if (other.kind == tree.kind) continue;
      const Tree kept = std::exchange(tree, other);
      sink_(Mutation::Kind::type, path);
      tree = kept;
    }
    if (tree.kind == json::Kind::string) spoil_text(tree, path);
    if (tree.kind == json::Kind::number) spoil_number(tree, path);
    if (tree.kind == json::Kind::object) spoil_object(tree, path);
    if (tree.kind == json::Kind::array) spoil_list(tree, path);
  }

 private:
  void spoil_text(Tree& tree, const std::string& path) {
    const std::string kept = tree.text;
    for (const std::string& other :
         {std::string(), kept + std::string(9000, 'x'), kept + "\x1B", kept + "\n", kept + " "}) {
      tree.text = other;
      sink_(Mutation::Kind::text, path);
    }
    tree.text = kept;
  }

  void spoil_number(Tree& tree, const std::string& path) {
    const double kept = tree.number;
    for (const double other : {-1.0, 0.5, 9007199254740992.0, 1e300}) {
      tree.number = other;
      sink_(Mutation::Kind::number, path);
    }
    tree.number = kept;
  }

  void spoil_object(Tree& tree, const std::string& path) {
    tree.children.emplace_back("unheardOf", Tree{});
    sink_(Mutation::Kind::unknown, path);
    tree.children.pop_back();
    for (std::size_t i = 0; i < tree.children.size(); ++i) {
      const std::string inside = path + "." + tree.children[i].first;
      const auto kept = tree.children;
      tree.children.erase(tree.children.begin() + static_cast<std::ptrdiff_t>(i));
      sink_(Mutation::Kind::missing, inside);
      tree.children = kept;
      spoil(tree.children[i].second, inside);
    }
  }

  void spoil_list(Tree& tree, const std::string& path) {
    const auto kept = tree.children;
    if (!kept.empty()) {
      tree.children.insert(tree.children.begin(), kept.front());
      sink_(Mutation::Kind::repeated, path);
      tree.children = kept;
    }
    if (kept.size() > 1) {
      std::ranges::reverse(tree.children);
      sink_(Mutation::Kind::reversed, path);
      tree.children = kept;
    }
    for (std::size_t i = 0; i < tree.children.size(); ++i) {
      spoil(tree.children[i].second, path + "[" + std::to_string(i) + "]");
    }
  }

  Sink sink_;
};

Tree& child(Tree& tree, std::string_view name) {
  return std::ranges::find(tree.children, name, &std::pair<std::string, Tree>::first)->second;
}

Tree parsed(const std::string& text) {
  json::Arena arena;
  return tree_of(json::parse(text, arena).value());
}

std::string printed(const Tree& tree) {
  json::Arena arena;
  return json::canonical(value_of(tree, arena));
}

}  // namespace

std::string name_of(const Mutation& mutation) {
  constexpr std::string_view kNames[] = {"missing", "unknown",  "type",    "text",
                                         "number",  "repeated", "reversed"};
  return std::string(kNames[static_cast<std::size_t>(mutation.kind)]) + " " + mutation.path;
}

std::vector<Mutation> mutations_of(const Attestation& attestation) {
  Tree statement = parsed(attestation.encode().value());
  Tree& predicate = child(statement, "predicate");
  std::vector<Mutation> mutations;
  Spoiler spoiler([&](Mutation::Kind kind, const std::string& path) {
    mutations.push_back({kind, path, printed(predicate), printed(statement)});
  });
  spoiler.spoil(predicate, "predicate");
  return mutations;
}

std::string predicate_of(const std::string& payload) {
  Tree statement = parsed(payload);
  return printed(child(statement, "predicate"));
}

}  // namespace kernelindex::test
