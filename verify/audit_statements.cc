// SPDX-License-Identifier: Apache-2.0
// Statements: who signed what, whether they might, what they say of the log, and which claims they
// cover.
#include <algorithm>

#include "ledger/key_layout.h"
#include "ledger/statement.h"
#include "verify/audit_passes.h"

namespace kernelindex::auditing {
namespace {

// What a signer says it saw.
struct Seen {
  std::uint64_t index = 0;
  TreeHead head;
};

struct Found {
  std::vector<ImportFact> imports;
  std::vector<Seen> seen;
  std::uint64_t signatures = 0;
};

// What is common to statements of all types.
struct Parsed {
  Entry entry;
  Envelope envelope;
  Digest subject;
  Binding binding;
  std::string predicate_type;
  std::optional<Attestation> said;  // of a type that this program knows
};

class StatementCheck {
 public:
  StatementCheck(AuditState& state, unsigned worker, Found& found)
      : state_(state), worker_(worker), found_(found) {}

  // All of it but the founding. Requires: the key book knows all keys of the log up to here.
  void check(const LeafFact& fact) {
    std::optional<Parsed> parsed = parse(fact);
    if (!parsed) return;
    check_signer(fact, *parsed);
    check_binding(fact, *parsed);
    if (parsed->said) {
      if (const auto* import = std::get_if<ImportStatement>(&parsed->said->predicate)) {
        check_import(fact, *import);
      }
    }
    expect_pairs(fact, *parsed);
  }

  // The same for ledger/v1 and key/v1, which change the key book. Requires: in order.
  void check_key_statement(const LeafFact& fact) {
    std::optional<Parsed> parsed = parse(fact);
    if (!parsed || !parsed->said) return;
    const auto* founding = std::get_if<LedgerFounding>(&parsed->said->predicate);
    // The founding names the key that signs it.
    if (founding != nullptr && fact.index == 0) take(fact, *parsed->said);
    check_signer(fact, *parsed);
    check_binding(fact, *parsed);
    if (founding != nullptr) {
      state_.founding = LedgerFormat{founding->origin, founding->owner, parsed->envelope.id()};
      if (fact.index != 0) {
        fault(fact, "ALREADY_FOUNDED", entry_name(fact.index) + " founds the ledger again");
      }
    } else {
      take(fact, *parsed->said);
    }
    expect_pairs(fact, *parsed);
  }

 private:
  void fault(const LeafFact& fact, std::string code, std::string what, std::string expected = {},
             std::string found = {}) {
    state_.faults.add(about(fact.index, fact.content), std::move(code), std::move(what),
                      std::move(expected), std::move(found));
  }
  void fault(const LeafFact& fact, const Error& error) {
    fault(fact, error.code, entry_name(fact.index) + ": " + error.message);
  }

  void take(const LeafFact& fact, const Attestation& said) {
    if (Status status = state_.keys.apply(fact.index, said); !status) fault(fact, status.error());
  }

  std::optional<Parsed> parse(const LeafFact& fact) {
    Result<Entry> entry = state_.reader.entry(fact.index);
    const ObjectFact* object = state_.objects.find(fact.content);
    const bool older = fact.index < state_.first_audited();
    if (!entry || (!older && (object == nullptr || object->damaged))) return std::nullopt;
    const auto* body = std::get_if<AttestationEntry>(&entry->body);
    if (body == nullptr) return std::nullopt;
    const Result<std::optional<std::string>> bytes = state_.reader.object(fact.content);
    if (!bytes) {
      fault(fact, bytes.error());
      return std::nullopt;
    }
    if (!*bytes) {
      if (object != nullptr && object->withheld) {
        expect_pairs(fact, *entry, nullptr, nullptr);  // check_withheld() looks for the reason
      } else {
        fault(fact, "MISSING_OBJECT", "the envelope of " + entry_name(fact.index) + " is not held");
      }
      return std::nullopt;
    }
    Result<Envelope> envelope = read_stored_envelope(**bytes);
    if (!envelope) {
      fault(fact, envelope.error());
      return std::nullopt;
    }
    return read(fact, std::move(*entry), std::move(*envelope));
  }

  std::optional<Parsed> read(const LeafFact& fact, Entry entry, Envelope envelope) {
    json::Arena arena;
    const Result<Statement> statement = parse_statement(envelope.payload, arena);
    if (!statement) {
      fault(fact, statement.error());
      return std::nullopt;
    }
    const auto body = std::get<AttestationEntry>(entry.body);
    const bool known = find_predicate_type(statement->predicate_type) != nullptr;
    const bool founding = statement->predicate_type == std::string(kPredicateBase) + "ledger/v1";
    const Result<Binding> binding = read_binding(statement->predicate, founding);
    if (!binding) {
      fault(fact, binding.error());
      return std::nullopt;
    }
    Parsed out{std::move(entry), std::move(envelope),       statement->subject,
               *binding,         statement->predicate_type, std::nullopt};
    compare(fact, "predicateType", out.predicate_type, body.predicate_type);
    compare(fact, "subject", out.subject.text(), body.subject.text());
    compare(fact, "signer", out.binding.signer.hex(), body.signer);
    compare(fact, "keyid", out.binding.signer.hex(), out.envelope.key_id);
    if (known) {
      Result<Attestation> said = attestation_of(*statement);
      if (!said) {
        fault(fact, said.error());
        return std::nullopt;
      }
      out.said = std::move(*said);
    } else if (!predicate_skippable(out.predicate_type)) {
      fault(fact, "UNKNOWN_PREDICATE",
            entry_name(fact.index) + " is a statement of a type that this program does not know",
            {}, out.predicate_type);
    }
    return out;
  }

  // The entry and the envelope's label repeat what the signed statement says.
  void compare(const LeafFact& fact, std::string_view member, const std::string& said,
               const std::string& repeated) {
    if (said == repeated) return;
    fault(fact, "STATEMENT_MISMATCH",
          entry_name(fact.index) + " repeats the " + std::string(member) +
              " of its statement wrongly",
          said, repeated);
  }

  void check_signer(const LeafFact& fact, const Parsed& parsed) {
    const KeyRecord* key = state_.keys.find(parsed.binding.signer);
    if (key == nullptr) {
      fault(fact, "KEY_NOT_ENROLLED", entry_name(fact.index) + " is signed by an unknown key", {},
            parsed.binding.signer.hex());
      return;
    }
    ++found_.signatures;
    if (!parsed.envelope.verify(key->key)) {
      fault(fact, "INVALID_SIGNATURE", "the signature of " + entry_name(fact.index) + " is false",
            "a signature by " + parsed.binding.signer.hex(), to_base64(parsed.envelope.signature));
    }
    if (const PredicateType* type = find_predicate_type(parsed.predicate_type);
        type != nullptr && !type->may_sign(key->role)) {
      fault(fact, "ROLE_MAY_NOT_SIGN",
            entry_name(fact.index) + " is signed by a key whose role may not say this",
            role_names(*type), std::string(role_name(key->role)));
    }
    if (!key->could_sign_at(fact.index)) {
      const bool revoked = key->revoked_at && fact.index >= *key->revoked_at;
      fault(fact, revoked ? "KEY_REVOKED" : "KEY_NOT_ENROLLED",
            entry_name(fact.index) + " is signed by a key that was " +
                (revoked ? "revoked before" : "enrolled later"),
            revoked ? "below " + std::to_string(*key->revoked_at)
                    : "above " + std::to_string(key->enrolled_at),
            std::to_string(fact.index));
    }
  }

  static std::string role_names(const PredicateType& type) {
    std::string out;
    for (const Role role : type.signers) {
      if (!out.empty()) out += ", ";
      out += role_name(role);
    }
    return out;
  }

  void check_binding(const LeafFact& fact, const Parsed& parsed) {
    if (!parsed.binding.ledger || !parsed.binding.seen) return;  // the founding
    if (state_.founding && *parsed.binding.ledger != state_.founding->ledger_id) {
      fault(fact, "OTHER_LEDGER", entry_name(fact.index) + " was signed for another ledger",
            state_.founding->ledger_id.text(), parsed.binding.ledger->text());
    }
    if (parsed.binding.seen->size > fact.index) {
      fault(fact, "SEEN_IN_FUTURE",
            entry_name(fact.index) + " says that its signer saw a later tree",
            "at most " + std::to_string(fact.index), std::to_string(parsed.binding.seen->size));
    } else {
      found_.seen.push_back({fact.index, *parsed.binding.seen});
    }
  }

  void check_import(const LeafFact& fact, const ImportStatement& import) {
    if (import.end != fact.index) {
      fault(fact, "IMPORT_RANGE", entry_name(fact.index) + " does not cover what it follows",
            std::to_string(fact.index), std::to_string(import.end));
    }
    found_.imports.push_back({fact.index, import});
    for (const Digest& snapshot : import.snapshots) {
      if (state_.snapshot_before(snapshot, fact.index)) continue;
      state_.faults.add(about(fact.index, snapshot), "SNAPSHOT_NOT_RECORDED",
                        entry_name(fact.index) + " names a snapshot that no earlier entry records");
    }
    if (!import.report) return;
    state_.objects.name(*import.report);
    check_report(fact, *import.report);
  }

  void check_report(const LeafFact& fact, const Digest& report) {
    if (fact.index < state_.first_audited()) return;
    const ObjectFact* object = state_.objects.find(report);
    if (object == nullptr && state_.options.since) {
      const Result<bool> held =
          state_.reader.stream_object(report, [](std::string_view) { return Status(); });
      if (held && *held) return;
      if (!held) {
        fault(fact, held.error());
        return;
      }
    }
    if (object == nullptr) {
      state_.faults.add(about(fact.index, report), "MISSING_OBJECT",
                        "the report that " + entry_name(fact.index) + " names is lost");
    } else if (object->damaged) {
      state_.faults.add(
          about(fact.index, report), object->problem->code,
          "the report that " + entry_name(fact.index) + " names: " + object->problem->what,
          object->problem->expected, object->problem->found);
    }
  }

  void expect_pairs(const LeafFact& fact, const Parsed& parsed) {
    expect_pairs(fact, parsed.entry, &parsed.envelope, parsed.said ? &*parsed.said : nullptr);
  }
  // `envelope` is null when its bytes are withheld, `said` also when its type is unknown.
  void expect_pairs(const LeafFact& fact, const Entry& entry, const Envelope* envelope,
                    const Attestation* said) {
    if (state_.options.since) return;
    const Result<std::vector<DerivedPair>> pairs = entry_pairs(fact.index, entry, envelope, said);
    if (!pairs) {
      fault(fact, pairs.error());
      return;
    }
    for (const auto& [key, value] : *pairs) {
      state_.other_pairs.expect(worker_, key, value, fact.index);
    }
  }

  AuditState& state_;
  const unsigned worker_;
  Found& found_;
};

// ---- over all statements ----

// The founding: entry 0, then the log key that it names, then others in the order of their roles.
void check_founding(AuditState& state) {
  const LeafFact* first = state.leaf(0);
  if (first == nullptr) return;  // a lost entry is a fault already
  if (!state.founding) {
    state.faults.add(at_entry(0), "NOT_FOUNDED", "entry 0 does not found the ledger");
    return;
  }
  const Result<Attestation> founding = read_attestation(state.reader, 0);
  const Result<Attestation> second = read_attestation(state.reader, 1);
  const auto* says = founding ? std::get_if<LedgerFounding>(&founding->predicate) : nullptr;
  const auto* change = second ? std::get_if<KeyChange>(&second->predicate) : nullptr;
  const auto* log = change != nullptr ? std::get_if<KeyEnrolment>(&change->action) : nullptr;
  if (says == nullptr) return;
  if (log == nullptr || log->role != Role::log || log->public_key != says->log_key) {
    state.faults.add(at_entry(1), "FOUNDING_ORDER",
                     "entry 1 does not enrol the log key that the founding names",
                     says->log_key.id().hex(), log != nullptr ? log->public_key.id().hex() : "");
  }
}

void check_seen(AuditState& state, const std::vector<Seen>& seen) {
  std::set<std::uint64_t> sizes;
  for (const Seen& claim : seen) sizes.insert(claim.head.size);
  const std::map<std::uint64_t, Digest> roots = roots_at(state, sizes);
  for (const Seen& claim : seen) {
    const auto root = roots.find(claim.head.size);
    if (root == roots.end() || root->second == claim.head.root) continue;
    state.faults.add(at_entry(claim.index), "FALSE_SEEN",
                     entry_name(claim.index) + " says that its signer saw a tree of size " +
                         std::to_string(claim.head.size) + " that this log never had",
                     root->second.text(), claim.head.root.text());
  }
}

}  // namespace

void check_statements(AuditState& state) {
  std::vector<Found> found(state.workers.count());
  StatementCheck key_check(state, 0, found[0]);
  std::vector<const LeafFact*> others;
  for (const LeafFact& fact : state.leaves) {
    if (fact.type != LeafType::attestation) continue;
    if (fact.key_statement) {
      key_check.check_key_statement(fact);
    } else if (fact.index >= state.first_audited()) {
      others.push_back(&fact);
    }
  }
  state.workers.run(others.size(), [&](std::size_t number, unsigned worker) {
    StatementCheck(state, worker, found[worker]).check(*others[number]);
  });
  std::vector<Seen> seen;
  for (Found& part : found) {
    std::ranges::move(part.imports, std::back_inserter(state.imports));
    std::ranges::move(part.seen, std::back_inserter(seen));
    state.report.checked.signatures += part.signatures;
  }
  std::ranges::sort(state.imports, {}, &ImportFact::index);
  check_founding(state);
  check_seen(state, seen);
}

}  // namespace kernelindex::auditing
