// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ledger/group_view.h"
#include "ledger/key_layout.h"

namespace kernelindex {

const RunView* History::leader() const {
  return !runs.empty() && runs.front().eligible() ? &runs.front() : nullptr;
}

RankCandidate candidate_of(const RunView& run) {
  RankCandidate out;
  out.run = run.digest;
  out.source = run.row.source;
  out.native_external_id = run.row.native_external_id;
  out.source_native = run.row.source_native;
  out.status = run.row.status;
  out.has_primary = !run.row.metric.empty();
  out.metric = run.row.metric;
  out.unit = run.row.unit;
  out.value = run.row.value;
  out.statistic_present = run.row.statistic_present;
  out.level = run.evidence.level;
  out.flags = run.row.flags;
  out.retracted = run.retracted;
  out.superseded = run.superseded;
  out.withdrawn = run.withdrawn;
  out.cannot_judge = run.cannot_judge;
  out.observed_at = run.row.observed_at;
  out.index = run.row.index;
  out.last_index = run.row.last_index;
  return out;
}

Result<std::uint64_t> size_of(const Reader& reader, const ReadPolicy& policy) {
  const std::uint64_t size = policy.as_of.value_or(reader.head().size);
  if (size <= reader.head().size) return size;
  return fail(ErrorKind::not_found, "SIZE_OUT_OF_RANGE", "size " + std::to_string(size),
              "the log has " + std::to_string(reader.head().size) + " entries");
}

void rank_runs(History& history) {
  std::vector<RankCandidate> candidates;
  candidates.reserve(history.runs.size());
  for (const RunView& run : history.runs) candidates.push_back(candidate_of(run));
  GroupRanking ranking = rank_group(candidates, history.ranking);
  history.source_native = ranking.source_native;
  std::vector<std::size_t> place(history.runs.size());  // of each candidate, in display order
  for (std::size_t i = 0; i < ranking.order.size(); ++i) place[ranking.order[i]] = i;
  for (std::size_t i = 0; i < history.runs.size(); ++i) {
    history.runs[i].rank = ranking.runs[i].rank;
    history.runs[i].reasons = std::move(ranking.runs[i].reasons);
  }
  // Runs lie in their group by value, which is mostly the order that they are shown in.
  if (!std::ranges::is_sorted(ranking.order)) {
    std::vector<RunView> ordered;
    ordered.reserve(history.runs.size());
    for (const std::size_t i : ranking.order) ordered.push_back(std::move(history.runs[i]));
    history.runs = std::move(ordered);
  }
  for (const Transition& transition : ranking.transitions) {
    RecordMove move{place[transition.run], std::nullopt, transition.late};
    if (transition.previous) move.previous = place[*transition.previous];
    history.moves.push_back(move);
  }
}

Result<History> judge_group(const Reader& reader, const Digest& key, const ReadPolicy& policy) {
  const Result<std::uint64_t> size = size_of(reader, policy);
  if (!size) return fail(size.error());
  const bool current = *size == reader.head().size;
  History out;
  out.key = key;
  out.ranking = policy.ranking;
  const Result<Digest> root = reader.root_at(*size);
  if (!root) return fail(root.error());
  out.as_of = {*size, *root};
  RunJudge judge(reader, *size, policy.ranking);
  StoreCursor cursor = reader.view().scan(Space::derived, key_layout::group(key));
  for (; cursor.valid(); cursor.next()) {
    const Digest identity = key_layout::last_digest(cursor.key());
    if (current) {
      Result<RunView> view = judge.judge(identity, std::string(cursor.value()));
      if (!view) return fail(view.error());
      out.runs.push_back(std::move(*view));
      continue;
    }
    Result<std::optional<RunView>> view = judge.read(identity);
    if (!view) return fail(view.error());
    if (*view && (*view)->row.group == key) out.runs.push_back(std::move(**view));
  }
  if (Status status = cursor.status(); !status) return fail(status.error());
  rank_runs(out);
  return out;
}

Result<History> history(const Reader& reader, const Digest& key, const ReadPolicy& policy) {
  Result<History> group = judge_group(reader, key, policy);
  if (!group) return group;
  if (group->runs.empty()) {
    return fail(ErrorKind::not_found, "NO_SUCH_GROUP", key.text(),
                "no run has this comparison key" +
                    std::string(policy.as_of ? " at that size of the log" : ""));
  }
  return group;
}

Result<RunView> view_run(const Reader& reader, const Digest& identity, const ReadPolicy& policy) {
  const Result<std::uint64_t> size = size_of(reader, policy);
  if (!size) return fail(size.error());
  Result<std::optional<RunView>> alone = RunJudge(reader, *size, policy.ranking).read(identity);
  if (!alone) return fail(alone.error());
  if (!*alone) {
    return fail(ErrorKind::not_found, "NO_SUCH_RUN", identity.text(),
                "the ledger holds no run of this digest");
  }
  History group;
  group.ranking = policy.ranking;
  if ((*alone)->row.group && (*alone)->row.kind == ManifestKind::benchmark_run) {
    Result<History> judged = judge_group(reader, *(*alone)->row.group, policy);
    if (!judged) return fail(judged.error());
    group = std::move(*judged);
  } else {
    group.runs.push_back(std::move(**alone));
    rank_runs(group);
  }
  const auto found = std::ranges::find(group.runs, identity, &RunView::digest);
  if (found == group.runs.end()) {
    return fail(ErrorKind::corrupt, "DAMAGED_ROW", identity.text(),
                "the run is missing in its comparison group",
                "`kernelindex reindex` makes derived data anew");
  }
  return std::move(*found);
}

}  // namespace kernelindex
