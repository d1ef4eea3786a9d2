// SPDX-License-Identifier: Apache-2.0
#include "ledger/derive.h"

#include <algorithm>
#include <set>

#include "ledger/key_layout.h"
#include "schema/canonical_json.h"
#include "schema/comparison_key.h"

namespace kernelindex {
namespace {

using SubjectPointer = std::shared_ptr<const SubjectRow>;

std::optional<Digest> project_of(const SubjectRow& subject) {
  for (const ClaimRow& claim : subject.claims) {
    if (claim.facts.project) return claim.facts.project;
  }
  return std::nullopt;
}

std::vector<Digest> artifacts_of(const SubjectRow& subject, bool source) {
  std::vector<Digest> out;
  for (const ClaimRow& claim : subject.claims) {
    for (const NamedArtifact& artifact : claim.facts.artifacts) {
      if ((artifact.role == "source") == source) out.push_back(artifact.digest);
    }
  }
  return out;
}

void add_all(std::vector<Digest>& out, const std::vector<Digest>& more) {
  out.insert(out.end(), more.begin(), more.end());
}

// Builds the row of one run. The texts of the row are views of the members here.
class RunJoin {
 public:
  RunJoin(const SubjectRow& self, ManifestKind kind, const KindFacts& facts, RowSource& rows)
      : self_(self), facts_(facts), rows_(rows) {
    row_.kind = kind;
  }

  Result<DerivedRun> join() {
    Status status = std::holds_alternative<BenchmarkRunFacts>(facts_)
                        ? join_benchmark(std::get<BenchmarkRunFacts>(facts_))
                        : join_serving(std::get<ServingRunFacts>(facts_));
    if (!status) return fail(status.error());
    if (status = join_claims(); !status) return fail(status.error());
    DerivedRun out;
    out.bytes = encode_row(row_);
    std::ranges::sort(depends_);
    const auto repeated = std::ranges::unique(depends_);
    depends_.erase(repeated.begin(), repeated.end());
    out.depends = std::move(depends_);
    return out;
  }

 private:
  // The row of something the run refers to; null and the flag set when it is not in the log.
  Result<SubjectPointer> refer(const Digest& digest, RunFlag missing) {
    Result<SubjectPointer> subject = rows_.subject(digest);
    if (subject && *subject == nullptr) {
      row_.flags |= missing;
      depends_.push_back(digest);
    }
    return subject;
  }

  Status join_benchmark(const BenchmarkRunFacts& run) {
    set_common(run.status, run.primary, run.source_native, run.observed_at);
    row_.implementation = run.implementation;
    row_.workload = run.workload;
    row_.protocol = run.protocol;
    row_.environment = run.environment;

    Result<SubjectPointer> workload = refer(run.workload, kWorkloadMissing);
    if (!workload) return fail(workload.error());
    Result<SubjectPointer> protocol = refer(run.protocol, kProtocolMissing);
    if (!protocol) return fail(protocol.error());
    Result<SubjectPointer> environment = refer(run.environment, kEnvironmentMissing);
    if (!environment) return fail(environment.error());
    environment_ = *environment;
    if (environment_ != nullptr) {
      if (const auto* facts = std::get_if<EnvironmentFacts>(&environment_->facts)) {
        row_.hardware = facts->product;
      }
    }
    workload_ = *workload;
    if (workload_ != nullptr) {
      if (const auto* facts = std::get_if<WorkloadFacts>(&workload_->facts)) {
        row_.workload_name = workload_->shown().label;
        row_.group = comparison_key(run, *facts);
        if (Status status = join_operation(facts->operation); !status) return status;
      }
    }
    if (Status status = join_implementation(run); !status) return status;
    return join_evidence(run);
  }

  Status join_operation(const Digest& digest) {
    row_.operation = digest;
    depends_.push_back(digest);
    Result<SubjectPointer> operation = rows_.subject(digest);
    if (!operation) return fail(operation.error());
    operation_ = *operation;
    if (operation_ != nullptr) row_.operation_name = operation_->shown().label;
    return {};
  }

  Status join_implementation(const BenchmarkRunFacts& run) {
    depends_.push_back(run.implementation);
    Result<SubjectPointer> implementation = refer(run.implementation, kImplementationMissing);
    if (!implementation) return fail(implementation.error());
    implementation_ = *implementation;
    if (implementation_ == nullptr) return {};
    row_.implementation_name = implementation_->shown().label;
    if (Status status = join_project(*implementation_); !status) return status;
    const auto* facts = std::get_if<ImplementationFacts>(&implementation_->facts);
    if (facts == nullptr) return {};
    if (row_.operation && *row_.operation != facts->operation) row_.flags |= kOperationMismatch;
    std::vector<Digest> sources = facts->source_digests;
    add_all(sources, artifacts_of(*implementation_, true));
    if (sources.empty()) return {};
    row_.flags |= kSourceNamed | kSourceHeld;
    for (const Digest& digest : sources) {
      Result<bool> held = holds(digest);
      if (!held) return fail(held.error());
      if (!*held) row_.flags &= ~static_cast<std::uint32_t>(kSourceHeld);
    }
    return {};
  }

  // One of raw samples and logs is enough.
  Status join_evidence(const BenchmarkRunFacts& run) {
    std::vector<Digest> evidence = run.raw_samples;
    add_all(evidence, run.logs);
    add_all(evidence, artifacts_of(self_, false));
    for (const Digest& digest : evidence) {
      row_.flags |= kEvidenceNamed;
      Result<bool> held = holds(digest);
      if (!held) return fail(held.error());
      if (*held) row_.flags |= kEvidenceHeld;
    }
    return {};
  }

  Status join_project(const SubjectRow& subject) {
    const std::optional<Digest> digest = project_of(subject);
    if (!digest) return {};
    row_.project = digest;
    Result<SubjectPointer> project = rows_.subject(*digest);
    if (!project) return fail(project.error());
    project_ = *project;
    if (project_ == nullptr) {
      depends_.push_back(*digest);
      return {};
    }
    if (const auto* facts = std::get_if<ProjectFacts>(&project_->facts)) {
      row_.project_name = facts->name;
    }
    return {};
  }

  Status join_serving(const ServingRunFacts& run) {
    set_common(run.status, run.primary, run.source_native, run.observed_at);
    row_.implementation = run.configuration;
    row_.workload = run.workload;
    row_.operation = run.model;
    row_.hardware = run.accelerator;
    depends_.push_back(run.configuration);
    depends_.push_back(run.model);
    Result<SubjectPointer> configuration = refer(run.configuration, kConfigurationMissing);
    if (!configuration) return fail(configuration.error());
    Result<SubjectPointer> workload = refer(run.workload, kWorkloadMissing);
    if (!workload) return fail(workload.error());
    Result<SubjectPointer> model = refer(run.model, kModelMissing);
    if (!model) return fail(model.error());
    implementation_ = *configuration;
    workload_ = *workload;
    operation_ = *model;
    if (implementation_ != nullptr) {
      row_.implementation_name = implementation_->shown().label;
      if (Status status = join_project(*implementation_); !status) return status;
    }
    if (workload_ != nullptr) row_.workload_name = workload_->shown().label;
    if (operation_ != nullptr) row_.operation_name = operation_->shown().label;
    if (workload_ == nullptr || operation_ == nullptr) return {};
    const auto* workload_facts = std::get_if<ServingWorkloadFacts>(&workload_->facts);
    const auto* model_facts = std::get_if<ModelFacts>(&operation_->facts);
    if (workload_facts != nullptr && model_facts != nullptr) {
      row_.group = cohort_key(run, *workload_facts, model_facts->tokenizer);
    }
    return {};
  }

  void set_common(const std::string& status, const std::optional<PrimaryMeasurement>& primary,
                  const std::optional<SourceNative>& native, UtcMicros observed_at) {
    row_.status = status;
    row_.observed_at = observed_at;
    if (primary) {
      row_.metric = primary->metric;
      row_.statistic = primary->statistic;
      row_.unit = primary->unit;
      row_.value = primary->value;
      row_.statistic_present = primary->statistic_present;
    }
    if (native) {
      row_.source_native = true;
      row_.source = native->source;
      row_.native_external_id = native->external_id;
    } else {
      row_.source = self_.claims.front().source;
    }
  }

  Status join_claims() {
    const std::string_view own = row_.source_native ? row_.source : std::string_view();
    row_.label = self_.shown(own).label;
    std::set<std::string_view> ids;
    const ClaimRow* first = nullptr;
    for (const ClaimRow& claim : self_.claims) {
      ids.insert(claim.external_ids.begin(), claim.external_ids.end());
      const bool own_source = own.empty() || claim.source == own;
      bool kept = false;
      if (claim.snapshot) {
        Result<bool> object = rows_.object_kept(*claim.snapshot);
        if (!object) return fail(object.error());
        kept = *object;
      }
      row_.claims.push_back({claim.index, own_source, kept});
      if (own_source) {
        if (first == nullptr) first = &claim;
        row_.last_index = claim.index;
      }
      if (!claim.facts.retracted_at.empty()) row_.flags |= kRetractedBySource;
      if (std::ranges::find(claim.facts.marks, "observed_at_by_operator") !=
          claim.facts.marks.end()) {
        row_.flags |= kObservedByOperator;
      }
    }
    for (const std::string_view id : ids) {
      Result<bool> superseded = rows_.superseded(id);
      if (!superseded) return fail(superseded.error());
      if (*superseded) row_.flags |= kSupersededBySource;
    }
    if (first == nullptr) {
      first = &self_.claims.front();
      row_.last_index = self_.claims.back().index;
    }
    row_.index = first->index;
    row_.recorded_at = first->recorded_at;
    row_.external_ids.assign(ids.begin(), ids.end());
    return {};
  }

  Result<bool> holds(const Digest& digest) {
    Result<bool> held = rows_.artifact_held(digest);
    if (held && !*held) depends_.push_back(digest);
    return held;
  }

  const SubjectRow& self_;
  const KindFacts& facts_;
  RowSource& rows_;
  RunRow row_;
  std::vector<Digest> depends_;
  // What the row's texts are views of.
  SubjectPointer workload_;
  SubjectPointer operation_;
  SubjectPointer implementation_;
  SubjectPointer environment_;
  SubjectPointer project_;
};

// `envelope` and `said` are null when the bytes are withheld, `said` when the type is unknown.
void attestation_pairs(std::uint64_t index, const Entry& entry, const Envelope* envelope,
                       const Attestation* said, std::vector<DerivedPair>& out) {
  const auto& body = std::get<AttestationEntry>(entry.body);
  const Digest id = envelope == nullptr ? Digest() : envelope->id();
  const Digest signer = Digest::parse_hex(body.signer).value_or(Digest());
  if (envelope != nullptr) {
    out.emplace_back(key_layout::attestation(id), key_layout::big_endian(index));
  }
  if (predicate_skippable(body.predicate_type)) {
    out.emplace_back(key_layout::note_of_day(utc_day(entry.recorded_at), signer, index), "");
    return;
  }
  if (const std::optional<ChainFact> fact =
          chain_fact(index, id, body.subject, signer, body.predicate_type, said)) {
    out.emplace_back(key_layout::chain_fact(index), encode_chain_fact(*fact));
    return;
  }
  if (said == nullptr) return;
  if (const auto* import = std::get_if<ImportStatement>(&said->predicate)) {
    out.emplace_back(key_layout::import_statement(index),
                     encode_import_range({index, import->first, import->end, signer, id}));
  } else if (std::holds_alternative<LedgerFounding>(said->predicate) ||
             std::holds_alternative<KeyChange>(said->predicate)) {
    out.emplace_back(key_layout::key_statement(index), "");
  }
}

}  // namespace

void fold_claim(SubjectRow& row, std::uint64_t index, const Entry& entry, bool supplied,
                const Manifest* document) {
  const auto& body = std::get<ManifestEntry>(entry.body);
  if (row.claims.empty()) row.kind = body.kind;
  if (document != nullptr && std::holds_alternative<NoFacts>(row.facts)) {
    row.facts = document->facts;
  }
  ClaimRow claim;
  claim.index = index;
  claim.recorded_at = entry.recorded_at;
  claim.source = body.source;
  claim.via = body.via;
  claim.external_ids = body.external_ids;
  claim.document = entry.content.digest;
  claim.snapshot = body.snapshot;
  claim.supplied = supplied;
  claim.facts = body.facts;
  for (NamedArtifact& artifact : claim.facts.artifacts) {
    artifact = {artifact.role, artifact.digest, {}, {}, {}, {}};
  }
  if (document != nullptr) claim.label = document->label();
  row.claims.push_back(std::move(claim));
}

bool changes_dependents(const SubjectRow& before, const SubjectRow& after) {
  return project_of(before) != project_of(after) ||
         artifacts_of(before, true) != artifacts_of(after, true) ||
         before.shown().label != after.shown().label;
}

Result<DerivedRun> derive_run(const SubjectRow& self, ManifestKind kind, const KindFacts& facts,
                              RowSource& rows) {
  return RunJoin(self, kind, facts, rows).join();
}

std::vector<DerivedPair> run_pairs(const Digest& identity, const DerivedRun& run,
                                   const RunRow& row) {
  std::vector<DerivedPair> out;
  out.reserve(run.depends.size() + 5);
  if (row.group) {
    std::string place = key_layout::group_run(*row.group, row.value, identity);
    out.emplace_back(key_layout::run(identity), place);
    out.emplace_back(std::move(place), run.bytes);
  } else {
    out.emplace_back(key_layout::run(identity), run.bytes);
  }
  out.emplace_back(key_layout::by_time(row.kind, row.observed_at, identity), "");
  if (!row.hardware.empty()) {
    out.emplace_back(key_layout::by_hardware(row.hardware, row.observed_at, identity), "");
  }
  for (const Digest& digest : run.depends) {
    out.emplace_back(key_layout::dependent(digest, row.observed_at, identity), "");
  }
  return out;
}

Digest claim_fingerprint(const Digest& document, std::string_view source, std::string_view via,
                         const std::vector<std::string>& external_ids, bool supplied) {
  std::string text = "[";
  json::append_string(document.text(), text);
  text += ',';
  json::append_string(source, text);
  text += ',';
  json::append_string(via, text);
  text += supplied ? ",true" : ",false";
  for (const std::string& id : external_ids) {
    text += ',';
    json::append_string(id, text);
  }
  text += ']';
  return sha256(text);
}

const ClaimRow* find_claim(const SubjectRow& row, const Digest& document, std::string_view source,
                           std::string_view via, const std::vector<std::string>& external_ids,
                           bool supplied) {
  for (const ClaimRow& claim : row.claims) {
    if (claim.document == document && claim.source == source && claim.via == via &&
        claim.external_ids == external_ids && claim.supplied == supplied) {
      return &claim;
    }
  }
  return nullptr;
}

Digest snapshot_fingerprint(const Digest& content, const SnapshotEntry& snapshot) {
  std::string text = "[";
  json::append_string(content.text(), text);
  text += ',';
  json::append_string(snapshot.source, text);
  text += ',';
  json::append_string(snapshot.locator, text);
  text += ',';
  json::append_string(snapshot.acquired, text);
  text += ']';
  return sha256(text);
}

Result<std::vector<DerivedPair>> entry_pairs(std::uint64_t index, const Entry& entry,
                                             const Envelope* envelope, const Attestation* said) {
  std::vector<DerivedPair> out;
  const std::string number = key_layout::big_endian(index);
  if (const Digest* subject = entry.subject()) {
    // A claim is named by its subject's row.
    if (std::holds_alternative<AttestationEntry>(entry.body)) {
      out.emplace_back(key_layout::subject_entry(*subject, index), entry.on_chain() ? "c" : "n");
    }
    // The first entry on a chain is found without it.
    if (entry.on_chain() && entry.previous()) {
      out.emplace_back(key_layout::chain_head(*subject), number);
    }
  }
  if (const auto* claim = std::get_if<ManifestEntry>(&entry.body)) {
    for (const std::string& id : claim->external_ids) {
      const std::size_t colon = id.find(':');
      if (colon == std::string::npos) continue;
      out.emplace_back(
          key_layout::external(std::string_view(id).substr(0, colon),
                               std::string_view(id).substr(colon + 1), claim->kind, claim->subject),
          "");
    }
    if (!claim->facts.supersedes.empty()) {
      out.emplace_back(key_layout::superseding(claim->facts.supersedes, index), "");
    }
    if (!claim->facts.slug.empty()) {
      out.emplace_back(
          key_layout::slug(claim->kind, claim->facts.slug, claim->source, claim->subject), "");
    }
  } else if (const auto* snapshot = std::get_if<SnapshotEntry>(&entry.body)) {
    out.emplace_back(key_layout::content_entry(entry.content.digest, index),
                     snapshot->acquired == "fetched" ? "sf" : "ss");
    out.emplace_back(
        key_layout::snapshot_fingerprint(snapshot_fingerprint(entry.content.digest, *snapshot)),
        number);
  } else if (std::holds_alternative<ArtifactEntry>(entry.body)) {
    out.emplace_back(key_layout::content_entry(entry.content.digest, index), "a");
  } else if (const auto* attestation = std::get_if<AttestationEntry>(&entry.body)) {
    std::optional<Attestation> read;
    if (said == nullptr && envelope != nullptr &&
        find_predicate_type(attestation->predicate_type) != nullptr) {
      Result<Attestation> parsed = parse_attestation(envelope->payload);
      if (!parsed) return fail_in("entry " + std::to_string(index), parsed.error());
      said = &read.emplace(std::move(*parsed));
    }
    attestation_pairs(index, entry, envelope, said, out);
  }
  return out;
}

std::string encode_import_range(const ImportRange& range) {
  return key_layout::join(key_layout::big_endian(range.first), key_layout::big_endian(range.end),
                          range.signer.raw(), range.id.raw());
}

Result<ImportRange> decode_import_range(std::uint64_t index, std::string_view value) {
  if (value.size() != 80) {
    return fail(ErrorKind::corrupt, "DAMAGED_ROW", "import statement " + std::to_string(index),
                "a row of derived data is damaged",
                "`kernelindex reindex` makes derived data anew");
  }
  return ImportRange{index, key_layout::from_big_endian(value),
                     key_layout::from_big_endian(value.substr(8)),
                     Digest::from_raw(value.substr(16, 32)), Digest::from_raw(value.substr(48))};
}

}  // namespace kernelindex
