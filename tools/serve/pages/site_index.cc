// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/pages/site_index.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace kernelindex::serve {
namespace {

void add(Tally& tally, const RunView& run) {
  const RunRow& row = run.row;
  ++tally.runs;
  if (row.status == "passed" || row.status == "valid") ++tally.passed;
  if (row.group) tally.groups.insert(*row.group);
  if (row.operation) tally.operations.insert(*row.operation);
  if (!row.hardware.empty()) tally.hardware.emplace(row.hardware);
  tally.sources.emplace(row.source);
  tally.newest = std::max(tally.newest, row.observed_at);
}

}  // namespace

Result<std::shared_ptr<const SiteIndex>> SiteIndex::build(const Reader& reader,
                                                          const ReadPolicy& policy) {
  auto index = std::make_shared<SiteIndex>();
  Result<std::vector<RecordView>> records = list_records(reader, {}, policy);
  if (!records) return fail(records.error());
  const Result<RunPage> runs = list_runs(reader, {}, policy);
  if (!runs) return fail(runs.error());
  std::unordered_map<Digest, const RunView*> by_digest;
  for (const RunView& run : runs->runs) {
    by_digest.emplace(run.digest, &run);
    add(index->all, run);
    if (run.row.operation) add(index->by_operation[*run.row.operation], run);
    add(index->by_hardware[std::string(run.row.hardware)], run);
    add(index->by_source[std::string(run.row.source)], run);
    ++index->by_level[run.evidence.level];
  }
  for (RecordView& record : *records) {
    IndexedRecord indexed{std::move(record), std::nullopt, Level::none};
    if (const auto run = by_digest.find(indexed.view.run); run != by_digest.end()) {
      indexed.operation = run->second->row.operation;
      indexed.level = run->second->evidence.level;
    }
    index->records.push_back(std::move(indexed));
  }
  RunFilter serving;
  serving.serving = true;
  const Result<RunPage> serving_runs = list_runs(reader, serving, policy);
  if (!serving_runs) return fail(serving_runs.error());
  index->serving_runs = serving_runs->runs.size();
  for (const RunView& run : serving_runs->runs) {
    add(index->serving_by_source[std::string(run.row.source)], run);
  }
  return std::shared_ptr<const SiteIndex>(std::move(index));
}

Result<std::shared_ptr<const SiteIndex>> SiteIndexCache::of(const Site& site) {
  const MutexLock lock(mutex_);
  const TreeHead& head = site.reader.head();
  const bool same = index_ != nullptr && head_.size == head.size && head_.root == head.root &&
                    ranking_ == site.options.ranking;
  if (!same) {
    Result<std::shared_ptr<const SiteIndex>> built = SiteIndex::build(site.reader, site.policy());
    if (!built) return fail(built.error());
    head_ = head;
    ranking_ = site.options.ranking;
    index_ = std::move(*built);
  }
  return index_;
}

}  // namespace kernelindex::serve
