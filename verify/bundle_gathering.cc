// SPDX-License-Identifier: Apache-2.0
#include "verify/bundle_gathering.h"

#include <vector>

#include "ledger/attestation_rules.h"
#include "ledger/reader_attempts.h"
#include "ledger/run_evidence.h"
#include "ledger/statement.h"
#include "verify/asked_attempts.h"
#include "verify/bundle_format.h"

namespace kernelindex {
namespace {

std::string entry_place(std::uint64_t index) { return "entry " + std::to_string(index); }

// Fills in what the envelope of an attestation says.
Status read_statement(std::uint64_t index, const std::string& payload, const AttestationEntry& body,
                      Gathered& gathered) {
  if (find_predicate_type(body.predicate_type) != nullptr) {
    Result<Attestation> said = parse_attestation(payload);
    if (!said) return fail_in(entry_place(index), said.error());
    gathered.seen = said->binding.seen;
    gathered.said = std::move(*said);
    return {};
  }
  json::Arena arena;
  const Result<Statement> statement = parse_statement(payload, arena);
  if (!statement) return fail_in(entry_place(index), statement.error());
  const Result<Binding> binding = read_binding(statement->predicate);
  if (!binding) return fail_in(entry_place(index), binding.error());
  gathered.seen = binding->seen;
  return {};
}

bool is_key_statement(const Gathered& gathered) {
  return gathered.said && (std::holds_alternative<LedgerFounding>(gathered.said->predicate) ||
                           std::holds_alternative<KeyChange>(gathered.said->predicate));
}

}  // namespace

// Remembers what the derivation of a row asks for.
struct Gathering::Asking final : RowSource {
  explicit Asking(RowsAsOf& rows) : rows_(rows) {}

  Result<std::shared_ptr<const SubjectRow>> subject(const Digest& identity) override {
    subjects.insert(identity);
    return rows_.subject(identity);
  }
  Result<bool> artifact_held(const Digest& digest) override {
    artifacts.insert(digest);
    return rows_.artifact_held(digest);
  }
  Result<bool> object_kept(const Digest& digest) override {
    snapshots.insert(digest);
    return rows_.object_kept(digest);
  }
  Result<bool> superseded(std::string_view external_id) override {
    return rows_.superseded(external_id);
  }

  std::set<Digest> subjects;
  std::set<Digest> artifacts;
  std::set<Digest> snapshots;

 private:
  RowsAsOf& rows_;
};

Status Gathering::gather() {
  if (Status status = add(0); !status) return status;
  depend(run_);
  if (Status status = add_row(); !status) return status;
  return settle();
}

Status Gathering::add_key(const Digest& key_id) {
  depend(key_id);
  return settle();
}

std::map<Digest, std::uint64_t> Gathering::heads() const {
  std::map<Digest, std::uint64_t> out;
  for (const auto& [index, gathered] : entries_) {
    const Digest* subject = gathered.entry.subject();
    if (subject == nullptr || !subjects_.contains(*subject)) continue;
    if (gathered.entry.on_chain()) out[*subject] = index;  // in order: the last one stays
  }
  return out;
}

void Gathering::depend(const Digest& subject) {
  if (subjects_.insert(subject).second) waiting_.push_back(subject);
}

// A queue and no recursion: retractions of retractions can be nested as deep as anybody likes.
Status Gathering::settle() {
  while (!waiting_.empty()) {
    const Digest subject = waiting_.back();
    waiting_.pop_back();
    if (Status status = add_chain(subject); !status) return status;
  }
  return {};
}

// All of the subject's chain below the size.
Status Gathering::add_chain(const Digest& subject) {
  const Result<std::vector<std::uint64_t>> indexes = reader_.subject_entries(subject, size_);
  if (!indexes) return fail(indexes.error());
  for (const std::uint64_t index : *indexes) {
    if (entries_.contains(index)) continue;
    const Result<Entry> entry = reader_.entry(index);
    if (!entry) return fail(entry.error());
    if (entry->on_chain()) {
      if (Status status = add(index); !status) return status;
    } else if (const auto* body = std::get_if<AttestationEntry>(&entry->body);
               body != nullptr && subject == run_ && predicate_skippable(body->predicate_type)) {
      ++notes_;
    }
  }
  return {};
}

Status Gathering::add(std::uint64_t index) {
  if (entries_.contains(index)) return {};
  if (entries_.size() == kBundleEntries) {
    return fail(ErrorKind::refused, "BUNDLE_TOO_LARGE", run_.text(),
                "the level of this run depends on more than " + std::to_string(kBundleEntries) +
                    " entries of the log",
                "show the log itself: `kernelindex export tiles`");
  }
  Result<std::string> leaf = reader_.leaf(index);
  if (!leaf) return fail(leaf.error());
  Result<Entry> entry = decode_entry(*leaf);
  if (!entry) return fail_in(entry_place(index), entry.error());
  Gathered gathered{std::move(*leaf), std::move(*entry), {}, {}, {}};
  const bool claim = std::holds_alternative<ManifestEntry>(gathered.entry.body);
  const bool attestation = std::holds_alternative<AttestationEntry>(gathered.entry.body);
  if (claim || attestation) {
    Result<std::optional<std::string>> object = reader_.object(gathered.entry.content.digest);
    if (!object) return fail(object.error());
    gathered.object = std::move(*object);
  }
  Gathered& added = entries_.emplace(index, std::move(gathered)).first->second;
  if ((claim || attestation) && !added.object) {
    // Whoever misses the bytes must see that they were withheld.
    depend(added.entry.content.digest);
  }
  if (claim) return add_import(index);
  return attestation ? add_statement(index, added) : Status();
}

Status Gathering::add_import(std::uint64_t claim) {
  const ImportRange* import = import_over(reader_.state().imports, claim, size_);
  if (import != nullptr) return add(import->index);
  return fail(ErrorKind::refused, "NOT_COVERED", entry_place(claim),
              "no import statement covers this claim as of size " + std::to_string(size_) +
                  ": nobody stands for it",
              "a larger checkpoint may hold the statement");
}

Status Gathering::add_statement(std::uint64_t index, Gathered& gathered) {
  const auto& body = std::get<AttestationEntry>(gathered.entry.body);
  const Result<Digest> signer = Digest::parse_hex(body.signer);
  if (!signer) return fail_in(entry_place(index), signer.error());
  if (gathered.object) {
    const Result<Envelope> envelope = read_stored_envelope(*gathered.object);
    if (!envelope) return fail_in(entry_place(index), envelope.error());
    if (Status status = read_statement(index, envelope->payload, body, gathered); !status) {
      return status;
    }
    // What was said about it can take it back.
    if (!is_key_statement(gathered)) depend(envelope->id());
  }
  depend(*signer);
  return {};
}

Status Gathering::add_log_keys(const SignedCheckpoint& checkpoint) {
  bool valid = false;
  for (const auto& [id, key] : reader_.state().keys.all()) {
    if (key.role != Role::log || key.enrolled_at >= size_) continue;
    const VerifierKey verifier = log_verifier_key(checkpoint.checkpoint.origin, key.key);
    if (!verify_checkpoint(checkpoint, std::span(&verifier, 1)).ok()) continue;
    valid |= key.valid_at(size_);
    depend(id);
  }
  if (valid) return settle();
  return fail(ErrorKind::refused, "NO_LOG_SIGNATURE", "checkpoint",
              "no log key that was valid at size " + std::to_string(size_) + " signed it",
              "sign a new one: `kernelindex checkpoint`");
}

// What the run's row is joined from.
Status Gathering::add_row() {
  RowsAsOf stored(reader_, size_);
  const Result<std::shared_ptr<const SubjectRow>> self = stored.subject(run_);
  if (!self) return fail(self.error());
  if (*self == nullptr) {
    return fail(ErrorKind::not_found, "NO_SUCH_MANIFEST", run_.text(),
                "the log holds no manifest of this digest as of size " + std::to_string(size_));
  }
  const ManifestKind kind = (*self)->kind;
  if (kind != ManifestKind::benchmark_run && kind != ManifestKind::serving_run) {
    return fail(ErrorKind::invalid, "NOT_A_RUN", run_.text(),
                "a bundle is about a run, this is a " + std::string(kind_name(kind)));
  }
  const Result<std::optional<Manifest>> document = read_subject_document(reader_, **self);
  if (!document) return fail(document.error());
  if (!*document) {
    return fail(ErrorKind::refused, "WITHHELD", run_.text(),
                "the bytes of this run's documents are withheld",
                "`kernelindex provenance` shows what is left");
  }
  Asking asking(stored);
  const Result<DerivedRun> run = derive_run(**self, kind, (*document)->facts, asking);
  if (!run) return fail(run.error());
  if (Status status = add_asked(**self, asking); !status) return status;
  const Result<RunRow> row = decode_run_row(run->bytes);
  if (!row) return fail_in(run_.text(), row.error());
  return add_attempts(*row, **self);
}

// What the judgement of the run's attempts asks for. The judge of the file asks the same.
Status Gathering::add_attempts(const RunRow& row, const SubjectRow& self) {
  ReaderAttempts source(reader_, size_);
  const Result<AttemptContext> context = source.own_context();
  if (!context) return fail(context.error());
  EvidenceFacts facts = evidence_facts(
      row, run_, {reader_.state().imports, context->keys, context->judgements, size_});
  AskedOfAttempts asked;
  AskedAttempts asking(source, asked);
  if (Status status = kernelindex::add_attempts(asking, *context, run_, self, facts); !status) {
    return status;
  }
  for (const Digest& subject : asked.subjects) depend(subject);
  for (const Digest& id : asked.attestations) {
    const Result<std::optional<std::uint64_t>> index = find_attestation(reader_, id);
    if (!index) return fail(index.error());
    if (!*index || **index >= size_) continue;
    if (Status status = add(**index); !status) return status;
  }
  for (const Digest& runner : asked.runners) {
    const Result<std::vector<SaidAt>> sessions = source.calibrations(runner);
    if (!sessions) return fail(sessions.error());
    for (const SaidAt& one : *sessions) {
      if (Status status = add(one.index); !status) return status;
    }
  }
  for (const Digest& digest : asked.held) {
    if (Status status = add_artifact(digest); !status) return status;
  }
  for (const Digest& digest : asked.bytes) {
    if (Status status = add_artifact(digest); !status) return status;
    const Result<std::vector<std::uint64_t>> named = reader_.content_entries(digest, true, size_);
    if (!named) return fail(named.error());
    if (named->empty()) continue;  // the object of an entry, which comes with it
    Result<std::optional<std::string>> bytes = reader_.object(digest);
    if (!bytes) return fail(bytes.error());
    if (*bytes && !(*bytes)->empty()) artifacts_.emplace(digest, std::move(**bytes));
  }
  return {};
}

// The first entry of an artifact, and what was said of its bytes.
Status Gathering::add_artifact(const Digest& digest) {
  depend(digest);
  const Result<std::vector<std::uint64_t>> entries = reader_.content_entries(digest, true, size_);
  if (!entries) return fail(entries.error());
  return entries->empty() ? Status() : add(entries->front());
}

Status Gathering::add_asked(const SubjectRow& self, const Asking& asking) {
  for (const Digest& identity : asking.subjects) depend(identity);
  for (const Digest& artifact : asking.artifacts) {
    if (Status status = add_artifact(artifact); !status) return status;
  }
  for (const Digest& snapshot : asking.snapshots) depend(snapshot);
  for (const ClaimRow& claim : self.claims) {
    if (!claim.snapshot) continue;
    const Result<std::vector<std::uint64_t>> entries =
        reader_.content_entries(*claim.snapshot, false, claim.index);
    if (!entries) return fail(entries.error());
    if (entries->empty()) continue;
    if (Status status = add(entries->back()); !status) return status;
  }
  return {};
}

}  // namespace kernelindex
