// SPDX-License-Identifier: Apache-2.0
// Which submissions of a KernelBot board are chosen when not all are wanted. IMPORT section 7.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace kernelindex::ingest {

// What the choice needs of a row that counts.
struct KernelbotCandidate {
  std::int64_t id = 0;
  std::string user;
  std::string submitted_at;  // sorts as the source wrote it
  double score = 0;          // seconds
};

// Collects the rows of every board and runner, then chooses: by score the best of each of the first
// `users` distinct users; of the first 10 of these also their strictly improving submissions in
// order of time, at most 12 evenly spaced ones, the first and the last kept.
class KernelbotChoice {
 public:
  explicit KernelbotChoice(std::size_t users) : users_(users) {}

  void add(const std::string& board, const std::string& runner, KernelbotCandidate candidate);
  // After the last add().
  void choose();
  bool is_chosen(const std::string& board, const std::string& runner, std::int64_t id) const;

 private:
  using Group = std::pair<std::string, std::string>;  // board and runner

  std::size_t users_;
  std::map<Group, std::vector<KernelbotCandidate>> candidates_;
  std::map<Group, std::set<std::int64_t>> chosen_;
};

}  // namespace kernelindex::ingest
