// SPDX-License-Identifier: Apache-2.0
#include "verify/reader_policy.h"

#include <algorithm>

#include "ledger/object_reader.h"
#include "ledger/predicates.h"
#include "schema/json_reader.h"
#include "schema/measurement_terms.h"

namespace kernelindex {
namespace {

constexpr unsigned kPolicyDepth = 4;

// Sorts a list in which nothing may stand twice.
template <typename Item>
void sort_unique(ObjectReader& reader, std::string_view name, std::vector<Item>& items) {
  std::ranges::sort(items);
  if (std::ranges::adjacent_find(items) != items.end()) {
    reader.fault(name, "BAD_MEMBER", "nothing stands twice in this list");
  }
}

std::string item_place(std::string_view name, std::size_t number) {
  return std::string(name) + "[" + std::to_string(number) + "]";
}

void read_keys(ObjectReader& reader, ReaderPolicy& policy) {
  const std::span<const json::Value> items = reader.array("keys", kReaderPolicyItems, false);
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Result<Digest> key = Digest::parse_hex(items[i].is_string() ? items[i].string() : "");
    if (key) {
      policy.keys.push_back(*key);
    } else {
      reader.fault(item_place("keys", i), "BAD_DIGEST", "this must be a key id of 64 hex digits");
    }
  }
  sort_unique(reader, "keys", policy.keys);
}

void read_owners(ObjectReader& reader, ReaderPolicy& policy) {
  const std::span<const json::Value> items = reader.array("owners", kReaderPolicyItems, false);
  for (std::size_t i = 0; i < items.size(); ++i) {
    ObjectReader owner(items[i], item_place("owners", i));
    policy.owners.push_back({owner.digest("ledger"), owner.slug("owner", kSlugBytes)});
    if (!owner.ok()) {
      reader.fault(owner.status().error());
    } else if (Status status = owner.finish(); !status) {
      reader.fault(status.error());
    }
  }
  sort_unique(reader, "owners", policy.owners);
}

void read_allow(ObjectReader& reader, ReaderPolicy& policy) {
  const std::span<const json::Value> items = reader.array("allow", kReaderPolicyItems, false);
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string_view text = items[i].is_string() ? items[i].string() : "";
    if (!is_reason_code(text)) {
      reader.fault(item_place("allow", i), "BAD_MEMBER",
                   "this must be a code of upper-case letters, digits and underscores");
    }
    policy.allow.emplace_back(text);
  }
  sort_unique(reader, "allow", policy.allow);
}

}  // namespace

bool ReaderPolicy::counts(const Digest& key_id, const Digest& ledger,
                          std::string_view owner) const {
  return std::ranges::binary_search(keys, key_id) ||
         std::ranges::binary_search(owners, Owner{ledger, std::string(owner)});
}

Result<ReaderPolicy> parse_reader_policy(std::string_view bytes) {
  json::Arena arena;
  const Result<json::Value> value =
      json::parse(bytes, arena, {.bytes = kReaderPolicyBytes, .depth = kPolicyDepth});
  if (!value) return fail(value.error());
  ObjectReader reader(*value, "");
  ReaderPolicy policy;
  policy.digest = sha256(bytes);
  const json::Value& version = reader.required("v");
  if (!version.is_number() || version.number() != 1) {
    reader.fault("v", "UNSUPPORTED_FORMAT", "this program reads reader policies of version 1");
  }
  read_keys(reader, policy);
  read_owners(reader, policy);
  read_allow(reader, policy);
  if (Status status = reader.finish(); !status) return fail(status.error());
  return policy;
}

}  // namespace kernelindex
