// SPDX-License-Identifier: Apache-2.0
#include "tools/evidence_output.h"

#include "ledger/evidence_text.h"
#include "tools/attempt_output.h"
#include "tools/run_output.h"

namespace kernelindex::tools {
namespace {

json::Value indexes(const JsonOutput& json, const std::vector<std::uint64_t>& list) {
  std::vector<json::Value> values;
  for (const std::uint64_t index : list) values.push_back(json.count(index));
  return json.array(values);
}

}  // namespace

Result<EvidenceFacts> gather_evidence(const Reader& reader, const Digest& run,
                                      const ReadPolicy& policy) {
  Result<RunView> view = view_run(reader, run, policy);
  if (!view) return fail(view.error());
  Result<Provenance> provenance = kernelindex::provenance(reader, run);
  if (!provenance) return fail(provenance.error());
  const std::uint64_t size = policy.as_of.value_or(reader.head().size);
  const Result<Digest> root = reader.root_at(size);
  if (!root) return fail(root.error());
  EvidenceFacts facts{std::move(*view),        std::move(*provenance), nullptr,
                      reader.judgements(size), TreeHead{size, *root},  {}};
  Result<RunMeasurements> measured = run_measurements(reader, run, size);
  if (!measured) return fail(measured.error());
  facts.measured = std::move(*measured);
  facts.said = facts.judgements->find(run);
  // Provenance tells of today; the level may be asked of an earlier size.
  std::erase_if(facts.provenance.claims,
                [&](const ClaimView& claim) { return claim.index >= size; });
  for (ClaimView& claim : facts.provenance.claims) {
    const ImportRange* import = reader.covering_import(claim.index, size);
    claim.import_valid = import != nullptr && !facts.judgements->retracted(import->id);
  }
  return facts;
}

json::Value evidence_document(const JsonOutput& json, const EvidenceFacts& facts) {
  std::vector<json::Value> reasons;
  for (const LevelReason reason : facts.run.evidence.reasons) {
    reasons.push_back(
        json.object()
            .add("code", reason_name(reason))
            .add("means", reason_text(reason).means)
            .add_if(!reason_text(reason).needed.empty(), "needed", reason_text(reason).needed)
            .finish());
  }
  std::vector<json::Value> claims;
  for (const ClaimView& claim : facts.provenance.claims) {
    claims.push_back(json.object()
                         .add("index", json.count(claim.index))
                         .add("source", claim.source)
                         .add("import", json.count(claim.import_index))
                         .add("importValid", json::Value(claim.import_valid))
                         .add("snapshotKept", json::Value(claim.snapshot_kept))
                         .finish());
  }
  json::ObjectBuilder held = json.object();
  for (const EvidenceFlag& flag : kEvidenceFlags)
    held.add(flag.name, json::Value(facts.run.row.has(flag.flag)));
  const SubjectJudgement nothing;
  const SubjectJudgement& said = facts.said == nullptr ? nothing : *facts.said;
  json::ObjectBuilder value = json.object();
  if (facts.measured.own) value.add("measuredBy", job_value(json, *facts.measured.own));
  return value.add("digest", json.digest(facts.run.digest))
      .add("attempts", jobs_value(json, facts.measured.about))
      .add("level", level_name(facts.run.evidence.level))
      .add("policy", kEvidencePolicy)
      .add("trust", kOwnTrust)
      .add("asOf", head_document(json, facts.as_of))
      .add("levelReasons", json.texts(level_reasons(facts.run.evidence)))
      .add("reasons", json.array(reasons))
      .add("claims", json.array(claims))
      .add("held", held.finish())
      .add("said", json.object()
                       .add("retractions", indexes(json, said.retractions))
                       .add("disputes", indexes(json, said.disputes))
                       .add("withdrawals", indexes(json, said.withdrawals))
                       .finish())
      .add("rank", facts.run.rank ? json.count(*facts.run.rank) : json::Value())
      .add("rankReasons", json.texts(facts.run.reasons))
      .finish();
}

}  // namespace kernelindex::tools
