// SPDX-License-Identifier: Apache-2.0
#include "ledger/attestation_rules.h"

#include <algorithm>
#include <set>
#include <vector>

#include "ledger/key_layout.h"
#include "ledger/ledger.h"

namespace kernelindex {
namespace {

std::unexpected<Error> refuse(std::string code, std::string place, std::string message,
                              std::string remedy = {}) {
  return fail(ErrorKind::refused, std::move(code), std::move(place), std::move(message),
              std::move(remedy));
}

std::string role_words(const PredicateType& type) {
  std::string out;
  for (const Role role : type.signers) {
    if (!out.empty()) out += " or ";
    out += role_name(role);
  }
  return out;
}

// Why an attestation of this type is not recorded by itself; empty when it is.
struct NotRecorded {
  std::string_view operator()(const LedgerFounding&) const {
    return "a ledger is founded once, by `kernelindex init`";
  }
  std::string_view operator()(const ImportStatement&) const {
    return "import statements are made by imports";
  }
  std::string_view operator()(const StatusStatement&) const {
    return "a status stands in bundles and is never recorded";
  }
  template <typename Other>
  std::string_view operator()(const Other&) const {
    return {};
  }
};

}  // namespace

Result<std::optional<std::uint64_t>> find_attestation(const Reader& reader, const Digest& id) {
  std::string value;
  const Result<bool> found = reader.view().get(Space::derived, key_layout::attestation(id), value);
  if (!found) return fail(found.error());
  if (!*found || value.size() != 8) return std::nullopt;
  const std::uint64_t index = key_layout::from_big_endian(value);
  if (index >= reader.head().size) return std::nullopt;
  return index;
}

AttestationRules::AttestationRules(const Reader& reader, UtcMicros now)
    : reader_(reader), now_(now), keys_(reader.state().keys), next_(reader.head().size) {}

Status AttestationRules::allow(const Envelope& envelope, const Attestation& said) {
  const Digest& signer = said.binding.signer;
  const KeyRecord* record = keys_.find(signer);
  const bool signed_by_it = record != nullptr && envelope.verify(record->key);
  // Who may not sign at all is told of before the signature.
  if (Status status = allow_unsigned(said); !status) return status;
  if (signed_by_it) return {};
  return fail(ErrorKind::invalid, "INVALID_SIGNATURE", "signatures[0].sig",
              "the signature is not one of the key " + signer.hex());
}

Status AttestationRules::allow_unsigned(const Attestation& said) {
  const std::string_view why = std::visit(NotRecorded(), said.predicate);
  if (!why.empty()) return refuse("NOT_RECORDED", "predicateType", std::string(why));
  if (Status status = check_binding(said.binding); !status) return status;
  if (Status status = check_signer(said); !status) return status;
  if (Status status = check_subject(said); !status) return status;
  Status status =
      std::visit([&](const auto& predicate) { return check(said, predicate); }, said.predicate);
  if (status) ++next_;
  return status;
}

Status AttestationRules::check_binding(const Binding& binding) const {
  if (binding.ledger != reader_.format().ledger_id) {
    return refuse(
        "WRONG_LEDGER", "predicate.ledger",
        "it was signed for another ledger: this one is " + reader_.format().ledger_id.text());
  }
  if (!binding.seen || binding.seen->size > reader_.head().size) {
    return refuse("FORK_SEEN", "predicate.seen",
                  "its signer saw a tree of size " +
                      std::to_string(binding.seen ? binding.seen->size : 0) + ", this log has " +
                      std::to_string(reader_.head().size) + " entries",
                  "compare checkpoints: either entries were lost here, or two logs share a name");
  }
  const Result<Digest> root = reader_.root_at(binding.seen->size);
  if (!root) return fail(root.error());
  if (*root == binding.seen->root) return {};
  return refuse("FORK_SEEN", "predicate.seen.root",
                "its signer saw another tree of size " + std::to_string(binding.seen->size) + ": " +
                    binding.seen->root.text() + ", here it is " + root->text(),
                "two logs share a name: compare checkpoints with the signer");
}

Status AttestationRules::check_signer(const Attestation& said) const {
  const Digest& signer = said.binding.signer;
  const KeyRecord* record = keys_.find(signer);
  if (record == nullptr) {
    return refuse("KEY_NOT_ENROLLED", "predicate.signer",
                  "no key of id " + signer.hex() + " is enrolled",
                  "the root enrols keys: `kernelindex key enrol`");
  }
  const PredicateType& type = predicate_type(said.predicate);
  if (!type.may_sign(record->role)) {
    return refuse("WRONG_ROLE", "predicate.signer",
                  "a " + std::string(role_name(record->role)) + " key may not sign " +
                      std::string(type.name) + ": that takes a key of role " + role_words(type));
  }
  if (record->valid_at(next_)) return {};
  return refuse("KEY_REVOKED", "predicate.signer", "the key " + signer.hex() + " was revoked");
}

Status AttestationRules::check_subject(const Attestation& said) const {
  if (std::holds_alternative<KeyChange>(said.predicate)) return {};  // the key book's
  if (std::holds_alternative<Withholding>(said.predicate)) return {};
  // About the key that signs it, which parse_attestation() checks.
  if (std::holds_alternative<Calibration>(said.predicate)) return {};
  const Digest& subject = said.subject;
  if (keys_.knows(subject)) {
    return refuse("SUBJECT_IS_KEY", "subject[0].digest",
                  "only key/v1 speaks of keys and approved digests",
                  "the root revokes them: `kernelindex key revoke`");
  }
  const Result<std::optional<SubjectRow>> manifest = reader_.subject(subject);
  if (!manifest) return fail(manifest.error());
  if (*manifest) return {};
  const Result<std::optional<std::uint64_t>> attestation = find_attestation(reader_, subject);
  if (!attestation) return fail(attestation.error());
  if (*attestation) return {};
  return fail(ErrorKind::not_found, "NO_SUCH_SUBJECT", "subject[0].digest",
              "the log holds nothing of digest " + subject.text(),
              "a subject is a manifest identity or an attestation id");
}

Result<std::uint64_t> AttestationRules::notes_allowed() {
  if (notes_allowed_) return *notes_allowed_;
  const Result<Attestation> founding = read_attestation(reader_, 0);
  if (!founding) return fail(founding.error());
  const auto* terms = std::get_if<LedgerFounding>(&founding->predicate);
  notes_allowed_ = static_cast<std::uint64_t>(terms == nullptr ? 0 : terms->notes_per_day);
  return *notes_allowed_;
}

Status AttestationRules::check(const Attestation& said, const CommunityNote&) {
  const std::string& owner = keys_.find(said.binding.signer)->owner;
  const Result<std::uint64_t> cap = notes_allowed();
  if (!cap) return fail(cap.error());
  const auto [today, fresh] = notes_today_.try_emplace(owner, 0);
  if (fresh) {
    for (const auto& [id, record] : keys_.all()) {
      if (record.owner != owner || record.role != Role::contributor) continue;
      StoreCursor notes =
          reader_.view().scan(Space::derived, key_layout::notes_of_day(utc_day(now_), id));
      for (; notes.valid(); notes.next()) ++today->second;
      if (Status status = notes.status(); !status) return status;
    }
  }
  if (today->second >= *cap) {
    return refuse("NOTES_CAP", "predicate.signer",
                  owner + " has " + std::to_string(today->second) +
                      " notes of today in the log; entry 0 allows a contributor " +
                      std::to_string(*cap),
                  "try again tomorrow (UTC)");
  }
  ++today->second;
  return {};
}

Status AttestationRules::check(const Attestation& said, const Supersession& supersession) {
  const Result<std::optional<SubjectRow>> old_row = reader_.subject(said.subject);
  if (!old_row) return fail(old_row.error());
  const Result<std::optional<SubjectRow>> new_row = reader_.subject(supersession.by);
  if (!new_row) return fail(new_row.error());
  if (!*old_row || !*new_row) {
    const Result<std::optional<std::uint64_t>> before = find_attestation(reader_, said.subject);
    if (!before) return fail(before.error());
    const Result<std::optional<std::uint64_t>> after = find_attestation(reader_, supersession.by);
    if (!after) return fail(after.error());
    if (!*new_row && !*after) {
      return fail(ErrorKind::not_found, "NO_SUCH_SUBJECT", "predicate.by",
                  "the log holds nothing of digest " + supersession.by.text());
    }
    std::array<std::string, 2> types;
    if (*before && *after) {
      for (std::size_t i = 0; i < 2; ++i) {
        const Result<Entry> entry = reader_.entry(i == 0 ? **before : **after);
        if (!entry) return fail(entry.error());
        if (const auto* body = std::get_if<AttestationEntry>(&entry->body)) {
          types[i] = body->predicate_type;
        }
      }
    }
    if (types[0].empty() || types[0] != types[1]) {
      return refuse("KIND_DIFFERS", "predicate.by",
                    "a successor is of the same kind as what it supersedes");
    }
  } else if ((*old_row)->kind != (*new_row)->kind) {
    return refuse("KIND_DIFFERS", "predicate.by",
                  "a " + std::string(kind_name((*new_row)->kind)) + " cannot supersede a " +
                      std::string(kind_name((*old_row)->kind)));
  }
  // Whether the successor is, over any steps, superseded by the subject.
  std::set<Digest> seen;
  std::vector<Digest> todo = {supersession.by};
  while (!todo.empty()) {
    const Digest digest = todo.back();
    todo.pop_back();
    if (digest == said.subject) {
      return refuse("SUPERSESSION_CYCLE", "predicate.by",
                    supersession.by.text() + " is superseded by " + said.subject.text() +
                        " already, directly or over others",
                    "retract that supersession first");
    }
    if (!seen.insert(digest).second) continue;
    if (const SubjectJudgement* judgement = reader_.state().judgements->find(digest)) {
      for (const auto& successor : judgement->successors) todo.push_back(successor.by);
    }
    const auto [first, last] = pending_successors_.equal_range(digest);
    for (auto it = first; it != last; ++it) todo.push_back(it->second);
  }
  pending_successors_.emplace(said.subject, supersession.by);
  return {};
}

Status AttestationRules::check(const Attestation& said, const DisputeResolution& resolution) const {
  const auto& facts = *reader_.state().chain_facts;
  const bool known = std::ranges::any_of(facts, [&](const ChainFact& fact) {
    return fact.kind == ChainFact::Kind::dispute && fact.id == resolution.dispute &&
           fact.subject == said.subject;
  });
  if (known) return {};
  return refuse(
      "NO_SUCH_DISPUTE", "predicate.dispute",
      "the log holds no dispute " + resolution.dispute.text() + " about " + said.subject.text());
}

Status AttestationRules::check(const Attestation& said, const Withholding&) const {
  const Result<bool> kept = reader_.object_kept(said.subject);
  if (!kept) return fail(kept.error());
  if (!*kept) {
    return refuse("NOT_HELD", "subject[0].digest",
                  "the bytes of " + said.subject.text() + " are not held, or withheld already");
  }
  const Result<std::optional<std::string>> bytes = reader_.object(said.subject);
  if (!bytes) {
    // Too large to be an envelope, or damaged: nothing that the log needs.
    return {};
  }
  const Result<Envelope> envelope = read_stored_envelope(**bytes);
  if (!envelope) return {};
  const Result<Attestation> needed = parse_attestation(envelope->payload);
  if (needed && (std::holds_alternative<LedgerFounding>(needed->predicate) ||
                 std::holds_alternative<KeyChange>(needed->predicate) ||
                 std::holds_alternative<ImportStatement>(needed->predicate))) {
    return refuse("NEEDED_BY_LOG", "subject[0].digest",
                  "without the statements of keys and imports nothing in the log can be judged");
  }
  return {};
}

Status AttestationRules::check(const Attestation& said, const KeyChange&) {
  const Status status = keys_.apply(next_, said);
  if (!status) {
    Error error = status.error();
    error.kind = ErrorKind::refused;
    return fail(std::move(error));
  }
  if (!keys_.valid(Role::log, next_ + 1).empty()) return {};
  return refuse("LAST_LOG_KEY", "predicate.revoke",
                "without this key nobody could sign a checkpoint any more",
                "replace it with `kernelindex key rotate --role log`, or enrol another log key "
                "first");
}

Status AttestationRules::check(const Attestation& said, const MeasurementJob& job) const {
  const Result<std::optional<SubjectRow>> row = reader_.subject(said.subject);
  if (!row) return fail(row.error());
  if (!*row || (*row)->kind != ManifestKind::benchmark_run) {
    return refuse("NOT_A_RUN", "subject[0].digest", "a measurement job is about a benchmark run");
  }
  const KeyRecord* runner = keys_.find(job.runner);
  if (runner != nullptr && runner->role == Role::runner && runner->valid_at(next_)) return {};
  return refuse("RUNNER_NOT_ENROLLED", "predicate.runner",
                "no valid runner key of id " + job.runner.hex() + " is enrolled",
                "the root enrols it: `kernelindex key enrol runner PUBLICKEY --owner SLUG`");
}

Result<Attestation> AttestationRules::subject_statement(const Attestation& said) const {
  const Result<std::optional<std::uint64_t>> index = find_attestation(reader_, said.subject);
  if (!index) return fail(index.error());
  if (*index) return read_attestation(reader_, **index);
  return refuse("WRONG_SUBJECT", "subject[0].digest",
                "this is about a manifest, and a " +
                    std::string(predicate_type(said.predicate).name) +
                    " is about another statement");
}

Status AttestationRules::check(const Attestation& said, const ControlledRun&) const {
  const Result<Attestation> about = subject_statement(said);
  if (!about) return fail(about.error());
  const auto* job = std::get_if<MeasurementJob>(&about->predicate);
  if (job == nullptr) {
    return refuse("WRONG_SUBJECT", "subject[0].digest", "a controlled run answers a job");
  }
  if (job->runner == said.binding.signer) return {};
  return refuse("JOB_NOT_BOUND", "predicate.signer",
                "the job is for the runner " + job->runner.hex() + " alone");
}

Status AttestationRules::check(const Attestation& said, const Acceptance&) const {
  const Result<Attestation> about = subject_statement(said);
  if (!about) return fail(about.error());
  if (std::holds_alternative<ControlledRun>(about->predicate)) return {};
  return refuse("WRONG_SUBJECT", "subject[0].digest", "an acceptance is about a controlled run");
}

template <typename Other>
Status AttestationRules::check(const Attestation&, const Other&) const {
  return {};
}

}  // namespace kernelindex
