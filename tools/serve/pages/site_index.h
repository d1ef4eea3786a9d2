// SPDX-License-Identifier: Apache-2.0
// What pages ask of a whole ledger: its records, and what there is of each operation, product and
// source. Made once for each state of the log and then only read.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ledger/query.h"
#include "schema/mutex.h"
#include "tools/serve/site.h"

namespace kernelindex::serve {

// What is known of a set of runs.
struct Tally {
  std::size_t runs = 0;
  std::size_t passed = 0;
  std::set<Digest> groups;
  std::set<Digest> operations;
  std::set<std::string> hardware;
  std::set<std::string> sources;
  UtcMicros newest = 0;  // observation
};

// A move of a record, with what a filter asks of its run.
struct IndexedRecord {
  RecordView view;
  std::optional<Digest> operation;
  Level level = Level::none;
};

struct SiteIndex {
  static Result<std::shared_ptr<const SiteIndex>> build(const Reader& reader,
                                                        const ReadPolicy& policy);

  std::vector<IndexedRecord> records;  // newest first
  Tally all;
  std::map<Digest, Tally> by_operation;
  std::map<std::string, Tally> by_hardware;
  std::map<std::string, Tally> by_source;
  std::map<Level, std::size_t> by_level;
  std::size_t serving_runs = 0;
  std::map<std::string, Tally> serving_by_source;
};

// Keeps the index of the newest state that was asked for. Safe to use from several threads: one
// builds, the others wait for it.
class SiteIndexCache {
 public:
  Result<std::shared_ptr<const SiteIndex>> of(const Site& site);

 private:
  Mutex mutex_;
  TreeHead head_ GUARDED_BY(mutex_);
  RankingPolicy ranking_ GUARDED_BY(mutex_) = RankingPolicy::v1;
  std::shared_ptr<const SiteIndex> index_ GUARDED_BY(mutex_);
};

}  // namespace kernelindex::serve
