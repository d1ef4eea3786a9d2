// SPDX-License-Identifier: Apache-2.0
// One job from its document to its result: build, controls, rounds, trials, statistics. PROTOCOL
// sections 1 to 15.
//
// The flow is the same whatever measures; what measures is a Bench. Nothing here judges what
// counts: the result says what was found, and every reader derives the rest again.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/comparator.h"
#include "cuda/kernel_builder.h"
#include "cuda/reference_operation.h"
#include "cuda/timing_checks.h"
#include "schema/measurement_job.h"
#include "schema/measurement_result.h"
#include "schema/sentinel_session.h"
#include "schema/statistics.h"

namespace kernelindex::runner {

// A workload of a job as the references take it.
struct BoundWorkload {
  Digest digest;
  const ReferenceOperation* operation = nullptr;
  Axes axes;
  std::map<std::string, double, std::less<>> scalars;
  Tolerance tolerance;
};
// Reads the axes, scalars and correctness of a WorkloadCase. Errors (invalid): NO_NATIVE_REFERENCE,
// those of bind_axes(), NAN_POLICY (`ignore` is not accepted by v1).
Result<BoundWorkload> bind_workload(const Digest& operation, const JobManifest& workload);

struct TrialOutcome {
  Trial facts;
  Samples samples;
  SandboxFacts sandbox;
  Findings findings;  // of what was seen on the device
  std::string log;
  std::int64_t log_original_bytes = 0;
};

struct SentinelOutcome {
  SentinelSession session;
  Samples samples;  // five series, one after the other
};

// What measures.
class Bench {
 public:
  virtual ~Bench() = default;
  virtual MeasuredDevice device() const = 0;
  virtual std::string driver() const = 0;  // version; empty when not known
  virtual std::optional<DevicePolls> polls() const = 0;
  virtual MeasuredSettings settings() const { return {}; }
  // Codes of what the device or the machine does not tell.
  virtual std::vector<std::string_view> gaps() const { return {}; }
  // What was built and is to be called from now on.
  virtual void use(const BuildOutcome& build) = 0;
  virtual Result<SentinelOutcome> sentinels(ClockVariant clocks, std::int64_t repetitions,
                                            const Digest& boot) = 0;
  // One child process. `seed` gives the 24 bytes of the seed of a sample.
  virtual Result<TrialOutcome> trial(const BoundWorkload& workload, Trial::Kind kind,
                                     std::uint32_t number,
                                     const std::function<std::string(std::uint32_t)>& seed) = 0;
  // The output of one correctness round, or nothing when the candidate gave none.
  virtual Result<std::vector<HostTensor>> outputs(const BoundWorkload& workload,
                                                  const Arguments& inputs) = 0;
};

// Samples made up in real confined children; the device says so: MeasuredDevice::Kind::simulated.
std::unique_ptr<Bench> make_simulated_bench(const JobDevice& device, const Digest& ledger,
                                            const JobLimits& limits);
// The mode of the program that answers for a simulated device.
int simulated_child_main();

struct MeasurementOutput {
  MeasurementResult result;
  std::string document;  // canonical JSON of the result
  std::string samples;
  std::vector<std::pair<std::string, std::string>> artifacts;  // name, bytes
};

using Progress = std::function<void(std::string_view line)>;

// Measures. An Error leaves nothing to report; what is wrong with the candidate is a result.
Result<MeasurementOutput> measure_job(const JobDocument& job, Bench& bench,
                                      const Toolchain& toolchain, const Progress& progress);

struct CalibrationOutput {
  std::string document;
  std::string samples;
};
Result<CalibrationOutput> calibrate(const CalibrationRequest& request, Bench& bench);

}  // namespace kernelindex::runner
