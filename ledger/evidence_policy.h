// SPDX-License-Identifier: Apache-2.0
// Evidence policy `evidence-v1`: how strong the evidence for a run is, and why. DESIGN section 7.
//
// A pure function of facts. Levels are derived at reading and stored nowhere; no input can state
// one. Nothing that communities say is among the facts; above reproducible only controlled attempts
// lead.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/rows.h"
#include "schema/digest.h"

namespace kernelindex {

inline constexpr std::string_view kEvidencePolicy = "evidence-v1";
// The source of controlled runs: they count through their acceptance alone.
inline constexpr std::string_view kControlledSource = "controlled";

enum class Level : std::uint8_t { none, reported, reproducible, verified, replicated };
std::string_view level_name(Level level);

// Why a level is what it is, and what the next one lacks. Each prints as its UPPER_SNAKE name.
enum class LevelReason : std::uint8_t {
  no_source_claim,         // no claim of the run's own source
  claim_not_covered,       // no valid import statement covers it
  import_retracted,        // the import statement that covers it was taken back
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
  cannot_judge,        // its chain holds what this program cannot read: no level
  retracted,           // taken back; the level says how strong the evidence was
  disputed,            // open disputes; they change no level
  not_accepted,        // a controlled run without an accepted result: no level
  accepted_run,        // it is an accepted controlled run itself
  no_controlled_run,   // nobody has rerun it under control
  source_partial,      // a rerun compiled files that no digest of the implementation covers
  not_confirmed,       // reruns that count do not outnumber those that did not confirm
  confirmed,           // they do
  one_owner,           // confirmed by one owner of runners only
  same_device,         // by two owners, on the same device or with the same samples
  same_host,           // by two owners, on different devices of one host or boot
  medians_differ,      // by two owners, whose numbers are not alike
  confirmed_by_two,    // by two owners, on different hosts and devices, with like numbers
  operator_ran_it,     // a runner of the ledger's own owner is among those who confirmed
};
std::string_view reason_name(LevelReason reason);

struct EvidenceClaim {
  bool own_source = false;
  bool covered = false;           // by a valid import/v1
  bool import_retracted = false;  // which was taken back
  bool snapshot_kept = false;
};

// What became of one measurement job about the run, by a runner that the reader counts.
struct ControlledAttempt {
  enum class Verdict : std::uint8_t {
    confirms,
    differs,         // slower or faster
    not_reproduced,  // among them results that were refused: the job is spent
    unanswered,      // the job expired without a result
    inconclusive,    // counts for neither side
    not_comparable,  // counts for neither side
  };
  Verdict verdict{};
  std::string owner;            // of the runner
  Digest device;                // SHA-256(ledger id, GPU UUID)
  Digest samples;               // raw samples
  bool source_covered = false;  // each file that was compiled, by digests of the implementation
  Digest host;                  // SHA-256(ledger id, host id)
  Digest boot;                  // SHA-256(ledger id, boot id)
  std::int64_t median_ns = 0;   // of the pooled samples
  std::uint64_t noise_ppm = 0;
  bool by_operator = false;  // the runner's owner is the ledger's own
};

struct EvidenceFacts {
  bool serving = false;
  std::vector<EvidenceClaim> claims;
  std::uint32_t flags = 0;  // RunFlag bits
  bool cannot_judge = false;
  bool retracted = false;
  bool disputed = false;
  bool controlled = false;  // the run's source is `controlled`, or its protocol a controlled one
  bool accepted = false;    // and it is an accepted controlled run with status passed
  std::vector<ControlledAttempt> attempts;
};

struct Evidence {
  Level level = Level::none;
  std::vector<LevelReason> reasons;
};

Evidence evidence_v1(const EvidenceFacts& facts);

}  // namespace kernelindex
