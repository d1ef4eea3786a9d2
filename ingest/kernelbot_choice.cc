// SPDX-License-Identifier: Apache-2.0
#include "ingest/kernelbot_choice.h"

#include <algorithm>

namespace kernelindex::ingest {
namespace {

constexpr std::size_t kHistoryUsers = 10;
constexpr std::size_t kHistoryMost = 12;

// Each submission that was faster than all of the same user before it.
std::vector<std::int64_t> improvements(const std::vector<KernelbotCandidate>& rows,
                                       const std::string& user) {
  std::vector<KernelbotCandidate> mine;
  std::ranges::copy_if(rows, std::back_inserter(mine),
                       [&](const KernelbotCandidate& row) { return row.user == user; });
  std::ranges::stable_sort(mine, {}, &KernelbotCandidate::submitted_at);
  std::vector<std::int64_t> out;
  double best = 0;
  for (const KernelbotCandidate& row : mine) {
    if (!out.empty() && row.score >= best) continue;
    best = row.score;
    out.push_back(row.id);
  }
  return out;
}

// Evenly spaced, the first and the last among them.
std::vector<std::int64_t> thinned(const std::vector<std::int64_t>& ids) {
  if (ids.size() <= kHistoryMost) return ids;
  std::vector<std::int64_t> out;
  for (std::size_t i = 0; i < kHistoryMost; ++i) {
    const std::size_t last = ids.size() - 1;
    out.push_back(ids[(i * last + (kHistoryMost - 1) / 2) / (kHistoryMost - 1)]);
  }
  return out;
}

}  // namespace

void KernelbotChoice::add(const std::string& board, const std::string& runner,
                          KernelbotCandidate candidate) {
  candidates_[{board, runner}].push_back(std::move(candidate));
}

void KernelbotChoice::choose() {
  for (auto& [group, rows] : candidates_) {
    std::ranges::stable_sort(rows, {}, &KernelbotCandidate::score);
    std::set<std::int64_t>& chosen = chosen_[group];
    std::set<std::string> seen;
    std::vector<std::string> leaders;
    for (const KernelbotCandidate& row : rows) {
      if (seen.size() == users_) break;
      if (!seen.insert(row.user).second) continue;
      chosen.insert(row.id);
      if (leaders.size() < kHistoryUsers) leaders.push_back(row.user);
    }
    for (const std::string& user : leaders) {
      for (const std::int64_t id : thinned(improvements(rows, user))) chosen.insert(id);
    }
  }
  candidates_.clear();
}

bool KernelbotChoice::is_chosen(const std::string& board, const std::string& runner,
                                std::int64_t id) const {
  const auto group = chosen_.find({board, runner});
  return group != chosen_.end() && group->second.contains(id);
}

}  // namespace kernelindex::ingest
