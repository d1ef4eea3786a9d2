// SPDX-License-Identifier: Apache-2.0
// A comparison group read and judged: what history, run lists and record lists share.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "ledger/query.h"

namespace kernelindex {

RankCandidate candidate_of(const RunView& run);

// The size that a policy asks about. Error SIZE_OUT_OF_RANGE (not_found) above the head.
Result<std::uint64_t> size_of(const Reader& reader, const ReadPolicy& policy);

// Judges runs as of a size: their evidence, and what was said of them since. Remembers what it
// found of successors. Not for sharing between threads; must not outlive the reader.
class RunJudge {
 public:
  RunJudge(const Reader& reader, std::uint64_t size, RankingPolicy ranking);

  // The run, judged but not ranked; nullopt when the log had no claim of it.
  Result<std::optional<RunView>> read(const Digest& identity);
  // The same from the bytes of its row.
  Result<RunView> judge(const Digest& identity, std::string row);

  const Judgements& judgements() const { return *judgements_; }
  std::uint64_t size() const { return size_; }
  bool current() const { return size_ >= reader_.head().size; }

 private:
  Result<std::optional<std::string>> row_of(const Digest& identity);
  Result<Evidence> judge_evidence(const RunRow& row, const Digest& run);
  Status judge_attempts(const Digest& run, EvidenceFacts& facts);
  Status judge_successors(RunView& run, const SubjectJudgement& said);
  // Whether a run would be ranked: what hides another must itself stand.
  Result<bool> eligible(const Digest& run);
  Result<bool> replaced_at_source(const RunView& run);

  const Reader& reader_;
  std::uint64_t size_;
  RankingPolicy ranking_;
  std::shared_ptr<const KeyBook> keys_;  // as of the size
  std::shared_ptr<const Judgements> judgements_;
  RowsAsOf earlier_;
  std::map<Digest, bool> eligible_;  // of successors; false while one is being asked about
};

// Reads and judges the group; no runs when nothing had the key at that size.
Result<History> judge_group(const Reader& reader, const Digest& key, const ReadPolicy& policy);

// Ranks `runs`, fills in rank and reasons, and puts them into display order.
void rank_runs(History& history);

}  // namespace kernelindex
