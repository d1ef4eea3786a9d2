// SPDX-License-Identifier: Apache-2.0
#include "tools/provenance_output.h"

#include <vector>

#include "schema/json_reader.h"
#include "tools/attempt_output.h"
#include "tools/run_output.h"

namespace kernelindex::tools {
namespace {

std::vector<json::Value> digest_texts(const JsonOutput& json, const std::vector<Digest>& digests) {
  std::vector<json::Value> out;
  for (const Digest& digest : digests) out.push_back(json.digest(digest));
  return out;
}

json::Value report_document(const JsonOutput& json, const ImportReportView& report) {
  return json.object()
      .add("digest", json.digest(report.digest))
      .add("kept", json::Value(report.kept))
      .add("selected", json.count(report.selected))
      .add("skipped", json.count(report.skipped))
      .add("quarantined", json.count(report.quarantined))
      .add("fetchRecords", json.array(digest_texts(json, report.fetch_records)))
      .finish();
}

// The import as one event: all its statements, not the covering one alone.
json::Value import_document(const JsonOutput& json, const ImportEventView& import) {
  std::vector<json::Value> statements;
  for (const ImportStatementView& statement : import.statements) {
    statements.push_back(json.object()
                             .add("index", json.count(statement.index))
                             .add("first", json.count(statement.first))
                             .add("end", json.count(statement.end))
                             .add("valid", json::Value(statement.valid))
                             .finish());
  }
  std::vector<json::Value> snapshots;
  for (const ImportSnapshotView& snapshot : import.snapshots) {
    snapshots.push_back(json.object()
                            .add("digest", json.digest(snapshot.digest))
                            .add("locator", snapshot.locator)
                            .add("acquired", snapshot.fetched_at.empty() ? "supplied" : "fetched")
                            .add_if(!snapshot.fetched_at.empty(), "fetchedAt", snapshot.fetched_at)
                            .add("kept", json::Value(snapshot.kept))
                            .finish());
  }
  json::ObjectBuilder counts = json.object();
  for (const auto& [what, number] : import.counts) {
    counts.add(what, json::Value(static_cast<double>(number)));
  }
  json::ObjectBuilder value = json.object();
  value.add("parser", import.parser)
      .add("parserVersion", import.parser_version)
      .add("options", json::parse(import.options, json.arena()).value_or(json::Value()))
      .add("signer", import.signer)
      .add("recordedAt", json.text(format_utc_micros(import.recorded_at)))
      .add("statements", json.array(statements))
      .add("snapshots", json.array(snapshots))
      .add("recorded", counts.finish())
      .add("finished", json::Value(import.report.has_value()));
  if (import.report) value.add("report", report_document(json, *import.report));
  return value.finish();
}

json::Value claim_document(const JsonOutput& json, const ClaimView& claim,
                           const ImportEventView* event) {
  json::ObjectBuilder value = json.object();
  value.add("source", claim.source)
      .add_if(!claim.via.empty(), "via", claim.via)
      .add("acquired", claim.supplied ? "supplied" : "fetched")
      .add("externalIds", json.texts(claim.external_ids))
      .add("index", json.count(claim.index))
      .add("recordedAt", json.text(format_utc_micros(claim.recorded_at)))
      .add("document", json.digest(claim.document))
      .add("item", claim.item);
  json::ObjectBuilder import = json.object();
  import.add("index", json.count(claim.import_index)).add("valid", json::Value(claim.import_valid));
  if (event != nullptr) import.add("event", import_document(json, *event));
  value.add("import", import.finish());
  if (claim.snapshot) {
    json::ObjectBuilder snapshot = json.object();
    snapshot.add("digest", json.digest(*claim.snapshot))
        .add("locator", claim.locator)
        .add("kept", json::Value(claim.snapshot_kept))
        .add_if(!claim.fetched_at.empty(), "fetchedAt", claim.fetched_at);
    value.add("snapshot", snapshot.finish());
  }
  if (!claim.facts.marks.empty()) value.add("marks", json.texts(claim.facts.marks));
  return value.finish();
}

json::Value chain_document(const JsonOutput& json, const ChainView& attestation) {
  return json.object()
      .add("index", json.count(attestation.index))
      .add("id", json.digest(attestation.id))
      .add("predicateType", attestation.predicate_type)
      .add("signer", attestation.signer)
      .add("role", attestation.role)
      .add("counts", json::Value(attestation.counts))
      .add("reason", attestation.reason)
      .add_if(!attestation.says.empty(), "says", attestation.says)
      .finish();
}

}  // namespace

bool is_note(const ChainView& attestation) {
  const std::string_view type = attestation.predicate_type;
  return type.starts_with(kPredicateBase) &&
         type.substr(kPredicateBase.size()).starts_with("note/");
}

const ImportEventView* ProvenanceStory::import_of(const ClaimView& claim) const {
  if (!claim.import_index) return nullptr;
  const auto found = imports.find(*claim.import_index);
  return found == imports.end() ? nullptr : &found->second;
}

Status tell_imports(const Reader& reader, ProvenanceStory& story) {
  for (const ClaimView& claim : story.provenance.claims) {
    if (!claim.import_index || story.imports.contains(*claim.import_index)) continue;
    Result<ImportEventView> import = view_import_event(reader, *claim.import_index);
    if (import) {
      story.imports.emplace(*claim.import_index, std::move(*import));
    } else if (import.error().code != "NO_SUCH_IMPORT") {
      return fail(import.error());
    }
  }
  return {};
}

Result<ProvenanceStory> tell_provenance(const Reader& reader, const Candidate& found) {
  Result<Provenance> provenance = kernelindex::provenance(reader, found.digest);
  if (!provenance) return fail(provenance.error());
  ProvenanceStory story{std::move(*provenance), found.label, std::nullopt, {}, {}, 0, {}, {}};
  const ManifestKind kind = story.provenance.kind;
  if (kind == ManifestKind::benchmark_run || kind == ManifestKind::serving_run) {
    Result<RunView> run = view_run(reader, found.digest);
    if (!run) return fail(run.error());
    story.run = std::move(*run);
    Result<RunMeasurements> measured = run_measurements(reader, found.digest, reader.head().size);
    if (!measured) return fail(measured.error());
    story.measured = std::move(*measured);
  }
  const Result<std::string> leaf = reader.leaf(story.provenance.inclusion_index);
  if (!leaf) return fail(leaf.error());
  story.inclusion = verify_inclusion(leaf_hash(*leaf), story.provenance.inclusion_index,
                                     reader.head(), story.provenance.inclusion);
  for (const ChainView& attestation : story.provenance.chain) {
    if (!is_note(attestation)) continue;
    ++story.notes;
    const Result<Digest> signer = Digest::parse_hex(attestation.signer);
    const KeyRecord* key = signer ? reader.state().keys.find(*signer) : nullptr;
    ++story.notes_by_owner[key == nullptr ? "unknown" : key->owner];
  }
  return story;
}

json::Value provenance_document(const JsonOutput& json, const Reader& reader,
                                const ProvenanceStory& story) {
  const Provenance& found = story.provenance;
  std::vector<json::Value> claims;
  for (const ClaimView& claim : found.claims) {
    claims.push_back(claim_document(json, claim, story.import_of(claim)));
  }
  std::vector<json::Value> refers;
  for (const ReferenceView& reference : found.refers) {
    refers.push_back(
        json.object()
            .add("field", reference.field)
            .add("digest", json.digest(reference.digest))
            .add("kind", reference.kind ? json.text(kind_name(*reference.kind)) : json::Value())
            .add("name", reference.label)
            .add("present", json::Value(reference.kind.has_value()))
            .finish());
  }
  std::vector<json::Value> chain;
  for (const ChainView& attestation : found.chain)
    chain.push_back(chain_document(json, attestation));
  json::ObjectBuilder owners = json.object();
  for (const auto& [owner, count] : story.notes_by_owner) owners.add(owner, json.count(count));
  const auto head = [&] {
    json::ObjectBuilder object = json.object();
    object.add("size", json.count(found.as_of.size)).add("root", json.digest(found.as_of.root));
    return object;
  };
  json::ObjectBuilder value = json.object();
  value.add("digest", json.digest(found.digest)).add("kind", kind_name(found.kind));
  if (story.run) {
    value.add("level", level_name(story.run->evidence.level))
        .add("levelReasons", json.texts(level_reasons(story.run->evidence)))
        .add("attempts", jobs_value(json, story.measured.about));
    if (story.measured.own) value.add("measuredBy", job_value(json, *story.measured.own));
  }
  value.add("policy", kEvidencePolicy)
      .add("trust", kOwnTrust)
      .add("asOf", head().finish())
      .add("claims", json.array(claims))
      .add("refers", json.array(refers))
      .add("chain", json.array(chain))
      .add("notes", json.object()
                        .add("total", json.count(story.notes))
                        .add("byOwner", owners.finish())
                        .finish())
      .add("checkpoint", head().add("origin", reader.format().origin).finish())
      .add("inclusion", json.object()
                            .add("index", json.count(found.inclusion_index))
                            .add("path", json.texts(proof_texts(found.inclusion)))
                            .finish());
  return value.finish();
}

}  // namespace kernelindex::tools
