// SPDX-License-Identifier: Apache-2.0
// Documents of a controlled measurement as a careful runner would write them, to be changed by
// tests.
#pragma once

#include <string>
#include <vector>

#include "schema/measurement_job.h"
#include "schema/measurement_result.h"
#include "schema/statistics.h"

namespace kernelindex::test {

// A job about vector addition with one workload and two files.
JobDocument sample_job();

// A result with its artifacts.
struct SampleResult {
  MeasurementResult result;
  std::string samples;
  std::string diagnostic_samples;
  std::string sentinel_samples;
};

// What decides how a result looks: times in nanoseconds.
struct SampleTiming {
  std::vector<std::uint64_t> trial_medians = {100'000, 100'000, 100'000};
  std::size_t samples = 200;   // of each trial
  std::uint64_t spread = 100;  // the samples of a trial lie within +- so much
  std::uint64_t cupti = 0;     // median of the envelopes; 0: 99 % of the event window
};

// A result for the job on a device that is as the job asks for, with nothing to complain about.
SampleResult sample_result(const JobDocument& job, const SampleTiming& timing = {});

// Makes statistics, digests and names of samples agree with these samples again.
void set_samples(SampleResult& sample, const std::vector<Samples>& timed,
                 const std::vector<Samples>& diagnostics);

}  // namespace kernelindex::test
