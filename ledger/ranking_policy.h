// SPDX-License-Identifier: Apache-2.0
// Ranking policies: who is ranked in a comparison group, in which order, and how its record moved.
// DESIGN section 9. Pure functions of facts.
//
//   ranking-v1   the policy of this program
//   ranking-v0   the forerunner's rule, kept for comparison: status, publication, retraction,
//                supersession, primary value with its fallbacks; one record a group
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/evidence_policy.h"
#include "ledger/rows.h"

namespace kernelindex {

enum class RankingPolicy : std::uint8_t { v0, v1 };
std::string_view policy_name(RankingPolicy policy);
std::optional<RankingPolicy> policy_from_name(std::string_view name);

// Values of a metric from better to worse.
enum class Direction : std::uint8_t { unknown, lower_is_better };
Direction direction(std::string_view metric, std::string_view unit);

// One run of a group as the policy sees it. Views are of the caller's rows.
struct RankCandidate {
  Digest run;
  std::string_view source;
  std::string_view native_external_id;
  bool source_native = false;
  std::string_view status;
  bool has_primary = false;  // the manifest has a primary measurement
  std::string_view metric;
  std::string_view unit;
  std::optional<double> value;
  bool statistic_present = false;
  Level level = Level::none;
  std::uint32_t flags = 0;    // RunFlag bits
  bool retracted = false;     // by a maintainer of this ledger
  bool superseded = false;    // by a successor that is eligible itself
  bool withdrawn = false;     // its own source found it disqualified or incorrect
  bool cannot_judge = false;  // its chain holds what this program cannot read
  UtcMicros observed_at = 0;
  std::uint64_t index = 0;       // of the first counting claim
  std::uint64_t last_index = 0;  // of the latest claim of its own source
};

struct Ranked {
  std::optional<std::uint32_t> rank;  // from 1, dense; absent when not eligible
  std::vector<std::string> reasons;   // codes why not eligible
  bool eligible() const { return rank.has_value(); }
};

struct Transition {
  std::size_t run = 0;                  // position among the candidates
  std::optional<std::size_t> previous;  // the leader before
  bool late = false;                    // recorded after a leader that it displaces in time
};

struct GroupRanking {
  bool source_native = false;      // the group's profile: source_native or strict_exact
  std::vector<Ranked> runs;        // one a candidate, same positions
  std::vector<std::size_t> order;  // candidates as displayed: by rank, then the ineligible ones
  std::vector<Transition> transitions;  // in order of observation
};

// Why a run is not eligible, but for what only its group can show (REPLACED_AT_SOURCE).
std::vector<std::string> own_reasons(const RankCandidate& run, RankingPolicy policy);

// Ranks the candidates of one group and derives how its record moved. In a source-native group
// ranks and records are kept per source.
GroupRanking rank_group(const std::vector<RankCandidate>& candidates, RankingPolicy policy);

}  // namespace kernelindex
