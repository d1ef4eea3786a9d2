// SPDX-License-Identifier: Apache-2.0
// The manifests that a controlled result becomes: the environment that it was measured in, and the
// BenchmarkRun. They follow from the result alone, so that a runner signs, a controller records and
// a reader checks the same. DESIGN section 8.
#pragma once

#include <string_view>

#include "schema/manifest.h"
#include "schema/measurement_result.h"
#include "schema/result.h"

namespace kernelindex {

struct ControlledManifests {
  Manifest environment;
  Manifest run;
};

// `comparator` is the workload's. A device that is simulated says so in its product, so that no
// group can hold both. Errors: those of read_manifest(), when a text of the result is more than a
// manifest may hold.
Result<ControlledManifests> controlled_manifests(const MeasurementResult& result,
                                                 const Digest& implementation,
                                                 const Digest& workload,
                                                 std::string_view comparator);

}  // namespace kernelindex
