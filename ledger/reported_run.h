// SPDX-License-Identifier: Apache-2.0
// The reported run as a controlled one is held against it: its number, and how the two were timed
// and on what. PROTOCOL section 16 C, rows 1 and 2.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ledger/attempt_source.h"
#include "ledger/decision_rule.h"
#include "schema/manifest.h"
#include "schema/measurement_result.h"
#include "schema/result.h"

namespace kernelindex {

struct ReportedRun {
  BenchmarkRunFacts run;
  // Absent when they are not held, or when what the run names is of another kind.
  std::optional<Manifest> protocol;
  std::optional<Manifest> environment;
  std::string comparator;  // of the workload
  // What must be read and written once, in bytes; 0 when it is not known.
  std::int64_t compulsory_bytes = 0;

  // Whether its number comes from CUPTI.
  bool timed_by_cupti() const;
};

// Nothing when it is no benchmark run, or its document is not held. Errors: those of the source.
Result<std::optional<ReportedRun>> read_reported_run(AttemptSource& source, const Digest& run);

TimerRelation timer_relation(const Manifest& reported_protocol, const Digest& controlled_protocol);
EnvironmentRelation environment_relation(const Manifest& reported_environment,
                                         const MeasurementResult& result);
// The part of other hardware that people take for the same: "pcie" and "sxm".
bool other_form_factor(const Manifest& reported_environment, const MeasurementResult& result);

}  // namespace kernelindex
