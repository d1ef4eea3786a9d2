// SPDX-License-Identifier: Apache-2.0
#include "ledger/run_evidence.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>

#include "ledger/controlled_protocol.h"

namespace kernelindex {

const ImportRange* import_over(std::span<const ImportRange> imports, std::uint64_t index,
                               std::uint64_t size) {
  const auto after = std::ranges::upper_bound(imports, index, {}, &ImportRange::first);
  if (after == imports.begin()) return nullptr;
  const ImportRange& range = *std::prev(after);
  return index < range.end && range.index < size ? &range : nullptr;
}

const ImportRange* covering_import(std::span<const ImportRange> imports, const KeyBook& keys,
                                   std::uint64_t index, std::uint64_t size) {
  static const PredicateType& type =
      *find_predicate_type(std::string(kPredicateBase) + "import/v1");
  const ImportRange* range = import_over(imports, index, size);
  return range != nullptr && keys.counts(range->signer, type, range->index) ? range : nullptr;
}

std::shared_ptr<const SubjectRow> counting_claims(const SubjectRow& row, const LogFacts& log) {
  auto out = std::make_shared<SubjectRow>(row);
  std::erase_if(out->claims, [&](const ClaimRow& claim) {
    const ImportRange* import = covering_import(log.imports, log.keys, claim.index, log.size);
    return import == nullptr || log.judgements.retracted(import->id);
  });
  return out;
}

EvidenceFacts evidence_facts(const RunRow& row, const Digest& run, const LogFacts& log) {
  EvidenceFacts facts;
  facts.serving = row.kind == ManifestKind::serving_run;
  facts.flags = row.flags;
  // Whoever claims it: a run under this protocol is a measurement only through its acceptance.
  facts.controlled =
      row.source == kControlledSource || controlled_variant(row.protocol).has_value();
  if (const SubjectJudgement* said = log.judgements.find(run)) {
    facts.cannot_judge = said->cannot_judge;
    facts.retracted = said->retracted();
    facts.disputed = !said->disputes.empty();
  }
  const std::optional<Digest> refers[] = {row.implementation, row.workload,  row.protocol,
                                          row.environment,    row.operation, row.project};
  for (const std::optional<Digest>& digest : refers) {
    const SubjectJudgement* said = digest ? log.judgements.find(*digest) : nullptr;
    facts.cannot_judge |= said != nullptr && said->cannot_judge;
  }
  facts.claims.reserve(row.claims.size());
  for (const RunClaimRow& claim : row.claims) {
    EvidenceClaim fact{claim.own_source, false, false, claim.snapshot_kept};
    if (const ImportRange* import = covering_import(log.imports, log.keys, claim.index, log.size)) {
      fact.covered = true;
      if (const SubjectJudgement* said = log.judgements.find(import->id)) {
        fact.import_retracted = said->retracted();
        facts.cannot_judge |= said->cannot_judge;
      }
    }
    facts.claims.push_back(fact);
  }
  return facts;
}

}  // namespace kernelindex
