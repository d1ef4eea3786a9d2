// SPDX-License-Identifier: Apache-2.0
#include "ledger/ranking_policy.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace kernelindex {
namespace {

std::string status_reason(std::string_view status) {
  std::string out = "STATUS_";
  for (const char c : status) out += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return out;
}

// Why a run is not eligible by what it says of itself; both policies.
void common_reasons(const RankCandidate& run, std::vector<std::string>& out) {
  if (run.status != "passed") out.push_back(status_reason(run.status));
  if (!run.has_primary || !run.value) out.emplace_back("MISSING_PRIMARY_METRIC");
  if ((run.flags & kRetractedBySource) != 0) out.emplace_back("RETRACTED_BY_SOURCE");
  if ((run.flags & kSupersededBySource) != 0) out.emplace_back("SUPERSEDED_BY_SOURCE");
  if (run.retracted) out.emplace_back("RETRACTED");
  if (run.superseded) out.emplace_back("SUPERSEDED");
}

void v1_reasons(const RankCandidate& run, std::vector<std::string>& out) {
  if (run.cannot_judge) {
    out.emplace_back("CANNOT_JUDGE");
  } else if (run.level == Level::none) {
    out.emplace_back("NO_SOURCE_CLAIM");
  }
  if (run.withdrawn) out.emplace_back("WITHDRAWN_BY_SOURCE");
  if ((run.flags & kWorkloadMissing) != 0) out.emplace_back("WORKLOAD_MISSING");
  if ((run.flags & kOperationMismatch) != 0) out.emplace_back("OPERATION_MISMATCH");
  if (!run.has_primary || !run.value) return;
  if (!run.statistic_present) out.emplace_back("STATISTIC_MISSING");
  if (*run.value <= 0) out.emplace_back("NOT_POSITIVE");
  if (direction(run.metric, run.unit) == Direction::unknown) out.emplace_back("DIRECTION_UNKNOWN");
}

// Among runs of equal source and native external id only the latest claim stands: a source that
// measured again replaced its number.
void mark_replaced(const std::vector<RankCandidate>& runs, std::vector<Ranked>& ranked) {
  std::map<std::pair<std::string_view, std::string_view>, std::size_t> latest;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!runs[i].source_native || runs[i].native_external_id.empty()) continue;
    if (runs[i].level == Level::none) continue;  // nobody's claim replaces nothing
    const auto key = std::pair(runs[i].source, runs[i].native_external_id);
    const auto [at, fresh] = latest.try_emplace(key, i);
    if (fresh) continue;
    const bool newer = runs[i].last_index > runs[at->second].last_index;
    ranked[newer ? at->second : i].reasons.emplace_back("REPLACED_AT_SOURCE");
    if (newer) at->second = i;
  }
}

// Dense ranks: equal values share one. Requires: `members` are eligible.
void rank_members(const std::vector<RankCandidate>& runs, std::vector<std::size_t>& members,
                  std::vector<Ranked>& ranked) {
  std::ranges::sort(members, [&](std::size_t at_a, std::size_t at_b) {
    const RankCandidate& a = runs[at_a];
    const RankCandidate& b = runs[at_b];
    if (*a.value != *b.value) return *a.value < *b.value;
    return std::tie(b.level, b.observed_at, a.run) < std::tie(a.level, a.observed_at, b.run);
  });
  std::uint32_t rank = 0;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (i == 0 || *runs[members[i]].value != *runs[members[i - 1]].value) ++rank;
    ranked[members[i]].rank = rank;
  }
}

// Whether, without `run`, some run observed later and recorded earlier would have taken the record.
bool displaces_recorded(const std::vector<RankCandidate>& runs,
                        const std::vector<std::size_t>& in_time, std::size_t position,
                        std::optional<double> best_before) {
  const RankCandidate& run = runs[in_time[position]];
  for (std::size_t later = position + 1; later < in_time.size(); ++later) {
    const RankCandidate& other = runs[in_time[later]];
    if (*other.value < *run.value) return false;  // from here on the record is below both
    if (other.index < run.index && (!best_before || *other.value < *best_before)) return true;
  }
  return false;
}

void record_history(const std::vector<RankCandidate>& runs, std::vector<std::size_t> members,
                    std::vector<Transition>& out) {
  std::erase_if(members, [&](std::size_t i) { return (runs[i].flags & kObservedByOperator) != 0; });
  std::ranges::sort(members, [&](std::size_t a, std::size_t b) {
    return std::tie(runs[a].observed_at, runs[a].run) < std::tie(runs[b].observed_at, runs[b].run);
  });
  std::optional<std::size_t> leader;
  for (std::size_t position = 0; position < members.size(); ++position) {
    const std::size_t run = members[position];
    if (leader && *runs[run].value >= *runs[*leader].value) continue;
    const auto best = leader ? runs[*leader].value : std::nullopt;
    out.push_back({run, leader, displaces_recorded(runs, members, position, best)});
    leader = run;
  }
}

}  // namespace

std::string_view policy_name(RankingPolicy policy) {
  return policy == RankingPolicy::v0 ? "ranking-v0" : "ranking-v1";
}

std::optional<RankingPolicy> policy_from_name(std::string_view name) {
  if (name == "ranking-v0") return RankingPolicy::v0;
  if (name == "ranking-v1") return RankingPolicy::v1;
  return std::nullopt;
}

Direction direction(std::string_view metric, std::string_view unit) {
  const bool known = metric == "latency" || (metric == "score" && unit == "s");
  return known ? Direction::lower_is_better : Direction::unknown;
}

std::vector<std::string> own_reasons(const RankCandidate& run, RankingPolicy policy) {
  std::vector<std::string> out;
  common_reasons(run, out);
  if (policy == RankingPolicy::v1) v1_reasons(run, out);
  return out;
}

GroupRanking rank_group(const std::vector<RankCandidate>& candidates, RankingPolicy policy) {
  GroupRanking out;
  out.runs.resize(candidates.size());
  out.source_native =
      std::ranges::any_of(candidates, [](const RankCandidate& run) { return run.source_native; });
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    out.runs[i].reasons = own_reasons(candidates[i], policy);
  }
  if (policy == RankingPolicy::v1) mark_replaced(candidates, out.runs);

  const bool per_source = policy == RankingPolicy::v1 && out.source_native;
  std::map<std::string_view, std::vector<std::size_t>> members;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (!out.runs[i].reasons.empty()) continue;
    members[per_source ? candidates[i].source : std::string_view()].push_back(i);
  }
  for (auto& [source, list] : members) {
    record_history(candidates, list, out.transitions);
    rank_members(candidates, list, out.runs);
  }
  std::ranges::stable_sort(out.transitions, [&](const Transition& a, const Transition& b) {
    return std::tie(candidates[a.run].observed_at, candidates[a.run].run) <
           std::tie(candidates[b.run].observed_at, candidates[b.run].run);
  });

  out.order.resize(candidates.size());
  std::iota(out.order.begin(), out.order.end(), std::size_t{0});
  const auto key = [&](std::size_t i) {
    const RankCandidate& run = candidates[i];
    const bool ranked = out.runs[i].rank.has_value();
    return std::tuple(!ranked, per_source && ranked ? run.source : std::string_view(),
                      out.runs[i].rank.value_or(0), !run.value, run.value.value_or(0.0),
                      -static_cast<int>(run.level), -run.observed_at, run.run);
  };
  std::ranges::sort(out.order, [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  return out;
}

}  // namespace kernelindex
