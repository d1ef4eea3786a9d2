// SPDX-License-Identifier: Apache-2.0
// Whether a controlled result counts: every gate of DESIGN section 8 and PROTOCOL section 16 A,
// each with its code. Pure; asked again by every reader.
//
// Numbers: three timed trials of 200 samples each; half-width of a trial's interval at most 1 % or
// 0.25 us; discards at most 5 %; noise at most 3 %; sentinels within the bands of the runner's own
// history (PROTOCOL section 6); temperatures, clocks and errors as in section 5.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/key_book.h"
#include "ledger/measurement_predicates.h"
#include "ledger/predicates.h"
#include "ledger/result_findings.h"
#include "schema/measurement_result.h"
#include "schema/utc_time.h"

namespace kernelindex {

// The switch that lets three sessions of ten repetitions stand in for a calibration; it is named in
// `allowed` of the acceptance. PROTOCOL decision (e).
inline constexpr std::string_view kAcceptProvisional = "ACCEPT_PROVISIONAL";

// An attestation and where it stands in the log.
struct SaidAt {
  std::uint64_t index = 0;
  UtcMicros recorded_at = 0;
  Digest id;
  Attestation said;
};

// Everything that the gates look at. Pointers are never null unless said.
struct ResultFacts {
  const SaidAt* job = nullptr;                      // a MeasurementJob
  const SaidAt* result = nullptr;                   // a ControlledRun about it
  bool first = true;                                // no earlier result of the job's runner
  const KeyBook* keys = nullptr;                    // as of the size that is judged at
  const MeasurementResult* document = nullptr;      // null: not held, or unreadable
  const ResultSamples* samples = nullptr;           // null: not held, or not those of the document
  const std::vector<Samples>* sentinels = nullptr;  // series of the sessions; null as above
  bool bytes_held = false;                          // of all artifacts that the document names
  bool run_follows = false;  // the BenchmarkRun is what run_manifests() makes of it
  Digest workload;           // of the reported run
  bool cupti_claim = false;
  // Sessions that this runner recorded for the device before the result, each recomputed.
  std::vector<SentinelSession> calibration;
  std::vector<ResultFinding> findings;
  std::vector<std::string> allowed;  // switches
};

// Why it does not count, sorted; empty when it does.
std::vector<std::string> countability(const ResultFacts& facts);

// Whether the root took back what the result rests on: its key, harness or protocol. By the key
// book alone, whatever the result says of itself.
bool rests_on_revoked(const ResultFacts& facts);

// When a job ends: as it says, and at the latest a day after it was recorded (PROTOCOL section 2).
inline constexpr UtcMicros kLongestJob = UtcMicros{24} * 3600 * 1'000'000;
UtcMicros end_of_job(const SaidAt& job);

// The noise of the reported workload, in parts per million; nothing without samples.
std::optional<std::uint64_t> noise_of(const MeasurementResult& document,
                                      const ResultSamples& samples, const Digest& workload);

// The five series of each session out of the artifact; nothing when its length is another or a
// median is not the one that the session says.
std::optional<std::vector<Samples>> cut_sentinels(const std::vector<SentinelSession>& sessions,
                                                  std::string_view bytes);

}  // namespace kernelindex
