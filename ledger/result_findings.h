// SPDX-License-Identifier: Apache-2.0
// What the evidence in a result shows about the run: detectors, and the status that follows.
// PROTOCOL sections 9, 12, 13 and 14; HACKS.
//
// Pure and in integers. The runner detects the same and more while it measures; these work on what
// it recorded, so that a reader need not believe its words.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schema/measurement_result.h"
#include "schema/statistics.h"

namespace kernelindex {

// The raw samples of a result, trial by trial.
struct ResultSamples {
  std::vector<Samples> timed;        // of each of `trials`
  std::vector<Samples> diagnostics;  // of each of `diagnostics`
};

// Cuts the artifacts into the samples of the trials. Nothing when an artifact is not what the
// result names, or a trial's samples have another digest. Absent artifacts are empty texts.
std::optional<ResultSamples> cut_samples(const MeasurementResult& result, std::string_view samples,
                                         std::string_view diagnostic_samples);

struct ResultFinding {
  std::string code;
  // What the run is by this finding; nothing for a mere note.
  std::optional<RunStatus> status;

  bool operator==(const ResultFinding&) const = default;
};

// What no kernel can be faster than, in nanoseconds; nothing when the device or the work is not
// known.
struct PhysicsFloor {
  std::int64_t bytes = 0;  // that must be read and written once
  std::string product;
};
std::optional<std::int64_t> floor_ns(const PhysicsFloor& floor);

// Everything that the evidence shows, in no order, nothing twice. `floor` is of the workload; the
// result's own `status` and `codes` are not looked at.
std::vector<ResultFinding> find_in_result(const MeasurementResult& result,
                                          const ResultSamples& samples,
                                          const std::vector<Digest>& workloads,
                                          std::int64_t compulsory_bytes);

// The first status of PROTOCOL section 14 that a finding gives, or passed.
RunStatus status_of(const std::vector<ResultFinding>& findings);

}  // namespace kernelindex
