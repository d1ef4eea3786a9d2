// SPDX-License-Identifier: Apache-2.0
#include "ledger/key_book.h"

#include <algorithm>

namespace kernelindex {
namespace {

std::string entry_place(std::uint64_t index) { return "entry " + std::to_string(index); }

}  // namespace

bool KeyRecord::valid_at(std::uint64_t index) const {
  // Enrolment at the founding entry itself covers the founding: the root signs it.
  if (role == Role::root ? index < enrolled_at : index <= enrolled_at) return false;
  if (role == Role::root) return true;
  if (void_from && index >= *void_from) return false;
  return !revoked_at || index < *revoked_at;
}

Status KeyBook::apply(std::uint64_t index, const Attestation& statement) {
  if (const auto* founding = std::get_if<LedgerFounding>(&statement.predicate)) {
    if (!keys_.empty()) {
      return fail(ErrorKind::invalid, "ALREADY_FOUNDED", entry_place(index),
                  "a ledger is founded once");
    }
    keys_[founding->root_key.id()] = {
        founding->root_key, Role::root, founding->owner, index, {}, {}};
    return {};
  }
  const auto* change = std::get_if<KeyChange>(&statement.predicate);
  if (change == nullptr) return {};
  if (keys_.empty()) {
    return fail(ErrorKind::invalid, "NO_FOUNDING", entry_place(index),
                "a key statement stands before the founding of the ledger");
  }
  if (const auto* enrolment = std::get_if<KeyEnrolment>(&change->action)) {
    const KeyRecord record{enrolment->public_key, enrolment->role, enrolment->owner, index, {}, {}};
    if (!keys_.try_emplace(enrolment->public_key.id(), record).second) {
      return fail(ErrorKind::invalid, "ALREADY_ENROLLED", entry_place(index),
                  "a public key is enrolled once, in one role");
    }
  } else if (const auto* revocation = std::get_if<Revocation>(&change->action)) {
    const auto found = keys_.find(statement.subject);
    if (found == keys_.end()) return {};  // of an approved digest
    KeyRecord& record = found->second;
    if (record.role == Role::root) {
      return fail(ErrorKind::invalid, "ROOT_REVOKED", entry_place(index),
                  "what the root signed is never void: a lost root ends a ledger");
    }
    if (!record.revoked_at) record.revoked_at = index;
    if (revocation->void_from) {
      record.void_from = std::min(record.void_from.value_or(index), *revocation->void_from);
    }
  }
  return {};
}

const KeyRecord* KeyBook::find(const Digest& key_id) const {
  const auto found = keys_.find(key_id);
  return found == keys_.end() ? nullptr : &found->second;
}

bool KeyBook::counts(const Digest& key_id, const PredicateType& type, std::uint64_t index) const {
  const KeyRecord* record = find(key_id);
  return record != nullptr && type.may_sign(record->role) && record->valid_at(index);
}

std::vector<const KeyRecord*> KeyBook::valid(Role role, std::uint64_t index) const {
  std::vector<const KeyRecord*> out;
  for (const auto& [id, record] : keys_) {
    if (record.role == role && record.valid_at(index)) out.push_back(&record);
  }
  std::ranges::sort(out, {}, &KeyRecord::enrolled_at);
  return out;
}

}  // namespace kernelindex
