// SPDX-License-Identifier: Apache-2.0
// Entries and the bytes that they name; documents, and the run's row that follows from them.
#include <algorithm>

#include "ledger/statement.h"
#include "verify/bundle_judge.h"

namespace kernelindex::bundles {
namespace {

// The rows that follow from the claims in the file. What is not in it is as if the log had it not,
// which can only lower a level.
class BundleRows final : public RowSource {
 public:
  BundleRows(const std::map<Digest, std::shared_ptr<const SubjectRow>>& rows,
             const std::vector<Part>& parts, const Judgements& judgements, Asked& asked)
      : rows_(rows), judgements_(judgements), asked_(asked) {
    for (const Part& part : parts) {
      if (std::holds_alternative<ArtifactEntry>(part.entry.body)) {
        artifacts_.insert(part.entry.content.digest);
      } else if (std::holds_alternative<SnapshotEntry>(part.entry.body)) {
        snapshots_.insert(part.entry.content.digest);
      }
    }
  }

  Result<std::shared_ptr<const SubjectRow>> subject(const Digest& identity) override {
    asked_.subjects.insert(identity);
    const auto found = rows_.find(identity);
    return found == rows_.end() ? nullptr : found->second;
  }
  Result<bool> artifact_held(const Digest& digest) override {
    asked_.artifacts.insert(digest);
    return artifacts_.contains(digest) && !withheld(digest);
  }
  Result<bool> object_kept(const Digest& digest) override {
    asked_.snapshots.insert(digest);
    return snapshots_.contains(digest) && !withheld(digest);
  }
  // A matter of ranks: no level depends on it.
  Result<bool> superseded(std::string_view) override { return false; }

 private:
  bool withheld(const Digest& digest) const {
    const SubjectJudgement* said = judgements_.find(digest);
    return said != nullptr && said->withheld;
  }

  const std::map<Digest, std::shared_ptr<const SubjectRow>>& rows_;
  const Judgements& judgements_;
  Asked& asked_;
  std::set<Digest> artifacts_;
  std::set<Digest> snapshots_;
};

Finding mismatch(const Part& part, std::string_view member, const std::string& said,
                 const std::string& repeated) {
  return broken("STATEMENT_MISMATCH",
                entry_name(part.index) + " repeats the " + std::string(member) +
                    " of its statement wrongly: " + repeated + " instead of " + said);
}

}  // namespace

// ---- entries and objects ----

Finding Judge::read_objects(std::map<Digest, const std::string*>& by_digest) const {
  for (const std::string& object : bundle_.objects) {
    if (by_digest.emplace(sha256(object), &object).second) continue;
    return broken("REPEATED_OBJECT", "the object " + sha256(object).text() + " stands there twice");
  }
  return holds({});
}

Finding Judge::check_objects() {
  std::map<Digest, const std::string*> by_digest;
  if (Finding finding = read_objects(by_digest); !finding.ok) return finding;
  std::set<Digest> named;
  for (const BundleEntry& given : bundle_.entries) {
    Part part(given.index, leaf_hash(given.leaf));
    const std::string name = entry_name(given.index);
    Result<Entry> entry = decode_entry(given.leaf);
    if (!entry) return broken(name, entry.error());
    part.entry = std::move(*entry);
    part.range = given.range;
    const Content& content = part.entry.content;
    const bool envelope = part.attestation() != nullptr;
    if (envelope || part.claim() != nullptr) {
      const std::string_view type = envelope ? kEnvelopeMediaType : kManifestMediaType;
      if (content.media_type != type) {
        return broken("MEDIA_TYPE_MISMATCH", name + " says the media type " + content.media_type);
      }
      const auto found = by_digest.find(content.digest);
      if (found != by_digest.end()) {
        part.object = found->second;
        named.insert(content.digest);
        if (part.object->size() != content.size) {
          return broken("SIZE_MISMATCH", name + " says that its object has " +
                                             std::to_string(content.size) + " bytes, it has " +
                                             std::to_string(part.object->size()));
        }
      }
    }
    if (envelope) {
      if (Finding finding = read_statement(part); !finding.ok) return finding;
    }
    if (!part.range.empty() && part.says<ImportStatement>() == nullptr) {
      return broken("UNNEEDED_NODES", name + " is no import statement and has nodes of a range");
    }
    parts_.push_back(std::move(part));
  }
  for (const Part& part : parts_) {
    if (part.entry.on_chain()) chains_[*part.entry.subject()].push_back(&part);
  }
  for (const std::string& artifact : bundle_.artifacts) {
    const Digest digest = sha256(artifact);
    const bool named_here = std::ranges::any_of(parts_, [&](const Part& part) {
      return std::holds_alternative<ArtifactEntry>(part.entry.body) &&
             part.entry.content.digest == digest;
    });
    if (!named_here) {
      return broken("UNNEEDED_OBJECT", "no artifact entry of the file names " + digest.text());
    }
  }
  if (named.size() != by_digest.size()) {
    const auto extra = std::ranges::find_if(
        by_digest, [&](const auto& object) { return !named.contains(object.first); });
    return broken("UNNEEDED_OBJECT", "no entry of the file names " + extra->first.text());
  }
  return holds(counted(parts_.size(), "entry", "entries") + ", " +
               counted(named.size(), "object", "objects") + ", each by its digest");
}

// The envelope of an attestation, against what its entry repeats of it.
Finding Judge::read_statement(Part& part) {
  const std::string name = entry_name(part.index);
  const AttestationEntry& body = *part.attestation();
  const std::string base(kPredicateBase);
  const bool founding = body.predicate_type == base + "ledger/v1";
  if (part.object == nullptr) {
    // Only the root can have bytes withheld, and never those of these: check_withheld() looks.
    if (founding || body.predicate_type == base + "key/v1" ||
        body.predicate_type == base + "import/v1") {
      return broken("MISSING_OBJECT", "the envelope of " + name + " is not in the file");
    }
    return holds({});
  }
  Result<Envelope> envelope = read_stored_envelope(*part.object);
  if (!envelope) return broken(name, envelope.error());
  json::Arena arena;
  const Result<Statement> statement = parse_statement(envelope->payload, arena);
  if (!statement) return broken(name, statement.error());
  const Result<Binding> binding = read_binding(statement->predicate, founding);
  if (!binding) return broken(name, binding.error());
  const std::string signer = binding->signer.hex();
  if (statement->predicate_type != body.predicate_type) {
    return mismatch(part, "predicateType", statement->predicate_type, body.predicate_type);
  }
  if (statement->subject != body.subject) {
    return mismatch(part, "subject", statement->subject.text(), body.subject.text());
  }
  if (signer != body.signer) return mismatch(part, "signer", signer, body.signer);
  if (signer != envelope->key_id) return mismatch(part, "keyid", signer, envelope->key_id);
  if (find_predicate_type(body.predicate_type) != nullptr) {
    Result<Attestation> said = parse_attestation(envelope->payload);
    if (!said) return broken(name, said.error());
    part.said = std::move(*said);
  }
  part.binding = *binding;
  part.envelope = std::move(*envelope);
  return holds({});
}

// ---- documents ----

Finding Judge::read_documents() {
  for (const Part& part : parts_) {
    const ManifestEntry* claim = part.claim();
    if (claim == nullptr || part.object == nullptr) continue;
    const std::string name = "the document of " + entry_name(part.index);
    const Digest& digest = part.entry.content.digest;
    auto known = documents_.find(digest);
    if (known == documents_.end()) {
      Result<Manifest> manifest = read_manifest(*part.object);
      if (!manifest) return broken(name, manifest.error());
      if (manifest->bytes != *part.object) {
        return broken("NOT_CANONICAL", name + " is not in canonical form");
      }
      known = documents_.emplace(digest, std::move(*manifest)).first;
    }
    const Manifest& manifest = known->second;
    if (manifest.identity != claim->subject) {
      return broken("IDENTITY_MISMATCH", name + " has the identity " + manifest.identity.text() +
                                             ", its entry says " + claim->subject.text());
    }
    if (manifest.kind != claim->kind) {
      return broken("KIND_MISMATCH", name + " is a " + std::string(kind_name(manifest.kind)) +
                                         ", its entry says " + std::string(kind_name(claim->kind)));
    }
  }
  return holds({});
}

Finding Judge::check_documents() {
  if (Finding finding = read_documents(); !finding.ok) return finding;
  if (Finding finding = derive_row(); !finding.ok) return finding;
  if (Finding finding = derive_attempts(); !finding.ok) return finding;
  return holds(counted(documents_.size(), "document", "documents") +
               ", canonical, each with the identity that its entry says");
}

Finding Judge::derive_row() {
  std::map<Digest, std::shared_ptr<SubjectRow>> folded;
  std::map<Digest, bool> supplied;  // how the last snapshot entry so far says that it came
  for (const Part& part : parts_) {
    if (const auto* snapshot = std::get_if<SnapshotEntry>(&part.entry.body)) {
      supplied[part.entry.content.digest] = snapshot->acquired == "supplied";
    }
    const ManifestEntry* claim = part.claim();
    if (claim == nullptr) continue;
    std::shared_ptr<SubjectRow>& row = folded[claim->subject];
    if (row == nullptr) row = std::make_shared<SubjectRow>();
    const auto document = documents_.find(part.entry.content.digest);
    const auto how = claim->snapshot ? supplied.find(*claim->snapshot) : supplied.end();
    fold_claim(*row, part.index, part.entry, how == supplied.end() || how->second,
               document == documents_.end() ? nullptr : &document->second);
  }
  rows_.insert(folded.begin(), folded.end());
  const auto self = rows_.find(bundle_.subject);
  const Manifest* document = nullptr;
  if (self != rows_.end()) {
    for (const ClaimRow& claim : self->second->claims) {
      const auto found = documents_.find(claim.document);
      if (document == nullptr && found != documents_.end()) document = &found->second;
    }
  }
  if (document == nullptr) {
    return broken("NO_DOCUMENT",
                  "the file holds no claimed document of the run " + bundle_.subject.text());
  }
  if (document->kind != ManifestKind::benchmark_run &&
      document->kind != ManifestKind::serving_run) {
    return broken("NOT_A_RUN", bundle_.subject.text() + " is a " +
                                   std::string(kind_name(document->kind)) + ", not a run");
  }
  BundleRows rows(rows_, parts_, judgements_, asked_);
  Result<DerivedRun> run = derive_run(*self->second, document->kind, document->facts, rows);
  if (!run) return broken("the run", run.error());
  row_bytes_ = std::move(run->bytes);
  Result<RunRow> row = decode_run_row(row_bytes_);
  if (!row) return broken("the run", row.error());
  row_ = std::move(*row);
  return holds({});
}

Finding Judge::check_comparison() {
  if (row_.group) return holds(row_.group->text());
  return holds("none: what it is made of is not all in the file", "NO_COMPARISON_KEY");
}

}  // namespace kernelindex::bundles
