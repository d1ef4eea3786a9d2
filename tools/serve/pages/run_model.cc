// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/pages/run_model.h"

#include <algorithm>

#include "ledger/predicates.h"

namespace kernelindex::serve {
namespace {

constexpr std::string_view kOwnIds = "kernelindex:";

bool is_note(const ChainView& attestation) {
  const std::string_view type = attestation.predicate_type;
  return type.starts_with(kPredicateBase) &&
         type.substr(kPredicateBase.size()).starts_with("note/");
}

std::vector<const ChainView*> select(const std::vector<ChainView>& chain, bool notes) {
  std::vector<const ChainView*> out;
  for (const ChainView& attestation : chain) {
    if (is_note(attestation) == notes) out.push_back(&attestation);
  }
  return out;
}

}  // namespace

const ClaimView& RunModel::claim() const {
  for (const ClaimView& claim : provenance.claims) {
    if (claim.source == run.row.source) return claim;
  }
  return provenance.claims.front();
}

std::string RunModel::published_day() const {
  const std::string& published = claim().facts.published_at;
  return published.substr(0, published.find('T'));
}

std::string RunModel::kernelindex_id() const {
  for (const std::string_view id : run.row.external_ids) {
    if (id.starts_with(kOwnIds)) return std::string(id.substr(kOwnIds.size()));
  }
  return {};
}

std::string RunModel::short_id() const {
  const std::string id = kernelindex_id();
  if (!id.empty()) return id.substr(0, id.find('-'));
  constexpr std::size_t kDigits = 12;
  return run.digest.hex().substr(0, kDigits);
}

const RunView* RunModel::leader() const {
  if (!group) return nullptr;
  for (const RunView& other : group->runs) {
    const bool same = !group->source_native || other.row.source == run.row.source;
    if (same && other.rank == 1u) return &other;
  }
  return nullptr;
}

std::size_t RunModel::ranked() const {
  if (!group) return 0;
  return static_cast<std::size_t>(std::ranges::count_if(group->runs, [&](const RunView& other) {
    return other.eligible() && (!group->source_native || other.row.source == run.row.source);
  }));
}

std::vector<const ChainView*> RunModel::notes() const { return select(provenance.chain, true); }
std::vector<const ChainView*> RunModel::statements() const {
  return select(provenance.chain, false);
}

Result<std::unique_ptr<RunModel>> read_run_model(const Site& site, const Digest& run) {
  Result<RunView> view = view_run(site.reader, run, site.policy());
  if (!view) return fail(view.error());
  auto model = std::make_unique<RunModel>(site.reader, std::move(*view));
  Result<Provenance> provenance = kernelindex::provenance(site.reader, run);
  if (!provenance) return fail(provenance.error());
  model->provenance = std::move(*provenance);
  Result<RunMeasurements> measured =
      run_measurements(site.reader, run, site.policy().as_of.value_or(site.reader.head().size));
  if (!measured) return fail(measured.error());
  model->measured = std::move(*measured);
  const RunRow& row = model->run.row;
  if (row.group) {
    Result<History> group = history(site.reader, *row.group, site.policy());
    if (!group) return fail(group.error());
    model->group.emplace(std::move(*group));
  }
  const std::pair<json::Value*, Digest> documents[] = {{&model->manifest, run},
                                                       {&model->implementation, row.implementation},
                                                       {&model->workload, row.workload},
                                                       {&model->protocol, row.protocol},
                                                       {&model->environment, row.environment}};
  for (const auto& [place, digest] : documents) {
    const Result<json::Value> document = model->documents.read(digest);
    if (!document) return fail(document.error());
    *place = *document;
  }
  return model;
}

std::string note_owner(const Reader& reader, const ChainView& note) {
  const Result<Digest> signer = Digest::parse_hex(note.signer);
  const KeyRecord* key = signer ? reader.state().keys.find(*signer) : nullptr;
  return key == nullptr ? "an owner that is not enrolled" : key->owner;
}

}  // namespace kernelindex::serve
