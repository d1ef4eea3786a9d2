// SPDX-License-Identifier: Apache-2.0
// The bench of a physical device: a confined child for each trial, the device polled through NVML
// from outside, every output held against the reference. PROTOCOL sections 5 to 13.
//
// What it does not do yet, and what a machine may lack, is said in README.md and shows in its
// results.
#pragma once

#include <memory>

#include "cuda/measurement.h"
#include "schema/measurement_job.h"
#include "schema/result.h"

namespace kernelindex::runner {

// Error NO_DEVICE (kind system): what is missing, in one sentence. Creates no CUDA context. The job
// must outlive the bench; for sentinels alone its ledger and limits are enough.
Result<std::unique_ptr<Bench>> make_device_bench(const JobDocument& job);

}  // namespace kernelindex::runner
