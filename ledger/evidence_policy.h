// SPDX-License-Identifier: Apache-2.0
// Evidence policy `evidence-v1`: how strong the evidence for a run is, and why. DESIGN section 7.
//
// A pure function of facts. Levels are derived at reading and stored nowhere; no input can state
// one.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "ledger/rows.h"

namespace kernelindex {

inline constexpr std::string_view kEvidencePolicy = "evidence-v1";

enum class Level : std::uint8_t { none, reported, reproducible, verified, replicated };
std::string_view level_name(Level level);

// Why a level is what it is, and what the next one lacks. Each prints as its UPPER_SNAKE name.
enum class LevelReason : std::uint8_t {
  no_source_claim,         // no claim of the run's own source
  claim_not_covered,       // no valid import statement covers it
  snapshot_not_held,       // the bytes it was read from are not kept
  claimed_by_source,       // the claim that makes it reported
  implementation_missing,  // identity is incomplete
  workload_missing,
  protocol_missing,
  environment_missing,
  model_missing,
  configuration_missing,
  source_not_named,    // the implementation names no source by digest
  evidence_not_named,  // neither raw samples nor logs are named by digest
  bytes_not_held,      // both are named, and not all bytes are in the log
  bytes_held,          // the bytes that make it reproducible
  serving_run,         // serving runs are reported at most
};
std::string_view reason_name(LevelReason reason);

struct EvidenceClaim {
  bool own_source = false;
  bool covered = false;  // by a valid import/v1
  bool snapshot_kept = false;
};

struct EvidenceFacts {
  bool serving = false;
  std::vector<EvidenceClaim> claims;
  std::uint32_t flags = 0;  // RunFlag bits
};

struct Evidence {
  Level level = Level::none;
  std::vector<LevelReason> reasons;
};

Evidence evidence_v1(const EvidenceFacts& facts);

}  // namespace kernelindex
