// SPDX-License-Identifier: Apache-2.0
// A small language for strict document schemas: what a JSON value must look like, said as data.
//
// Strict means: unknown members are refused at every level, null is refused wherever it is not
// named, and every fault carries the path of its field. Checking also normalises: durations become
// integer nanoseconds, set-like lists are sorted without duplicates. manifest_schema.cc is written
// in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "schema/grammar.h"
#include "schema/json_value.h"
#include "schema/limits.h"
#include "schema/result.h"

namespace kernelindex::schema {

enum class Type : std::uint8_t {
  any,  // whatever JSON has
  null,
  boolean,
  integer,      // a safe integer in [minimum, maximum]
  number,       // in [minimum, maximum], or above minimum
  string,       // of a grammar, of at most max_length UTF-16 code units
  enumeration,  // one of `values`
  duration,     // nanoseconds, or a text such as "8.5 us"; becomes the integer
  array,        // parts[0] is the item
  tuple,        // `parts` in order
  map,          // parts[0] is the name, parts[1] the value of each member
  object,       // `fields`
  any_of,       // the first of `parts` that fits
};

struct Field;

// A rule about an object as a whole, asked once its fields are sound.
struct Rule {
  std::string_view name;     // "exactly-one-of-tensor-scalar"
  std::string_view message;  // "needs exactly one of tensor, scalar"
  bool (*holds)(const json::Value& object);
};

inline constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Node {
  Type type = Type::any;
  double minimum = -kInfinity;
  double maximum = kInfinity;
  bool above_minimum = false;  // the minimum itself is refused
  bool set_like = false;       // arrays of strings only
  std::size_t min_count = 0;   // items of an array, members of a map
  std::size_t max_count = kUnlimited;
  std::size_t max_length = kUnlimited;
  const Grammar* grammar = nullptr;  // null: any text
  std::vector<std::string_view> values;
  std::vector<Node> parts;
  std::vector<Field> fields;
  std::vector<Rule> rules;
};

struct Field {
  std::string_view name;
  bool required = false;
  Node node;
};

// The words of the language. Names and grammars must outlive the nodes: use literals.
Node any();
Node null();
Node boolean();
Node integer(double minimum = -limits::kSafeInteger, double maximum = limits::kSafeInteger);
Node number();
Node number_at_least(double minimum);
Node number_above(double minimum);
Node number_between(double minimum, double maximum);
Node text(std::size_t max_length = kUnlimited);
Node text(const Grammar& grammar, std::size_t max_length = kUnlimited);
Node one_of(std::initializer_list<std::string_view> values);
Node duration();
Node list(Node item, std::size_t min_count = 0, std::size_t max_count = kUnlimited);
Node set(Node item);
Node tuple(std::initializer_list<Node> items);
Node map(Node name, Node value);
Node object(std::initializer_list<Field> fields, std::initializer_list<Rule> rules = {});
Node any_of(std::initializer_list<Node> options);
Field required(std::string_view name, Node node);
Field optional(std::string_view name, Node node);

// "an integer of at least 1", "one of none, in_place": what a person is told to write.
std::string describe(const Node& node);

struct Fault {
  Error error;             // kind invalid; place = path of the field
  std::size_t offset = 0;  // of the value in its document; 0 for one that was built
};

// Checks `value` and gives it back normalised; unchanged parts are shared, changed ones are built
// in `arena`. Appends up to `limit` faults in document order; the value is of use only if there are
// none. `path` names the value itself and may be empty.
json::Value check(const Node& node, const json::Value& value, json::Arena& arena,
                  std::vector<Fault>& faults, std::size_t limit = 1, std::string_view path = {});

}  // namespace kernelindex::schema
