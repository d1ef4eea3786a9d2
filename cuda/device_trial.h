// SPDX-License-Identifier: Apache-2.0
// What one trial does with its child: fresh inputs, calls, windows, outputs held against the
// reference. PROTOCOL sections 7 to 10 and 12.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "cuda/trial_child.h"
#include "schema/digest.h"

namespace kernelindex::runner {

// The 24 bytes of the seed of a sample.
using SeedOf = std::function<std::string(std::uint32_t)>;

// What trials of a workload found out that later ones need.
struct TrialFindings {
  std::map<Digest, std::uint64_t> timed_medians;  // ns, of the last timed trial
  std::map<Digest, std::uint64_t> launches;       // kernels, copies and fills of a call
};

// Measures with a child that took its artifact; samples and facts are in its outcome then.
// `own_kernels`: whether the runner's own kernels are there, which hold the queue back and flush.
void measure_trial(TrialChild& child, const SeedOf& seed, bool own_kernels,
                   TrialFindings& findings);

// One call alone, nothing withheld: its outputs. Empty when the child gave none.
std::vector<HostTensor> call_once(TrialChild& child, const Arguments& inputs);

}  // namespace kernelindex::runner
