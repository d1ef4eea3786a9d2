// SPDX-License-Identifier: Apache-2.0
// How the members of each predicate are read and written. Internal to ledger/: predicates.cc
// dispatches to these by the table, and one source file a family defines them.
//
// For each alternative of Predicate there are three functions:
//
//   read         takes the members beside the binding; faults go into the reader
//   write        adds the same members
//   check_place  what ties the members to the subject and the signer
//
// write() need not refuse anything: Attestation::encode() reads back what was written.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/object_reader.h"
#include "ledger/predicates.h"
#include "ledger/signing_key.h"
#include "schema/digest.h"
#include "schema/json_value.h"
#include "schema/result.h"

namespace kernelindex::predicates {

// Adds the members of one object. Texts are copied into the arena, names are not: use literals or
// names that outlive the value.
class MemberWriter {
 public:
  explicit MemberWriter(json::Arena& arena) : arena_(arena), builder_(arena) {}

  json::Arena& arena() { return arena_; }
  MemberWriter& add(std::string_view name, json::Value value) {
    builder_.add(name, value);
    return *this;
  }
  MemberWriter& text(std::string_view name, std::string_view value) {
    return add(name, arena_.string(value));
  }
  MemberWriter& text_if(std::string_view name, std::string_view value) {
    return value.empty() ? *this : text(name, value);
  }
  MemberWriter& digest(std::string_view name, const Digest& value) {
    return text(name, value.text());
  }
  MemberWriter& boolean(std::string_view name, bool value) { return add(name, json::Value(value)); }
  // Requires for the number to be read back: |value| <= 2^53 - 1.
  MemberWriter& number(std::string_view name, std::int64_t value) {
    return add(name, json::Value(static_cast<double>(value)));
  }
  MemberWriter& count(std::string_view name, std::uint64_t value) {
    return add(name, json::Value(static_cast<double>(value)));
  }
  template <typename Item, typename Text>
  MemberWriter& texts(std::string_view name, const std::vector<Item>& items, Text text_of) {
    std::vector<json::Value> values;
    for (const Item& item : items) values.push_back(arena_.string(std::invoke(text_of, item)));
    return add(name, arena_.array(values));
  }
  json::Value finish() { return builder_.finish(); }

 private:
  json::Arena& arena_;
  json::ObjectBuilder builder_;
};

// ---- Pieces that several predicates share ----

// Takes over the fault of a reader of an inner object.
void adopt(ObjectReader& reader, const Status& inner);

PublicKey read_public_key(ObjectReader& reader, std::string_view name);

// An array of digests of at most `most`; the same digest may stand in it twice.
std::vector<Digest> read_digests(ObjectReader& reader, std::string_view name, std::size_t most,
                                 bool required);

// `reason`: a text of 1..kReasonBytes bytes without control characters but newline and tab.
std::string read_reason(ObjectReader& reader);
std::string read_optional_reason(ObjectReader& reader);

// Faults a text that is not is_plain_text().
void require_plain_text(ObjectReader& reader, std::string_view name, std::string_view text);

// A text of one line: 1..`bytes` bytes without control characters.
std::string read_line(ObjectReader& reader, std::string_view name, std::size_t bytes);

// Whether a text holds no control character (C0, DEL, C1) other than newline and tab.
bool is_plain_text(std::string_view text);
// Whether it holds no control character at all.
bool is_plain_line(std::string_view text);
// Unicode code points of a text. Requires: UTF-8, as every text of strict JSON is.
std::size_t code_points(std::string_view text);

// A list that may be absent stands in one form: not empty, sorted, nothing twice. `object` is what
// the reader reads.
template <typename Item>
void require_sorted_if_given(ObjectReader& reader, const json::Value& object, std::string_view name,
                             const std::vector<Item>& items);
// The items rise strictly.
template <typename Item>
void require_rising(ObjectReader& reader, std::string_view name, const std::vector<Item>& items);

// The words of an enumeration, in the order of its values from 0.
template <typename Enumeration, std::size_t Count>
std::optional<Enumeration> from_word(const std::string_view (&words)[Count],
                                     std::string_view word) {
  for (std::size_t i = 0; i < Count; ++i) {
    if (words[i] == word) return static_cast<Enumeration>(i);
  }
  return std::nullopt;
}
// Reads a member that is one of the words; the fault lists them.
template <typename Enumeration, std::size_t Count>
Enumeration read_word(ObjectReader& reader, std::string_view name,
                      const std::string_view (&words)[Count]);

// ---- One set for each alternative of Predicate ----

void read(ObjectReader& reader, const json::Value& object, LedgerFounding& out);
void read(ObjectReader& reader, const json::Value& object, KeyChange& out);
void read(ObjectReader& reader, const json::Value& object, ImportStatement& out);
void read(ObjectReader& reader, const json::Value& object, CommunityNote& out);
void read(ObjectReader& reader, const json::Value& object, Retraction& out);
void read(ObjectReader& reader, const json::Value& object, Supersession& out);
void read(ObjectReader& reader, const json::Value& object, Dispute& out);
void read(ObjectReader& reader, const json::Value& object, DisputeResolution& out);
void read(ObjectReader& reader, const json::Value& object, Withdrawal& out);
void read(ObjectReader& reader, const json::Value& object, Withholding& out);
void read(ObjectReader& reader, const json::Value& object, StatusStatement& out);
void read(ObjectReader& reader, const json::Value& object, MeasurementJob& out);
void read(ObjectReader& reader, const json::Value& object, ControlledRun& out);
void read(ObjectReader& reader, const json::Value& object, Acceptance& out);
void read(ObjectReader& reader, const json::Value& object, Calibration& out);

void write(const LedgerFounding& founding, MemberWriter& out);
void write(const KeyChange& change, MemberWriter& out);
void write(const ImportStatement& import, MemberWriter& out);
void write(const CommunityNote& note, MemberWriter& out);
void write(const Retraction& retraction, MemberWriter& out);
void write(const Supersession& supersession, MemberWriter& out);
void write(const Dispute& dispute, MemberWriter& out);
void write(const DisputeResolution& resolution, MemberWriter& out);
void write(const Withdrawal& withdrawal, MemberWriter& out);
void write(const Withholding& withholding, MemberWriter& out);
void write(const StatusStatement& status, MemberWriter& out);
void write(const MeasurementJob& job, MemberWriter& out);
void write(const ControlledRun& controlled, MemberWriter& out);
void write(const Acceptance& acceptance, MemberWriter& out);
void write(const Calibration& calibration, MemberWriter& out);

// Most predicates may be about any subject, by any key of the right role.
template <typename Members>
Status check_place(const Members&, const Digest& /*subject*/, const Binding&) {
  return {};
}
Status check_place(const LedgerFounding& founding, const Digest& subject, const Binding& binding);
Status check_place(const KeyChange& change, const Digest& subject, const Binding& binding);
Status check_place(const ImportStatement& import, const Digest& subject, const Binding& binding);
Status check_place(const Supersession& supersession, const Digest& subject, const Binding& binding);
Status check_place(const MeasurementJob& job, const Digest& subject, const Binding& binding);
Status check_place(const ControlledRun& controlled, const Digest& subject, const Binding& binding);
Status check_place(const Acceptance& acceptance, const Digest& subject, const Binding& binding);
Status check_place(const Calibration& calibration, const Digest& subject, const Binding& binding);

// ---- Definitions of the templates ----

template <typename Item>
void require_rising(ObjectReader& reader, std::string_view name, const std::vector<Item>& items) {
  if (std::ranges::adjacent_find(items, std::greater_equal<>()) != items.end()) {
    reader.fault(name, "BAD_MEMBER", "the list must be sorted, nothing twice");
  }
}

template <typename Item>
void require_sorted_if_given(ObjectReader& reader, const json::Value& object, std::string_view name,
                             const std::vector<Item>& items) {
  if (object.find(name) == nullptr) return;
  if (items.empty()) reader.fault(name, "BAD_MEMBER", "an empty list is left out");
  require_rising(reader, name, items);
}

template <typename Enumeration, std::size_t Count>
Enumeration read_word(ObjectReader& reader, std::string_view name,
                      const std::string_view (&words)[Count]) {
  const json::Value& value = reader.required(name);
  const std::optional<Enumeration> found =
      from_word<Enumeration>(words, value.is_string() ? value.string() : "");
  if (found) return *found;
  std::string list;
  for (const std::string_view word : words) list.append(list.empty() ? "" : ", ").append(word);
  reader.fault(name, "BAD_MEMBER", "this must be one of " + list);
  return {};
}

}  // namespace kernelindex::predicates
