// SPDX-License-Identifier: Apache-2.0
// The walk of a document along its schema; document_schema.h declares it.
#include <algorithm>
#include <cassert>
#include <cmath>
#include <optional>

#include "schema/canonical_json.h"
#include "schema/document_schema.h"

namespace kernelindex::schema {
namespace {

constexpr std::size_t kShownNameBytes = 80;  // of a member name in a path

std::string_view kind_text(json::Kind kind) {
  switch (kind) {
    case json::Kind::null:
      return "null";
    case json::Kind::boolean:
      return "true or false";
    case json::Kind::number:
      return "a number";
    case json::Kind::string:
      return "a string";
    case json::Kind::array:
      return "a list";
    case json::Kind::object:
      return "an object";
  }
  return {};
}

bool is_plain_name(std::string_view name) {
  return !name.empty() && name.size() <= kShownNameBytes && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
}

// Names from outside are data: quoted and cut unless they are plain.
void append_name(std::string_view name, std::string& path) {
  if (is_plain_name(name)) {
    if (!path.empty()) path += '.';
    path += name;
    return;
  }
  path += '[';
  if (name.size() > kShownNameBytes) {
    std::size_t cut = kShownNameBytes;
    while ((static_cast<unsigned char>(name[cut]) & 0xC0) == 0x80) --cut;  // not inside a character
    json::append_string(std::string(name.substr(0, cut)) + "...", path);
  } else {
    json::append_string(name, path);
  }
  path += ']';
}

// Where the walk stands: a chain of frames on the stack, turned into text only for a fault.
struct Place {
  const Place* parent = nullptr;
  std::string_view name;
  std::optional<std::size_t> index;  // of a list item, which has no name
};

void append_path(const Place& place, std::string& path) {
  if (place.parent == nullptr) {
    path += place.name;
    return;
  }
  append_path(*place.parent, path);
  if (place.index) {
    path.append("[").append(std::to_string(*place.index)).append("]");
  } else {
    append_name(place.name, path);
  }
}

// A member whose name another member has too, or null.
const json::Member* repeated_name(std::span<const json::Member> members) {
  constexpr std::size_t kPairwise = 12;  // below this comparing every pair is faster than sorting
  if (members.size() <= kPairwise) {
    for (std::size_t i = 1; i < members.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (members[i].name == members[j].name) return &members[i];
      }
    }
    return nullptr;
  }
  std::vector<const json::Member*> sorted;
  sorted.reserve(members.size());
  for (const json::Member& member : members) sorted.push_back(&member);
  std::ranges::sort(sorted, {}, &json::Member::name);
  const auto found = std::ranges::adjacent_find(sorted, {}, &json::Member::name);
  return found != sorted.end() ? *found : nullptr;
}

// A list of children that is copied only once one of them changes.
template <typename Child>
class Rewritten {
 public:
  explicit Rewritten(std::span<const Child> original) : original_(original) {}

  bool changed() const { return !copy_.empty(); }
  std::span<const Child> children() const {
    return changed() ? std::span<const Child>(copy_) : original_;
  }
  Child& at(std::size_t index) {
    if (copy_.empty()) copy_.assign(original_.begin(), original_.end());
    return copy_[index];
  }

 private:
  std::span<const Child> original_;
  std::vector<Child> copy_;
};

class Walk {
 public:
  Walk(json::Arena& arena, std::vector<Fault>& faults, std::size_t limit)
      : arena_(arena), faults_(faults), limit_(limit) {}

  // True when `value` was replaced by its normal form.
  bool visit(const Node& node, json::Value& value, const Place& place) {
    switch (node.type) {
      case Type::any:
        return false;
      case Type::null:
        if (!value.is_null()) wrong_type(node, value, place);
        return false;
      case Type::boolean:
        if (!value.is_boolean()) wrong_type(node, value, place);
        return false;
      case Type::integer:
      case Type::number:
        visit_number(node, value, place);
        return false;
      case Type::string:
        visit_string(node, value, place);
        return false;
      case Type::enumeration:
        visit_enumeration(node, value, place);
        return false;
      case Type::duration:
        return visit_duration(node, value, place);
      case Type::array:
        return visit_array(node, value, place);
      case Type::tuple:
        return visit_tuple(node, value, place);
      case Type::map:
        return visit_map(node, value, place);
      case Type::object:
        return visit_object(node, value, place);
      case Type::any_of:
        return visit_any_of(node, value, place);
    }
    return false;
  }

 private:
  // A walk that keeps no faults goes on to the first one.
  bool full() const { return count_ > 0 && count_ >= limit_; }

  // The message is a function, so that a fault which nobody reads costs no text.
  template <typename Message>
  void fault(const json::Value& value, const Place& place, std::string_view code,
             const Message& message) {
    if (count_++ >= limit_) return;
    std::string path;
    append_path(place, path);
    faults_.push_back({Error{ErrorKind::invalid, std::string(code), std::move(path), message(), {}},
                       value.begin()});
  }

  void wrong_type(const Node& node, const json::Value& value, const Place& place) {
    const std::string_view code = value.is_null() ? "NULL_FIELD" : "WRONG_TYPE";
    fault(value, place, code, [&] {
      return "must be " + describe(node) + ", not " + std::string(kind_text(value.kind())) +
             (value.is_null() ? "; leave an absent field out" : "");
    });
  }

  // Readers refuse duplicate names; a document that was built may have them, and would have no
  // canonical text.
  void duplicate(const json::Member& member, const Place& place) {
    fault(member.value, place, "DUPLICATE_KEY",
          [] { return std::string("the same name occurs twice in one object"); });
  }

  void visit_number(const Node& node, const json::Value& value, const Place& place) {
    if (!value.is_number()) return wrong_type(node, value, place);
    const double number = value.number();
    const bool sound = std::isfinite(number) && number <= node.maximum &&
                       (node.above_minimum ? number > node.minimum : number >= node.minimum) &&
                       (node.type == Type::number || number == std::trunc(number));
    if (sound) return;
    fault(value, place, "OUT_OF_RANGE", [&] {
      const bool safe = node.type == Type::number || std::abs(number) <= limits::kSafeInteger;
      return "must be " + describe(node) +
             (safe ? "" : " that binary64 holds exactly, at most 2^53 - 1");
    });
  }

  void visit_string(const Node& node, const json::Value& value, const Place& place) {
    if (!value.is_string()) return wrong_type(node, value, place);
    const std::string_view text = value.string();
    // A UTF-16 length is never above the UTF-8 length: most texts need no counting.
    if (text.size() > node.max_length && json::utf16_length(text) > node.max_length) {
      fault(value, place, "TOO_LONG", [&] {
        return "has " + std::to_string(json::utf16_length(text)) +
               " UTF-16 code units, more than the limit of " + std::to_string(node.max_length);
      });
    }
    if (node.grammar != nullptr && !node.grammar->matches(text)) {
      fault(value, place, "BAD_TEXT", [&] { return "must be " + describe(node); });
    }
  }

  void visit_enumeration(const Node& node, const json::Value& value, const Place& place) {
    if (!value.is_string()) return wrong_type(node, value, place);
    if (std::ranges::find(node.values, value.string()) == node.values.end()) {
      fault(value, place, "UNKNOWN_VALUE", [&] { return "must be " + describe(node); });
    }
  }

  bool visit_duration(const Node& node, json::Value& value, const Place& place) {
    if (value.is_number()) {
      static const Node nanoseconds = integer(0);
      visit_number(nanoseconds, value, place);
      return false;
    }
    if (!value.is_string()) return wrong_type(node, value, place), false;
    const DurationText text = parse_duration_text(value.string());
    if (!text.well_formed) {
      fault(value, place, "BAD_DURATION", [&] { return "must be " + describe(node); });
      return false;
    }
    if (!text.nanoseconds) {
      fault(value, place, "AMBIGUOUS_DURATION", [] {
        return std::string(
            "an ambiguous duration: number times unit is no whole count of nanoseconds in "
            "binary64");
      });
      return false;
    }
    replace(value, json::Value(*text.nanoseconds));
    return true;
  }

  void check_count(const Node& node, const json::Value& value, std::size_t count,
                   std::string_view what, const Place& place) {
    const auto text = [&](std::string_view relation, std::size_t limit) {
      return "has " + std::to_string(count) + " " + std::string(what) + ", " +
             std::string(relation) + " " + std::to_string(limit);
    };
    if (count < node.min_count) {
      fault(value, place, "TOO_FEW_ITEMS", [&] { return text("fewer than", node.min_count); });
    }
    if (count > node.max_count) {
      fault(value, place, "TOO_MANY_ITEMS",
            [&] { return text("more than the limit of", node.max_count); });
    }
  }

  bool visit_array(const Node& node, json::Value& value, const Place& place) {
    if (!value.is_array()) return wrong_type(node, value, place), false;
    const std::size_t before = count_;
    const std::span<const json::Value> items = value.array();
    check_count(node, value, items.size(), "items", place);
    Rewritten<json::Value> rewritten(items);
    for (std::size_t i = 0; i < items.size() && !full(); ++i) {
      json::Value item = items[i];
      if (visit(node.parts[0], item, {&place, {}, i})) rewritten.at(i) = item;
    }
    if (node.set_like && count_ == before) return make_set(value);
    if (rewritten.changed()) replace(value, arena_.array(rewritten.children()));
    return rewritten.changed();
  }

  // Duplicates go, the rest is sorted by UTF-16 code unit; a list that is so already is kept.
  bool make_set(json::Value& value) {
    const auto before = [](const json::Value& a, const json::Value& b) {
      return json::compare_utf16(a.string(), b.string()) < 0;
    };
    const auto not_before = [&](const json::Value& a, const json::Value& b) {
      return !before(a, b);
    };
    const std::span<const json::Value> items = value.array();
    if (std::ranges::adjacent_find(items, not_before) == items.end()) return false;
    std::vector<json::Value> sorted(items.begin(), items.end());
    std::ranges::stable_sort(sorted, before);
    const auto rest = std::ranges::unique(sorted, [](const json::Value& a, const json::Value& b) {
      return a.string() == b.string();
    });
    sorted.erase(rest.begin(), rest.end());
    replace(value, arena_.array(sorted));
    return true;
  }

  bool visit_tuple(const Node& node, json::Value& value, const Place& place) {
    if (!value.is_array()) return wrong_type(node, value, place), false;
    const std::span<const json::Value> items = value.array();
    if (items.size() != node.parts.size()) {
      fault(value, place, items.size() < node.parts.size() ? "TOO_FEW_ITEMS" : "TOO_MANY_ITEMS",
            [&] {
              return "has " + std::to_string(items.size()) + " items, not " +
                     std::to_string(node.parts.size());
            });
      return false;
    }
    Rewritten<json::Value> rewritten(items);
    for (std::size_t i = 0; i < items.size() && !full(); ++i) {
      json::Value item = items[i];
      if (visit(node.parts[i], item, {&place, {}, i})) rewritten.at(i) = item;
    }
    if (rewritten.changed()) replace(value, arena_.array(rewritten.children()));
    return rewritten.changed();
  }

  bool visit_map(const Node& node, json::Value& value, const Place& place) {
    if (!value.is_object()) return wrong_type(node, value, place), false;
    const std::span<const json::Member> members = value.object();
    if (const json::Member* repeated = repeated_name(members)) {
      duplicate(*repeated, {&place, repeated->name, {}});
    }
    check_count(node, value, members.size(), "members", place);
    Rewritten<json::Member> rewritten(members);
    for (std::size_t i = 0; i < members.size() && !full(); ++i) {
      const Place inside{&place, members[i].name, {}};
      json::Value name(members[i].name);
      name.set_place(members[i].value.begin(), members[i].value.begin());
      visit(node.parts[0], name, inside);
      json::Value child = members[i].value;
      if (visit(node.parts[1], child, inside)) rewritten.at(i).value = child;
    }
    if (rewritten.changed()) replace(value, arena_.object(rewritten.children()));
    return rewritten.changed();
  }

  bool visit_object(const Node& node, json::Value& value, const Place& place) {
    if (!value.is_object()) return wrong_type(node, value, place), false;
    const std::size_t before = count_;
    const std::span<const json::Member> members = value.object();
    Rewritten<json::Member> rewritten(members);
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < members.size() && !full(); ++i) {
      const Place inside{&place, members[i].name, {}};
      const auto field = std::ranges::find(node.fields, members[i].name, &Field::name);
      if (field == node.fields.end()) {
        fault(members[i].value, inside, "UNKNOWN_FIELD",
              [] { return std::string("an unknown field: this schema has no such member"); });
        continue;
      }
      const std::uint64_t bit = std::uint64_t{1} << (field - node.fields.begin());
      if ((seen & bit) != 0) duplicate(members[i], inside);
      seen |= bit;
      json::Value child = members[i].value;
      if (visit(field->node, child, inside)) rewritten.at(i).value = child;
    }
    for (std::size_t i = 0; i < node.fields.size(); ++i) {
      const Field& field = node.fields[i];
      if (!field.required || (seen >> i & 1) != 0) continue;
      fault(value, {&place, field.name, {}}, "MISSING_FIELD",
            [&] { return "is required: " + describe(field.node); });
    }
    if (rewritten.changed()) replace(value, arena_.object(rewritten.children()));
    for (const Rule& rule : node.rules) {
      if (count_ != before || rule.holds(value)) continue;
      fault(value, place, "RULE_BROKEN", [&] { return std::string(rule.message); });
    }
    return rewritten.changed();
  }

  bool visit_any_of(const Node& node, json::Value& value, const Place& place) {
    for (const Node& option : node.parts) {
      json::Value tried = value;
      Walk trial(arena_, faults_, 0);  // counts faults and keeps none
      const bool changed = trial.visit(option, tried, place);
      if (trial.count_ > 0) continue;
      value = tried;
      return changed;
    }
    if (value.is_null()) {
      wrong_type(node, value, place);
    } else {
      fault(value, place, "NO_ALTERNATIVE", [&] { return "must be " + describe(node); });
    }
    return false;
  }

  // A normalised value stands where the original stood.
  static void replace(json::Value& value, json::Value normal) {
    normal.set_place(value.begin(), value.end());
    value = normal;
  }

  json::Arena& arena_;
  std::vector<Fault>& faults_;
  std::size_t limit_;
  std::size_t count_ = 0;  // of faults found, kept or not
};

}  // namespace

json::Value check(const Node& node, const json::Value& value, json::Arena& arena,
                  std::vector<Fault>& faults, std::size_t limit, std::string_view path) {
  json::Value normal = value;
  Walk(arena, faults, limit).visit(node, normal, Place{nullptr, path, {}});
  // Missing fields are found last and stand at the beginning of their object.
  std::ranges::stable_sort(faults, {}, &Fault::offset);
  return normal;
}

}  // namespace kernelindex::schema
