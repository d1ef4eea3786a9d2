// SPDX-License-Identifier: Apache-2.0
// Who signed what, and whether they might.
#include <algorithm>

#include "verify/bundle_judge.h"

namespace kernelindex::bundles {
namespace {

std::string role_words(const PredicateType& type) {
  std::string out;
  for (const Role role : type.signers) {
    if (!out.empty()) out += " or ";
    out += role_name(role);
  }
  return out;
}

}  // namespace

// ---- entry 0 and keys ----

Finding Judge::check_founding() {
  const Part* first = parts_.empty() ? nullptr : &parts_.front();
  const auto* founding = first != nullptr ? first->says<LedgerFounding>() : nullptr;
  if (first == nullptr || first->index != 0 || founding == nullptr) {
    return broken("NOT_FOUNDED", "the file does not begin with entry 0, the founding of a ledger");
  }
  const Digest id = first->envelope->id();
  if (options_.ledger_id && id != *options_.ledger_id) {
    return broken("OTHER_LEDGER",
                  "entry 0 founds the ledger " + id.text() + ", not " + options_.ledger_id->text());
  }
  if (!first->envelope->verify(founding->root_key)) {
    return broken("INVALID_SIGNATURE", "entry 0 is not signed by the root key that it names");
  }
  if (Status status = keys_.apply(0, *first->said); !status) {
    return broken(entry_name(0), status.error());
  }
  ledger_id_ = id;
  origin_ = founding->origin;
  if (options_.ledger_id) return holds("ledger " + id.text() + ", origin " + origin_);
  return holds("ledger " + id.text() +
                   " as the file says: only the log key was pinned, and whoever holds it can found "
                   "another ledger of this name",
               "WEAKER_ANCHOR");
}

// That a key which was enrolled for it then signed the part, for this ledger. A key that lost its
// force later is for the judgement, not for this.
Finding Judge::check_signed(const Part& part, std::string_view what) const {
  const std::string name = entry_name(part.index) + ", " + std::string(what);
  const KeyRecord* key = keys_.find(part.binding->signer);
  if (key == nullptr) {
    return broken("KEY_NOT_ENROLLED",
                  name + ": no entry of the file enrols its signer " + part.binding->signer.hex());
  }
  if (!part.envelope->verify(key->key)) {
    return broken("INVALID_SIGNATURE",
                  name + ": the signature is not one of the key " + part.binding->signer.hex());
  }
  const PredicateType* type = find_predicate_type(part.attestation()->predicate_type);
  if (type != nullptr && !type->may_sign(key->role)) {
    return broken("WRONG_ROLE", name + ": a " + std::string(role_name(key->role)) +
                                    " key may not sign it, that takes " + role_words(*type));
  }
  if (!key->could_sign_at(part.index)) {
    const bool revoked = key->revoked_at && part.index >= *key->revoked_at;
    return broken(revoked ? "KEY_REVOKED" : "KEY_NOT_ENROLLED",
                  name + ": its key was " +
                      (revoked ? "revoked by entry " + std::to_string(*key->revoked_at)
                               : "enrolled by entry " + std::to_string(key->enrolled_at)));
  }
  if (part.binding->ledger != ledger_id_) {
    return broken("WRONG_LEDGER", name + ": it was signed for another ledger");
  }
  return holds({});
}

Finding Judge::check_keys() {
  std::size_t statements = 0;
  for (const Part& part : parts_) {
    if (part.index == 0 || !part.key_statement()) continue;
    if (part.says<LedgerFounding>() != nullptr) {
      return broken("ALREADY_FOUNDED", entry_name(part.index) + " founds the ledger again");
    }
    // Keys are the root's alone: its record is there since entry 0.
    if (Finding finding = check_signed(part, "a statement about a key"); !finding.ok) {
      return finding;
    }
    if (Status status = keys_.apply(part.index, *part.said); !status) {
      return broken(entry_name(part.index), status.error());
    }
    ++statements;
  }
  return holds(counted(statements, "statement", "statements") + " about keys, signed by the root");
}

// ---- attestations ----

Finding Judge::check_attestations() {
  std::size_t signatures = 0;
  for (const Part& part : parts_) {
    if (part.attestation() == nullptr || !part.envelope || part.key_statement()) continue;
    if (Finding finding = check_signed(part, part.attestation()->predicate_type); !finding.ok) {
      return finding;
    }
    ++signatures;
  }
  judge();
  if (Finding finding = check_withheld(); !finding.ok) return finding;
  return holds(counted(signatures, "attestation", "attestations") +
               ", each by a key enrolled for it");
}

// What the attestations come to. The same facts as a ledger derives.
void Judge::judge() {
  std::vector<ChainFact> facts;
  for (const Part& part : parts_) {
    const AttestationEntry* body = part.attestation();
    if (body == nullptr || predicate_skippable(body->predicate_type)) continue;
    const Digest id = part.envelope ? part.envelope->id() : Digest();
    const Digest signer = Digest::parse_hex(body->signer).value_or(Digest());
    if (const auto* import = part.says<ImportStatement>()) {
      imports_.push_back({part.index, import->first, import->end, signer, id});
    }
    if (std::optional<ChainFact> fact =
            chain_fact(part.index, id, body->subject, signer, body->predicate_type,
                       part.said ? &*part.said : nullptr)) {
      facts.push_back(std::move(*fact));
    }
  }
  std::ranges::sort(imports_, {}, &ImportRange::first);
  judgements_ = Judgements(facts, keys_, head().size);
}

// Bytes that are not in the file were withheld by the root.
Finding Judge::check_withheld() const {
  for (const Part& part : parts_) {
    if (part.object != nullptr || (part.attestation() == nullptr && part.claim() == nullptr)) {
      continue;
    }
    const Digest& digest = part.entry.content.digest;
    const SubjectJudgement* said = judgements_.find(digest);
    if (said != nullptr && said->withheld) continue;
    return broken("MISSING_OBJECT", "the object " + digest.text() + " of " +
                                        entry_name(part.index) +
                                        " is not in the file, and no entry withholds it");
  }
  return holds({});
}

// ---- the status ----

Finding Judge::check_status_signer(const Attestation& said) const {
  const Digest& signer = said.binding.signer;
  const KeyRecord* key = keys_.find(signer);
  const auto* status = std::get_if<StatusStatement>(&said.predicate);
  if (status == nullptr) {
    return broken("NO_STATUS", "what stands for the status is a " +
                                   std::string(predicate_type(said.predicate).name));
  }
  if (key == nullptr) {
    return broken("KEY_NOT_ENROLLED",
                  "no entry of the file enrols the signer of the status, " + signer.hex());
  }
  if (status_envelope_->key_id != signer.hex() || !status_envelope_->verify(key->key)) {
    return broken("INVALID_SIGNATURE",
                  "the signature of the status is not one of the key " + signer.hex());
  }
  if (!predicate_type(said.predicate).may_sign(key->role)) {
    return broken("WRONG_ROLE",
                  "a " + std::string(role_name(key->role)) + " key may not sign a status");
  }
  if (!key->valid_at(status->size)) {
    return broken("KEY_REVOKED", "the key that signed the status is not valid at size " +
                                     std::to_string(status->size));
  }
  if (said.binding.ledger != ledger_id_) {
    return broken("WRONG_LEDGER", "the status was signed for another ledger");
  }
  return holds({});
}

Finding Judge::check_status() {
  if (!status_said_) {
    Finding finding;
    finding.ok = options_.allow_unknown_currency;
    finding.code = "CURRENCY_UNKNOWN";
    finding.detail =
        "currency unknown: no status says that nothing was left out, a retraction could be missing";
    return finding;
  }
  if (Finding finding = check_status_signer(*status_said_); !finding.ok) return finding;
  const auto& status = std::get<StatusStatement>(status_said_->predicate);
  if (status_said_->subject != bundle_.subject) {
    return broken("OTHER_SUBJECT", "the status is about " + status_said_->subject.text());
  }
  if (status.size != head().size || status.root != head().root) {
    return broken("STATUS_OF_ANOTHER_TREE",
                  "the status is of size " + std::to_string(status.size) + " and root " +
                      status.root.text() + ", the checkpoint of size " +
                      std::to_string(head().size) + " and root " + head().root.text());
  }
  if (status_said_->binding.seen->size > status.size) {
    return broken("SEEN_IN_FUTURE", "the status says that its signer saw a later tree");
  }
  notes_ = status.notes;
  return holds("signed by the status key " + status_said_->binding.signer.hex() + " for size " +
               std::to_string(status.size));
}

}  // namespace kernelindex::bundles
