// SPDX-License-Identifier: Apache-2.0
#include "ledger/key_book.h"

#include <algorithm>
#include <cassert>

namespace kernelindex {
namespace {

std::string entry_place(std::uint64_t index) { return "entry " + std::to_string(index); }

}  // namespace

bool KeyRecord::could_sign_at(std::uint64_t index) const {
  // Enrolment at the founding entry itself covers the founding: the root signs it.
  if (role == Role::root) return index >= enrolled_at;
  return index > enrolled_at && (!revoked_at || index < *revoked_at);
}

bool KeyRecord::valid_at(std::uint64_t index) const {
  return could_sign_at(index) && (role == Role::root || !void_from || index < *void_from);
}

bool ApprovalRecord::valid_at(std::uint64_t index) const {
  if (index <= approved_at || (void_from && index >= *void_from)) return false;
  return !revoked_at || index < *revoked_at;
}

Status KeyBook::apply(std::uint64_t index, const Attestation& statement) {
  if (Status status = change(index, statement); !status) return status;
  statements_.emplace_back(index, statement);
  return {};
}

KeyBook KeyBook::as_of(std::uint64_t size) const {
  KeyBook book;
  for (const auto& [index, statement] : statements_) {
    if (index >= size) break;
    const Status again = book.apply(index, statement);
    assert(again.has_value());  // it was applied to the same book before
  }
  return book;
}

Status KeyBook::change(std::uint64_t index, const Attestation& statement) {
  if (const auto* founding = std::get_if<LedgerFounding>(&statement.predicate)) {
    if (!keys_.empty()) {
      return fail(ErrorKind::invalid, "ALREADY_FOUNDED", entry_place(index),
                  "a ledger is founded once");
    }
    keys_[founding->root_key.id()] = {
        founding->root_key, Role::root, founding->owner, index, {}, {}, {}, {}};
    return {};
  }
  const auto* change = std::get_if<KeyChange>(&statement.predicate);
  if (change == nullptr) return {};
  if (keys_.empty()) {
    return fail(ErrorKind::invalid, "NO_FOUNDING", entry_place(index),
                "a key statement stands before the founding of the ledger");
  }
  if (const auto* enrolment = std::get_if<KeyEnrolment>(&change->action)) {
    if (enrolment->role == Role::root) {
      return fail(ErrorKind::invalid, "ROOT_ENROLLED", entry_place(index),
                  "a ledger has one root key, which its founding names",
                  "make a new ledger and import this one into it");
    }
    const KeyRecord record{
        enrolment->public_key, enrolment->role,     enrolment->owner, index, {}, {},
        enrolment->hardware,   enrolment->protocols};
    if (!keys_.try_emplace(enrolment->public_key.id(), record).second) {
      return fail(ErrorKind::invalid, "ALREADY_ENROLLED", entry_place(index),
                  "a public key is enrolled once, in one role",
                  "make a new key with `kernelindex key new`");
    }
    return {};
  }
  if (const auto* approval = std::get_if<DigestApproval>(&change->action)) {
    return approve(index, statement.subject, *approval);
  }
  return revoke(index, statement.subject, std::get<Revocation>(change->action));
}

Status KeyBook::approve(std::uint64_t index, const Digest& digest, const DigestApproval& approval) {
  std::vector<ApprovalRecord>& records = approvals_[digest];
  if (!records.empty() && !records.back().revoked_at) {
    return fail(ErrorKind::invalid, "ALREADY_APPROVED", entry_place(index),
                digest.text() + " is approved already");
  }
  records.push_back({approval.kind, index, {}, {}});
  return {};
}

Status KeyBook::revoke(std::uint64_t index, const Digest& subject, const Revocation& revocation) {
  if (revocation.void_from && *revocation.void_from > index) {
    return fail(ErrorKind::invalid, "VOID_IN_FUTURE", entry_place(index),
                "voidFrom lies above the revocation itself");
  }
  const auto key = keys_.find(subject);
  const auto approval = approvals_.find(subject);
  if (key == keys_.end() && approval == approvals_.end()) {
    return fail(ErrorKind::invalid, "UNKNOWN_KEY", entry_place(index),
                subject.text() + " is neither an enrolled key nor an approved digest");
  }
  if (key != keys_.end() && key->second.role == Role::root) {
    return fail(ErrorKind::invalid, "ROOT_REVOKED", entry_place(index),
                "what the root signed is never void: a lost root ends a ledger",
                "make a new ledger and import this one into it");
  }
  std::optional<std::uint64_t>& revoked_at =
      key != keys_.end() ? key->second.revoked_at : approval->second.back().revoked_at;
  std::optional<std::uint64_t>& void_from =
      key != keys_.end() ? key->second.void_from : approval->second.back().void_from;
  // A second revocation can still say that there was a compromise, or from an earlier entry on.
  const bool says_more = revocation.void_from && (!void_from || *revocation.void_from < *void_from);
  if (revoked_at && !says_more) {
    return fail(ErrorKind::invalid, "ALREADY_REVOKED", entry_place(index),
                "it was revoked at entry " + std::to_string(*revoked_at));
  }
  if (!revoked_at) revoked_at = index;
  if (says_more) void_from = revocation.void_from;
  return {};
}

const KeyRecord* KeyBook::find(const Digest& key_id) const {
  const auto found = keys_.find(key_id);
  return found == keys_.end() ? nullptr : &found->second;
}

bool KeyBook::knows(const Digest& digest) const {
  return keys_.contains(digest) || approvals_.contains(digest);
}

bool KeyBook::approved(const Digest& digest, DigestApproval::Kind kind, std::uint64_t index) const {
  const auto found = approvals_.find(digest);
  return found != approvals_.end() &&
         std::ranges::any_of(found->second, [&](const ApprovalRecord& record) {
           return record.kind == kind && record.valid_at(index);
         });
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
