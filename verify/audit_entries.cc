// SPDX-License-Identifier: Apache-2.0
// Entries: each leaf decoded, held against its object, and what follows from it alone.
#include <algorithm>

#include "ledger/key_layout.h"
#include "verify/audit_passes.h"

namespace kernelindex::auditing {
namespace {

constexpr std::size_t kTaskLeaves = 256;

bool is_run(ManifestKind kind) {
  return kind == ManifestKind::benchmark_run || kind == ManifestKind::serving_run;
}

// What the join of a run reads of the row of something that it refers to. Thousands of them stay.
SubjectRow joinable(SubjectRow row) {
  SubjectRow out;
  out.kind = row.kind;
  out.facts = std::move(row.facts);
  for (ClaimRow& claim : row.claims) {
    ClaimRow& kept = out.claims.emplace_back();
    kept.index = claim.index;
    kept.label = std::move(claim.label);
    kept.facts.project = claim.facts.project;
    kept.facts.artifacts = std::move(claim.facts.artifacts);
  }
  return out;
}

// What one thread finds, merged at the end.
struct Found {
  std::vector<Digest> artifacts;
  std::vector<std::string> superseded;
  std::vector<std::pair<Digest, std::shared_ptr<const SubjectRow>>> rows;
  std::uint64_t leaves = 0;
  std::uint64_t identities = 0;
};

class EntryCheck {
 public:
  EntryCheck(AuditState& state, unsigned worker, Found& found)
      : state_(state), worker_(worker), found_(found) {}

  void check(LeafFact& fact, std::string_view leaf) {
    ++found_.leaves;
    const Result<Entry> entry = decode_entry(leaf);
    if (!entry) {
      state_.faults.add(at_entry(fact.index), entry.error());
      return;
    }
    fact.content = entry->content.digest;
    fact.on_chain = entry->on_chain();
    if (const Digest* subject = entry->subject()) fact.subject = *subject;
    state_.objects.name(fact.content);
    std::visit([&](const auto& body) { note(fact, body); }, entry->body);
    if (fact.index < state_.first_audited()) {
      fact.sound = true;
      return;
    }
    const ObjectFact* object = check_object(fact, entry->content);
    std::visit([&](const auto& body) { check_body(fact, *entry, body, object); }, entry->body);
  }

 private:
  // ---- what later passes need ----

  void note(LeafFact& fact, const ManifestEntry& claim) {
    fact.type = LeafType::manifest;
    fact.kind = claim.kind;
    fact.previous = claim.previous.value_or(kNone);
    fact.has_snapshot = claim.snapshot.has_value();
    fact.snapshot = claim.snapshot.value_or(Digest{});
    if (!claim.facts.supersedes.empty()) found_.superseded.push_back(claim.facts.supersedes);
  }
  void note(LeafFact& fact, const SnapshotEntry&) { fact.type = LeafType::snapshot; }
  void note(LeafFact& fact, const ArtifactEntry&) {
    fact.type = LeafType::artifact;
    found_.artifacts.push_back(fact.content);
  }
  void note(LeafFact& fact, const AttestationEntry& attestation) {
    fact.type = LeafType::attestation;
    fact.previous = attestation.previous.value_or(kNone);
    const std::string_view type = attestation.predicate_type;
    fact.key_statement =
        type.starts_with(kPredicateBase) && (type.substr(kPredicateBase.size()) == "ledger/v1" ||
                                             type.substr(kPredicateBase.size()) == "key/v1");
  }

  // ---- the object ----

  // The object when its bytes are there and right, else null.
  const ObjectFact* check_object(const LeafFact& fact, const Content& content) {
    const ObjectFact* object = state_.objects.find(content.digest);
    const Fault place = about(fact.index, content.digest);
    if (object == nullptr) {
      state_.faults.add(place, "MISSING_OBJECT",
                        "the bytes that " + entry_name(fact.index) + " is about are lost");
      return nullptr;
    }
    if (object->withheld) return nullptr;  // check_statements() looks for the reason
    if (object->damaged) {
      const Problem& problem = *object->problem;
      state_.faults.add(place, problem.code,
                        "the object of " + entry_name(fact.index) + ": " + problem.what,
                        problem.expected, problem.found);
      return nullptr;
    }
    if (object->size != content.size) {
      state_.faults.add(place, "SIZE_MISMATCH",
                        entry_name(fact.index) + " says another size of its object",
                        std::to_string(object->size), std::to_string(content.size));
    }
    return object;
  }

  void expect_media_type(const LeafFact& fact, const Content& content, std::string_view expected) {
    if (content.media_type == expected) return;
    state_.faults.add(at_entry(fact.index), "MEDIA_TYPE_MISMATCH",
                      entry_name(fact.index) + " says another media type", std::string(expected),
                      content.media_type);
  }

  // ---- by type ----

  void check_body(LeafFact& fact, const Entry& entry, const ManifestEntry& claim,
                  const ObjectFact* object) {
    expect_media_type(fact, entry.content, kManifestMediaType);
    if (object != nullptr) {
      fact.sound = check_manifest(fact, claim, *object);
    } else if (const ObjectFact* gone = state_.objects.find(entry.content.digest)) {
      fact.sound = gone->withheld;
    }
    if (claim.snapshot && !state_.snapshot_before(*claim.snapshot, fact.index)) {
      state_.faults.add(about(fact.index, *claim.snapshot), "SNAPSHOT_NOT_RECORDED",
                        entry_name(fact.index) + " names a snapshot that no earlier entry records");
    }
    for (const std::string& id : claim.external_ids) {
      if (id.find(':') != std::string::npos) continue;
      state_.faults.add(at_entry(fact.index), "BAD_EXTERNAL_ID",
                        entry_name(fact.index) + " has an external id without a source",
                        "source:id", id);
    }
    const bool supplied = claim.snapshot ? state_.supplied(*claim.snapshot, fact.index) : true;
    expect_pairs(fact, entry);
    if (fact.sound) {
      expect_row(fact, entry, supplied, object == nullptr ? nullptr : object->manifest.get());
    }
  }

  void check_body(LeafFact& fact, const Entry& entry, const SnapshotEntry&, const ObjectFact*) {
    expect_pairs(fact, entry);
  }
  void check_body(LeafFact& fact, const Entry& entry, const ArtifactEntry&, const ObjectFact*) {
    expect_pairs(fact, entry);
  }
  // Its keys follow from the envelope: check_statements().
  void check_body(LeafFact& fact, const Entry& entry, const AttestationEntry&, const ObjectFact*) {
    expect_media_type(fact, entry.content, kEnvelopeMediaType);
  }

  bool check_manifest(const LeafFact& fact, const ManifestEntry& claim, const ObjectFact& object) {
    ++found_.identities;
    const Fault place = about(fact.index, object.digest);
    if (object.manifest == nullptr) {
      if (object.problem != nullptr) {
        const Problem& problem = *object.problem;
        state_.faults.add(place, problem.code,
                          "the document of " + entry_name(fact.index) + ": " + problem.what,
                          problem.expected, problem.found);
      } else {
        state_.faults.add(place, "INVALID_MANIFEST",
                          "the document of " + entry_name(fact.index) + " is no manifest");
      }
      return false;
    }
    const Manifest& manifest = *object.manifest;
    if (manifest.kind != claim.kind) {
      state_.faults.add(place, "KIND_MISMATCH",
                        entry_name(fact.index) + " says another kind than its document",
                        std::string(kind_name(manifest.kind)), std::string(kind_name(claim.kind)));
    }
    if (manifest.identity != claim.subject) {
      state_.faults.add(place, "IDENTITY_MISMATCH",
                        "the document of " + entry_name(fact.index) + " has another identity",
                        manifest.identity.text(), claim.subject.text());
    }
    return manifest.kind == claim.kind && manifest.identity == claim.subject;
  }

  // ---- what follows ----

  void expect_pairs(const LeafFact& fact, const Entry& entry) {
    if (state_.options.since) return;
    const Result<std::vector<DerivedPair>> pairs = entry_pairs(fact.index, entry, nullptr);
    if (!pairs) {
      state_.faults.add(at_entry(fact.index), pairs.error());
      return;
    }
    for (const auto& [key, value] : *pairs) {
      state_.other_pairs.expect(worker_, key, value, fact.index);
    }
  }

  // The row as it is with this claim alone; check_chains() makes those of several claims.
  void expect_row(const LeafFact& fact, const Entry& entry, bool supplied,
                  const Manifest* manifest) {
    if (state_.options.since) return;
    SubjectRow row;
    fold_claim(row, fact.index, entry, supplied, manifest);
    state_.subject_rows.expect(worker_, key_layout::subject(fact.subject), encode_row(row),
                               fact.index);
    if (is_run(fact.kind)) return;
    found_.rows.emplace_back(fact.subject,
                             std::make_shared<const SubjectRow>(joinable(std::move(row))));
  }

  AuditState& state_;
  const unsigned worker_;
  Found& found_;
};

// The leaf at each position in turn; read one by one where the table cannot be scanned.
class LeafCursor {
 public:
  LeafCursor(const Reader& reader, std::uint64_t first)
      : reader_(reader),
        cursor_(reader.view().scan(Space::evidence, "e", key_layout::big_endian(first))) {}

  // Valid until the next call.
  Result<std::string_view> read(std::uint64_t index) {
    const std::string key = key_layout::leaf(index);
    while (cursor_.valid() && cursor_.key() < key) cursor_.next();
    if (cursor_.valid() && cursor_.key() == key) return cursor_.value();
    Result<bool> found = reader_.view().get(Space::evidence, key, leaf_);
    if (!found) return fail(found.error());
    if (!*found) return fail(ErrorKind::corrupt, "MISSING_ENTRY", entry_name(index), "is lost");
    return std::string_view(leaf_);
  }

 private:
  const Reader& reader_;
  StoreCursor cursor_;
  std::string leaf_;
};

}  // namespace

void check_entries(AuditState& state) {
  std::vector<Found> found(state.workers.count());
  const std::size_t count = state.leaves.size();
  const std::size_t tasks = (count + kTaskLeaves - 1) / kTaskLeaves;
  state.workers.run(tasks, [&](std::size_t number, unsigned worker) {
    EntryCheck check(state, worker, found[worker]);
    const std::size_t first = number * kTaskLeaves;
    LeafCursor leaves(state.reader, state.leaves[first].index);
    for (std::size_t at = first; at < std::min(first + kTaskLeaves, count); ++at) {
      LeafFact& fact = state.leaves[at];
      const Result<std::string_view> leaf = leaves.read(fact.index);
      if (leaf) {
        check.check(fact, *leaf);
      } else {
        state.faults.add(at_entry(fact.index), leaf.error());
      }
    }
  });
  std::size_t rows = 0;
  for (const Found& part : found) rows += part.rows.size();
  state.rows.reserve(rows);
  for (Found& part : found) {
    state.artifacts.insert(part.artifacts.begin(), part.artifacts.end());
    state.superseded.insert(part.superseded.begin(), part.superseded.end());
    for (auto& [subject, row] : part.rows) state.rows.insert_or_assign(subject, std::move(row));
    state.report.checked.leaves += part.leaves;
    state.report.checked.identities += part.identities;
  }
}

}  // namespace kernelindex::auditing
